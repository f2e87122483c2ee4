package drivers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var thisDriver = types.NamespacedName{Namespace: "team-a", Name: "pi-0-driver"}

// logsFrom reads logs from an API server that answers so.
func logsFrom(t *testing.T, answer http.HandlerFunc) *Logs {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return NewLogs(kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1}))
}

// await asks for a log until it is there.
func (l *Logs) await(t *testing.T, uid types.UID) string {
	t.Helper()
	finished := make(chan struct{}, 1)
	for range 2 {
		text, done := l.Tail(t.Context(), thisDriver, uid, "main", 7, func() { finished <- struct{}{} })
		if done {
			return text
		}
		<-finished
	}
	t.Fatal("the log is read, and is not there")
	return ""
}

func TestALogIsReadOnceAndWithinBounds(t *testing.T) {
	var asked atomic.Int64
	logs := logsFrom(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		want := "/api/v1/namespaces/team-a/pods/pi-0-driver/log?container=main&limitBytes=65536&tailLines=7"
		if diff := cmp.Diff(want, r.URL.String()); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		fmt.Fprint(w, "one\ntwo\n")
	})
	for range 3 {
		if got := logs.await(t, "driver"); got != "one\ntwo\n" {
			t.Errorf("the log is %q", got)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the log was read %d times", asked.Load())
	}
}

// Without the right to read logs, or if they cannot be read, the end is reported without them.
func TestALogThatCannotBeReadIsEmpty(t *testing.T) {
	logs := logsFrom(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if got := logs.await(t, "driver"); got != "" {
		t.Errorf("the log is %q", got)
	}
}

// While a node does not answer, no reconcile waits for it, and so many logs are asked for and no more.
func TestReadersOfLogsAreBounded(t *testing.T) {
	release := make(chan struct{})
	logs := logsFrom(t, func(http.ResponseWriter, *http.Request) { <-release })
	finished := make(chan struct{}, maxLogReadersPerNamespace)
	for i := range maxLogReadersPerNamespace {
		if _, done := logs.Tail(t.Context(), thisDriver, types.UID(fmt.Sprint(i)), "main", 1, func() { finished <- struct{}{} }); done {
			t.Errorf("log %d is there before it is read", i)
		}
	}
	if text, done := logs.Tail(t.Context(), thisDriver, "one too many", "main", 1, func() { t.Error("it was read") }); !done || text != "" {
		t.Errorf("one log too many is awaited: %q, %t", text, !done)
	}
	if _, done := logs.Tail(t.Context(), thisDriver, "0", "main", 1, nil); done {
		t.Error("a log is there that is being read")
	}
	elsewhere := types.NamespacedName{Namespace: "team-b", Name: "pi-0-driver"}
	others := make(chan struct{})
	if _, done := logs.Tail(t.Context(), elsewhere, "another's", "main", 1, func() { close(others) }); done {
		t.Error("the log of another namespace is not read beside them")
	}
	close(release)
	<-others
	for range maxLogReadersPerNamespace {
		<-finished
	}
}
