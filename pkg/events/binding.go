package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// SinkBinding holds the environment variables that a Knative SinkBinding sets. They can also be set by hand.
type SinkBinding struct {
	// Sink is an absolute http or https URL. Without it, events do not leave the process.
	Sink string `envconfig:"K_SINK"`
	// CACerts holds PEM certificates that the sink's certificate is verified with, besides the system's.
	CACerts string `envconfig:"K_CA_CERTS"`
	// Overrides is a JSON object. Its "extensions" are set on every event and replace the event's own.
	Overrides string `envconfig:"K_CE_OVERRIDES"`
	// Audience is the audience of the sink's tokens. If it is set, every event needs a token, and Sink must be an https URL.
	Audience string `envconfig:"K_AUDIENCE"`
}

// oidcTokenFile is the file where a SinkBinding mounts the token for the sink.
const oidcTokenFile = "/oidc/token"

// NewSink creates the sink. It returns nil if K_SINK is not set. An error names the invalid variable.
func (b SinkBinding) NewSink() (Sink, error) {
	if b.Sink == "" {
		return nil, nil
	}
	var overrides struct {
		Extensions map[string]string `json:"extensions"`
	}
	if b.Overrides != "" {
		if err := json.Unmarshal([]byte(b.Overrides), &overrides); err != nil {
			return nil, fmt.Errorf(`K_CE_OVERRIDES is not JSON like {"extensions":{"name":"value"}}: %w`, err)
		}
	}
	return NewHTTPSink(b.Sink, WithCACerts(b.CACerts), WithExtensions(overrides.Extensions), WithToken(oidcTokenFile, b.Audience != ""))
}

// InvalidSink returns a sink that accepts no event, since its configuration is invalid. Events stay pending until the process
// is started again with a valid configuration.
func InvalidSink(err error) Sink { return invalidSink{err} }

var errInvalidSink = errors.New("no event is sent until that is corrected and the process started again")

type invalidSink struct{ err error }

func (s invalidSink) Send(context.Context, cloudevents.Event) error {
	return fmt.Errorf("%w: %w", s.err, errInvalidSink)
}
