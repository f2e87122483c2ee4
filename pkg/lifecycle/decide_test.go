package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// plain is the policy of an application that asks for nothing.
func plain(changes ...func(*Policy)) Policy {
	policy := Policy{
		Restart: Restart{Policy: RestartNever, MaxAttempts: 3, Backoff: 30 * time.Second, ResetAfter: -1},
		Timeouts: Timeouts{
			DriverStart: 5 * time.Minute, DriverReady: 6 * time.Minute, ExecutorStart: 7 * time.Minute,
			ForceTermination: 8 * time.Minute,
		},
		Retain: RetainNever, RetainFor: -1, TTL: -1,
	}
	for _, change := range changes {
		change(&policy)
	}
	return policy
}

func restarts(when RestartPolicy) func(*Policy) { return func(p *Policy) { p.Restart.Policy = when } }

func retains(when Retain, d time.Duration) func(*Policy) {
	return func(p *Policy) { p.Retain, p.RetainFor = when, d }
}

func ttl(d time.Duration) func(*Policy) { return func(p *Policy) { p.TTL = d } }

// executors asks for a number of executors to begin with, a minimum and a maximum.
func executors(first, least, most int) func(*Policy) {
	return func(p *Policy) { p.Executors = Executors{Init: first, Min: least, Max: most} }
}

func suspended(p *Policy) { p.Suspend = true }

func refused(p *Policy) {
	p.Refused = &Cause{Class: ClassApplication, Reason: "ClientModeUnsupported", Message: "Client mode is not supported yet."}
}

// decideCase is one call of Decide. Zero fields of want must be zero.
type decideCase struct {
	record *v1alpha1.Record
	policy Policy
	seen   Observation
	now    time.Time
	// news are the expected new transitions. Changed is expected if there are any, or if changed is set.
	news    []string
	want    Decision
	changed bool
	// launch is the expected launch of the record afterwards; not compared if nil.
	launch *v1alpha1.Launch
}

func (test decideCase) run(t *testing.T) {
	t.Helper()
	before := test.record.DeepCopy()
	got, decision := Decide(test.record, test.policy, test.seen, test.now)
	if diff := cmp.Diff(before, test.record); diff != "" {
		t.Errorf("Decide changed the record that it was given (-before +after):\n%s", diff)
	}
	if test.news == nil {
		test.news = []string{}
	}
	if diff := cmp.Diff(test.news, describe(news(test.record, got))); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	test.want.Changed = test.changed || len(test.news) > 0
	decision.Seen = Observation{} // TestTheObservationForTheNextAttempt compares it
	if diff := cmp.Diff(test.want, decision); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if test.launch != nil {
		if diff := cmp.Diff(test.launch, got.Launch); diff != "" {
			t.Errorf("launch (-want +got):\n%s", diff)
		}
	}
	for _, transition := range news(test.record, got) {
		if !transition.Time.Equal(ptr.To(outbox.Current(got).Time)) || !transition.Time.Time.Equal(test.now) {
			t.Errorf("transition %d is of %s, want %s", transition.Sequence, transition.Time, test.now)
		}
	}
}

func runDecideCases(t *testing.T, tests map[string]decideCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

const (
	lostMessage    = "Driver removed. This could be caused by 'exit' called in the driver process, or by a deletion of the Pod."
	deletedMessage = "Spark application has been shutdown as requested."
	slowDriver     = "The driver has not responded to the initial health check request within the allotted start-up time. " +
		"This can be configured by setting .spec.applicationTolerations.applicationTimeoutConfig."
	slowExecutors  = "The Spark application failed to get enough executors in the given time threshold."
	keptMessage    = "Application is terminated without releasing resources as configured."
	expiredMessage = "Spark application resources released after exceeding the configured retain duration."
)

var (
	appFailure = Cause{Class: ClassApplication, Reason: "Error", Message: "It broke.", ExitCode: ptr.To[int32](1)}
	quota      = Cause{Class: ClassScheduling, Reason: "Forbidden", Message: "exceeded quota"}
	unprepared = &Cause{Class: ClassInfrastructure, Reason: "PodNotReadyToStartContainers",
		Message: "The driver Pod waits on its node for its volumes or its network: look for a volume, Secret or ConfigMap that does not " +
			"exist; kubectl describe shows the Pod's events."}
)

func TestDecideOnARecordThatIsNotUnderstood(t *testing.T) {
	always := plain(restarts(RestartAlways))
	const sorry = "Cannot process application status."
	runDecideCases(t, map[string]decideCase{
		"a record without transitions is left alone": {
			record: &v1alpha1.Record{}, policy: always, now: start, want: Decision{Held: HeldNotUnderstood},
		},
		"a record without transitions keeps the driver that it names": {
			record: &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverPod: "p", DriverUID: driverUID}}, policy: always, now: start,
			want: Decision{Held: HeldNotUnderstood},
		},
		"a record without transitions releases its driver on deletion": {
			record: &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverPod: "p", DriverUID: driverUID}}, policy: always, now: start,
			seen: Observation{Deleted: start}, want: Decision{Effect: Release},
		},
		"a state that this version does not know is left alone": {
			record: submitted().Requested().In("Dreaming").Obj(), policy: always, now: start, seen: Observation{DriverGone: true},
			want: Decision{Held: HeldNotUnderstood},
		},
		"a record of a newer format is left alone": {
			record: &v1alpha1.Record{Format: v1alpha1.Format + 1}, policy: always, now: start, want: Decision{Held: HeldNotUnderstood},
		},
		"a requested driver without a launch ends the application": {
			record: submitted().In(DriverRequested).Obj(), policy: always, now: start,
			news: []string{
				"3/0 Failed: " + sorry + " | ended Failed, infrastructure, UnknownLaunch",
				"4/0 ResourceReleased | final Failed",
			},
		},
		"a running driver without a launch ends the application": {
			record: submitted().In(RunningHealthy).Obj(), policy: always, now: start,
			news: []string{
				"3/0 Failed: " + sorry + " | ended Failed, infrastructure, UnknownLaunch",
				"4/0 ResourceReleased | final Failed",
			},
		},
		"an end without details ends the application": {
			record: submitted().Requested().In(Succeeded).Verdict(true, time.Time{}, "").Obj(), policy: always, now: start,
			news: []string{"4/0 Failed [pi-0-driver pi-0]: " + sorry + " | ended Failed, infrastructure, UnknownEnd"},
			want: Decision{Effect: Release},
		},
		"an end without an outcome counts as a failure": {
			record: submitted().Requested().Ended(Failed).
				With(func(r *v1alpha1.Record) { outbox.Current(r).End.Outcome = "" }).Obj(),
			policy: plain(), now: start, seen: Observation{DriverGone: true},
			news: []string{"4/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
	})
}

func TestDecideUsesNoSequenceTwice(t *testing.T) {
	record := submitted().Fenced().With(func(r *v1alpha1.Record) { r.Sequence, r.Transitions[0].Sequence = 3, 7 }).Obj()
	got, _ := Decide(record, plain(), Observation{Launched: driverUID}, start)
	if current := outbox.Current(got); current.State != string(DriverRequested) || current.Sequence != 8 || got.Sequence != 8 {
		t.Errorf("%s is transition %d of %d, want DriverRequested as 8 of 8", current.State, current.Sequence, got.Sequence)
	}
}

func TestDecideBoundsTheAcknowledgementByTheSequence(t *testing.T) {
	record := submitted().Requested().With(func(r *v1alpha1.Record) { r.Acknowledged = 99 }).Obj()
	got, _ := Decide(record, plain(), Observation{Driver: startedDriver}, start)
	if got.Sequence != 3 || got.Acknowledged != 2 {
		t.Errorf("transition %d is decided and %d acknowledged, want 3 and 2", got.Sequence, got.Acknowledged)
	}
}

func TestARecordSharesNothingWithTheObservation(t *testing.T) {
	pod := driverPod().Phase(corev1.PodFailed).Container("driver", exited(1, "Error")).Obj()
	seen := Observation{Driver: ObserveDriver(pod, "")}
	got, _ := Decide(submitted().Running().Obj(), plain(), seen, start)
	end := news(submitted().Running().Obj(), got)[0]
	*end.End.ExitCode = 42
	end.DriverStatus.ContainerStatuses[0].Name = "changed"
	if *seen.Driver.End.Cause.ExitCode != 1 || pod.Status.ContainerStatuses[0].Name != "driver" {
		t.Error("what was seen changed with the record")
	}
}

// The observation of one driver must never be used for the next.
func TestTheObservationForTheNextAttempt(t *testing.T) {
	old := Observation{
		Driver: ended(Failed, appFailure), DriverGone: true, Launched: driverUID, LaunchRefused: &quota, HasOrphan: true,
		LaunchWarnings: []string{"No route."}, LaunchHeld: &quota, ReleaseAccepted: true, ReadyExecutors: 3,
	}
	for name, test := range map[string]struct {
		record *v1alpha1.Record
		seen   Observation
		want   Observation
	}{
		"only orphan drivers carry over": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, start, "").Obj(),
			seen:   old, want: Observation{HasOrphan: true},
		},
		"DriverGone of the previous driver does not carry over": {
			record: submitted().Fenced().Obj(),
			seen:   Observation{Launched: driverUID, LaunchRefused: &quota, DriverGone: true, ReleaseAccepted: true},
			want:   Observation{Launched: driverUID, LaunchRefused: &quota},
		},
		"another driver is dropped": {
			record: submitted().Running().Obj(),
			seen:   Observation{Driver: &Driver{UID: "another"}, ReadyExecutors: 3},
			want:   Observation{ReadyExecutors: 3},
		},
		"the observation of the record's own driver stays": {
			record: submitted().Running().Obj(),
			seen:   Observation{Driver: readyDriver, ReadyExecutors: 3, Deleted: start, ReleaseAccepted: true},
			want:   Observation{Driver: readyDriver, ReadyExecutors: 3, Deleted: start, ReleaseAccepted: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, decision := Decide(test.record, plain(restarts(RestartAlways)), test.seen, at(time.Minute))
			if diff := cmp.Diff(test.want, decision.Seen); diff != "" {
				t.Errorf("observation (-want +got):\n%s", diff)
			}
		})
	}
}

// A decision is the same before and after a record was stored and read.
func TestTimesHaveThePrecisionOfTheStore(t *testing.T) {
	now := time.Date(2026, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	want := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	got, _ := Decide(nil, plain(), Observation{}, now)
	if got.Attempt.Since.Time != want {
		t.Errorf("the attempt is since %v, want %v", got.Attempt.Since.Time, want)
	}
	if got.Transitions[0].Time.Time != want {
		t.Errorf("the transition is of %v, want %v", got.Transitions[0].Time.Time, want)
	}
}

func TestCurrentStateAndLastEndOfAnEmptyRecord(t *testing.T) {
	for name, record := range map[string]*v1alpha1.Record{"no record": nil, "no transition": {}} {
		if diff := cmp.Diff(v1alpha1.Transition{}, outbox.Current(record)); diff != "" {
			t.Errorf("Current of %s (-want +got):\n%s", name, diff)
		}
		if end := outbox.LastEnd(record); end != nil {
			t.Errorf("LastEnd of %s is %v", name, end)
		}
	}
}

func TestLastEndIsOfTheCurrentAttempt(t *testing.T) {
	failed := submitted().Running().EndedRestartable(Failed)
	if got := outbox.LastEnd(failed.Obj()); got == nil || got.Sequence != 6 {
		t.Errorf("LastEnd is %v, want transition 6", got)
	}
	if got := outbox.LastEnd(failed.Restarting().Obj()); got != nil {
		t.Errorf("LastEnd of an attempt that lasts is %v", got)
	}
}
