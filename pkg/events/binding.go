package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// SinkBinding is what a Knative SinkBinding tells a process of its sink. All of it may as well be set by hand.
type SinkBinding struct {
	// Sink is where events go, an absolute http or https URL. Without one they stay in the process.
	Sink string `envconfig:"K_SINK"`
	// CACerts are PEM certificates to trust there, besides the system's.
	CACerts string `envconfig:"K_CA_CERTS"`
	// Overrides is a JSON object whose "extensions" are set on every event, over those that it has.
	Overrides string `envconfig:"K_CE_OVERRIDES"`
	// Audience is the audience of the sink's tokens. If it is set, no event leaves without a token, and the sink must be an https
	// URL.
	Audience string `envconfig:"K_AUDIENCE"`
}

// oidcTokenFile is where a SinkBinding mounts the token for the sink.
const oidcTokenFile = "/oidc/token"

// NewSink makes the sink; it is nil where none is named. An error says which variable cannot be used.
func (b SinkBinding) NewSink() (Sink, error) {
	if b.Sink == "" {
		return nil, nil
	}
	var overrides struct {
		Extensions map[string]string `json:"extensions"`
	}
	if b.Overrides != "" {
		if err := json.Unmarshal([]byte(b.Overrides), &overrides); err != nil {
			return nil, fmt.Errorf(`K_CE_OVERRIDES is not like {"extensions":{"name":"value"}}: %w`, err)
		}
	}
	return NewHTTPSink(b.Sink, WithCACerts(b.CACerts), WithExtensions(overrides.Extensions), WithToken(oidcTokenFile, b.Audience != ""))
}

// InvalidSink is a sink that takes nothing, for a reason that does not pass while the process runs: each event waits until
// a process has a better one.
func InvalidSink(err error) Sink { return invalidSink{err} }

var errInvalidSink = errors.New("no event is sent until that is corrected and the process started again")

type invalidSink struct{ err error }

func (u invalidSink) Send(context.Context, cloudevents.Event) error {
	return fmt.Errorf("%w: %w", u.err, errInvalidSink)
}
