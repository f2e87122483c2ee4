// Package address reads the URLs of archives. It is apart from package archive, since the settings are read by programs that open none.
package address

import (
	"errors"
	"net/url"
	"strings"
)

// Check returns why a URL cannot be that of an archive.
func Check(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return errors.New("write a URL")
	}
	switch parsed.Scheme {
	case "file":
		if parsed.Host != "" || !strings.HasPrefix(parsed.Path, "/") {
			return errors.New("write three slashes and an absolute path, such as file:///var/lib/firesteel/archive")
		}
	case "s3", "gs", "azblob":
		if parsed.Host == "" {
			return errors.New("write the name of the bucket after ://")
		}
	default:
		return errors.New("begin it with s3://, gs://, azblob:// or file:///")
	}
	if parsed.User != nil {
		return errors.New("write no credentials into the URL: the Pod has its own identity, or a Secret of its namespace in its environment")
	}
	return nil
}

// Bucket returns the URL by which gocloud.dev/blob opens an archive. The path of a bucket's URL becomes a prefix of all keys.
func Bucket(address string) (string, error) {
	if err := Check(address); err != nil {
		return "", err
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	parameters := parsed.Query()
	if parsed.Scheme == "file" {
		// Temporary files are beside the file: a volume is another file system than /tmp.
		parameters.Set("no_tmp_dir", "true")
		parameters.Set("metadata", "skip")
	} else if folder := strings.Trim(parsed.Path, "/"); folder != "" {
		parameters.Set("prefix", folder+"/")
		parsed.Path, parsed.RawPath = "", ""
	}
	parsed.RawQuery = parameters.Encode()
	return parsed.String(), nil
}
