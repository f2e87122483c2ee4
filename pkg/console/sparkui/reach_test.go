package sparkui_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
)

// forward connects to the driver of the env, in the place of an API server.
func (e *env) forward(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	return e.dial(ctx, "tcp", fmt.Sprintf("%s/%s:%d", namespace, pod, port))
}

func TestConnectionsAreForwardedToTheDriversPod(t *testing.T) {
	e := newEnvWith(t, func(e *env, options *sparkui.Options) { options.Forward = e.forward })
	e.drivers[etl].Pod, e.drivers[etl].IP, e.drivers[etl].HostNetwork = "etl.1-driver", "", true
	ann := e.browser("ann")
	if got := ann.ticket(etl); got.StatusCode != http.StatusForbidden {
		t.Errorf("without the right to forward ports: %d %q", got.StatusCode, got.body)
	}
	e.rights["ann"] = append(e.rights["ann"], "forward team-a/etl.1-driver")
	visit := ann.visit(etl)
	if got := ann.send(http.MethodGet, visit+"/jobs/?a=b"); got.StatusCode != http.StatusOK || got.body != "GET /jobs/?a=b" {
		t.Errorf("the UI: %d %q", got.StatusCode, got.body)
	}
	e.serve = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/jobs/", http.StatusFound)
	}
	if got := ann.send(http.MethodGet, visit+"/"); !strings.HasSuffix(got.Header.Get("Location"), "/jobs/") || !strings.HasPrefix(got.Header.Get("Location"), "/ui/") {
		t.Errorf("a redirection: %d %q", got.StatusCode, got.Header.Get("Location"))
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !slices.Contains(e.dialed, "team-a/etl.1-driver:4040") || slices.ContainsFunc(e.dialed, func(address string) bool { return !strings.HasPrefix(address, "team-a/etl.1-driver:") }) {
		t.Errorf("the console connected to %q", e.dialed)
	}
}

func TestDriverWithoutAPodHasNoUI(t *testing.T) {
	e := newEnvWith(t, func(e *env, options *sparkui.Options) { options.Forward = e.forward })
	e.drivers[etl].Pod = ""
	if got := e.browser("ann").ticket(etl); got.StatusCode != http.StatusNotFound {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
}
