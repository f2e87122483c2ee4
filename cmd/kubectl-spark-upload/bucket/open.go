package bucket

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)

// place is a bucket, or a folder of this machine.
type place struct {
	*blob.Bucket
	scheme string
	// name is the name of the bucket. folder is the prefix of all keys in it.
	name, folder string
}

// open opens the bucket of a URL. Its path is a folder in the bucket.
func open(ctx context.Context, address string) (*place, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return &place{}, errors.New("it is no URL")
	}
	p := &place{scheme: parsed.Scheme, name: parsed.Host}
	parameters := parsed.Query()
	if parsed.Scheme == "file" {
		// Temporary files are beside the file: a mounted claim is another file system than /tmp.
		parameters.Set("no_tmp_dir", "true")
		parameters.Set("metadata", "skip")
	} else if folder := strings.Trim(parsed.Path, "/"); folder != "" {
		p.folder = folder + "/"
		parameters.Set("prefix", p.folder)
		parsed.Path, parsed.RawPath = "", ""
	}
	parsed.RawQuery = parameters.Encode()
	p.Bucket, err = blob.OpenBucket(ctx, parsed.String())
	return p, err
}
