package reference

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"text/template"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

//go:embed events.md.tmpl
var pageLayout string

// page returns docs/users/events.md.
func page() ([]byte, error) {
	layout, err := template.New("events.md").Parse(pageLayout)
	if err != nil {
		return nil, err
	}
	example, err := example()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = layout.Execute(&out, map[string]any{
		"Types":      events.Types,
		"Attributes": events.Attributes,
		"Transition": fieldsOf(reflect.TypeFor[events.TransitionData]()),
		"End":        fieldsOf(reflect.TypeFor[events.End]()),
		"Usage":      fieldsOf(reflect.TypeFor[events.Usage]()),
		"PodUsage":   fieldsOf(reflect.TypeFor[events.PodUsage]()),
		"Clock":      fieldsOf(reflect.TypeFor[events.ClockData]()),
		"Example":    example,
	})
	return out.Bytes(), err
}

// example returns an event in structured mode.
func example() (string, error) {
	exitCode := int32(52)
	object := events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
		Namespace: "team-a", Name: "pi", UID: "5f0a7c9e-6f4b-4d8e-9f57-0c1d5b7e2a31",
	}
	event, err := events.NewTransitionEvent(object, v1alpha1.Transition{
		Sequence:      8,
		Time:          metav1.NewMicroTime(time.Date(2026, 3, 1, 8, 15, 30, 123456000, time.UTC)),
		State:         "Failed",
		Message:       "Driver container exited with 52.",
		DriverPod:     "pi-0-driver",
		ApplicationID: "spark-3f0c9d5c2b8e4d51",
		End: &v1alpha1.AttemptEnd{
			Outcome:        v1alpha1.OutcomeFailed,
			RestartAllowed: true,
			Class:          "application",
			ExitCode:       &exitCode,
			Reason:         "OOM",
			Message:        "Driver container exited with 52.",
		},
		Usage: &v1alpha1.Usage{
			Driver:        &v1alpha1.PodUsage{Seconds: 62, CoreMilliseconds: 62000, MebibyteSeconds: 87296},
			Executors:     &v1alpha1.PodUsage{Seconds: 104, CoreMilliseconds: 104000, MebibyteSeconds: 146432},
			PeakExecutors: 2,
		},
	})
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(event, "", "  ")
	return string(text), err
}
