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

// Sink takes events. A nil error says that the sink took the event; IsRejected tells whether an error is final.
type Sink interface {
	Send(ctx context.Context, event cloudevents.Event) error
}

// ErrRejected is wrapped by the errors of a Sink that say that this event will never be taken.
var ErrRejected = errors.New("event rejected")

// IsRejected says that the sink refused the event for good. Every other error may pass.
func IsRejected(err error) bool { return errors.Is(err, ErrRejected) }

const (
	// sendTimeout is longer than the time that a broker may take to deliver to all of its Triggers. A broker
	// with in-memory channels delivers while the request is open: if the request ended first, its retries
	// would be cancelled, the dead-letter sink never reached, and the event sent to everybody once more.
	sendTimeout = 60 * time.Second
	// maxIdleConnections are kept to the sink, so that a burst of sends opens no connection for each.
	maxIdleConnections = 128
	// maxErrorBytes is how much of a refusal's text is kept.
	maxErrorBytes = 512
	// maxDrainBytes is how much of an answer is read so that its connection can be used again.
	maxDrainBytes = 64 << 10
)

// HTTPOption adjusts the sink that NewHTTPSink makes.
type HTTPOption func(*httpSink) error

// WithCACerts makes the sink trust these PEM certificates, besides the system's. An empty text changes nothing.
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

// WithExtensions sets extension attributes on every event. They win over those that the event has.
func WithExtensions(extensions map[string]string) HTTPOption {
	return func(s *httpSink) error {
		probe := cloudevents.NewEvent()
		for name, value := range extensions {
			if err := probe.Context.SetExtension(name, value); err != nil || name == "data" {
				return fmt.Errorf("K_CE_OVERRIDES names %q, which is no extension attribute: %w", name, err)
			}
		}
		s.extensions = extensions
		return nil
	}
}

// WithToken sends every event with the bearer token in a file. The file is read for each event, since its owner renews it.
// If the file is missing, an event that needs a token is not sent, and any other event is sent without one.
//
// A token never leaves over plain http: whoever reads it there can use it. An http sink that needs a token is an error. If
// it needs none, events are sent without the token.
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

// httpSink sends events to one HTTP endpoint, in binary mode, one try a call.
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

// NewHTTPSink makes a sink of an absolute http or https URL.
func NewHTTPSink(target string, options ...HTTPOption) (Sink, error) {
	address, err := url.Parse(target)
	switch {
	case err != nil:
		return nil, fmt.Errorf("K_SINK is no URL: %w", err)
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

// refuseRedirect makes a redirect a failure: followed, some of them would turn the POST into a GET, whose
// success would be taken for the event's.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Send posts the event once. The statuses 400, 413 and 422 are a rejection. Every other refusal can pass.
func (s *httpSink) Send(ctx context.Context, event cloudevents.Event) error {
	request, err := cloudevents.NewHTTPRequestFromEvent(ctx, s.target, s.withExtensions(event))
	if err != nil {
		return fmt.Errorf("%w: encode event %s: %w", ErrRejected, event.ID(), err)
	}
	withheld, err := s.authorize(request)
	if err != nil {
		return fmt.Errorf("send event %s: %w", event.ID(), err)
	}
	// In a header of HTTP and not in the event: however often an event is sent, its bytes are the same.
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(request.Header))
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("send event %s: %w", event.ID(), err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
	// What cannot be read costs the connection and nothing else: the status is the answer.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDrainBytes))
	err = responseError(event.ID(), response.StatusCode, strings.TrimSpace(strings.ToValidUTF8(string(answer), "")))
	if err != nil && withheld && isUnauthorized(response.StatusCode) {
		return fmt.Errorf("%w: the token in %s was not sent, since K_SINK is an http URL and a token is sent over https only: "+
			"enable Knative's transport-encryption, or set K_SINK to the sink's https URL", err, s.tokenFile)
	}
	return err
}

// isUnauthorized reports whether a status is the answer to a request that lacks a token.
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

// authorize puts the token into a request to an https sink. For an http sink it reports whether a token was withheld.
func (s *httpSink) authorize(request *http.Request) (withheld bool, err error) {
	if s.tokenFile == "" {
		return false, nil
	}
	token, err := os.ReadFile(s.tokenFile)
	token = bytes.TrimSpace(token)
	switch {
	case !s.encrypted:
		return len(token) > 0, nil
	case err == nil && len(token) > 0:
		request.Header.Set("Authorization", "Bearer "+string(token))
	case err != nil && (s.tokenNeeded || !errors.Is(err, fs.ErrNotExist)):
		return false, fmt.Errorf("read token: %w", err)
	case s.tokenNeeded:
		return false, fmt.Errorf("read token: %s is empty", s.tokenFile)
	}
	return false, nil
}

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

// isRejection reports whether a status is about the event itself: 400, 413 and 422. Every other status is about the way to
// the sink, its policies or its load, which change while the event stays as it is.
func isRejection(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}
