package config_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
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
	if archive.EventLogs.Mode != dialect.EventLogsImage || !maps.Equal(archive.EventLogs.Folders, want) {
		t.Errorf("event logs are written to %+v, want %v", archive.EventLogs, want)
	}
	archives := map[string]string{
		"team-a": "s3://logs-of-team-a?region=eu-west-1", "team-b": "gs://logs/team/b/", "team-c": "azblob://logs?storage_account=acme",
	}
	if got := archive.EventLogArchives(); !maps.Equal(got, archives) {
		t.Errorf("the archives are %v, want %v", got, archives)
	}
}

func TestSidecarsNeedAnImageAndAnArchive(t *testing.T) {
	read := func(data map[string]string) (*config.Archive, error) {
		return config.NewArchive(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "spark-system"}, Data: data})
	}
	archive, err := read(map[string]string{
		"event-logs": "sidecar", "event-logs-image": " registry/archive:1 ", "namespaces": "team-a: file:///archive", "event-logs-volume": "64Mi",
		"event-logs-resources": "{requests: {cpu: 20m}, limits: {memory: 64Mi}}",
	})
	if err != nil {
		t.Fatal(err)
	}
	logs := archive.EventLogs
	if logs.AllArchived || !logs.Archived["team-a"] || logs.Sidecar.Image != "registry/archive:1" || logs.Sidecar.Service != "http://archive.spark-system.svc" ||
		logs.Sidecar.Resources.Requests.Cpu().String() != "20m" || logs.Sidecar.Resources.Limits.Memory().String() != "64Mi" || logs.Sidecar.VolumeSize.String() != "64Mi" {
		t.Errorf("the settings are %+v", logs)
	}
	for name, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"no image":            {map[string]string{"event-logs": "sidecar"}, "set event-logs-image"},
		"an image of two":     {map[string]string{"event-logs-image": "a b"}, "write the image"},
		"a service by name":   {map[string]string{"event-logs-service": "archive:8080"}, "write a URL"},
		"a service with user": {map[string]string{"event-logs-service": "https://a:b@archive"}, "write a URL"},
		"no certificate":      {map[string]string{"event-logs-ca": "secret"}, "write certificates in PEM"},
		"no resources":        {map[string]string{"event-logs-resources": "lots"}, "write requests and limits"},
		"negative resources":  {map[string]string{"event-logs-resources": "{requests: {cpu: -1}}"}, "write requests and limits"},
		"claims":              {map[string]string{"event-logs-resources": "{claims: [{name: gpu}]}"}, "write requests and limits"},
		"more than the limit": {map[string]string{"event-logs-resources": "{requests: {memory: 2Gi}, limits: {memory: 1Gi}}"}, "request no more memory"},
		"a small volume":      {map[string]string{"event-logs-volume": "1Mi"}, "at least 64Mi"},
	} {
		if _, err := read(test.data); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
}
