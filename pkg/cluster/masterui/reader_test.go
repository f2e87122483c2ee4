package masterui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
)

var pi = Master{Namespace: "team-a", Service: "pi-master-svc", Port: 8090}

// page is the page of a master of Spark 4.1, shortened.
const page = `{"url":"spark://pi-master-0:7077","workers":[{"id":"worker-1","host":"10.1.2.3","state":"ALIVE"},` +
	`{"id":"worker-2","host":"10.1.2.4","state":"DEAD"}],"aliveworkers":1,"cores":2,"activeapps":[],"status":"ALIVE"}`

func TestReaderAddresses(t *testing.T) {
	through, err := ThroughAPIServer(&rest.Config{Host: "https://api.example.com:6443/clusters/c1"})
	if err != nil {
		t.Fatal(err)
	}
	for want, reader := range map[string]Reader{
		"http://pi-master-svc.team-a.svc:8090/json/":                                                               Direct(),
		"https://api.example.com:6443/clusters/c1/api/v1/namespaces/team-a/services/pi-master-svc:web/proxy/json/": through,
	} {
		if got := reader.Address(pi).String(); got != want {
			t.Errorf("asks %s, want %s", got, want)
		}
	}
}

// answering answers every request in the same way.
func answering(t *testing.T, answer http.HandlerFunc) Reader {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return at(t, server.URL)
}

// at is a reader that connects to one address for all masters.
func at(t *testing.T, address string) Reader {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	reader := Direct()
	reader.Address = func(Master) *url.URL { return parsed.JoinPath("json/") }
	return reader
}

func TestAPageIsRead(t *testing.T) {
	var asked *http.Request
	reader := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		fmt.Fprint(w, page)
	})
	got, err := reader.Read(t.Context(), pi)
	if err != nil || got != (Page{Status: "ALIVE", AliveWorkers: 1}) {
		t.Errorf("read %+v: %v", got, err)
	}
	if asked.Method != http.MethodGet || asked.URL.Path != "/json/" {
		t.Errorf("asked %s %s", asked.Method, asked.URL)
	}
	for _, header := range []string{"Authorization", "Cookie"} {
		if value := asked.Header.Get(header); value != "" {
			t.Errorf("the master gets %s: %s", header, value)
		}
	}
}

func TestErrorsOfAnswersWithoutAPage(t *testing.T) {
	const none = "what answers is not the page of a master"
	for name, test := range map[string]struct {
		status     int
		body, want string
		closed     bool
	}{
		"no JSON":               {status: 200, body: "<html>", want: none},
		"cut":                   {status: 200, body: page[:len(page)-1], want: none},
		"another's JSON":        {status: 200, body: `{"status":"UP"}`, want: none},
		"a status of its own":   {status: 200, body: `{"status":"ALIVE <b>","aliveworkers":1}`, want: none},
		"no number of workers":  {status: 200, body: `{"status":"ALIVE"}`, want: none},
		"fewer than no workers": {status: 200, body: `{"status":"ALIVE","aliveworkers":-1}`, want: none},
		"too many workers":      {status: 200, body: `{"status":"ALIVE","aliveworkers":3000000000}`, want: none},
		"endless":               {status: 200, body: `{"x":"` + strings.Repeat("x", 5<<20) + `"}`, want: "its page is larger than 4 MiB"},
		"not found":             {status: 404, want: "it answers 404 Not Found"},
		"broken":                {status: 500, body: page, want: "it answers 500 Internal Server Error"},
		"a filter":              {status: 403, body: "Authorization header is missing.", want: "it answers 403 Forbidden", closed: true},
		"a password":            {status: 401, want: "it answers 401 Unauthorized", closed: true},
		"not the master": {
			status: 503, body: `{"kind":"Status","apiVersion":"v1","message":"dial tcp 10.1.2.3:8080","code":503}`,
			want: "the API server, as its proxy, answers 503 Service Unavailable",
		},
		"no access to the proxy": {
			status: 403, body: `{"kind":"Status","apiVersion":"v1","reason":"Forbidden","code":403}`,
			want: "the API server, as its proxy, answers 403 Forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			reader := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			})
			_, err := reader.Read(t.Context(), pi)
			if err == nil || err.Error() != test.want {
				t.Errorf("says %v, want %s", err, test.want)
			}
			if errors.As(err, new(*Closed)) != test.closed {
				t.Errorf("%v: closed is not %t", err, test.closed)
			}
		})
	}
}

// A user who may create a cluster must not be able to make the controller send requests to other servers.
func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer elsewhere.Close()
	reader := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	})
	_, err := reader.Read(t.Context(), pi)
	if !errors.As(err, new(*Closed)) || err.Error() != "it answers 302 Found" {
		t.Errorf("says %v", err)
	}
}

func TestTheProxySettingsOfTheProcessAreIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	reader := answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
	if _, err := reader.Read(t.Context(), pi); err != nil {
		t.Error(err)
	}
}

func TestErrorsWithoutAnAnswerAreStable(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for want, err := range map[string]error{
		"its name is not known":        dial(&net.DNSError{Err: "no such host", Name: "pi-master-svc", IsNotFound: true}),
		"its name cannot be looked up": dial(&net.DNSError{Err: "server misbehaving", Name: "pi-master-svc", Server: "10.96.0.10:53"}),
		"there is no answer in time":   dial(&net.DNSError{Err: "i/o timeout", IsTimeout: true}),
		"connection refused":           dial(syscall.ECONNREFUSED),
		"no route to host":             dial(syscall.EHOSTUNREACH),
		"the connection is lost":       io.EOF,
	} {
		reader := Direct()
		reader.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
		if _, got := reader.Read(t.Context(), pi); got == nil || got.Error() != want {
			t.Errorf("of %v it says %q, want %q", err, got, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAnswerHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := Direct()
		reader.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		_, err := reader.Read(context.Background(), pi)
		if took := time.Since(began); took != 5*time.Second || err == nil || err.Error() != "there is no answer in time" {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
