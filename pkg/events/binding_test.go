package events

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

func TestNoSinkIsNamed(t *testing.T) {
	if sink, err := (Binding{CACerts: "any", Overrides: "any"}).NewSink(); sink != nil || err != nil {
		t.Errorf("NewSink = %v, %v", sink, err)
	}
}

func TestBindingsThatCannotBeUsed(t *testing.T) {
	const broker = "http://broker"
	for name, test := range map[string]struct {
		binding Binding
		names   string
	}{
		"a word for a URL":            {Binding{Sink: "broker"}, `K_SINK "broker"`},
		"another scheme":              {Binding{Sink: "ftp://broker"}, `K_SINK "ftp://broker"`},
		"no host":                     {Binding{Sink: "http://"}, `K_SINK "http:"`},
		"a path":                      {Binding{Sink: "/path"}, `K_SINK "/path"`},
		"what is no URL":              {Binding{Sink: "http://a b"}, "K_SINK"},
		"no host, with a password":    {Binding{Sink: "http://me:secret@"}, "K_SINK"},
		"certificates that are none":  {Binding{Sink: broker, CACerts: "no certificate"}, "K_CA_CERTS"},
		"overrides that are no JSON":  {Binding{Sink: broker, Overrides: "cluster=prod"}, "K_CE_OVERRIDES"},
		"an override that is no text": {Binding{Sink: broker, Overrides: `{"extensions":{"cluster":1}}`}, "K_CE_OVERRIDES"},
		"an extension with a dash":    {Binding{Sink: broker, Overrides: `{"extensions":{"my-cluster":"prod"}}`}, `K_CE_OVERRIDES names "my-cluster"`},
		"an attribute of CloudEvents": {Binding{Sink: broker, Overrides: `{"extensions":{"id":"1"}}`}, `K_CE_OVERRIDES names "id"`},
		"the data":                    {Binding{Sink: broker, Overrides: `{"extensions":{"data":"1"}}`}, `K_CE_OVERRIDES names "data"`},
		"an extension without a name": {Binding{Sink: broker, Overrides: `{"extensions":{"":"1"}}`}, `K_CE_OVERRIDES names ""`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.binding.NewSink()
			if err == nil || !strings.Contains(err.Error(), test.names) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error is %v, want one that names %s, without a password", err, test.names)
			}
			if sendErr := Unusable(err).Send(t.Context(), clockEvent(t, pi)); classOf(sendErr) != "transient" {
				t.Errorf("an event is %s by a sink that cannot be used: %v", classOf(sendErr), sendErr)
			}
		})
	}
}

// bound is a sink with a certificate of its own that tells what it was sent.
func bound(t *testing.T, answer func(*http.Request) int) (*httptest.Server, Binding) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(answer(r))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server, Binding{Sink: server.URL, CACerts: string(authority)}
}

func TestOnlyAKnownAuthorityIsTrusted(t *testing.T) {
	_, binding := bound(t, func(*http.Request) int { return http.StatusOK })
	stranger := binding
	stranger.CACerts = ""
	for want, binding := range map[string]Binding{"taken": binding, "transient": stranger} {
		sink, err := binding.NewSink()
		must(t, err)
		if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != want {
			t.Errorf("Send = %v, want %s", err, want)
		}
	}
}

func TestOverridesWinAndAreTheSameEachTime(t *testing.T) {
	var sent []string
	_, binding := bound(t, func(r *http.Request) int {
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
	event, err := ForTransition(pi, failed())
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

// TestTokensAreThoseOfTheMoment has a token renewed while events are sent, as a SinkBinding does.
func TestTokensAreThoseOfTheMoment(t *testing.T) {
	valid := "first"
	server, binding := bound(t, func(r *http.Request) int {
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
	expect("without a token that is needed", send(true), "transient")
	expect("without one where it may be", send(false), "transient")
	must(t, os.WriteFile(file, []byte("first\n"), 0o600))
	expect("with the token", send(true), "taken")
	valid = "second"
	expect("with a token that has expired", send(true), "transient")
	must(t, os.WriteFile(file, []byte("second"), 0o600))
	expect("with the next one", send(true), "taken")
	must(t, os.WriteFile(file, nil, 0o600))
	expect("with an empty file", send(true), "transient")
}

func TestAnAudienceNeedsAToken(t *testing.T) {
	if _, err := os.Stat(tokenFile); err == nil {
		t.Fatalf("%s exists here", tokenFile)
	}
	_, binding := bound(t, func(*http.Request) int { return http.StatusOK })
	for audience, want := range map[string]string{"": "taken", "broker": "transient"} {
		binding.Audience = audience
		sink, err := binding.NewSink()
		must(t, err)
		if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != want {
			t.Errorf("with the audience %q the event is %s: %v", audience, classOf(err), err)
		}
	}
}
