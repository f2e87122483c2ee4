package upload

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// place is where files are sent, and where Spark reads them.
type place struct {
	// to is the URL to which files are sent, as gocloud.dev/blob reads it.
	to string
	// as is the URL by which Spark reads the files, without a slash at its end.
	as string
	// shown is the URL to without parameters, for messages.
	shown string
}

const accountVariable = "AZURE_STORAGE_ACCOUNT"

// placeOf reads the values of both flags. environment returns a variable.
func placeOf(to, as string, environment func(string) string) (place, error) {
	parsed, err := url.Parse(to)
	if err != nil {
		return place{}, cli.Usage("--upload-to is no URL: write one such as s3://BUCKET/FOLDER")
	}
	if parsed.User != nil {
		return place{}, cli.Usage("--upload-to holds credentials: leave them out, and give them as the tools of the cloud read them, such as by AWS_PROFILE")
	}
	if err := checkPlace(parsed); err != nil {
		return place{}, err
	}
	as = strings.TrimRight(cmp.Or(as, readBySpark(parsed, environment)), "/")
	switch {
	case as == "" && parsed.Scheme == "file":
		return place{}, cli.Usage("--upload-to %q is a folder of this machine: write by --upload-as where Spark finds it, such as local:///data for a claim that is mounted there", to)
	case as == "":
		return place{}, cli.Usage("--upload-to %q names no storage account: set %s, or write --upload-as abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER", to, accountVariable)
	case submission.IsClientLocal(as) || strings.ContainsAny(as, ", #?"):
		return place{}, cli.Usage("--upload-as %q is no URL that Spark can read in the cluster: write one such as s3a://BUCKET/FOLDER", as)
	}
	shown := *parsed
	shown.RawQuery = ""
	return place{to: to, as: as, shown: shown.String()}, nil
}

func checkPlace(to *url.URL) error {
	switch to.Scheme {
	case "s3", "gs", "azblob":
		if to.Host == "" {
			return cli.Usage("--upload-to %q names no bucket: write %s://BUCKET/FOLDER", to, to.Scheme)
		}
	case "file":
		if to.Host != "" || !strings.HasPrefix(to.Path, "/") {
			return cli.Usage("--upload-to %q is no folder: write file:///FOLDER with its whole path", to)
		}
	case "pvc":
		return cli.Usage("--upload-to %q is a claim, which only Pods reach: mount it on this machine and write file:///FOLDER --upload-as local:///PATH, or upload to a bucket", to)
	default:
		return cli.Usage("--upload-to %q is no place that is known: write s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER or file:///FOLDER", to)
	}
	return nil
}

// readBySpark returns the URL by which Spark reads a place; empty if that is not known.
func readBySpark(to *url.URL, environment func(string) string) string {
	switch to.Scheme {
	case "s3":
		return "s3a://" + to.Host + to.EscapedPath()
	case "gs":
		return "gs://" + to.Host + to.EscapedPath()
	case "azblob":
		if account := cmp.Or(to.Query().Get("storage_account"), environment(accountVariable)); account != "" {
			return "abfss://" + to.Host + "@" + account + ".dfs.core.windows.net" + to.EscapedPath()
		}
	}
	return ""
}
