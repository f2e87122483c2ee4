package kube_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

func TestAWatchThatWasRefusedIsNotResumed(t *testing.T) {
	client := clientOf(t, &rest.Config{Host: "http://127.0.0.1:1"}) // nothing listens there
	if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); err == nil || utilnet.IsConnectionRefused(err) {
		t.Errorf("a watch fails with %v, after which client-go resumes it", err)
	}
	if _, err := client.CoreV1().Pods("").Get(t.Context(), "pod", metav1.GetOptions{}); !utilnet.IsConnectionRefused(err) {
		t.Errorf("a read fails with %v", err)
	}
}

// clientOf returns a client as the programs of Firesteel have it.
func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	kube.Configure(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// shortWatches is an API server that ends each watch after one event, and a client of it. If it interrupts them, no watch ends as it should.
func shortWatches(t *testing.T, interrupts bool) (*httptest.Server, kubernetes.Interface) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod"}}}`))
		if interrupts {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, clientOf(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
}

func TestAnInterruptedWatchIsNotResumed(t *testing.T) {
	_, client := shortWatches(t, true)
	long := int64(300)
	resume := metav1.ListOptions{ResourceVersion: "7", LabelSelector: "a=b", TimeoutSeconds: &long}
	another := metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &long}
	fresh := metav1.ListOptions{ResourceVersion: "7", LabelSelector: "a=b", TimeoutSeconds: &long, SendInitialEvents: ptr.To(true)}
	for _, step := range []struct {
		what    string
		options metav1.ListOptions
		fails   bool
	}{
		{"the first watch", resume, false}, {"the watch after an interruption", resume, true}, {"the one after that", resume, false},
		{"another watch", another, false}, {"a watch that lists", fresh, false}, {"a watch after that was interrupted", resume, true},
	} {
		w, err := client.CoreV1().Pods("").Watch(t.Context(), step.options)
		if failed := err != nil; failed != step.fails {
			t.Fatalf("%s fails: %t, want %t (%v)", step.what, failed, step.fails, err)
		}
		if err == nil {
			untilEnd(w)
		}
	}
}

// A busy API server ends the watches of clients to which it cannot send fast enough.
func TestAWatchThatTheAPIServerEndedIsResumedOnTheSameConnection(t *testing.T) {
	server, client := shortWatches(t, false)
	long := int64(300)
	options := metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &long}
	for range 3 {
		w, err := client.CoreV1().Pods("").Watch(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		untilEnd(w)
	}
	server.CloseClientConnections() // as a restart does
	if w, err := client.CoreV1().Pods("").Watch(t.Context(), options); err == nil || !strings.Contains(err.Error(), "watch is not resumed") {
		t.Errorf("a watch on another connection is %v (%v)", w, err)
	}
	w, err := client.CoreV1().Pods("").Watch(t.Context(), options)
	if err != nil {
		t.Fatalf("a watch after a list: %v", err)
	}
	untilEnd(w)
}

// client-go repeats the request for a watch after such errors, and another API server may answer the second one.
func TestAWatchWhoseRequestIsInterruptedIsNotRepeated(t *testing.T) {
	for _, cut := range []error{io.EOF, os.ErrDeadlineExceeded, syscall.ECONNRESET, syscall.ECONNREFUSED} {
		requests := 0
		config := &rest.Config{Host: "http://kubernetes", Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			requests++
			return nil, cut
		})}
		client := clientOf(t, config)
		_, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
		if err == nil || !strings.Contains(err.Error(), "watch is not resumed") || requests != 1 {
			t.Errorf("%v: %d requests, and then %v", cut, requests, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestAWatchThatTheAPIServerPutOffIsRepeatedOnTheSameConnectionOnly(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		requests := 0
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests++; requests > 1 {
				return
			}
			if restarts {
				w.Header().Set("Connection", "close")
			}
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		server.EnableHTTP2 = !restarts // a connection of HTTP/1.1 is not used again if its writer is slow
		server.StartTLS()
		client := clientOf(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
		w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
		if (err == nil) == restarts {
			t.Errorf("the API server restarts: %t, and the watch is repeated: %t (%v)", restarts, err == nil, err)
		}
		if err == nil {
			untilEnd(w)
		}
		server.Close()
	}
}

func TestAWatchThatBeginsWithAllObjectsIsRepeated(t *testing.T) {
	requests := 0
	config := &rest.Config{Host: "http://kubernetes", Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		if requests++; requests == 1 {
			return nil, io.EOF
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody}, nil
	})}
	client := clientOf(t, config)
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: ptr.To(true)})
	if err != nil || requests != 2 {
		t.Fatalf("%d requests, and then %v", requests, err)
	}
	untilEnd(w)
}

// An API server without watch-lists refuses each, and the informer lists.
func TestAWatchAfterARefusedOneOnAnotherConnectionIsTaken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	}))
	defer server.Close()
	client := clientOf(t, &rest.Config{Host: server.URL})
	if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: ptr.To(true)}); err == nil {
		t.Fatal("the API server takes a watch that begins with all objects")
	}
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(w)
}

func TestAWatchThatEndedInTimeIsResumed(t *testing.T) {
	_, client := shortWatches(t, false)
	over := int64(0)
	for range 3 {
		w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &over})
		if err != nil {
			t.Fatal(err)
		}
		untilEnd(w)
	}
}

// The machine of an API server may be gone for longer than the watch was to last.
func TestAWatchThatIsCutAfterItsTimeIsNotResumed(t *testing.T) {
	_, client := shortWatches(t, true)
	over := int64(0)
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &over})
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(w)
	if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &over}); err == nil {
		t.Error("it is resumed")
	}
}

func TestAWatchThatTheClientStopsIsResumed(t *testing.T) {
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(held)
	client, long := clientOf(t, &rest.Config{Host: server.URL}), int64(300)
	for range 3 {
		w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: &long})
		if err != nil {
			t.Fatal(err)
		}
		w.Stop()
		untilEnd(w)
	}
}

func untilEnd(w watch.Interface) {
	for range w.ResultChan() {
	}
}

func TestAWatchWithAResponseIsLeftAlone(t *testing.T) {
	_, client := shortWatches(t, false)
	w, err := client.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if event, ok := <-w.ResultChan(); !ok || event.Type != "ADDED" {
		t.Errorf("it shows %v", event)
	}
}
