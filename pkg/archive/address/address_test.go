package address_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/archive/address"
)

func TestURLsOfArchives(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket":                           "s3://bucket",
		"s3://bucket/a/b/?region=eu-west-1":     "s3://bucket?prefix=a%2Fb%2F&region=eu-west-1",
		"gs://bucket/folder":                    "gs://bucket?prefix=folder%2F",
		"azblob://container":                    "azblob://container",
		"file:///srv/archive":                   "file:///srv/archive?metadata=skip&no_tmp_dir=true",
		"file:///srv/archive?metadata=whatever": "file:///srv/archive?metadata=skip&no_tmp_dir=true",
	} {
		if got, err := address.Bucket(url); got != want || err != nil {
			t.Errorf("%s is %s, want %s; %v", url, got, want, err)
		}
	}
	for _, url := range []string{"", "http://host", "file://srv", "file:srv", "s3://", "mem://", "://", "/srv", "s3://key:secret@bucket"} {
		if _, err := address.Bucket(url); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
}
