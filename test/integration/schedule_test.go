package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// ofEachKind runs a test for the schedules of each kind.
func ofEachKind(t *testing.T, test func(*testing.T, *env, *variant.Kind)) {
	t.Helper()
	t.Parallel()
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newEnv(t).sharesController(), k)
		})
	}
}

func TestScheduleStartsRunsOnTime(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 2s", nil)
		runs := pi.untilRuns(3)
		status := pi.until("record them", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return s.LastRunName >= runs[2].GetName()
		}).GetScheduleStatus()
		pi.patch(`{"suspend": true}`)
		if status.ScheduleState != "Scheduled" || status.LastRun == nil || status.NextRun == nil {
			t.Errorf("the status is %+v", status)
		}
		created := pi.now().GetCreationTimestamp()
		for i, run := range runs {
			due := variant.InstantOf(run)
			if after := due.Sub(created.Time); after <= 0 || after%(2*time.Second) != 0 {
				t.Errorf("run %d is for %s, %s after the creation", i, due, after)
			}
			if name := schedule.RunName("pi", due); run.GetName() != name {
				t.Errorf("run %d is named %s, want %s", i, run.GetName(), name)
			}
			labels := map[string]string{"team": "a", k.LabelSchedule: "pi"}
			if k == variant.Apache {
				labels["made"] = "so"
			}
			if diff := cmp.Diff(labels, run.GetLabels()); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			owner := metav1.GetControllerOf(run)
			if owner == nil || owner.UID != pi.now().GetUID() || owner.BlockOwnerDeletion == nil || !*owner.BlockOwnerDeletion {
				t.Errorf("its owner is %+v", owner)
			}
		}
		heard := s.untilDelivered("the events of the runs", func(heard []eventlog.Entry) bool { return len(due(heard)) >= 3 })
		id := string(pi.now().GetUID()) + "." + variant.InstantOf(runs[0]).Format(time.RFC3339)
		if !slices.ContainsFunc(due(heard), func(d eventlog.Entry) bool { return d.Attributes["id"] == id }) {
			t.Errorf("no event is %s:\n%s", id, listed(heard))
		}
	})
}

// The handler reads the schedule, creates the run and records it; nothing else writes for it. The other write of a schedule
// is its first, and that of the run says that it is held.
func TestScheduleRunCostsThreeRequests(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	pi := s.schedules(variant.Apache, "pi", "@every 15s", func(spec map[string]any) {
		spec["template"].(map[string]any)["spec"].(map[string]any)["suspend"] = true
	})
	name := pi.untilStarted("")
	started := time.Now()
	run := until(s, s.apps(), name, "be held", func(run *sparkv1.SparkApplication) bool { return run.Status.Firesteel != nil })
	requests := s.requestsAtRest()
	runs := len(pi.runs())
	s.wantWithinBudget(budget{
		"get scheduledsparkapplications":           runs + expectedRepeats(started.Sub(variant.InstantOf(run))),
		"create sparkapplications":                 runs,
		"update scheduledsparkapplications/status": runs + 1,
		"update sparkapplications/status":          runs,
	}, requests)
}

// expectedRepeats returns how often a request may be repeated: about once a second, until its effect is visible.
func expectedRepeats(unseen time.Duration) int { return int(unseen / (750 * time.Millisecond)) }

// due returns the deliveries of due events.
func due(heard []eventlog.Entry) []eventlog.Entry {
	var events []eventlog.Entry
	for _, d := range heard {
		if d.Attributes["type"] == "dev.firesteel.schedule.due.v1" {
			events = append(events, d)
		}
	}
	return events
}

func TestScheduleForbidWaitsForTheRunningRun(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 4s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
		first := pi.untilStarted("")
		pi.untilCondition("RunStarted", metav1.ConditionFalse, "WaitsForRunningRun")
		missed := pi.until("miss a run", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= 1 })
		if runs := pi.runs(); len(runs) != 1 {
			t.Errorf("while the first runs there are %s", namesOf(runs))
		}
		pi.end(first, true)
		second := pi.untilStarted(first)
		if second <= missed.GetScheduleStatus().LastRunName {
			t.Errorf("%s came after %s", second, first)
		}
		pi.until("tell of the first", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return cmp.Equal(s.PastSuccessfulRunNames, []string{first})
		})
	})
}

func TestScheduleReplaceStartsWhenTheOldRunIsGone(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	pi := s.schedules(variant.Apache, "pi", "@every 5s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
	first := pi.untilStarted("")
	s.driver(first, 0)
	s.kubelet.Pause(s.ns) // it does not go
	pi.patch(`{"concurrencyPolicy": "Replace"}`)
	held := pi.untilCondition("RunStarted", metav1.ConditionFalse, "ReplacesRunningRun")
	t.Log(held.Message)
	missed := pi.now().GetScheduleStatus().MissedRuns
	pi.until("miss the next", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns > missed })
	if runs := pi.runs(); len(runs) != 1 || runs[0].GetName() != first || runs[0].GetDeletionTimestamp() == nil {
		t.Errorf("while the first driver is there, there are %s", namesOf(runs))
	}
	s.kubelet.Resume(t.Context(), s.ns)
	pi.untilStarted(first)
	untilGone(s, s.apps(), first)
}

func TestScheduleHistoryIsPrunedWhenRunsEnd(t *testing.T) {
	ofEachKind(t, func(_ *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 3s", func(spec map[string]any) {
			spec["successfulRunHistoryLimit"], spec["failedRunHistoryLimit"] = 1, 0
		})
		runs := pi.untilRuns(3)
		pi.patch(`{"suspend": true}`)
		for i, succeeds := range []bool{true, false, true} {
			pi.end(runs[i].GetName(), succeeds)
		}
		pi.until("keep the last successful one", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return cmp.Equal(s.PastSuccessfulRunNames, []string{runs[2].GetName()}) && len(s.PastFailedRunNames) == 0
		})
		for _, run := range runs[:2] {
			pi.untilNoRun(run.GetName())
		}
	})
}

// The handler may die between creating a run and recording it, and a user may delete that run before another handler sees it.
func TestScheduleRunDeletedByHandIsNotStartedAgain(t *testing.T) {
	alone(t)
	s := newEnv(t)
	controller := s.ownController(controllerOf(s))
	s.untilReady(controller) // so that it is mostly killed before the first instant
	pi := s.schedules(variant.Apache, "pi", "@every 8s", nil)
	pi.until("be looked at", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.NextRun != nil })
	controller.Kill()
	looked := pi.now()
	instant := looked.GetScheduleStatus().NextRun.Time
	run, err := variant.Apache.NewRun(looked, instant)
	s.must(err)
	runs := s.Dynamic.Resource(variant.Apache.RunsResource()).Namespace(s.ns)
	made, err := runs.Create(t.Context(), run, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // the one that was killed made it, and did not record it
		made, err = runs.Get(t.Context(), run.GetName(), metav1.GetOptions{})
	}
	s.must(err)
	s.delete(run.GetName())
	s.ownController(controllerOf(s))
	pi.untilNoRun(run.GetName())
	status := pi.until("record it", func(s *firesteelv1alpha1.ScheduleStatus) bool {
		return s.Firesteel.Last != nil && schedule.Settled(s.Firesteel, instant)
	}).GetScheduleStatus()
	if last := status.Firesteel.Last; last.UID != made.GetUID() && last.Name == made.GetName() {
		t.Errorf("it was started again: %+v", last)
	}
	if last := status.LastRunName; last < made.GetName() {
		t.Errorf("the last run is %s", last)
	}
}

// After an outage the latest instant is made up for, unless it is too late for that too. Earlier ones are missed.
func TestScheduleStartsOneRunAfterAnOutage(t *testing.T) {
	alone(t)
	s := newEnv(t)
	controller := s.ownController(controllerOf(s))
	s.untilReady(controller) // so that it is mostly killed before the first instant
	const period, instants = 10 * time.Second, 2
	late := s.schedules(variant.Apache, "late", "@every "+period.String(), nil)
	tooLate := s.schedules(variant.Apache, "too-late", "@every "+period.String(), func(spec map[string]any) {
		spec["startingDeadlineSeconds"] = 1
	})
	looked := func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.NextRun != nil }
	late.until("be looked at", looked)
	created := tooLate.until("be looked at", looked).GetCreationTimestamp().Time
	controller.Kill()
	left := created.Add(time.Since(created).Truncate(period)) // the last instant before, if there was one
	earlier := late.runs()
	before := len(earlier) + len(tooLate.runs())
	waitUntil(t, left.Add(instants*period+period/2))
	if runs := append(late.runs(), tooLate.runs()...); len(runs) > before {
		t.Fatalf("while the controller was away there came some of %s", namesOf(runs))
	}
	s.ownController(controllerOf(s))
	madeUp := late.until("start one", func(s *firesteelv1alpha1.ScheduleStatus) bool {
		return s.LastRunName != "" && s.Firesteel.Last.ScheduledTime.After(left.Add(period))
	})
	status := madeUp.GetScheduleStatus()
	passed := int64(status.Firesteel.Last.ScheduledTime.Sub(madeUp.GetCreationTimestamp().Time) / period)
	if missed := passed - 1 - int64(len(earlier)); status.MissedRuns != missed {
		t.Errorf("made up for is instant %d, and %d were missed, want %d", passed, status.MissedRuns, missed)
	}
	tooLate.until("miss them all", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= instants })
	for _, run := range tooLate.runs() {
		if instant := variant.InstantOf(run); instant.After(left) && !instant.After(left.Add(instants*period)) {
			t.Errorf("beyond its deadline the run of %s was started", instant)
		}
	}
}

func controllerOf(s *env) controller { return controller{sink: s.sink.URL()} }

// A refused run is reported, the next one is tried at its time, and other schedules are not affected.
func TestScheduleRefusals(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		other := s.schedules(k, "other", "@every 2s", nil)
		never := s.schedules(k, "never", "0 0 30 2 *", nil)
		never.untilCondition("Scheduled", metav1.ConditionFalse, schedule.ReasonNeverFires)
		never.patch(`{"schedule": "whenever"}`)
		never.untilCondition("Scheduled", metav1.ConditionFalse, schedule.ReasonInvalidSchedule)
		if state := never.now().GetScheduleStatus(); state.ScheduleState != "FailedValidation" || state.Reason == "" || state.NextRun != nil {
			t.Errorf("its state is %+v", state)
		}
		never.patch(`{"schedule": "@every 1s", "timeZone": "Mars/Olympus"}`)
		never.untilCondition("Scheduled", metav1.ConditionFalse, schedule.ReasonInvalidTimeZone)
		never.patch(`{"timeZone": null}`)
		never.untilCondition("Scheduled", metav1.ConditionTrue, "Scheduled")
		never.untilStarted("")

		broken := s.schedules(k, "broken", "@every 2s", func(spec map[string]any) {
			spec["template"] = map[string]any{"spec": map[string]any{"mainClass": 7}, "type": "Scala", "driver": "none"}
			if k == variant.Apache {
				delete(spec["template"].(map[string]any), "type")
				delete(spec["template"].(map[string]any), "driver")
			}
		})
		t.Log(broken.untilCondition("RunStarted", metav1.ConditionFalse, schedule.ReasonRefused).Message)
		broken.until("be refused again", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= 2 })
		other.untilRuns(2)
	})
}

// A field that the application does not have is named, and the run starts without it.
func TestScheduleReportsUnknownFieldsOfItsTemplate(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	pi := s.schedules(variant.Apache, "pi", "@every 2s", func(spec map[string]any) {
		spec["template"].(map[string]any)["spec"].(map[string]any)["mainClas"] = "Main"
	})
	pi.untilStarted("")
	if c := pi.untilCondition("Warning", metav1.ConditionTrue, "TemplateNotHonored"); !strings.Contains(c.Message, `unknown field "spec.mainClas"`) {
		t.Errorf("the warning is %q", c.Message)
	}
}

func TestScheduleSuspendStartsNothing(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 1s", func(spec map[string]any) { spec["suspend"] = true })
		pi.untilCondition("Scheduled", metav1.ConditionFalse, "Suspended")
		other := s.schedules(k, "other", "@every 1s", nil)
		other.untilRuns(3)
		if runs := pi.runs(); len(runs) > 0 {
			t.Errorf("while it is suspended it has %s", namesOf(runs))
		}
		suspended := time.Since(pi.now().GetCreationTimestamp().Time)
		resumed := time.Now()
		pi.patch(`{"suspend": false}`)
		pi.untilStarted("")
		if missed := pi.now().GetScheduleStatus().MissedRuns; missed > int64(time.Since(resumed)/time.Second)+1 {
			t.Errorf("%d runs were missed, of those while it was suspended, for %s", missed, suspended)
		}
	})
}

func TestAdoptionOfAScheduleOfTheKubeflowOperator(t *testing.T) {
	alone(t)
	s := newEnv(t)
	pi := s.schedules(variant.Kubeflow, "pi", "@every 5m", nil)
	last, next := metav1.Now().Rfc3339Copy(), metav1.NewTime(time.Now().Add(10*time.Second)).Rfc3339Copy()
	pi.wantStatus(firesteelv1alpha1.ScheduleStatus{ScheduleState: "Scheduled", LastRun: &last, NextRun: &next, LastRunName: "pi-1700000000000000000"})
	s.ownController(controllerOf(s))
	if run := pi.untilStarted("pi-1700000000000000000"); run != schedule.RunName("pi", next.Time) {
		t.Errorf("it went on with %s, want its run of %s", run, next)
	}
}

func TestDeletionOfASchedule(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 1s", nil)
		pi.untilStarted("")
		_, err := s.kubectl("", "delete", k.String(), "pi", "--cascade=orphan")
		s.must(err)
		if runs := pi.runs(); len(runs) == 0 || runs[0].GetDeletionTimestamp() != nil || len(runs[0].GetOwnerReferences()) > 0 {
			t.Errorf("orphaned, there are %s", described(runs))
		}
		other := s.schedules(k, "other", "@every 1s", nil)
		run := other.untilStarted("")
		_, err = s.kubectl("", "delete", k.String(), "other")
		s.must(err)
		other.untilNoRun(run)
	})
}
