package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

func TestSelectHandler(t *testing.T) {
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
			handler, err := selectHandler(all, test.args)
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

func TestHandlerEndsIfItReachesNoCluster(t *testing.T) {
	t.Setenv("SYSTEM_NAMESPACE", "firesteel-system")
	t.Setenv("KUBECONFIG", "/absent")
	if err := Run(t.Context(), []string{"ttl"}, nil); err == nil || !strings.Contains(err.Error(), "read the kubeconfig") {
		t.Errorf("it ends with %v", err)
	}
	t.Setenv("WATCH_CODEC", "yaml")
	if err := Run(t.Context(), []string{"ttl"}, nil); err == nil || !strings.Contains(err.Error(), "WATCH_CODEC") {
		t.Errorf("with an unknown codec it ends with %v", err)
	}
}

func TestEventsOfOtherTypesAreIgnored(t *testing.T) {
	errCalled := errors.New("the handler was called")
	handler := ignoringOtherTypes(func(context.Context, cloudevents.Event) error { return errCalled })
	for name, test := range map[string]struct {
		kind  string
		want  error
		lines int
	}{
		"Firesteel's":                      {events.ExpiredType, errCalled, 0},
		"what a function replied with":     {"com.example.order.created", nil, 1},
		"a version that is not there yet":  {"dev.firesteel.application.expired.v2", nil, 1},
		"a type that is one but for a dot": {events.ExpiredType + ".", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			event := cloudevents.NewEvent()
			event.SetType(test.kind)
			core, logged := observer.New(zap.InfoLevel)
			err := handler(logging.WithLogger(t.Context(), zap.New(core).Sugar()), event)
			if lines := logged.FilterField(zap.String("type", test.kind)).Len(); !errors.Is(err, test.want) || lines != test.lines {
				t.Errorf("error is %v, want %v; %d lines name the type, want %d", err, test.want, lines, test.lines)
			}
		})
	}
}

func TestLinesOfAHandlerNameTheObject(t *testing.T) {
	event, err := events.NewExpiredEvent(events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication", Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
	}, time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	core, logged := observer.New(zap.InfoLevel)
	err = namingObject(func(ctx context.Context, _ cloudevents.Event) error {
		logging.FromContext(ctx).Info("a line")
		return nil
	})(logging.WithLogger(t.Context(), zap.New(core).Sugar()), event)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"kind": "SparkApplication", "namespace": "team-a", "name": "pi", "event": event.ID()}
	if diff := cmp.Diff(want, logged.All()[0].ContextMap()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
