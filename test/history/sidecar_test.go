package history

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog/receiver"
	"github.com/firesteel-dev/firesteel/pkg/eventlog/sender"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// guard knows the Pods of one archive by their tokens, which are the names of applications. It is a receiver.Guard.
type guard struct{ *archive.Archive }

// Pod returns the Pod with the name of the token.
func (guard) Pod(_ context.Context, token string) (review.Pod, error) {
	return review.Pod{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: token}, UID: types.UID(token)}, nil
}

// Attempt returns the first attempt of the application with the name of a Pod.
func (g guard) Attempt(ctx context.Context, pod review.Pod) (*archive.Attempt, error) {
	app := archive.Application{
		Namespace: pod.Namespace, NamespaceUID: "n", Resource: "sparkapplications.spark.apache.org", Name: pod.Name, UID: pod.UID,
	}
	return g.Archive.Attempt(app.ID(), 0), g.AnnounceEventLog(ctx, app, 0)
}

// besideSidecar runs a driver beside a sidecar that sends its event log. As in a Pod, the sidecar is asked to end when the driver has.
func (d driver) besideSidecar(t *testing.T, service *url.URL, run func()) {
	t.Helper()
	if err := sender.Prepare(d.folder); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(d.name), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &sender.Sender{
		Client: &sender.Client{Service: service, TokenFile: token, HTTP: http.DefaultClient}, Folder: d.folder, Grace: time.Minute, MaxBacklog: 1 << 30,
		Logger: zap.NewNop().Sugar(),
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	run()
	end()
	<-ended
}

func TestHistoryServerShowsTheLogsThatSidecarsSent(t *testing.T) {
	homes := sparkHomes(t)
	stored := archive.New(memblob.OpenBucket(nil))
	service := httptest.NewServer(receiver.New(guard{stored}, func() int64 { return 1 << 30 }, zap.NewNop().Sugar()))
	t.Cleanup(service.Close)
	address, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	complete := driver{version: "4.3.0", folder: filepath.Join(t.TempDir(), "logs"), id: "etl", name: "complete", rolled: true}
	killed := driver{version: "4.1.4", folder: filepath.Join(t.TempDir(), "logs"), id: "etl", name: "killed", rolled: true}
	old := driver{version: "3.5.9", folder: filepath.Join(t.TempDir(), "logs"), name: "old", rolled: true}
	complete.besideSidecar(t, address, func() { complete.run(t, homes) })
	killed.besideSidecar(t, address, func() { killed.kill(t, homes) })
	old.besideSidecar(t, address, func() { old.run(t, homes) })

	server := start(t, filepath.Join(homes, complete.version), serveView(t, history.NewArchived("team-a", stored)))
	ended, incomplete := server.applications(t, "completed", 2), server.applications(t, "running", 1)
	for i, d := range []driver{complete, old} {
		if app := ended[i]; app.Name != d.name || len(app.Attempts) != 1 {
			t.Errorf("the application of Spark %s is shown as %+v", d.version, app)
		}
		server.expectJob(t, ended[i])
	}
	if app := incomplete[0]; app.Name != killed.name || len(app.Attempts) != 1 {
		t.Errorf("the application that was killed is shown as %+v", app)
	}
	server.expectJob(t, incomplete[0])
}
