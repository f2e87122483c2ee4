package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	schedulemetrics "github.com/firesteel-dev/firesteel/pkg/metrics/schedules"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestADecisionIsLoggedWithTheKeysOfApplications(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	later := due.Add(time.Hour)
	started := schedule.Decision{Record: &v1alpha1.ScheduleRecord{}, Due: due, Next: due, RequeueAt: later}
	logDecision(ctx, v1alpha1.ScheduleStateScheduled, started, true)
	surplus := schedule.Decision{Record: &v1alpha1.ScheduleRecord{Held: &v1alpha1.HeldRun{Policy: v1alpha1.ConcurrencyForbid}}, Next: later}
	logDecision(ctx, v1alpha1.ScheduleStateScheduled, surplus, true)
	logDecision(ctx, v1alpha1.ScheduleStateFailedValidation, schedule.Decision{Record: &v1alpha1.ScheduleRecord{}}, false)
	var got []map[string]any
	for _, entry := range logs.FilterMessage("decided").All() {
		got = append(got, entry.ContextMap())
	}
	want := []map[string]any{
		{"state": v1alpha1.ScheduleStateScheduled, "effect": "StartRun", "due": due, "next": due, "awaits": schedule.Handler, "until": later},
		{
			"state": v1alpha1.ScheduleStateScheduled, "effect": "DeleteRuns", "next": later, "held": v1alpha1.ConcurrencyForbid,
			"awaits": schedule.Handler,
		},
		{"state": v1alpha1.ScheduleStateFailedValidation, "effect": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestEachRunIsLoggedOnce(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	ctx := controller.WithEventRecorder(logging.WithLogger(t.Context(), zap.New(core).Sugar()), record.NewFakeRecorder(9))
	metrics, err := schedulemetrics.New(noop.NewMeterProvider())
	if err != nil {
		t.Fatal(err)
	}
	st := newEnv(t, hourly())
	st.metrics = metrics
	before, started, refused := hourly(), hourly(), hourly()
	before.Status.Firesteel = &v1alpha1.ScheduleRecord{}
	started.Status.Firesteel = &v1alpha1.ScheduleRecord{Last: &v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due), Name: "pi-1", UID: "uid-of-run",
	}}
	refused.Status.Firesteel = &v1alpha1.ScheduleRecord{Missed: 3, Last: &v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due.Add(time.Hour)), Name: "pi-2", Reason: "QuotaExceeded", Message: "no room",
	}}
	st.emitEvents(ctx, before, started)
	st.emitEvents(ctx, started, started)
	st.emitEvents(ctx, started, refused)
	var got []map[string]any
	for _, entry := range logs.All() {
		fields := entry.ContextMap()
		fields["line"] = entry.Message
		got = append(got, fields)
	}
	want := []map[string]any{
		{"line": "run started", "namespace": "team-a", "name": "pi", "due": due, "application": "pi-1", "uid": types.UID("uid-of-run")},
		{
			"line": "run refused", "namespace": "team-a", "name": "pi", "due": due.Add(time.Hour), "application": "pi-2",
			"reason": "QuotaExceeded", "detail": "no room",
		},
		{"line": "runs missed", "namespace": "team-a", "name": "pi", "count": int64(2)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
