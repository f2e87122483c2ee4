package archive_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds"
)

const resource = "sparkapplications.spark.apache.org"

var begin = time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)

// storages are the archives of a test by the kind of their storage.
func storages(t *testing.T) map[string]*archive.Archive {
	t.Helper()
	folder, err := archive.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return map[string]*archive.Archive{"memory": archive.New(memblob.OpenBucket(nil)), "folder": folder}
}

func onEach(t *testing.T, test func(t *testing.T, a *archive.Archive)) {
	t.Helper()
	for name, a := range storages(t) {
		t.Run(name, func(t *testing.T) { test(t, a) })
	}
}

func id(namespace, name string) archive.ID {
	return archive.ID{
		Namespace: archive.Namespace{Name: namespace, UID: types.UID("uid-of-" + namespace)}, Resource: resource, Name: name,
		UID: types.UID("uid-of-" + name),
	}
}

func application(id archive.ID, created time.Time) archive.Application {
	ended := created.Add(time.Minute)
	return archive.Application{
		Format: archive.Format, Namespace: id.Namespace.Name, NamespaceUID: id.Namespace.UID, Resource: id.Resource, APIVersion: "spark.apache.org/v1",
		Kind: "SparkApplication", Name: id.Name, UID: id.UID, Created: created, Ended: &ended, State: "Succeeded", Outcome: "Succeeded",
	}
}

func write(t *testing.T, a *archive.Archive, app archive.Application) {
	t.Helper()
	if err := a.WriteApplication(t.Context(), app); err != nil {
		t.Fatal(err)
	}
}

// line returns a line of a log as the kubelet sends it.
func line(at time.Time, text string) string {
	return at.UTC().Format(time.RFC3339Nano) + " " + text + "\n"
}

// count returns lines, one every interval.
func count(from, to int, interval time.Duration) string {
	var all strings.Builder
	for i := from; i < to; i++ {
		all.WriteString(line(begin.Add(time.Duration(i)*interval), fmt.Sprintf("line %d", i)))
	}
	return all.String()
}

func store(ctx context.Context, t *testing.T, attempt *archive.Attempt, log archive.LogID, sent string) *archive.LogWriter {
	t.Helper()
	w, err := attempt.WriteLog(ctx, log, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Copy(ctx, strings.NewReader(sent)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}
