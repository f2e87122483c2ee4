package early_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// order has the states as clients know them. COMPLETED and FAILED are both ends.
var order = map[v1alpha1.ApplicationStateType]int{
	v1alpha1.NewState: 0, v1alpha1.SubmittedState: 1, v1alpha1.RunningState: 2, v1alpha1.CompletedState: 3, v1alpha1.FailedState: 3,
}

// recordIn returns a record whose last transition is into a state.
func recordIn(state lifecycle.State, past ...firesteelv1alpha1.Transition) *firesteelv1alpha1.Record {
	record := &firesteelv1alpha1.Record{
		Attempt: firesteelv1alpha1.Attempt{Since: submitTime}, Transitions: past,
		Launch: &firesteelv1alpha1.Launch{ID: "launch", DriverPod: "pi-driver", DriverUID: "uid-of-driver"},
	}
	record.Transitions = append(record.Transitions, firesteelv1alpha1.Transition{State: string(state), Time: submitTime})
	last := &record.Transitions[len(record.Transitions)-1]
	if state.AttemptEnded() {
		last.End = &firesteelv1alpha1.AttemptEnd{Outcome: firesteelv1alpha1.OutcomeFailed}
		if state == lifecycle.Succeeded {
			last.End.Outcome = firesteelv1alpha1.OutcomeSucceeded
		}
	}
	for i := range record.Transitions {
		record.Transitions[i].Sequence = int64(i + 1)
	}
	record.Sequence = int64(len(record.Transitions))
	return record
}

func TestEachStateOfTheLifecycleIsShownAsOneOfFive(t *testing.T) {
	end := func(state lifecycle.State) []firesteelv1alpha1.Transition { return recordIn(state).Transitions }
	after := map[lifecycle.State][]firesteelv1alpha1.Transition{
		lifecycle.ResourceReleased: end(lifecycle.Succeeded), lifecycle.TerminatedWithoutReleaseResources: end(lifecycle.DriverEvicted),
	}
	table := map[lifecycle.State]v1alpha1.ApplicationStateType{
		lifecycle.Submitted:                          v1alpha1.NewState,
		lifecycle.ScheduledToRestart:                 v1alpha1.NewState,
		lifecycle.DriverRequested:                    v1alpha1.SubmittedState,
		lifecycle.DriverStarted:                      v1alpha1.RunningState,
		lifecycle.DriverReady:                        v1alpha1.RunningState,
		lifecycle.InitializedBelowThresholdExecutors: v1alpha1.RunningState,
		lifecycle.RunningHealthy:                     v1alpha1.RunningState,
		lifecycle.RunningWithPartialCapacity:         v1alpha1.RunningState,
		lifecycle.RunningWithBelowThresholdExecutors: v1alpha1.RunningState,
		lifecycle.DriverStartTimedOut:                v1alpha1.FailedState,
		lifecycle.ExecutorsStartTimedOut:             v1alpha1.FailedState,
		lifecycle.DriverReadyTimedOut:                v1alpha1.FailedState,
		lifecycle.Succeeded:                          v1alpha1.CompletedState,
		lifecycle.Failed:                             v1alpha1.FailedState,
		lifecycle.SchedulingFailure:                  v1alpha1.FailedState,
		lifecycle.DriverEvicted:                      v1alpha1.FailedState,
		lifecycle.ResourceReleased:                   v1alpha1.CompletedState,
		lifecycle.TerminatedWithoutReleaseResources:  v1alpha1.FailedState,
		lifecycle.Suspending:                         v1alpha1.NewState,
		lifecycle.Suspended:                          v1alpha1.NewState,
		lifecycle.Resuming:                           v1alpha1.NewState,
		lifecycle.Invalidating:                       v1alpha1.NewState,
		lifecycle.Unknown:                            v1alpha1.RunningState,
	}
	for _, state := range lifecycle.States {
		app := application(t, `{}`)
		early.Project(app, recordIn(state, after[state]...), dialect.Facts{Now: submitTime.Time}, early.NewSettings())
		want, known := table[state]
		if got := app.Status.AppState.State; !known || got != want {
			t.Errorf("%s is shown as %q, want %q", state, got, want)
		}
	}
}

// simulation is an application that follows the decisions of lifecycle, while its driver and its spec change at random.
type simulation struct {
	t      *testing.T
	rng    *rand.Rand
	s      early.Settings
	app    *v1alpha1.SparkApplication
	record *firesteelv1alpha1.Record
	seen   lifecycle.Observation
	now    time.Time
	shown  []string
}

// step makes one random change, and then reconciles until nothing is left to do.
func (sim *simulation) step() {
	sim.change()
	for range 20 {
		policy := early.Policy(sim.app, sim.s)
		record, decision := lifecycle.Decide(sim.record, policy, sim.seen, sim.now)
		if decision.Effect == lifecycle.Launch && record.Launch == nil {
			record.Launch = &firesteelv1alpha1.Launch{ID: fmt.Sprint("launch-", record.Attempt.ID), DriverPod: "pi-driver", ApplicationID: "spark-1"}
			early.SpecOf(sim.app).Note(record)
		}
		before := sim.record
		sim.record, sim.seen = record, decision.Seen
		sim.project(before, policy)
		switch decision.Effect {
		case lifecycle.NoEffect:
			return
		case lifecycle.Persist:
		case lifecycle.Launch:
			sim.launch()
		default:
			sim.seen.ReleaseAccepted, sim.seen.DriverGone, sim.seen.Driver = true, true, nil
		}
	}
	sim.t.Fatalf("the application never rests: %s", strings.Join(sim.shown, " "))
}

func (sim *simulation) launch() {
	sim.seen = lifecycle.Observation{Deleted: sim.seen.Deleted, Launched: types.UID(fmt.Sprint("driver-", sim.record.Attempt.ID))}
	if sim.rng.Intn(6) == 0 {
		sim.seen.Launched, sim.seen.LaunchRefused = "", &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "Forbidden", Message: "no"}
	}
}

// change changes the driver, the spec or nothing.
func (sim *simulation) change() {
	sim.now = sim.now.Add(time.Duration(sim.rng.Intn(100)) * time.Second)
	driver := &lifecycle.Driver{Name: "pi-driver"}
	if sim.record != nil && sim.record.Launch != nil {
		driver.UID = sim.record.Launch.DriverUID
	}
	switch sim.rng.Intn(9) {
	case 0:
		sim.app.Spec.Arguments, sim.app.Generation = []string{fmt.Sprint(sim.rng.Int())}, sim.app.Generation+1
	case 1:
		sim.seen.DriverGone, sim.seen.Driver = true, nil
	case 2:
		driver.End = &lifecycle.End{State: lifecycle.Succeeded}
		sim.seen.Driver = driver
	case 3:
		code := int32(1)
		driver.End = &lifecycle.End{State: lifecycle.Failed, Cause: lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: "Error", ExitCode: &code}}
		sim.seen.Driver = driver
	case 4, 5:
		driver.Started = true
		sim.seen.Driver = driver
	case 6:
		driver.Started, driver.Ready = true, true
		sim.seen.Driver = driver
	case 7:
		driver.Unknown = true
		sim.seen.Driver = driver
	}
}

// project writes the status, and checks it.
func (sim *simulation) project(before *firesteelv1alpha1.Record, policy lifecycle.Policy) {
	earlier := sim.app.Status.AppState.State
	early.Project(sim.app, sim.record, dialect.Facts{Now: sim.now, Policy: policy}, sim.s)
	shown := sim.app.Status.AppState
	sim.shown = append(sim.shown, fmt.Sprintf("%s/%s", lifecycle.CurrentState(sim.record), shown.State))
	rank, known := order[shown.State]
	if !known {
		sim.t.Fatalf("%q is not a state that clients know: %s", shown.State, strings.Join(sim.shown, " "))
	}
	edited := slices.ContainsFunc(sim.record.Transitions, func(t firesteelv1alpha1.Transition) bool {
		return t.State == string(lifecycle.Invalidating) && (before == nil || t.Sequence > before.Sequence)
	})
	sameRun := before != nil && before.Attempt.ID == sim.record.Attempt.ID && !edited
	if sameRun && rank < order[earlier] {
		sim.t.Fatalf("%s follows %s within a run: %s", shown.State, earlier, strings.Join(sim.shown, " "))
	}
	if (shown.ErrorMessage != "") != (shown.State == v1alpha1.FailedState) {
		sim.t.Fatalf("in the state %s the message is %q", shown.State, shown.ErrorMessage)
	}
	text, err := json.Marshal(sim.app.Status)
	if err != nil || !strings.Contains(string(text), `"errorMessage":"`) {
		sim.t.Fatalf("clients of the early operator miss errorMessage: %s, %v", text, err)
	}
	if ended := rank == 3; ended == sim.app.Status.CompletionTime.IsZero() {
		sim.t.Fatalf("in the state %s completionTime is %s", shown.State, sim.app.Status.CompletionTime)
	}
}

func TestStatesNeverGoBackWithinARun(t *testing.T) {
	ends := map[v1alpha1.ApplicationStateType]int{}
	for seed := range int64(300) {
		sim := &simulation{t: t, rng: rand.New(rand.NewSource(seed)), s: early.NewSettings(), app: application(t, `{}`), now: submitTime.Time}
		for range 12 {
			sim.step()
		}
		ends[sim.app.Status.AppState.State]++
	}
	if ends[v1alpha1.CompletedState] == 0 || ends[v1alpha1.FailedState] == 0 {
		t.Errorf("the simulations end as %v", ends)
	}
}

// withUI returns a record whose launch has a UI.
func withUI(record *firesteelv1alpha1.Record, ui lifecycle.UI) *firesteelv1alpha1.Record {
	record.Launch.UIPort, record.Launch.UIHost, record.Launch.UIURL = ui.Port, ui.Host, ui.URL
	return record
}

func TestTheUIIsShownWhereItIsReached(t *testing.T) {
	for name, test := range map[string]struct {
		ui   lifecycle.UI
		want v1alpha1.DriverInfo
	}{
		"at a node that is not known": {lifecycle.UI{Port: 31234}, v1alpha1.DriverInfo{WebUIPort: 31234}},
		"at a node":                   {lifecycle.UI{Port: 31234, Host: "192.0.2.7"}, v1alpha1.DriverInfo{WebUIPort: 31234, WebUIURL: "192.0.2.7:31234"}},
		"at a node with IPv6":         {lifecycle.UI{Port: 31234, Host: "2001:db8::7"}, v1alpha1.DriverInfo{WebUIPort: 31234, WebUIURL: "[2001:db8::7]:31234"}},
		"behind a Gateway": {
			lifecycle.UI{Port: 4040, Host: "10.0.0.7", URL: "https://pi.example.com"},
			v1alpha1.DriverInfo{WebUIPort: 4040, WebUIURL: "https://pi.example.com"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := application(t, `{}`)
			early.Project(app, withUI(recordIn(lifecycle.DriverStarted), test.ui), dialect.Facts{Now: submitTime.Time}, early.NewSettings())
			test.want.PodName, test.want.WebUIServiceName, test.want.WebUIAddress = "pi-driver", early.UIServiceName(app), test.want.WebUIURL
			if diff := cmp.Diff(test.want, app.Status.DriverInfo); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutAServiceNoUIIsShown(t *testing.T) {
	app := application(t, `{}`)
	early.Project(app, recordIn(lifecycle.DriverStarted), dialect.Facts{Now: submitTime.Time}, early.NewSettings())
	if info := app.Status.DriverInfo; info != (v1alpha1.DriverInfo{PodName: "pi-driver"}) {
		t.Errorf("it shows %+v", info)
	}
}

func TestALongNameIsShortenedTheSameEverywhere(t *testing.T) {
	app, s := application(t, `{}`), early.NewSettings()
	app.Name = strings.Repeat("long-names-", 5) + "sixty"
	if len(app.Name) != 60 {
		t.Fatalf("the name has %d characters", len(app.Name))
	}
	objects := built(t, app, s)
	early.Project(app, withUI(recordIn(lifecycle.DriverStarted), lifecycle.UI{Port: 31234}), dialect.Facts{Now: submitTime.Time}, s)
	id, service := app.Status.AppID, objects.UI.Service
	if app.Status.DriverInfo.WebUIServiceName != service.Name || strings.Contains(service.Name, app.Name) {
		t.Errorf("the status shows the Service %s, and its name is %s", app.Status.DriverInfo.WebUIServiceName, service.Name)
	}
	executors := executorLabels(planned(t, app, s))
	for what, got := range map[string]string{
		"the driver's label": objects.Driver.Labels[early.LabelAppID], "the label of executors": executors[early.LabelAppID],
		"the Service's label": service.Labels[early.LabelAppID], "the Service's selector": service.Spec.Selector[early.LabelAppID],
	} {
		if got != id || len(validation.IsValidLabelValue(got)) > 0 || strings.Contains(got, app.Name) {
			t.Errorf("%s is %q, and the status shows %q", what, got, id)
		}
	}
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(objects.Driver.Labels)) {
		t.Errorf("the Service selects %q, and the driver has %q", service.Spec.Selector, objects.Driver.Labels)
	}
}

func TestANewRunShowsNothingOfTheLastOne(t *testing.T) {
	app, s := application(t, `{}`), early.NewSettings()
	ui := lifecycle.UI{Port: 31234, Host: "192.0.2.7"}
	early.Project(app, withUI(recordIn(lifecycle.DriverRequested), ui), dialect.Facts{Now: submitTime.Time}, s)
	next := recordIn(lifecycle.ScheduledToRestart, firesteelv1alpha1.Transition{State: string(lifecycle.Invalidating)})
	next.Launch, next.Sequence = nil, 5
	early.Project(app, next, dialect.Facts{Now: submitTime.Time}, s)
	if info := app.Status.DriverInfo; info != (v1alpha1.DriverInfo{}) || app.Status.AppID != early.AppID(app) {
		t.Errorf("it shows %+v of %q", info, app.Status.AppID)
	}
}

func TestExecutorsAreInOneOfFourStates(t *testing.T) {
	app, s := application(t, `{}`), early.NewSettings()
	executors := map[string]dialect.Executor{
		"a": {Phase: corev1.PodPending}, "b": {Phase: corev1.PodRunning}, "c": {Phase: corev1.PodSucceeded}, "d": {Phase: corev1.PodFailed},
		"e": {Phase: corev1.PodUnknown}, "f": {Gone: true},
	}
	early.Project(app, recordIn(lifecycle.RunningHealthy), dialect.Facts{Now: submitTime.Time, Executors: executors}, s)
	want := map[string]v1alpha1.ExecutorState{"a": "PENDING", "b": "RUNNING", "c": "COMPLETED", "d": "FAILED", "e": "RUNNING", "f": "RUNNING"}
	for name, state := range want {
		if got := app.Status.ExecutorState[name]; got != state {
			t.Errorf("%s is %q, want %q", name, got, state)
		}
	}
}

func TestOnlyAnEndWithoutARecordIsHistory(t *testing.T) {
	d := early.New(early.NewSettings())
	for state, history := range map[v1alpha1.ApplicationStateType]bool{
		v1alpha1.CompletedState: true, v1alpha1.FailedState: true, v1alpha1.NewState: false, v1alpha1.SubmittedState: false,
		v1alpha1.RunningState: false, "": false, "ELSE": false,
	} {
		app := application(t, `{}`)
		app.Status.AppState.State, app.Status.AppID = state, "pi-1"
		if got := d.HasForeignStatus(app); got != history {
			t.Errorf("%q is foreign: %t", state, got)
		}
		if got := d.FinishedElsewhere(app); got != history {
			t.Errorf("%q is finished: %t", state, got)
		}
		record, err := d.Inherit(app)
		if err != nil || dialect.JustCreated(record) == history {
			t.Errorf("%q is inherited as %v, %v", state, record, err)
		}
	}
}
