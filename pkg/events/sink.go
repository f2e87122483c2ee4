package events

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
)

// Sink receives events. Send returns nil if the sink has acknowledged the event. IsRejected reports whether an error is final.
type Sink interface {
	Send(ctx context.Context, event cloudevents.Event) error
}

// ErrRejected is wrapped by a Sink's error if the sink will never accept the event.
var ErrRejected = errors.New("event rejected")

// IsRejected reports whether the sink will never accept the event. Every other error is worth a retry.
func IsRejected(err error) bool { return errors.Is(err, ErrRejected) }

const (
	// sendTimeout is longer than a broker may take to deliver an event to all of its Triggers. A broker with in-memory channels
	// delivers while the request is open. If the request ended earlier, the broker would cancel its retries and never
	// reach the dead-letter sink. It would also get the event again for all Triggers.
	sendTimeout = 60 * time.Second
	// maxIdleConnections is the number of idle connections to the sink, so that a burst of sends reuses connections.
	maxIdleConnections = 128
	// maxErrorBytes bounds the part of the sink's error text that is stored.
	maxErrorBytes = 512
	// maxDrainBytes bounds the part of a response that is read so that its connection can be reused.
	maxDrainBytes = 64 << 10
)

// HTTPOption configures NewHTTPSink.
type HTTPOption func(*httpSink) error

// WithCACerts makes the sink trust PEM certificates, besides the system's. An empty string changes nothing.
func WithCACerts(pem string) HTTPOption {
	return func(s *httpSink) error {
		if pem == "" {
			return nil
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM([]byte(pem)) {
			return errors.New("K_CA_CERTS holds no PEM certificate")
		}
		s.security.RootCAs = pool
		return nil
	}
}

// WithExtensions sets extension attributes on every event. They replace the event's own.
func WithExtensions(extensions map[string]string) HTTPOption {
	return func(s *httpSink) error {
		probe := cloudevents.NewEvent()
		for name, value := range extensions {
			if err := probe.Context.SetExtension(name, value); err != nil || name == "data" {
				return fmt.Errorf("K_CE_OVERRIDES names %q, which is not a valid extension attribute: %w", name, err)
			}
		}
		s.extensions = extensions
		return nil
	}
}

// WithToken sends every event with the bearer token in a file. The file is read for each event, since the token is renewed. If
// the file is missing and needed is true, no event is sent. If needed is false, events are sent without a token.
//
// A token is sent over https only, since anyone who reads it on the way can use it. WithToken returns an error for an http sink
// if needed is true. Otherwise an http sink gets events without a token.
func WithToken(file string, needed bool) HTTPOption {
	return func(s *httpSink) error {
		if needed && !s.encrypted {
			return errors.New("K_AUDIENCE is set, so each event needs a token, but K_SINK is an http URL and a token is sent over https only: " +
				"enable Knative's transport-encryption, or set K_SINK to the sink's https URL and K_CA_CERTS to its certificates")
		}
		s.tokenFile, s.tokenNeeded = file, needed
		return nil
	}
}

// httpSink sends events to one HTTP endpoint in binary mode. Each call of Send sends one request.
type httpSink struct {
	target string
	// encrypted reports whether the target is an https URL.
	encrypted   bool
	security    *tls.Config
	extensions  map[string]string
	tokenFile   string
	tokenNeeded bool
	client      *http.Client
}

// NewHTTPSink creates a sink for an absolute http or https URL.
func NewHTTPSink(target string, options ...HTTPOption) (Sink, error) {
	address, err := url.Parse(target)
	switch {
	case err != nil:
		return nil, fmt.Errorf("K_SINK is not a URL: %w", err)
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return nil, fmt.Errorf("K_SINK %q is not an absolute http or https URL", address.Redacted())
	}
	s := &httpSink{target: target, encrypted: address.Scheme == "https", security: &tls.Config{MinVersion: tls.VersionTLS12}}
	for _, option := range options {
		if err := option(s); err != nil {
			return nil, err
		}
	}
	s.client = &http.Client{Transport: transport(s.security), Timeout: sendTimeout, CheckRedirect: refuseRedirect}
	return s, nil
}

func transport(security *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:     security,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        maxIdleConnections,
		MaxIdleConnsPerHost: maxIdleConnections,
		IdleConnTimeout:     90 * time.Second,
	}
}

// refuseRedirect makes a redirect a failure. Following it could turn the POST into a GET, and the GET's success would count as
// the event's.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Send posts the event once. The statuses 400, 413 and 422 are a rejection. Every other error is worth a retry.
func (s *httpSink) Send(ctx context.Context, event cloudevents.Event) error {
	request, err := cloudevents.NewHTTPRequestFromEvent(ctx, s.target, s.withExtensions(event))
	if err != nil {
		return fmt.Errorf("%w: encode event %s: %w", ErrRejected, event.ID(), err)
	}
	if err := s.authorize(request); err != nil {
		return fmt.Errorf("send event %s: %w", event.ID(), err)
	}
	// The trace is an HTTP header and no part of the event, so that a repeated event has the same bytes.
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(request.Header))
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("send event %s: %w", event.ID(), err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
	// A failed read costs the connection and nothing else: only the status matters.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDrainBytes))
	err = responseError(event.ID(), response.StatusCode, strings.TrimSpace(strings.ToValidUTF8(string(answer), "")))
	if err != nil && isUnauthorized(response.StatusCode) && s.withholdsToken() {
		return fmt.Errorf("%w: the token in %s was not sent, since K_SINK is an http URL and a token is sent over https only: "+
			"enable Knative's transport-encryption, or set K_SINK to the sink's https URL", err, s.tokenFile)
	}
	return err
}

// isUnauthorized reports whether a sink may have refused a request because it had no token.
func isUnauthorized(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func (s *httpSink) withExtensions(event cloudevents.Event) cloudevents.Event {
	if len(s.extensions) == 0 {
		return event
	}
	event = event.Clone()
	for name, value := range s.extensions {
		event.SetExtension(name, value)
	}
	return event
}

// authorize sets the token in a request to an https sink.
func (s *httpSink) authorize(request *http.Request) error {
	if s.tokenFile == "" || !s.encrypted {
		return nil
	}
	token, err := s.readToken()
	switch {
	case err == nil && token != "":
		request.Header.Set("Authorization", "Bearer "+token)
	case err != nil && (s.tokenNeeded || !errors.Is(err, fs.ErrNotExist)):
		return fmt.Errorf("read token: %w", err)
	case s.tokenNeeded:
		return fmt.Errorf("read token: %s is empty", s.tokenFile)
	}
	return nil
}

// withholdsToken reports whether there is a token that is not sent, since the sink is an http URL.
func (s *httpSink) withholdsToken() bool {
	if s.tokenFile == "" || s.encrypted {
		return false
	}
	token, _ := s.readToken()
	return token != ""
}

func (s *httpSink) readToken() (string, error) {
	token, err := os.ReadFile(s.tokenFile)
	return string(bytes.TrimSpace(token)), err
}

// responseError returns nil if the sink acknowledged the event.
func responseError(id string, status int, answer string) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case isRejection(status):
		return fmt.Errorf("%w: sink answered event %s with %d: %s", ErrRejected, id, status, answer)
	default:
		return fmt.Errorf("sink answered event %s with %d: %s", id, status, answer)
	}
}

// isRejection reports whether a status is about the event itself: 400, 413 and 422. Every other status is about the network, the
// sink's policies or its load. Those can change, so that a retry may succeed.
func isRejection(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}
