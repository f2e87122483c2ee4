package integration

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/test/harness/s3"
)

// onS3 starts a server of the S3 protocol with an empty bucket, and opens an archive in it.
func (s *env) onS3() (*s3.Server, *archive.Archive) {
	s.Helper()
	server, err := s3.Start(s.Context(), repository, s.TempDir())
	s.must(err)
	s.Cleanup(server.Stop)
	s.must(server.AddBucket(s.Context(), "spark-archive"))
	stored, err := archive.Open(s.Context(), server.URL("spark-archive", "logs"))
	s.must(err)
	s.Cleanup(func() { s.check(stored.Close()) })
	return server, stored
}

// noise is a log of some lines that cannot be compressed well, as the kubelet sends it from a second on.
func noise(lines int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	text := make([]string, lines)
	for i := range text {
		stamp := begin.Add(time.Duration(i) * time.Millisecond).Format(time.RFC3339Nano)
		text[i] = fmt.Sprintf("%s %x%x%x%x\n", stamp, random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())
	}
	return text
}

// sendLog stores what the kubelet sends of a log: all lines since the second that is asked for, if the storage takes them.
func (s *env) sendLog(attempt *archive.Attempt, log archive.LogID, lines []string) error {
	s.Helper()
	w, err := attempt.WriteLog(s.Context(), log, 1<<30)
	if err != nil {
		return err
	}
	first := 0
	for first < len(lines) && lines[first] < w.Since().Format(time.RFC3339Nano) {
		first++
	}
	if err := w.Copy(s.Context(), strings.NewReader(strings.Join(lines[first:], ""))); err != nil {
		return err
	}
	return w.Flush(s.Context())
}

// wantStorageError fails the test unless an error is one of the storage, in one line and without the credentials.
func (s *env) wantStorageError(what string, err error, words string) {
	s.Helper()
	if !archive.IsStorage(err) || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), s3.SecretKey) || strings.Contains(err.Error(), "\n") {
		s.Errorf("%s: %v, want an error of the storage with %q", what, err, words)
	}
}

func TestArchiveOnS3SurvivesItsFailures(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	ctx := t.Context()
	server, stored := s.onS3()
	app := archive.Application{
		Namespace: s.ns, NamespaceUID: s.namespace().UID, Resource: "sparkapplications.spark.apache.org", APIVersion: "spark.apache.org/v1",
		Kind: "SparkApplication", Name: "odd name/ü", UID: "uid-1", State: "Failed", Created: time.Now().UTC(),
	}
	log := archive.LogID{Pod: "etl-driver", PodUID: "p1", Container: "spark-kubernetes-driver"}
	lines := noise(40_000)
	attempt := stored.Attempt(app.ID(), 0)

	nobody, err := archive.Open(ctx, server.URL("spark-archive", "logs")+"&anonymous=true")
	s.must(err)
	defer nobody.Close()
	s.wantStorageError("without credentials", nobody.WriteApplication(ctx, app), "give the identity of the Pod the right")

	// What the storage only says to have stored is noticed.
	server.Break(s3.Lie)
	s.wantStorageError("an application that is not stored", stored.WriteApplication(ctx, app), "")
	s.must(attempt.Put(ctx, []byte("{}"), "objects", "application.json.gz"))
	server.Break(nil)
	if lost, err := attempt.Check(ctx); err != nil || len(lost) != 1 {
		t.Errorf("not stored are %v (%v)", lost, err)
	}
	s.must(stored.WriteApplication(ctx, app))

	// The server is full, and then gone, after a part of the log. Later the rest is stored.
	var written atomic.Int64
	server.Break(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut && written.Add(1) > 1 {
			s3.Refuse(http.StatusInsufficientStorage, "XMinioStorageFull")(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	s.wantStorageError("a server that is full", s.sendLog(attempt, log, lines), "XMinioStorageFull")
	server.Break(nil)
	server.Kill()
	s.wantStorageError("a server that is gone", s.sendLog(attempt, log, lines), "")
	s.must(server.Restart(ctx))
	s.must(s.sendLog(attempt, log, lines))
	_, err = attempt.WriteManifest(ctx, &archive.Manifest{Logs: []archive.Log{{LogID: log, Role: archive.RoleDriver}}})
	s.must(err)

	// The console reads it, though the server ends every other answer early.
	client := &api.Client{Base: s.serveConsole(stored), HTTP: &http.Client{Transport: bearer(s.Plane.Admin().BearerToken)}}
	var read atomic.Int64
	server.Break(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".gz") && read.Add(1)%2 == 1 {
			s3.Cut(100<<10)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	found, err := client.Named(ctx, s.ns, app.Resource, app.Name)
	s.must(err)
	if len(found.Items) != 1 {
		t.Fatalf("the console finds %v", found)
	}
	stream, err := client.Log(ctx, &found.Items[0], 0, api.Log{Pod: log.Pod, PodUID: string(log.PodUID), Container: log.Container}, api.LogOptions{Tail: -1, Timestamps: true})
	s.must(err)
	content, err := io.ReadAll(stream)
	if want := strings.Join(lines, ""); err != nil || string(content) != want {
		t.Errorf("%d bytes are read of %d: %v", len(content), len(want), err)
	}
	s.must(stream.Close())
	if read.Load() < 4 {
		t.Errorf("the log is read by %d requests: none was cut", read.Load())
	}
	server.Break(nil)

	other := archive.Namespace{Name: s.ns, UID: types.UID("of-an-earlier-namespace")}
	if list, err := stored.List(ctx, other, archive.Filter{}, archive.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("an earlier namespace has %v (%v)", list, err)
	}
	retained, err := stored.Sweep(ctx, time.Now().Add(48*time.Hour), archive.Retention{Age: 24 * time.Hour}, s.ns)
	if err != nil || retained.Applications != 1 {
		t.Errorf("deleted are %+v (%v)", retained, err)
	}
	if keys, err := server.Request(ctx, http.MethodGet, "spark-archive?list-type=2&prefix=logs/"+s.ns+"/"); err != nil || strings.Contains(string(keys), "<Key>") {
		t.Errorf("left are %s (%v)", keys, err)
	}
}
