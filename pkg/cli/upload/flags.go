package upload

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// Flags are the flags of commands that upload.
type Flags struct{ to, as string }

// AddTo adds the flags to a command.
func (f *Flags) AddTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.to, "upload-to", "", "Where files of this machine are uploaded: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER or file:///FOLDER.")
	flags.StringVar(&f.as, "upload-as", "", "The URL by which Spark reads what is in --upload-to. By default s3a://, gs:// or abfss:// with the same bucket and folder.")
}

// Given reports whether files are uploaded.
func (f *Flags) Given() bool { return f.to != "" }

// Check returns a usage error if the flags name no place.
func (f *Flags) Check() error {
	switch {
	case f.to != "":
		_, err := placeOf(f.to, f.as, os.Getenv)
		return err
	case f.as != "":
		return cli.Usage("--upload-as is the URL of what --upload-to uploads, which is missing: write --upload-to, too")
	default:
		return nil
	}
}
