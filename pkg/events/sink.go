package events

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	// idleConnections are kept to the sink, so that a burst of sends opens no connection for each.
	idleConnections = 128
	// answerLimit is how much of a refusal's text is kept.
	answerLimit = 512
	// drainLimit is how much of an answer is read so that its connection can be used again.
	drainLimit = 64 << 10
)

// HTTPOption adjusts the sink that NewHTTPSink makes.
type HTTPOption func(*tls.Config) error

// WithCACerts makes the sink trust these PEM certificates, besides the system's: what a SinkBinding puts into
// K_CA_CERTS. An empty text changes nothing.
func WithCACerts(pem string) HTTPOption {
	return func(config *tls.Config) error {
		if pem == "" {
			return nil
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM([]byte(pem)) {
			return errors.New("CA certificates hold no PEM certificate")
		}
		config.RootCAs = pool
		return nil
	}
}

// httpSink sends events to one HTTP endpoint, in binary mode, one try a call.
type httpSink struct {
	target string
	client *http.Client
}

// NewHTTPSink makes a sink of an absolute http or https URL.
func NewHTTPSink(target string, options ...HTTPOption) (Sink, error) {
	address, err := url.Parse(target)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sink: %w", err)
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return nil, fmt.Errorf("sink %q is not an absolute http or https URL", target)
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, option := range options {
		if err := option(security); err != nil {
			return nil, fmt.Errorf("sink %q: %w", target, err)
		}
	}
	return &httpSink{target: target, client: &http.Client{
		Transport:     transport(security),
		Timeout:       sendTimeout,
		CheckRedirect: answerRedirects,
	}}, nil
}

func transport(security *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:     security,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     90 * time.Second,
	}
}

// answerRedirects makes a redirect a failure: followed, some of them would turn the POST into a GET, whose
// success would be taken for the event's.
func answerRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Send posts the event once. A status of 4xx is a rejection, except for those that can pass: 404, 408, 409, 429.
func (s *httpSink) Send(ctx context.Context, event cloudevents.Event) error {
	request, err := cloudevents.NewHTTPRequestFromEvent(ctx, s.target, event)
	if err != nil {
		return fmt.Errorf("%w: encode event %s: %w", ErrRejected, event.ID(), err)
	}
	// In a header of HTTP and not in the event: however often an event is sent, its bytes are the same.
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(request.Header))
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("send event %s: %w", event.ID(), err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	// What cannot be read costs the connection and nothing else: the status is the answer.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, drainLimit))
	return verdict(event.ID(), response.StatusCode, strings.TrimSpace(strings.ToValidUTF8(string(answer), "")))
}

func verdict(id string, status int, answer string) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case refusesForGood(status):
		return fmt.Errorf("%w: sink answered event %s with %d: %s", ErrRejected, id, status, answer)
	default:
		return fmt.Errorf("sink answered event %s with %d: %s", id, status, answer)
	}
}

func refusesForGood(status int) bool {
	switch status {
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return status >= 400 && status < 500
	}
}
