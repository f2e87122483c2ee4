package integration

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// adoptionCase is an application with a status of the Apache operator, and what Firesteel does with it.
type adoptionCase struct {
	// recorded names the application as it was left, and change what is different.
	recorded string
	change   func(*application)
	// before prepares what there is beside it when Firesteel begins.
	before func(*adoptedApp)
	// after goes through what follows.
	after func(*adoptedApp)
	// published are the states that are published then, in order; "..." stands for states of executors. fresh means that the events
	// begin with the first state.
	published string
	fresh     bool
	// made is the number of drivers that Firesteel makes.
	made int
	// untouched means that the application is not written, except that a deletion removes the finalizer.
	untouched bool
}

// Whatever the Apache operator left behind goes on as it should: what has ended does not run again, a driver that runs
// is followed to its end, and no second one is created, restarts, retention and time to live go on from where they were.
func TestAdoptionOfApplicationsOfTheApacheOperator(t *testing.T) {
	alone(t)
	s := newEnv(t)
	var left []*adoptedApp
	begun := map[*adoptedApp]string{}
	for name, f := range adoptionCases() {
		l := s.leftBehind(f, fmt.Sprintf("%.38s-%d", f.recorded, len(left)))
		left, begun[l] = append(left, l), name
	}
	s.ownController(controller{sink: s.sink.URL()})
	t.Run("each", func(t *testing.T) {
		for _, l := range left {
			t.Run(begun[l], func(t *testing.T) {
				t.Parallel()
				f := l.want
				l.env = &env{TB: t, suite: s.suite, ns: s.ns}
				f.after(l)
				l.wantInheritedEvents()
				if drivers := l.untilHad(l.ObjectMeta.Name, len(l.drivers)+f.made); len(drivers) != len(l.drivers)+f.made {
					t.Errorf("it had %d drivers, want %v, and %d more", len(drivers), l.drivers, f.made)
				}
			})
		}
	})
	lists, readOfGone := 0, 0
	for _, request := range s.requests() {
		kind := request.Kind()
		if kind == "list pods" {
			lists++
		}
		for _, l := range left {
			switch {
			case kind == "get pods" && slices.Contains(l.drivers, request.Name) && request.Code == http.StatusNotFound:
				readOfGone++
			case kind == "get pods" && slices.Contains(l.drivers, request.Name):
				t.Errorf("a driver that is watched was read: %s", request)
			case l.want.untouched && request.Name == l.ObjectMeta.Name && kind != "patch sparkapplications":
				t.Errorf("what has ended for good was asked for: %s", request)
			}
		}
	}
	if lists > len(left)*5/4 { // some wait for Pods that go, and look again at each of their events
		t.Errorf("for %d applications, Pods were listed %d times", len(left), lists)
	}
	if readOfGone > len(left)/4 { // a reconcile may come between a Pod's removal from the cache and its event
		t.Errorf("for %d applications, drivers that were gone were read %d times", len(left), readOfGone)
	}
}

// adoptedApp is an application with a status of the Apache operator.
type adoptedApp struct {
	*env
	*sparkv1.SparkApplication
	want adoptionCase
	// drivers are the Pods that it came with.
	drivers []string
}

const leftBehind = "../../pkg/dialect/apache/testdata/left-by-apache-operator.yaml"

// recorded is an application as the Apache operator left it.
func (s *env) recorded(name string) *application {
	s.Helper()
	text, err := os.ReadFile(leftBehind)
	s.must(err)
	for _, document := range bytes.Split(text, []byte("\n---\n"))[1:] {
		a := &application{}
		s.must(yaml.Unmarshal(document, &a.app))
		if a.app.Name == name {
			return a
		}
	}
	s.Fatalf("no application %s is recorded", name)
	return nil
}

// leftBehind creates an application with the status that the Apache operator left.
func (s *env) leftBehind(f adoptionCase, name string) *adoptedApp {
	s.Helper()
	a := s.recorded(f.recorded)
	a.app.Name, a.app.Finalizers = name, []string{"sparkapplications.spark.apache.org/finalizer"}
	if f.change != nil {
		f.change(a)
	}
	app := s.create(a)
	app.Status = a.app.Status
	app, err := s.apps().UpdateStatus(s.Context(), app, metav1.UpdateOptions{})
	s.must(err)
	l := &adoptedApp{env: s, SparkApplication: app, want: f}
	if f.before != nil {
		f.before(l)
	}
	return l
}

// driver makes the driver of an attempt, as the Apache operator does.
func (l *adoptedApp) driver(attempt int) *driver {
	l.Helper()
	return l.driverOf("spark-kubernetes-operator", attempt)
}

func (l *adoptedApp) driverOf(operator string, attempt int) *driver {
	l.Helper()
	id := fmt.Sprintf("%s-%d", l.ObjectMeta.Name, attempt)
	blocks := true
	_, err := l.Kube.CoreV1().Pods(l.ns).Create(l.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: id + "-driver",
			Labels: map[string]string{
				"spark-role": "driver", "spark-app-selector": id, "spark-app-name": "spark", "spark-version": "4.1.1",
				"spark.operator/name": operator, "spark.operator/spark-app-name": l.ObjectMeta.Name,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Name: l.ObjectMeta.Name, UID: l.UID, BlockOwnerDeletion: &blocks,
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "apache/spark:4.1.1"}}},
	}, metav1.CreateOptions{})
	l.must(err)
	l.drivers = append(l.drivers, id+"-driver")
	return l.env.driver(l.ObjectMeta.Name, attempt)
}

func (l *adoptedApp) label(pod, key, value string) {
	l.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value)
	_, err := l.Kube.CoreV1().Pods(l.ns).Patch(l.Context(), pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	l.must(err)
}

// runs is a driver that was made and runs.
func runs(attempt int) func(*adoptedApp) {
	return func(l *adoptedApp) { l.Helper(); l.driver(attempt).start().ready() }
}

// ran is a driver that was made and ended.
func ran(attempt int, code int32) func(*adoptedApp) {
	return func(l *adoptedApp) { l.Helper(); l.driver(attempt).start().ready().exit(code) }
}

// adopted waits for the application to be Firesteel's.
func (l *adoptedApp) adopted() *sparkv1.SparkApplication {
	l.Helper()
	return until(l.env, l.apps(), l.ObjectMeta.Name, "be adopted", func(app *sparkv1.SparkApplication) bool { return app.Status.Firesteel != nil })
}

// wantInheritedEvents checks that the sequences of the published events continue those of the status.
func (l *adoptedApp) wantInheritedEvents() {
	l.Helper()
	published, withExecutors := strings.CutPrefix(l.want.published, "... ")
	want := words(published)
	var next int64 = 1
	for key := range l.Status.StateTransitionHistory {
		if number, err := strconv.ParseInt(key, 10, 64); err == nil && !l.want.fresh {
			next = max(next, number+2)
		}
	}
	heard := l.untilDelivered("the end of "+l.ObjectMeta.Name, func(heard []eventlog.Entry) bool {
		states := statesOf(firstAccepted(heard, l.SparkApplication))
		return len(states) >= len(want) && (len(want) == 0 || states[len(states)-1] == want[len(want)-1])
	})
	accepted := firstAccepted(heard, l.SparkApplication)
	for i, d := range accepted {
		if d.Sequence() != next+int64(i) {
			l.Errorf("transition %d has sequence %d, want %d", i+1, d.Sequence(), next)
		}
	}
	states := statesOf(accepted)
	if withExecutors {
		states = states[max(len(states)-len(want), 0):]
	}
	if !slices.Equal(states, want) {
		l.Errorf("the sink received %v, want %v", states, want)
	}
}

// ends has the attempt that runs succeed, once it is where its story has it before.
func ends(attempt int) func(*adoptedApp) {
	return func(l *adoptedApp) {
		l.Helper()
		l.adopted()
		states := words(l.want.published)
		if before := slices.Index(states, "Succeeded") - 1; before >= 0 && states[before] != "..." {
			l.untilState(l.ObjectMeta.Name, states[before])
		}
		l.env.driver(l.ObjectMeta.Name, attempt).succeed()
		l.released()
	}
}

// runsAgain has the next attempt run and succeed.
func runsAgain(attempt int) func(*adoptedApp) {
	return func(l *adoptedApp) {
		l.Helper()
		l.adopted()
		l.run(l.ObjectMeta.Name, attempt).succeed()
		l.released()
	}
}

// runsAgainWithoutExecutors is runsAgain where the spec asked for executors, and does no longer.
func runsAgainWithoutExecutors(attempt int) func(*adoptedApp) {
	return func(l *adoptedApp) {
		l.Helper()
		l.edit(l.ObjectMeta.Name, func(app *sparkv1.SparkApplication) { app.Spec.ApplicationTolerations.InstanceConfig = nil })
		runsAgain(attempt)(l)
	}
}

// released waits for the end, and checks that no driver is left.
func (l *adoptedApp) released() {
	l.Helper()
	l.untilState(l.ObjectMeta.Name, "ResourceReleased")
	l.wantNoDrivers()
}

func (l *adoptedApp) wantNoDrivers() {
	l.Helper()
	for attempt := range 4 {
		untilGone(l.env, l.Kube.CoreV1().Pods(l.ns), fmt.Sprintf("%s-%d-driver", l.ObjectMeta.Name, attempt))
	}
}

// wantDriver checks that a driver still exists and is not being deleted.
func (l *adoptedApp) wantDriver(attempt int) {
	l.Helper()
	if pod := l.pod(fmt.Sprintf("%s-%d-driver", l.ObjectMeta.Name, attempt)); pod.DeletionTimestamp != nil {
		l.Errorf("Pod %s is being deleted", pod.Name)
	}
}

// wantNoDriver deletes the application, and waits until it and its drivers are gone.
func (l *adoptedApp) wantNoDriver() {
	l.Helper()
	l.delete(l.ObjectMeta.Name)
	untilGone(l.env, l.apps(), l.ObjectMeta.Name)
	l.wantNoDrivers()
}

const (
	restarts = "ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased"
	lost     = "Failed ResourceReleased"
)

func wantDriverRemoved(l *adoptedApp) {
	l.Helper()
	l.released()
	if c := meta.FindStatusCondition(l.get(l.ObjectMeta.Name).Status.Conditions, "Succeeded"); c == nil || !contains(c.Message, "Driver removed") {
		l.Errorf("the condition is %+v", c)
	}
}

func adoptionCases() map[string]adoptionCase {
	all := map[string]adoptionCase{}
	for _, some := range []map[string]adoptionCase{beginnings(), runningOn(), restarting(), retained(), over(), blocked(), inEachState()} {
		maps.Copy(all, some)
	}
	return all
}

// beginnings are launches and restarts that were about to happen.
func beginnings() map[string]adoptionCase {
	return map[string]adoptionCase{
		"a launch that was not begun is": {
			recorded: "submitted", after: func(l *adoptedApp) { l.run(l.ObjectMeta.Name, 0).succeed(); l.released() },
			published: strings.Join(plainRun, " "), fresh: true, made: 1,
		},
		"a launch that was not written down is taken over": {
			recorded: "submitted", before: runs(0), after: ends(0),
			published: "DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased",
		},
		"a launch of which nothing at all was written is taken over": {
			recorded: "submitted", change: func(a *application) { a.app.Status = sparkv1.ApplicationStatus{} }, before: runs(0), after: ends(0),
			published: strings.Join(plainRun, " "),
		},
		"a restart that was not begun is": {
			recorded: "scheduled-to-restart", after: runsAgain(1), made: 1,
			published: "DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased",
		},
		"a restart that was not written down is taken over": {
			recorded: "scheduled-to-restart", before: runs(1), after: ends(1),
			published: "DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased",
		},
		"a restart waits for the driver before it": {
			recorded: "scheduled-to-restart", before: runs(0), after: runsAgain(1), made: 1,
			published: "DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased",
		},
		"a restart waits for its back-off": {
			recorded: "scheduled-to-restart",
			change: func(a *application) {
				a.Restart(sparkv1.RestartOnFailure, 3, time.Hour)
				state := a.app.Status.CurrentState
				state.LastTransitionTime = time.Now().UTC().Format(time.RFC3339Nano)
				a.app.Status.StateTransitionHistory["6"] = *state
			},
			after: func(l *adoptedApp) {
				if c := meta.FindStatusCondition(l.adopted().Status.Conditions, "Succeeded"); !contains(c.Message, "Attempt 1 starts at") {
					l.Errorf("the condition says %q", c.Message)
				}
				l.wantNoDriver()
			},
			published: "ResourceReleased",
		},
	}
}

// runningOn are drivers that run, or ran.
func runningOn() map[string]adoptionCase {
	return map[string]adoptionCase{
		"a driver of an operator of another name is followed": {
			recorded: "running-healthy", before: func(l *adoptedApp) { l.driverOf("team-operator", 0).start().ready() }, after: ends(0),
			published: "Succeeded ResourceReleased",
		},
		"executors of an operator of another name are counted": {
			recorded: "running-with-below-threshold-executors",
			before: func(l *adoptedApp) {
				d := l.driverOf("team-operator", 2).start().ready()
				for id := range 2 {
					l.label(d.executor(id).start().ready().Name, "spark.operator/name", "team-operator")
				}
			},
			after: ends(2), published: "RunningHealthy Succeeded ResourceReleased",
		},
		"a driver that ended meanwhile is": {
			recorded: "running-healthy", before: ran(0, 1), after: func(l *adoptedApp) { l.released() }, published: "Failed ResourceReleased",
		},
		"what is left of another attempt is deleted": {
			recorded: "running-healthy", before: func(l *adoptedApp) { ran(1, 1)(l); runs(0)(l) }, after: ends(0), published: "Succeeded ResourceReleased",
		},
		"a driver that is lost is replaced where the spec says so": {
			recorded: "running-with-below-threshold-executors", after: runsAgainWithoutExecutors(3), published: "Failed " + restarts, made: 1,
		},
	}
}

// restarting are failures that may be followed by another attempt.
func restarting() map[string]adoptionCase {
	return map[string]adoptionCase{
		"a failure is followed by the restart that its spec allows": {
			recorded: "failed", before: ran(0, 1), after: runsAgain(1), published: restarts, made: 1,
		},
		"a failure without its driver is followed by its restart": {
			recorded: "failed", after: runsAgain(1), published: restarts, made: 1,
		},
		"a failure that has used up its restarts is the last": {
			recorded: "failed", change: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 0, 0) }, before: ran(0, 1),
			after: func(l *adoptedApp) { l.released() }, published: "ResourceReleased",
		},
	}
}

// retained are ends after which the driver is kept.
func retained() map[string]adoptionCase {
	return map[string]adoptionCase{
		"a success is retained as its spec says": {
			recorded: "succeeded", change: func(a *application) { a.Retain(sparkv1.RetainAlways) }, before: ran(0, 0),
			after: func(l *adoptedApp) {
				l.untilState(l.ObjectMeta.Name, "TerminatedWithoutReleaseResources")
				l.wantDriver(0)
				l.wantNoDriver()
			},
			published: "TerminatedWithoutReleaseResources ResourceReleased",
		},
		"a retention goes on": {
			recorded: "terminated-without-release-resources", before: ran(0, 0),
			after: func(l *adoptedApp) { l.adopted(); l.wantDriver(0); l.wantNoDriver() }, published: "ResourceReleased",
		},
		"a retention that is over ends": {
			recorded: "terminated-without-release-resources", change: func(a *application) { a.RetainFor(time.Hour) }, before: ran(0, 0),
			after: func(l *adoptedApp) { l.released() }, published: "ResourceReleased",
		},
		"a retention without its driver ends": {
			recorded: "terminated-without-release-resources", change: func(a *application) { a.RetainFor(time.Hour) },
			after: func(l *adoptedApp) { l.released() }, published: "ResourceReleased",
		},
	}
}

// over is what has ended, or is being deleted.
func over() map[string]adoptionCase {
	return map[string]adoptionCase{
		"what has ended for good is left as it is": {
			recorded: "resource-released", after: (*adoptedApp).wantNoDriver, untouched: true,
		},
		"a time to live goes on": {
			recorded: "resource-released", change: func(a *application) { a.TTL(20 * 365 * 24 * time.Hour) },
			after: func(l *adoptedApp) { l.adopted(); l.wantNoDriver() },
		},
		"a time to live that is over ends": {
			recorded: "resource-released", change: func(a *application) { a.TTL(time.Hour) },
			after: func(l *adoptedApp) { untilGone(l.env, l.apps(), l.ObjectMeta.Name) },
		},
		"a deletion that was begun is ended": {
			recorded: "running-healthy", before: func(l *adoptedApp) { runs(0)(l); l.delete(l.ObjectMeta.Name) },
			after: func(l *adoptedApp) { untilGone(l.env, l.apps(), l.ObjectMeta.Name); l.wantNoDrivers() }, published: "ResourceReleased",
		},
		"a deletion of what has ended is ended": {
			recorded: "resource-released", before: func(l *adoptedApp) { l.delete(l.ObjectMeta.Name) },
			after: func(l *adoptedApp) { untilGone(l.env, l.apps(), l.ObjectMeta.Name) }, untouched: true,
		},
	}
}

// blocked returns the cases that Firesteel cannot continue.
func blocked() map[string]adoptionCase {
	return map[string]adoptionCase{
		"what cannot be understood is left alone, and can be deleted": {
			recorded: "running-healthy", before: runs(0),
			change: func(a *application) { a.app.Status.CurrentState.CurrentStateSummary = "Pondering" },
			after: func(l *adoptedApp) {
				c := l.untilCondition(l.ObjectMeta.Name, "Succeeded", metav1.ConditionUnknown, "NotAdopted")
				for _, part := range []string{`"Pondering"`, "delete it and apply it again"} {
					if !contains(c.Message, part) {
						l.Errorf("the condition says %q, and not %s", c.Message, part)
					}
				}
				l.wantDriver(0)
				l.wantNoDriver()
			},
		},
	}
}

// inEachState are applications in each state in which there may be a driver, with it and without.
func inEachState() map[string]adoptionCase {
	all := map[string]adoptionCase{}
	for state, states := range map[string]string{
		"driver-requested": "DriverStarted DriverReady RunningHealthy", "driver-started": "DriverReady RunningHealthy",
		"driver-ready": "RunningHealthy", "initialized-below-threshold-executors": "...",
		"running-healthy": "", "running-with-partial-capacity": "...",
	} {
		all["a driver is followed to its end: "+state] = adoptionCase{
			recorded: state, before: runs(0), after: ends(0), published: states + " Succeeded ResourceReleased",
		}
		all["a driver is lost: "+state] = adoptionCase{recorded: state, after: wantDriverRemoved, published: lost}
	}
	all["a driver is followed to its end: running-with-below-threshold-executors"] = adoptionCase{
		recorded: "running-with-below-threshold-executors", before: runs(2), after: ends(2), published: "... Succeeded ResourceReleased",
	}
	for state, before := range map[string]func(*adoptedApp){
		"driver-start-timed-out": func(l *adoptedApp) { l.driver(0) }, "driver-ready-timed-out": func(l *adoptedApp) { l.driver(0).start() },
		"executors-start-timed-out": runs(0), "succeeded": ran(0, 0), "scheduling-failure": func(l *adoptedApp) { l.driver(0) },
		"driver-evicted": func(l *adoptedApp) { l.driver(0).start().evict() }, "twice-ended": ran(0, 0),
	} {
		over := func(l *adoptedApp) { l.Helper(); l.released() }
		all["an end is concluded: "+state] = adoptionCase{recorded: state, before: before, after: over, published: "ResourceReleased"}
		all["an end is concluded without a driver: "+state] = adoptionCase{recorded: state, after: over, published: "ResourceReleased"}
	}
	return all
}
