package main

import (
	"context"
	"errors"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

func TestChoose(t *testing.T) {
	errRestart, errTTL := errors.New("restart was called"), errors.New("ttl was called")
	all := map[string]events.Handler{
		"ttl":     func(context.Context, cloudevents.Event) error { return errTTL },
		"restart": func(context.Context, cloudevents.Event) error { return errRestart },
	}
	for name, test := range map[string]struct {
		args    []string
		calls   error
		refusal string
	}{
		"one that there is":     {[]string{"restart"}, errRestart, ""},
		"another that there is": {[]string{"ttl"}, errTTL, ""},
		"none":                  {nil, nil, "name one handler: restart, ttl"},
		"two":                   {[]string{"restart", "ttl"}, nil, "name one handler: restart, ttl"},
		"one that is not there": {[]string{"schedule"}, nil, `there is no handler "schedule": name one of restart, ttl`},
		"an empty name":         {[]string{""}, nil, `there is no handler "": name one of restart, ttl`},
	} {
		t.Run(name, func(t *testing.T) {
			handler, err := choose(all, test.args)
			if test.refusal != "" {
				if err == nil || err.Error() != test.refusal {
					t.Errorf("error is %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := handler(context.Background(), cloudevents.NewEvent()); !errors.Is(got, test.calls) {
				t.Errorf("chose the handler that says %q", got)
			}
		})
	}
}
