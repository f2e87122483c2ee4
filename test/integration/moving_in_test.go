package integration

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/kubeflow"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// movingIn is a cluster with the Kubeflow operator, from which teams move to Firesteel and back.
type movingIn struct {
	*env
	operator *kubeflow.Operator
	running  *process.Process
	starts   int
}

// team is a namespace with applications in every state that lasts, and schedules.
type team struct {
	*env
	// drivers holds how many drivers each application had when the Kubeflow operator stopped, and live those that were alive.
	drivers map[string]int
	live    map[string]types.UID
}

// kubeflowApp is an application of the Kubeflow operator whose restarts wait for an hour, unless change says otherwise. The operator's
// webhook would add the defaults.
func kubeflowApp(name, change string) string {
	const text = `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: %s
spec:
  type: Scala
  mode: cluster
  image: spark:4.1.1
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  sparkVersion: 4.1.1
  restartPolicy: {type: Never}
  driver: {cores: 1, memory: 512m, serviceAccount: default}
  executor: {instances: 1, cores: 1, memory: 512m}
%s`
	return fmt.Sprintf(text, name, change)
}

const (
	retriesIn     = "  restartPolicy: {type: OnFailure, onFailureRetries: 3, onFailureRetryInterval: %[1]d, onSubmissionFailureRetries: 3, onSubmissionFailureRetryInterval: %[1]d}\n"
	anHour        = 3600
	refusedSubmit = "  sparkConf: {spark.test.refused: 'the test refuses it'}\n"
)

// movingStates are the states in which applications are when their operator changes, and what they are in Firesteel's care then. A
// state of transition is not among them: TestAdoptionOfApplicationsOfTheKubeflowOperator has those, as recorded.
var movingStates = map[string]struct {
	left, adopted v1beta2.ApplicationStateType
	// change is the rest of the spec.
	change string
	// goesOn has the driver go on running, and launched has Firesteel create one.
	goesOn, launched bool
}{
	"new":               {left: "", adopted: v1beta2.SubmittedState, launched: true},
	"submitted":         {left: v1beta2.SubmittedState, adopted: v1beta2.SubmittedState, goesOn: true},
	"running":           {left: v1beta2.RunningState, adopted: v1beta2.RunningState, goesOn: true},
	"again":             {left: v1beta2.RunningState, adopted: v1beta2.RunningState, change: fmt.Sprintf(retriesIn, 1), goesOn: true},
	"failing":           {left: v1beta2.FailingState, adopted: v1beta2.FailingState, change: fmt.Sprintf(retriesIn, anHour)},
	"submission-failed": {left: v1beta2.FailedSubmissionState, adopted: v1beta2.FailedSubmissionState, change: refusedSubmit + fmt.Sprintf(retriesIn, anHour)},
	"suspended":         {left: v1beta2.SuspendedState, adopted: v1beta2.SuspendedState},
	"completed":         {left: v1beta2.CompletedState, adopted: v1beta2.CompletedState},
	"failed":            {left: v1beta2.FailedState, adopted: v1beta2.FailedState},
	"kept":              {left: v1beta2.CompletedState, adopted: v1beta2.CompletedState, change: "  timeToLiveSeconds: 86400\n"},
}

// ofEach returns the names of a team's applications: so many in each state.
func ofEach(number int) []string {
	var names []string
	for state := range movingStates {
		for i := range number {
			names = append(names, fmt.Sprintf("%s-%d", state, i))
		}
	}
	slices.Sort(names)
	return names
}

// stateOfName is the state that an application is named after.
func stateOfName(name string) string { return name[:strings.LastIndex(name, "-")] }

// start starts the operator for some teams, and waits until it leads.
func (m *movingIn) start(namespaces ...string) {
	m.Helper()
	m.starts++
	log := filepath.Join(m.dir, fmt.Sprintf("kubeflow-operator-%d.log", m.starts))
	started, err := m.operator.Start(log, m.Plane.Admin(), namespaces...)
	m.must(err)
	m.running = started
	m.Cleanup(func() {
		started.Kill()
		if m.Failed() {
			m.Logf("%s:\n%s", log, started.Tail(40))
		}
	})
}

// stop stops the operator as scaling it to 0 does.
func (m *movingIn) stop() {
	m.Helper()
	m.must(m.running.Stop())
	select {
	case <-m.running.Done():
	case <-time.After(timeout):
		m.Fatal("the Kubeflow operator does not end")
	}
}

// team makes a namespace. Its applications are created, but for the new ones, and are brought into their states by the operator.
func (m *movingIn) team(name string) *team {
	m.Helper()
	t := &team{env: &env{TB: m.TB, suite: m.suite, ns: name}, drivers: map[string]int{}, live: map[string]types.UID{}}
	m.must(m.AddNamespace(m.Context(), name))
	return t
}

func (t *team) apply(manifest string) {
	t.Helper()
	t.submitted(manifest)
}

// untilIn waits until an application is in a state, of any writer.
func (t *team) untilIn(name string, state v1beta2.ApplicationStateType) *v1beta2.SparkApplication {
	t.Helper()
	return until(t.env, t.kubeflowApps(), name, fmt.Sprintf("be %q", state), func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == state
	})
}

// bring has applications come into the states that they are named after.
func (t *team) bring(names []string) {
	t.Helper()
	for _, name := range names {
		if stateOfName(name) != "new" {
			t.apply(kubeflowApp(name, movingStates[stateOfName(name)].change))
		}
	}
	for _, name := range names {
		switch state := stateOfName(name); state {
		case "new", "submission-failed":
			continue
		case "submitted":
			t.kubeflowDriver(name)
			continue
		default:
			t.kubeflowDriver(name).start().ready()
		}
		t.untilIn(name, v1beta2.RunningState)
		switch stateOfName(name) {
		case "again":
			first := t.kubeflowDriver(name).exit(1)
			next := until(t.env, t.Kube.CoreV1().Pods(t.ns), first.Name, "be the next one", func(pod *corev1.Pod) bool {
				return pod.UID != first.UID && pod.Spec.NodeName != ""
			})
			(&driver{Pod: next, env: t.env}).start().ready()
		case "failing", "failed":
			t.kubeflowDriver(name).exit(1)
		case "completed", "kept":
			t.kubeflowDriver(name).succeed()
		case "suspended":
			t.suspend(name, true)
		}
	}
	for _, name := range names {
		if stateOfName(name) != "new" {
			t.untilIn(name, movingStates[stateOfName(name)].left)
		}
	}
}

func (t *team) suspend(name string, suspend bool) {
	t.Helper()
	t.patched(kubeflowApplications, name, fmt.Sprintf(`{"spec":{"suspend":%t}}`, suspend))
}

// left notes the drivers that there are when no operator serves the team.
func (t *team) left(names []string) {
	t.Helper()
	for _, name := range names {
		if stateOfName(name) == "new" {
			t.apply(kubeflowApp(name, movingStates["new"].change))
		}
		if movingStates[stateOfName(name)].goesOn {
			t.live[name] = t.kubeflowDriver(name).UID
			t.untilHad(name, 1)
		}
		t.drivers[name] = len(t.driverHistory.driversOf(t.ns, name))
	}
}

// inFiresteelsCare checks the applications after Firesteel took them over.
func (t *team) inFiresteelsCare(names []string) {
	t.Helper()
	for _, name := range names {
		expected := movingStates[stateOfName(name)]
		finished := expected.left == v1beta2.CompletedState || expected.left == v1beta2.FailedState
		app := until(t.env, t.kubeflowApps(), name, fmt.Sprintf("be %q in Firesteel's care", expected.adopted), func(app *v1beta2.SparkApplication) bool {
			return app.Status.AppState.State == expected.adopted && (finished || app.Status.Firesteel != nil)
		})
		if expected.launched {
			t.kubeflowDriver(name)
			t.drivers[name]++
		}
		if expected.goesOn && app.Status.Firesteel.Launch.DriverUID != t.live[name] {
			t.Errorf("%s: the driver that is followed is %s, want %s", name, app.Status.Firesteel.Launch.DriverUID, t.live[name])
		}
	}
	t.sameDrivers(names)
}

// sameDrivers checks that no application got a driver that was not expected, and that none died.
func (t *team) sameDrivers(names []string) {
	t.Helper()
	for _, name := range names {
		if got := t.untilHad(name, t.drivers[name]); len(got) != t.drivers[name] {
			t.Errorf("%s/%s had %d drivers, want %d", t.ns, name, len(got), t.drivers[name])
		}
		if uid := t.live[name]; uid != "" {
			pod, err := t.Kube.CoreV1().Pods(t.ns).Get(t.Context(), name+"-driver", metav1.GetOptions{})
			if err != nil || pod.UID != uid || pod.DeletionTimestamp != nil {
				t.Errorf("the driver of %s/%s is not the one that lived: %v", t.ns, name, err)
			}
		}
	}
}

// ends has a driver succeed, and the application be completed.
func (t *team) ends(name string) *v1beta2.SparkApplication {
	t.Helper()
	d := t.kubeflowDriver(name)
	if d.Status.Phase == corev1.PodPending {
		d.start().ready()
		t.untilIn(name, v1beta2.RunningState)
	}
	d.succeed()
	delete(t.live, name)
	return t.untilIn(name, v1beta2.CompletedState)
}

// setup runs cmd/setup.
func (m *movingIn) setup(arguments ...string) string {
	m.Helper()
	command := exec.CommandContext(m.Context(), filepath.Join(m.programs, "setup"), arguments...)
	command.Env = append(command.Environ(), "KUBECONFIG="+m.Plane.Kubeconfig())
	output, err := command.CombinedOutput()
	if err != nil {
		m.Fatalf("setup %v: %v\n%s", arguments, err, output)
	}
	return string(output)
}

// command runs the command of the page about moving in that begins with a text.
func (m *movingIn) command(begin string) {
	m.Helper()
	command, err := pages.Command(repository+"/docs/operators/moving-in.md", begin)
	m.must(err)
	_, err = m.Plane.Bash(m.Context(), "", command)
	m.must(err)
}

// schedule makes a schedule of the Kubeflow operator.
func (t *team) schedule(name, when, rest string) {
	t.Helper()
	_, spec, _ := strings.Cut(kubeflowApp(name, ""), "\nspec:\n")
	t.apply(fmt.Sprintf("apiVersion: sparkoperator.k8s.io/v1beta2\nkind: ScheduledSparkApplication\nmetadata: {name: %s}\nspec:\n"+
		"  schedule: %q\n%s  template:\n%s", name, when, rest, strings.ReplaceAll("    "+spec, "\n  ", "\n      ")))
}

// runsOf are the names of the runs of a schedule.
func (t *team) runsOf(name string) []string {
	t.Helper()
	apps, err := t.kubeflowApps().List(t.Context(), metav1.ListOptions{})
	t.must(err)
	var runs []string
	for _, app := range apps.Items {
		if strings.HasPrefix(app.Name, name+"-") && len(app.OwnerReferences) > 0 {
			runs = append(runs, app.Name)
		}
	}
	return runs
}

// untilRun waits for a run of a schedule that is not among the earlier ones, and for its driver.
func (t *team) untilRun(name string, earlier ...string) string {
	t.Helper()
	run := follow(t.env, t.kubeflowApps(), "", "a run of "+name, func(app *v1beta2.SparkApplication) bool {
		return strings.HasPrefix(app.Name, name+"-") && len(app.OwnerReferences) > 0 && !slices.Contains(earlier, app.Name)
	}).Name
	t.kubeflowDriver(run)
	return run
}

// A team moves from the Kubeflow operator to Firesteel, then the other, and the first moves back. Meanwhile the operator that does not
// serve a team's namespace does nothing there. No application runs twice, and no driver dies.
func TestMoveFromTheKubeflowOperatorAndBack(t *testing.T) {
	t.Parallel()
	m := &movingIn{env: ownPlane(t)}
	began := time.Now()
	operator, err := kubeflow.Build(t.Context(), repository, m.dir)
	m.must(err)
	t.Logf("the Kubeflow operator was built in %s", time.Since(began).Round(time.Second))
	m.operator = operator
	chart, err := kubeflow.Chart(t.Context(), repository)
	m.must(err)
	_, err = m.Plane.Kubectl(t.Context(), "", "replace", "--filename="+chart+"/crds/sparkoperator.k8s.io_sparkapplications.yaml",
		"--filename="+chart+"/crds/sparkoperator.k8s.io_scheduledsparkapplications.yaml")
	m.must(err)
	m.createSparkConnect(chart)
	m.must(m.AddNamespace(t.Context(), kubeflow.Namespace))

	a, b := m.team("team-a"), m.team("team-b")
	ofA, ofB := ofEach(2), ofEach(1)
	m.start(a.ns, b.ns)
	a.schedule("often", "@every 2s", "  concurrencyPolicy: Forbid\n")
	a.schedule("paused", "@every 2s", "  suspend: true\n")
	b.schedule("hourly", "@every 1h", "")
	a.bring(ofA)
	b.bring(ofB)
	run := a.untilRun("often")
	m.stop()
	a.left(ofA)
	b.left(ofB)
	m.start(b.ns)

	// The first team.
	if output := m.setup("crds", "-take-over", "sparkoperator.k8s.io"); !contains(output, "sparkapplications.sparkoperator.k8s.io is served") {
		t.Errorf("setup prints %s", output)
	}
	m.must(m.Configure(t.Context(), "config-scope", map[string]string{"watched-namespaces": a.ns}))
	m.ownController(controller{sink: m.sink.URL()})
	a.inFiresteelsCare(ofA)
	b.untilIn("new-0", v1beta2.SubmittedState) // by the Kubeflow operator
	b.drivers["new-0"]++
	for _, name := range ofB {
		app, err := b.kubeflowApps().Get(t.Context(), name, metav1.GetOptions{})
		m.must(err)
		if app.Status.Firesteel != nil || len(app.Finalizers) > 0 {
			t.Errorf("Firesteel wrote %s/%s, which it does not serve", b.ns, name)
		}
	}
	b.sameDrivers(ofB)
	followed := a.ends("running-0")
	a.untilDelivered("the end of running-0", func(heard []eventlog.Entry) bool {
		return slices.ContainsFunc(heard, func(d eventlog.Entry) bool {
			return strings.HasSuffix(d.Attributes["source"], "/"+string(followed.UID)) && d.Taken && d.Attributes["sparkfinal"] == "true"
		})
	})
	if b.ends("running-0"); b.drivers["running-0"] != 1 {
		t.Errorf("running-0 of the other team had %d drivers", b.drivers["running-0"])
	}
	if got := a.runsOf("often"); !slices.Equal(got, []string{run}) {
		t.Errorf("while a run goes on, the runs are %v, want %s", got, run)
	}
	d := a.kubeflowDriver(run)
	d.start().ready()
	a.untilIn(run, v1beta2.RunningState)
	d.succeed()
	second := a.untilRun("often", run)

	// All.
	m.stop()
	m.must(m.Configure(t.Context(), "config-scope", map[string]string{"watched-namespaces": a.ns + "," + b.ns}))
	followed = b.ends("submitted-0")
	if followed.Status.Firesteel == nil {
		t.Error("Firesteel does not follow the other team's driver")
	}
	a.suspend("suspended-0", false)
	a.drivers["suspended-0"]++
	a.untilIn("suspended-0", v1beta2.SubmittedState)
	a.kubeflowDriver("suspended-0").start().ready()
	a.untilIn("suspended-0", v1beta2.RunningState)
	a.live["suspended-0"] = a.kubeflowDriver("suspended-0").UID
	b.sameDrivers(ofB)
	if runs := len(b.runsOf("hourly")); runs != 0 {
		t.Errorf("the hourly schedule made %d runs", runs)
	}

	// The first team moves back.
	m.must(m.Configure(t.Context(), "config-scope", map[string]string{"watched-namespaces": b.ns}))
	m.command("kubectl -n team-a get sparkapplications.sparkoperator.k8s.io")
	apps, err := a.kubeflowApps().List(t.Context(), metav1.ListOptions{})
	m.must(err)
	for _, app := range apps.Items {
		if len(app.Finalizers) > 0 {
			t.Errorf("%s still has the finalizers %v", app.Name, app.Finalizers)
		}
	}
	m.start(a.ns)
	a.ends("again-1")
	a.ends("suspended-0")
	a.apply(kubeflowApp("later-0", ""))
	a.untilIn("later-0", v1beta2.SubmittedState)
	for _, name := range []string{"submitted-1", "again-1"} {
		if app, err := a.kubeflowApps().Get(t.Context(), name, metav1.GetOptions{}); err != nil || len(app.Finalizers) > 0 {
			t.Errorf("%s is Firesteel's again: %v", name, err)
		}
	}
	m.must(a.kubeflowApps().Delete(t.Context(), "submitted-1", metav1.DeleteOptions{}))
	untilGone(a.env, a.kubeflowApps(), "submitted-1")
	delete(a.live, "submitted-1")
	a.sameDrivers(ofA)
	a.ends(second)
	a.untilRun("often", run, second)
	for _, team := range []*team{a, b} {
		for _, violation := range m.driverHistory.violationsIn(team.ns) {
			t.Error(violation)
		}
	}
}

// createSparkConnect creates the CRD of the operator's third kind, and waits until discovery has it: without it, the operator does not
// start.
func (m *movingIn) createSparkConnect(chart string) {
	m.Helper()
	_, err := m.Plane.Kubectl(m.Context(), "", "create", "--filename="+chart+"/crds/sparkoperator.k8s.io_sparkconnects.yaml")
	m.must(err)
	m.must(wait.PollUntilContextTimeout(m.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		kinds, err := m.Kube.Discovery().ServerResourcesForGroupVersion("sparkoperator.k8s.io/v1alpha1")
		return err == nil && slices.ContainsFunc(kinds.APIResources, func(kind metav1.APIResource) bool { return kind.Kind == "SparkConnect" }), nil
	}))
}

// Both operators serve a namespace. Neither launches a second driver, and the application says that another operator is active.
func TestKubeflowOperatorThatStillServesTheNamespace(t *testing.T) {
	t.Parallel()
	m := &movingIn{env: ownPlane(t)}
	operator, err := kubeflow.Build(t.Context(), repository, m.dir)
	m.must(err)
	m.operator = operator
	chart, err := kubeflow.Chart(t.Context(), repository)
	m.must(err)
	m.createSparkConnect(chart)
	m.must(m.AddNamespace(t.Context(), kubeflow.Namespace))
	a := m.team("team-a")
	m.start(a.ns)
	names := []string{"running-0", "again-0"}
	a.bring(names)
	a.left(names)
	m.ownController(controller{sink: m.sink.URL()})
	for i := range 5 {
		name := fmt.Sprintf("both-%d", i)
		a.apply(kubeflowApp(name, fmt.Sprintf(retriesIn, 1)))
		a.kubeflowDriver(name).start().ready()
		if a.drivers[name] = len(a.untilHad(name, 1)); a.drivers[name] != 1 {
			t.Errorf("%s had %d drivers", name, a.drivers[name])
		}
	}
	// The Kubeflow operator drops the condition with its next write. The Event stays.
	event := follow(a.env, m.Kube.CoreV1().Events(a.ns), "reason=AnotherOperatorActive", "an Event", func(*corev1.Event) bool { return true })
	t.Logf("%s: %s", event.InvolvedObject.Name, event.Message)
	t.Logf("Firesteel sent %d requests until it rested", len(a.requestsAtRest()))
	a.sameDrivers(names)
	for _, violation := range m.driverHistory.violationsIn(a.ns) {
		t.Error(violation)
	}
}

// The Kubeflow operator is stopped, and its webhooks are left. They refuse all that Firesteel needs: the application says which webhook it is
// and what to do, and goes on as soon as the webhook is deleted. The controller says the same when it starts.
func TestWebhooksThatTheKubeflowOperatorLeftAreReported(t *testing.T) {
	alone(t)
	s := newEnv(t)
	_, err := s.Plane.Kubectl(t.Context(), "", "apply", "-f", configFolder+"/other-operators")
	s.must(err)
	s.Cleanup(func() {
		for _, objects := range [][]string{{"-f", configFolder + "/other-operators/rbac.yaml"}, {"mutatingwebhookconfiguration/spark-operator-webhook"}} {
			if _, err := s.Plane.Kubectl(context.Background(), "", append([]string{"delete", "--ignore-not-found"}, objects...)...); err != nil {
				t.Error(err)
			}
		}
	})
	_, err = s.kubectl(fmt.Sprintf(leftWebhook, s.ns), "apply", "-f", "-")
	s.must(err)
	s.untilRightsAreKnown()
	tried := plainPod("tried")
	tried.Labels["sparkoperator.k8s.io/launched-by-spark-operator"] = "true"
	s.untilRefused("mutate--v1-pod.sparkoperator.k8s.io", s.creating(tried))
	s.ownController(controller{sink: s.sink.URL()})
	found := s.untilSystemEvent("AnotherOperatorFound")
	if want := "kubectl delete mutatingwebhookconfiguration spark-operator-webhook"; !contains(found.Message, want) || found.InvolvedObject.Name != "config-scope" {
		t.Errorf("the Event on %s is %s, want %s", found.InvolvedObject.Name, found.Message, want)
	}
	s.submitted(sparkPi("4.1.1"))
	failed := s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "WebhookFailed")
	if !contains(failed.Message, "mutate--v1-pod.sparkoperator.k8s.io") || !contains(failed.Message, "docs/operators/moving-in.md") {
		t.Errorf("the Event is %s", failed.Message)
	}
	_, err = s.kubectl("", "delete", "mutatingwebhookconfiguration", "spark-operator-webhook")
	s.must(err)
	s.kubeflowDriver("spark-pi")
	if drivers := s.untilHad("spark-pi", 1); len(drivers) != 1 {
		t.Errorf("it had %d drivers", len(drivers))
	}
}

// leftWebhook is the webhook on Pods of the Kubeflow operator's chart for one namespace, and its Service is gone.
const leftWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: spark-operator-webhook}
webhooks:
  - name: mutate--v1-pod.sparkoperator.k8s.io
    admissionReviewVersions: [v1]
    clientConfig: {service: {name: spark-operator-webhook-svc, namespace: spark-operator, port: 9443, path: /mutate--v1-pod}}
    sideEffects: None
    failurePolicy: Fail
    namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [%s]}]}
    objectSelector: {matchLabels: {sparkoperator.k8s.io/launched-by-spark-operator: "true"}}
    rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
    timeoutSeconds: 10
`

// untilSystemEvent waits for a Kubernetes Event in the namespace of the controller.
func (s *env) untilSystemEvent(reason string) *corev1.Event {
	s.Helper()
	return follow(s, s.Kube.CoreV1().Events(firesteel.SystemNamespace), "reason="+reason, "an Event "+reason, func(*corev1.Event) bool { return true })
}

// leftByApacheOperator puts applications into a team's namespace as the Apache operator left them: with a driver, about to begin, and finished.
func (s *env) leftByApacheOperator() []*adoptedApp {
	s.Helper()
	var left []*adoptedApp
	for _, state := range words(`driver-requested driver-started driver-ready initialized-below-threshold-executors running-healthy
		running-with-partial-capacity submitted scheduled-to-restart resource-released`) {
		f := adoptionCase{recorded: state, untouched: state == "resource-released"}
		if !slices.Contains(words("submitted scheduled-to-restart resource-released"), state) {
			f.before = runs(0)
		}
		left = append(left, s.leftBehind(f, state))
	}
	return left
}

// unchanged checks that no writer changed applications since they had these versions, and that their drivers live.
func (s *env) unchanged(left []*adoptedApp, versions map[string]string) {
	s.Helper()
	for _, l := range left {
		if app := s.get(l.ObjectMeta.Name); app.ResourceVersion != versions[app.Name] {
			s.Errorf("%s/%s was written:\n%s", s.ns, app.Name, described(app))
		}
		if got := s.untilHad(l.ObjectMeta.Name, len(l.drivers)); len(got) != len(l.drivers) {
			s.Errorf("%s/%s had %d drivers, want %v", s.ns, l.ObjectMeta.Name, len(got), l.drivers)
		}
		if len(l.drivers) > 0 {
			l.wantDriver(0)
		}
	}
}

// versions are the resource versions of applications.
func (s *env) versions(left []*adoptedApp) map[string]string {
	s.Helper()
	versions := map[string]string{}
	for _, l := range left {
		versions[l.ObjectMeta.Name] = s.get(l.ObjectMeta.Name).ResourceVersion
	}
	return versions
}

// A team of the Apache operator moves to Firesteel, then the other while the first moves back. Firesteel writes nothing in a namespace that it
// does not serve. TestAdoptionOfApplicationsOfTheApacheOperator has what becomes of each application.
func TestTeamMovesFromTheApacheOperatorAndBack(t *testing.T) {
	alone(t)
	a, b := newEnv(t), newEnv(t)
	ofA, ofB := a.leftByApacheOperator(), b.leftByApacheOperator()
	scope := func(namespace string) {
		a.must(a.Configure(context.Background(), "config-scope", map[string]string{"watched-namespaces": namespace}))
	}
	scope(a.ns)
	t.Cleanup(func() { scope("") })
	before := b.versions(ofB)
	a.ownController(controller{sink: a.sink.URL()})
	for _, l := range ofA {
		if !l.want.untouched {
			l.adopted()
		}
	}
	for _, name := range words("submitted scheduled-to-restart") { // these are launched
		a.untilState(name, "DriverRequested")
	}
	b.unchanged(ofB, before)

	scope(b.ns)
	for _, l := range ofB {
		if !l.want.untouched {
			l.adopted()
		}
	}
	before = a.versions(ofA)
	a.driver("running-healthy", 0).succeed()
	b.driver("running-healthy", 0).succeed()
	b.untilState("running-healthy", "ResourceReleased")
	for _, l := range ofA {
		if app := a.get(l.ObjectMeta.Name); app.ResourceVersion != before[app.Name] {
			t.Errorf("%s/%s was written:\n%s", a.ns, app.Name, described(app))
		}
	}
	if got := a.pod("running-healthy-0-driver"); got.DeletionTimestamp != nil {
		t.Error("the driver of a namespace that is not served was deleted")
	}
}
