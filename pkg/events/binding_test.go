package events

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

func TestSinkBindingWithoutSink(t *testing.T) {
	if sink, err := (SinkBinding{CACerts: "any", Overrides: "any"}).NewSink(); sink != nil || err != nil {
		t.Errorf("NewSink = %v, %v", sink, err)
	}
}

func TestSinkBindingRefusesInvalidVariables(t *testing.T) {
	const broker = "http://broker"
	for name, test := range map[string]struct {
		binding SinkBinding
		names   string
	}{
		"a word for a URL":                 {SinkBinding{Sink: "broker"}, `K_SINK "broker"`},
		"an unknown scheme":                {SinkBinding{Sink: "ftp://broker"}, `K_SINK "ftp://broker"`},
		"no host":                          {SinkBinding{Sink: "http://"}, `K_SINK "http:"`},
		"a path":                           {SinkBinding{Sink: "/path"}, `K_SINK "/path"`},
		"an audience over plain http":      {SinkBinding{Sink: broker, Audience: "broker"}, "K_AUDIENCE"},
		"an invalid URL":                   {SinkBinding{Sink: "http://a b"}, "K_SINK"},
		"no host, with a password":         {SinkBinding{Sink: "http://me:secret@"}, "K_SINK"},
		"invalid certificates":             {SinkBinding{Sink: broker, CACerts: "no certificate"}, "K_CA_CERTS"},
		"overrides that are not JSON":      {SinkBinding{Sink: broker, Overrides: "cluster=prod"}, "K_CE_OVERRIDES"},
		"an override that is not a string": {SinkBinding{Sink: broker, Overrides: `{"extensions":{"cluster":1}}`}, "K_CE_OVERRIDES"},
		"an extension with a dash":         {SinkBinding{Sink: broker, Overrides: `{"extensions":{"my-cluster":"prod"}}`}, `K_CE_OVERRIDES names "my-cluster"`},
		"an attribute of CloudEvents":      {SinkBinding{Sink: broker, Overrides: `{"extensions":{"id":"1"}}`}, `K_CE_OVERRIDES names "id"`},
		"the data":                         {SinkBinding{Sink: broker, Overrides: `{"extensions":{"data":"1"}}`}, `K_CE_OVERRIDES names "data"`},
		"an extension without a name":      {SinkBinding{Sink: broker, Overrides: `{"extensions":{"":"1"}}`}, `K_CE_OVERRIDES names ""`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.binding.NewSink()
			if err == nil || !strings.Contains(err.Error(), test.names) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error is %v, want one that names %s, without a password", err, test.names)
			}
			if sendErr := InvalidSink(err).Send(t.Context(), clockEvent(t, pi)); classOf(sendErr) != "transient" {
				t.Errorf("an event is %s by an invalid sink: %v", classOf(sendErr), sendErr)
			}
		})
	}
}

// newTLSSink starts an https server, and returns it with a SinkBinding that trusts its certificate.
func newTLSSink(t *testing.T, answer func(*http.Request) int) (*httptest.Server, SinkBinding) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(answer(r))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server, SinkBinding{Sink: server.URL, CACerts: string(authority)}
}

func TestSinkBindingTrustsOnlyItsCertificates(t *testing.T) {
	_, binding := newTLSSink(t, func(*http.Request) int { return http.StatusOK })
	untrusting := binding
	untrusting.CACerts = ""
	for want, binding := range map[string]SinkBinding{"taken": binding, "transient": untrusting} {
		sink, err := binding.NewSink()
		must(t, err)
		if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != want {
			t.Errorf("Send = %v, want %s", err, want)
		}
	}
}

func TestSinkBindingOverridesReplaceExtensions(t *testing.T) {
	var sent []string
	_, binding := newTLSSink(t, func(r *http.Request) int {
		event, err := cloudevents.NewEventFromHTTPRequest(r)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, wire(t, *event))
		return http.StatusOK
	})
	binding.Overrides = `{"extensions":{"cluster":"prod-1","sparkname":"other"}}`
	sink, err := binding.NewSink()
	must(t, err)
	event, err := NewTransitionEvent(pi, failed())
	must(t, err)
	before := wire(t, event)
	must(t, sink.Send(t.Context(), event))
	must(t, sink.Send(t.Context(), event))
	event.SetExtension("cluster", "prod-1")
	event.SetExtension("sparkname", "other")
	if want := wire(t, event); sent[0] != want || sent[1] != want {
		t.Errorf("sent was %s, want twice %s, from %s", sent, want, before)
	}
}

// A SinkBinding renews its token while the process runs.
func TestSinkTokenIsReadForEachEvent(t *testing.T) {
	valid := "first"
	server, binding := newTLSSink(t, func(r *http.Request) int {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			return http.StatusUnauthorized
		}
		return http.StatusAccepted
	})
	file := filepath.Join(t.TempDir(), "token")
	send := func(needed bool) error {
		sink, err := NewHTTPSink(server.URL, WithCACerts(binding.CACerts), WithToken(file, needed))
		must(t, err)
		return sink.Send(t.Context(), clockEvent(t, pi))
	}
	expect := func(when string, err error, want string) {
		t.Helper()
		if got := classOf(err); got != want || err != nil && strings.Contains(err.Error(), "first") {
			t.Errorf("%s it is %s: %v, want %s", when, got, err, want)
		}
	}
	expect("without a required token", send(true), "transient")
	expect("without an optional token", send(false), "transient")
	must(t, os.WriteFile(file, []byte("first\n"), 0o600))
	expect("with the token", send(true), "taken")
	valid = "second"
	expect("with a token that has expired", send(true), "transient")
	must(t, os.WriteFile(file, []byte("second"), 0o600))
	expect("with the next one", send(true), "taken")
	must(t, os.WriteFile(file, nil, 0o600))
	expect("with an empty file", send(true), "transient")
}

func TestSinkBindingWithAudienceNeedsAToken(t *testing.T) {
	if _, err := os.Stat(oidcTokenFile); err == nil {
		t.Fatalf("%s exists here", oidcTokenFile)
	}
	_, binding := newTLSSink(t, func(*http.Request) int { return http.StatusOK })
	for audience, want := range map[string]string{"": "taken", "broker": "transient"} {
		binding.Audience = audience
		sink, err := binding.NewSink()
		must(t, err)
		if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != want {
			t.Errorf("with the audience %q the event is %s: %v", audience, classOf(err), err)
		}
	}
}

// Anyone on the way can read a token that is sent over http.
func TestSinkTokenIsSentOverHTTPSOnly(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("secret-token"), 0o600))
	for name, test := range map[string]struct {
		serve         func(http.Handler) *httptest.Server
		answer        int
		authorization string
		want          string
		says          string
	}{
		"https":                      {httptest.NewTLSServer, http.StatusAccepted, "Bearer secret-token", "taken", ""},
		"http":                       {httptest.NewServer, http.StatusAccepted, "", "taken", ""},
		"http, and it wants a token": {httptest.NewServer, http.StatusUnauthorized, "", "transient", "https URL"},
		"http, and it forbids":       {httptest.NewServer, http.StatusForbidden, "", "transient", "https URL"},
		"http, and it is overloaded": {httptest.NewServer, http.StatusServiceUnavailable, "", "transient", "503"},
	} {
		t.Run(name, func(t *testing.T) {
			var authorization string
			server := test.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				authorization = r.Header.Get("Authorization")
				w.WriteHeader(test.answer)
			}))
			defer server.Close()
			sink, err := NewHTTPSink(server.URL, WithToken(token, false), trusting(server))
			must(t, err)
			err = sink.Send(t.Context(), clockEvent(t, pi))
			if classOf(err) != test.want || authorization != test.authorization {
				t.Errorf("the event is %s (%v) and authorization %q, want %s and %q", classOf(err), err, authorization, test.want, test.authorization)
			}
			if test.says != "" && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret-token")) {
				t.Errorf("the error is %q, want it to say %q, without the token", err, test.says)
			}
		})
	}
}

// trusting makes the sink trust the certificate of a test server, if it has one.
func trusting(server *httptest.Server) HTTPOption {
	if server.Certificate() == nil {
		return WithCACerts("")
	}
	return WithCACerts(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
}

// The token is for the configured sink only.
func TestSinkTokenFollowsNoRedirect(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("secret-token"), 0o600))
	var followed atomic.Int32
	elsewhere := http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { followed.Add(1) })
	plain, encrypted := httptest.NewServer(elsewhere), httptest.NewTLSServer(elsewhere)
	defer plain.Close()
	defer encrypted.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for _, location := range []string{plain.URL, encrypted.URL} {
			server, binding := newTLSSink(t, func(*http.Request) int { return status })
			handler := server.Config.Handler
			server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", location)
				handler.ServeHTTP(w, r)
			})
			sink, err := NewHTTPSink(server.URL, WithCACerts(binding.CACerts), WithToken(token, true))
			must(t, err)
			if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != "transient" || followed.Load() != 0 {
				t.Errorf("%d to %s: the event is %s (%v), and was sent on %d time(s)", status, location, classOf(err), err, followed.Load())
			}
		}
	}
}

// A proxy sees only the host of an https sink.
func TestSinkTokenIsHiddenFromAProxy(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("secret-token"), 0o600))
	var seen []http.Header
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		if r.Method != http.MethodConnect {
			t.Errorf("the proxy was asked to %s", r.Method)
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	must(t, err)
	sink, err := NewHTTPSink("https://broker.example", WithToken(token, true))
	must(t, err)
	sink.(*httpSink).client.Transport.(*http.Transport).Proxy = http.ProxyURL(address)
	if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != "transient" {
		t.Errorf("the event is %s: %v", classOf(err), err)
	}
	if len(seen) != 1 || seen[0].Get("Authorization") != "" {
		t.Errorf("the proxy saw %v", seen)
	}
}

func TestSinkBindingWithAudienceNeedsHTTPS(t *testing.T) {
	_, err := SinkBinding{Sink: "http://broker-ingress.knative-eventing.svc.cluster.local/firesteel-system/firesteel", Audience: "broker"}.NewSink()
	if err == nil || !strings.Contains(err.Error(), "K_AUDIENCE") || !strings.Contains(err.Error(), "https URL") {
		t.Errorf("error is %v, want one that names K_AUDIENCE and the https URL", err)
	}
}
