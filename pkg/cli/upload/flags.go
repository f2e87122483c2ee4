package upload

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// Flags are the flags of commands that upload.
type Flags struct{ to, as, image string }

// To returns flags with a value of --upload-to.
func To(place string) Flags { return Flags{to: place} }

// AddTo adds the flags to a command.
func (f *Flags) AddTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.to, "upload-to", "", "Where files of this machine are uploaded: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER, pvc://CLAIM/FOLDER or file:///FOLDER.")
	flags.StringVar(&f.as, "upload-as", "", "The URL by which Spark reads what is in --upload-to. By default s3a://, gs:// or abfss:// with the same bucket and folder, and for pvc:// the path at which the driver mounts the claim.")
	flags.StringVar(&f.image, "upload-image", "", "For pvc://: the image of the Pod that stores the files, with sh and sha256sum. By default that of the driver.")
}

// Given reports whether files are uploaded.
func (f *Flags) Given() bool { return f.to != "" }

// Check returns a usage error if the flags name no place.
func (f *Flags) Check() error {
	switch {
	case f.to != "":
		_, err := placeOf(f.to, f.as, os.Getenv)
		if mounted := (*unmountedError)(nil); errors.As(err, &mounted) {
			return nil // the application says where
		}
		return err
	case f.as != "":
		return cli.Usage("--upload-as is the URL of what --upload-to uploads, which is missing: write --upload-to, too")
	case f.image != "":
		return cli.Usage("--upload-image is the image of the Pod that stores files in a claim: write --upload-to pvc://CLAIM/FOLDER, too")
	default:
		return nil
	}
}
