package config_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

func TestArchivesOfNamespaces(t *testing.T) {
	archive, err := config.NewArchive(data(
		"url", " s3://all ", "namespaces", "team-a: s3://a\nteam-b: s3://b\n", "retention-bytes", "1.5Gi", "retention-age", "720h", "wait", "30s"))
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]string{"team-a": "s3://a", "team-b": "s3://b", "team-c": "s3://all"} {
		if got := archive.URLOf(namespace); got != want {
			t.Errorf("the archive of %s is %s, want %s", namespace, got, want)
		}
	}
	if archive.RetentionBytes != 3<<29 || archive.RetentionAge != 720*time.Hour || archive.WaitIn("team-a") != 30*time.Second {
		t.Errorf("%+v", archive)
	}
	urls := archive.URLs()
	if diff := cmp.Diff([]string{"s3://a", "s3://all", "s3://b"}, slices.Sorted(maps.Keys(urls))); diff != "" {
		t.Error(diff)
	}
	if !urls["s3://a"]("team-a") || urls["s3://all"]("team-a") || !urls["s3://all"]("team-c") {
		t.Error("an archive has the namespaces of another")
	}
}

func TestLogsOfClustersAreFollowedOrNot(t *testing.T) {
	for value, ok := range map[string]bool{"none": true, "follow": true, "end": false, "": false} {
		archive, err := config.NewArchive(data("cluster-logs", value))
		if (err == nil) != ok || ok && archive.ClusterLogs != value {
			t.Errorf("%q: %+v, %v", value, archive, err)
		}
	}
	if got := config.Default().Archive.ClusterLogs; got != config.LogsNone {
		t.Errorf("the default is %q", got)
	}
}

func TestThereIsNoArchiveByDefault(t *testing.T) {
	archive := config.Default().Archive
	if archive.URLOf("team-a") != "" || archive.WaitIn("team-a") != 0 || len(archive.URLs()) > 0 {
		t.Errorf("%+v", archive)
	}
	only, err := config.NewArchive(data("namespaces", "team-a: file:///srv/archive"))
	if err != nil || only.WaitIn("team-a") != 2*time.Minute || only.WaitIn("team-b") != 0 {
		t.Errorf("%+v, %v", only, err)
	}
}
