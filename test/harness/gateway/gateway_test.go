package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// behind is an API server behind a gateway.
type behind struct {
	*testing.T
	*Gateway
	client *http.Client
	// carriedOut counts the requests that reached the server.
	carriedOut atomic.Int64
	mutex      sync.Mutex
	counts     map[string]int
}

func newBehind(t *testing.T, rates Rates) *behind {
	t.Helper()
	b := &behind{T: t, counts: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		b.carriedOut.Add(1)
		if !isWatch(request) {
			fmt.Fprint(w, request.Header.Get("Authorization"))
			return
		}
		for i := range 3 {
			fmt.Fprintf(w, "event %d\n", i)
			w.(http.Flusher).Flush()
		}
		<-request.Context().Done()
	}))
	t.Cleanup(server.Close)
	var err error
	b.Gateway, err = New(&rest.Config{Host: server.URL}, filepath.Join(t.TempDir(), "ca.crt"), rates, rng.New(1, t.Name()), b.note)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.client, err = rest.HTTPClientFor(b.Config("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *behind) note(fault string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.counts[fault]++
}

func (b *behind) counted(fault string) int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.counts[fault]
}

// ask sends a request and returns the answer's code, 0 where there is none, and its text.
func (b *behind) ask(method, path string) (int, string) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+path, strings.NewReader("body"))
	if err != nil {
		b.Fatal(err)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func TestRequestsWithoutFaultsPassWithTheirCredentials(t *testing.T) {
	b := newBehind(t, Rates{Write: 1, Read: 1})
	for range 20 {
		if code, text := b.ask(http.MethodPut, "/api"); code != http.StatusOK || text != "Bearer secret" {
			t.Fatalf("answered with %d %s", code, text)
		}
	}
}

func TestEachFaultHasItsEffect(t *testing.T) {
	for _, test := range []struct {
		fault      string
		code       int
		carriedOut int64
	}{
		{"409", 409, 0},
		{"429", 429, 0},
		{"500", 500, 0},
		{"503", 503, 0},
		{"504", 504, 0},
		{"request lost", 0, 0},
		{"answer lost", 0, 1},
		{"late", 200, 1},
	} {
		t.Run(test.fault, func(t *testing.T) {
			b := newBehind(t, Rates{})
			b.faults = only(test.fault)
			b.rates = Rates{Write: 1}
			b.Storm()
			if code, text := b.ask(http.MethodPut, "/api"); code != test.code || b.carriedOut.Load() != test.carriedOut {
				t.Errorf("answered with %d %s, and %d requests were carried out", code, text, b.carriedOut.Load())
			}
			if b.counted("api "+test.fault) != 1 {
				t.Errorf("counted %v", b.counts)
			}
			if code, _ := b.ask(http.MethodPost, "/api/v1/namespaces/default/events"); code != 200 {
				t.Errorf("a Kubernetes Event is answered with %d", code)
			}
		})
	}
}

func only(name string) []fault {
	for _, f := range faults {
		if f.name == name {
			return []fault{f}
		}
	}
	return nil
}

func TestAWatchThatIsResumedMayBeTooOld(t *testing.T) {
	b := newBehind(t, Rates{TooOld: 1})
	b.faults = only("410")
	b.Storm()
	if code, _ := b.ask(http.MethodGet, "/api?watch=true&resourceVersion=5"); code != http.StatusGone {
		t.Errorf("answered with %d", code)
	}
}

func TestAWatchIsCut(t *testing.T) {
	b := newBehind(t, Rates{WatchLife: time.Millisecond})
	b.Storm()
	for cut := 1; ; cut++ {
		code, _ := b.ask(http.MethodGet, "/api?watch=true")
		if b.counted("watch cut") != cut || code != 0 && code != 200 {
			t.Fatalf("the watch ended with %d, and counted are %v", code, b.counts)
		}
		if code == 200 { // else it was cut before its answer began
			return
		}
	}
}

func TestAStaleWatchKeepsTheOrderOfItsEvents(t *testing.T) {
	b := newBehind(t, Rates{WatchLife: time.Hour, Stale: 1, Delay: 20 * time.Millisecond})
	b.Storm()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+"/api?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text := make([]byte, len("event 0\nevent 1\nevent 2\n"))
	if _, err := io.ReadFull(answer.Body, text); err != nil || string(text) != "event 0\nevent 1\nevent 2\n" {
		t.Errorf("read %q, %v", text, err)
	}
	if b.counted("watch stale") == 0 {
		t.Error("nothing came late")
	}
}

func TestOutageRefusesAllRequests(t *testing.T) {
	b := newBehind(t, Rates{})
	ctx, over := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Outage(ctx, time.Hour)
	}()
	for b.closed.Load() == 0 {
		runtime.Gosched()
	}
	if code, _ := b.ask(http.MethodGet, "/api"); code != 0 {
		t.Errorf("answered with %d", code)
	}
	over()
	<-ended
	if code, _ := b.ask(http.MethodGet, "/api"); code != http.StatusOK {
		t.Errorf("after the outage answered with %d", code)
	}
}
