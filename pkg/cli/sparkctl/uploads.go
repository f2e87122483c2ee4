package sparkctl

import (
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/upload"
)

// uploadOptions are the flags of uploads.
type uploadOptions struct {
	to, prefix, region, endpoint string
	pathStyle, public, override  bool
}

func (u *uploadOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVarP(&u.to, "upload-to", "u", "", "Where the files of this machine are uploaded that the manifest names: s3://BUCKET or gs://BUCKET.")
	flags.StringVarP(&u.prefix, "upload-prefix", "p", "", "The folder in the bucket.")
	flags.StringVarP(&u.region, "upload-to-region", "r", "", "The region of the bucket, for s3://.")
	flags.StringVarP(&u.endpoint, "upload-to-endpoint", "e", "", "The address of the server, for s3://. By default that of AWS.")
	flags.BoolVar(&u.pathStyle, "s3-force-path-style", false, "Name the bucket in the path of requests, for s3://.")
	flags.BoolVarP(&u.public, "public", "c", false, "Without effect: the driver reads files with the credentials of its account.")
	flags.BoolVarP(&u.override, "override", "o", false, "Without effect: a file with another content has another name.")
}

// flags returns where files are uploaded.
func (u *uploadOptions) flags(o *cli.Options) (upload.Flags, error) {
	for _, flag := range []struct {
		given     bool
		name, why string
	}{
		{u.public, "--public", "the driver reads files with the credentials of its account"},
		{u.override, "--override", "a file with another content has another name"},
	} {
		if flag.given {
			o.Warn(flag.name + " has no effect: " + flag.why)
		}
	}
	parameters := url.Values{}
	for name, value := range map[string]string{"region": u.region, "endpoint": u.endpoint} {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	if u.pathStyle {
		parameters.Set("use_path_style", "true")
	}
	switch {
	case u.to == "" && (u.prefix != "" || len(parameters) > 0):
		return upload.Flags{}, cli.Usage("flags of uploads are given, and --upload-to is not: name the bucket by it, such as s3://BUCKET")
	case u.to == "":
		return upload.Flags{}, nil
	case len(parameters) > 0 && !strings.HasPrefix(u.to, "s3://"):
		return upload.Flags{}, cli.Usage("--upload-to %q takes no region, endpoint or style of paths, which are for s3://: leave them out", u.to)
	}
	place, query, _ := strings.Cut(u.to, "?")
	if prefix := strings.Trim(u.prefix, "/"); prefix != "" {
		place = strings.TrimRight(place, "/") + "/" + (&url.URL{Path: prefix}).EscapedPath()
	}
	if all := strings.Trim(query+"&"+parameters.Encode(), "&"); all != "" {
		place += "?" + all
	}
	flags := upload.To(place)
	return flags, flags.Check()
}
