package upload

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// place is where files are sent, and where Spark reads them.
type place struct {
	// to is the URL to which files are sent, as gocloud.dev/blob reads it.
	to string
	// as is the URL by which Spark reads the files, without a slash at its end.
	as string
	// claim and folder are those of a claim; claim is empty for other places.
	claim, folder string
	// shown is the URL to without parameters, for messages.
	shown string
}

const accountVariable = "AZURE_STORAGE_ACCOUNT"

// unmountedError reports that a claim is mounted nowhere, so that it is not known at which path Spark reads its files.
type unmountedError struct{ to, claim string }

func (e *unmountedError) Error() string {
	volume := func(role string) string {
		prefix := "spark.kubernetes." + role + ".volumes.persistentVolumeClaim.uploads."
		return fmt.Sprintf("--conf %soptions.claimName=%s --conf %smount.path=/uploads", prefix, e.claim, prefix)
	}
	return fmt.Sprintf("--upload-to %q is a folder of a claim that the driver does not mount: write %s %s, or by --upload-as where Spark finds it, such as local:///PATH",
		e.to, volume("driver"), volume("executor"))
}

// placeOf reads the values of both flags. environment returns a variable, and mounts are those of the driver.
func placeOf(to, as string, environment func(string) string, mounts ...sparksubmit.ClaimMount) (place, error) {
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
	as = strings.TrimRight(cmp.Or(as, readBySpark(parsed, environment, mounts)), "/")
	switch {
	case as == "" && parsed.Scheme == "pvc":
		return place{}, &unmountedError{to, parsed.Host}
	case as == "" && parsed.Scheme == "file":
		return place{}, cli.Usage("--upload-to %q is a folder of this machine: write by --upload-as where Spark finds it, such as local:///data for a claim that is mounted there", to)
	case as == "":
		return place{}, cli.Usage("--upload-to %q names no storage account: set %s, or write --upload-as abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER", to, accountVariable)
	case submission.IsClientLocal(as) || strings.ContainsAny(as, ", #?"):
		return place{}, cli.Usage("--upload-as %q is no URL that Spark can read in the cluster: write one such as s3a://BUCKET/FOLDER", as)
	}
	shown := *parsed
	shown.RawQuery = ""
	at := place{to: to, as: as, shown: shown.String()}
	if parsed.Scheme == "pvc" {
		at.claim, at.folder = parsed.Host, parsed.Path
	}
	return at, nil
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
		if len(validation.IsDNS1123Subdomain(to.Host)) > 0 || to.RawQuery != "" || to.Fragment != "" || slices.Contains(strings.Split(to.Path, "/"), "..") {
			return cli.Usage("--upload-to %q is no folder of a claim: write pvc://CLAIM/FOLDER", to)
		}
	default:
		return cli.Usage("--upload-to %q is no place that is known: write s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER, pvc://CLAIM/FOLDER or file:///FOLDER", to)
	}
	return nil
}

// readBySpark returns the URL by which Spark reads a place; empty if that is not known.
func readBySpark(to *url.URL, environment func(string) string, mounts []sparksubmit.ClaimMount) string {
	switch to.Scheme {
	case "s3":
		return "s3a://" + to.Host + to.EscapedPath()
	case "gs":
		return "gs://" + to.Host + to.EscapedPath()
	case "pvc":
		for _, mount := range mounts {
			if at := mount.Reads(to.Host, to.Path); at != "" {
				return "local://" + (&url.URL{Path: at}).EscapedPath()
			}
		}
	case "azblob":
		if account := cmp.Or(to.Query().Get("storage_account"), environment(accountVariable)); account != "" {
			return "abfss://" + to.Host + "@" + account + ".dfs.core.windows.net" + to.EscapedPath()
		}
	}
	return ""
}
