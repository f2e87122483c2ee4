package config_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

func TestEventLogsAreWrittenIntoArchivesOfOneNamespaceAlone(t *testing.T) {
	archive, err := config.NewArchive(&corev1.ConfigMap{Data: map[string]string{"event-logs": "image", "url": "gs://logs/all", "namespaces": `
of-all: gs://logs/all/
team-a: s3://logs-of-team-a?region=eu-west-1
team-b: gs://logs/team/b/
team-c: azblob://logs?storage_account=acme
shares-1: s3://shared/logs
shares-2: s3://shared/logs/?region=eu-west-1
volume: file:///archive
`}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"team-a": "s3a://logs-of-team-a/_eventlog", "team-b": "gs://logs/team/b/_eventlog", "team-c": "abfss://logs@acme.dfs.core.windows.net/_eventlog",
	}
	if !archive.EventLogs.Image || !maps.Equal(archive.EventLogs.Folders, want) {
		t.Errorf("event logs are written to %+v, want %v", archive.EventLogs, want)
	}
	archives := map[string]string{
		"team-a": "s3://logs-of-team-a?region=eu-west-1", "team-b": "gs://logs/team/b/", "team-c": "azblob://logs?storage_account=acme",
	}
	if got := archive.EventLogArchives(); !maps.Equal(got, archives) {
		t.Errorf("the archives are %v, want %v", got, archives)
	}
}
