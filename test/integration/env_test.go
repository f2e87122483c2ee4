package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// timeout is how long a test waits for anything. It is far longer than anything takes.
const timeout = 3 * time.Minute

// pollInterval is the time between two reads of what cannot be watched.
const pollInterval = 50 * time.Millisecond

// env is the namespace of one test, on a control plane.
type env struct {
	testing.TB
	*suite
	ns string
	// shared is the controller that all parallel tests share; nil if the env has another.
	shared *process.Process
}

var envs atomic.Int64

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// newEnv creates a namespace in which Pods can be created. After the test Firesteel's objects in it are deleted. The namespace itself
// stays until the control plane ends, since its deletion takes some eighty requests.
func newEnv(t testing.TB) *env {
	t.Helper()
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-"), "-")
	s := &env{TB: t, suite: controlPlanes.of(t), ns: fmt.Sprintf("t%d-%.55s", envs.Add(1), name)}
	s.ns = strings.TrimSuffix(s.ns, "-")
	s.must(s.AddNamespace(t.Context(), s.ns))
	t.Cleanup(s.cleanUp)
	return s
}

func (s *env) cleanUp() {
	for _, violation := range s.driverHistory.violationsIn(s.ns) {
		s.Error(violation)
	}
	heard, _ := s.sink.Events(s.ns)
	for _, entry := range heard {
		s.check(invariants.Contract(entry))
	}
	ctx := context.Background()
	s.kubelet.Resume(ctx, s.ns)
	s.sink.SetAnswer(s.ns, sink.Accept)
	for _, kind := range []collection{
		s.Spark.FiresteelV1alpha1().ScheduledSparkApplications(s.ns), s.Spark.SparkoperatorV1beta2().ScheduledSparkApplications(s.ns),
		s.apps(), s.kubeflowApps(), s.clusters(),
	} {
		if err := kind.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.Error(err)
		}
	}
}

// collection is the objects of a kind in a namespace.
type collection interface {
	DeleteCollection(ctx context.Context, options metav1.DeleteOptions, which metav1.ListOptions) error
}

// sharesController lets the controller that all parallel tests share serve the env.
func (s *env) sharesController() *env {
	s.Helper()
	process, err := s.common.acquire(func() (*process.Process, error) {
		started, _, err := s.startController(context.Background(), controller{sink: s.sink.URL()})
		return started, err
	})
	s.must(err)
	s.shared = process
	s.untilReady(process)
	s.Cleanup(s.common.release)
	s.logOnFailure(process)
	return s
}

// untilReady waits until a controller has filled its caches. Later applications are new to it, so that it does not look for earlier
// drivers of theirs.
func (s *env) untilReady(process *process.Process) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		text, err := os.ReadFile(process.Log)
		return bytes.Contains(text, []byte("Starting controllers...")), err
	}))
}

// ownController runs a controller for this test only.
func (s *env) ownController(c controller) *process.Process {
	s.Helper()
	started, _ := s.ownControllerWithPorts(c)
	return started
}

func (s *env) ownControllerWithPorts(c controller) (*process.Process, firesteel.ControllerPorts) {
	s.Helper()
	started, ports, err := s.startController(s.Context(), c)
	s.must(err)
	s.Cleanup(started.Kill)
	s.logOnFailure(started)
	return started, ports
}

func (s *env) logOnFailure(process *process.Process) {
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("%s on %s:\n%s", process.Log, s.ns, linesAbout(process, s.ns))
		}
	})
}

// untilCalled returns a channel that is closed when done is called, at the latest when the test ends: a server that waited longer could not be
// closed.
func (s *env) untilCalled() (called <-chan struct{}, done func()) {
	channel := make(chan struct{})
	done = sync.OnceFunc(func() { close(channel) })
	s.Cleanup(done)
	return channel, done
}

func (s *env) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *env) apps() sparkclient.SparkApplicationInterface {
	return s.Spark.SparkV1().SparkApplications(s.ns)
}

func (s *env) create(a *application) *sparkv1.SparkApplication {
	s.Helper()
	app, err := s.apps().Create(s.Context(), a.Obj(), metav1.CreateOptions{})
	s.must(err)
	return app
}

func (s *env) serviceAccount(name string) {
	s.Helper()
	_, err := s.Kube.CoreV1().ServiceAccounts(s.ns).Create(s.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	s.must(err)
}

func (s *env) get(name string) *sparkv1.SparkApplication {
	s.Helper()
	app, err := s.apps().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return app
}

// edit changes a live application.
func (s *env) edit(name string, change func(*sparkv1.SparkApplication)) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		app, err := s.apps().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		change(app)
		_, err = s.apps().Update(ctx, app, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	}))
}

func (s *env) delete(name string) {
	s.Helper()
	s.must(s.apps().Delete(s.Context(), name, metav1.DeleteOptions{}))
}

// kubectl runs kubectl in the env's namespace.
func (s *env) kubectl(input string, arguments ...string) (string, error) {
	return s.Plane.Kubectl(s.Context(), input, append([]string{"--namespace=" + s.ns}, arguments...)...)
}

// untilState waits for an application's state, and returns the application in it.
func (s *env) untilState(name, state string) *sparkv1.SparkApplication {
	s.Helper()
	return until(s, s.apps(), name, "be "+state, func(app *sparkv1.SparkApplication) bool { return stateOf(app) == state })
}

func stateOf(app *sparkv1.SparkApplication) string {
	if app.Status.CurrentState == nil {
		return ""
	}
	return app.Status.CurrentState.CurrentStateSummary
}

// untilCondition waits for a condition of an application, with that reason.
func (s *env) untilCondition(name, condition string, status metav1.ConditionStatus, reason string) metav1.Condition {
	s.Helper()
	var found metav1.Condition
	until(s, s.apps(), name, fmt.Sprintf("have the condition %s=%s/%s", condition, status, reason), func(app *sparkv1.SparkApplication) bool {
		c := meta.FindStatusCondition(app.Status.Conditions, condition)
		if c == nil || c.Status != status || c.Reason != reason {
			return false
		}
		found = *c
		return true
	})
	return found
}

// condition returns a condition of an application, or nil if it has none of that type.
func (s *env) condition(name, condition string) *metav1.Condition {
	s.Helper()
	return meta.FindStatusCondition(s.get(name).Status.Conditions, condition)
}

// untilKubeEvent waits for a Kubernetes Event on an application.
func (s *env) untilKubeEvent(name, kind, reason string) *corev1.Event {
	s.Helper()
	selector := fields.Set{"involvedObject.name": name, "reason": reason}.AsSelector().String()
	return follow(s, s.Kube.CoreV1().Events(s.ns), selector, fmt.Sprintf("an Event %s on %s", reason, name),
		func(event *corev1.Event) bool { return event.Type == kind })
}

// untilDelivered waits until a condition on the sink's deliveries of the namespace holds.
func (s *env) untilDelivered(what string, holds func([]eventlog.Entry) bool) []eventlog.Entry {
	s.Helper()
	deadline := time.After(timeout)
	for {
		heard, news := s.sink.Events(s.ns)
		if holds(heard) {
			return heard
		}
		select {
		case <-news:
		case <-deadline:
			s.Fatalf("waited for %s; the sink heard:\n%s", what, listed(heard))
		}
	}
}

func listed(heard []eventlog.Entry) string {
	var text strings.Builder
	for _, d := range heard {
		fmt.Fprintf(&text, "  %s %3d %s attempt %s -> %d\n", d.Name(), d.Sequence(), d.Type(), d.Attributes["sparkattempt"], d.Answer)
	}
	return text.String()
}

// watcher is a typed client.
type watcher interface {
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// until waits until a condition on an object holds.
func until[T runtime.Object](s *env, client watcher, name, what string, holds func(T) bool) T {
	s.Helper()
	return follow(s, client, "metadata.name="+name, name+" to "+what, holds)
}

// follow waits until a condition holds for one of the selected objects.
func follow[T runtime.Object](s *env, client watcher, selector, what string, holds func(T) bool) T {
	s.Helper()
	var last T
	found := false
	s.watch(client, metav1.ListOptions{FieldSelector: selector}, what, func() string { return described(last) }, func(event watch.Event) bool {
		object, ok := event.Object.(T)
		if !ok || event.Type == watch.Deleted {
			return false
		}
		last = object
		found = holds(object)
		return found
	})
	return last
}

// untilSince waits until a condition has held for an object since a revision of it. It may hold no more: each later revision is seen.
func untilSince[T runtime.Object](s *env, client watcher, revision metav1.Object, what string, holds func(T) bool) T {
	s.Helper()
	name, last := revision.GetName(), *new(T)
	since := metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: revision.GetResourceVersion()}
	s.watch(client, since, name+" to "+what, func() string { return described(last) }, func(event watch.Event) bool {
		object, ok := event.Object.(T)
		if !ok {
			return false
		}
		last = object
		return holds(object)
	})
	return last
}

// reader is a typed client.
type reader[T runtime.Object] interface {
	watcher
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
}

// untilGone waits until an object does not exist any more.
func untilGone[T runtime.Object](s *env, client reader[T], name string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), timeout)
	defer cancel()
	var last T
	for ctx.Err() == nil {
		object, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return
		}
		if err == nil {
			last = object
			untilDeleted(ctx, client, name, object)
		}
	}
	s.Fatalf("waited for %s to be gone; it is\n%s", name, described(last))
}

// untilDeleted waits until a revision of an object is followed by its deletion, or the watch ends.
func untilDeleted(ctx context.Context, client watcher, name string, revision runtime.Object) {
	object, err := meta.Accessor(revision)
	if err != nil {
		return
	}
	w, err := client.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: object.GetResourceVersion()})
	if err != nil {
		return
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Deleted || event.Type == watch.Error {
			return
		}
	}
}

// watch passes the revisions of objects, from those on at which a watch with the options begins, to last, until it returns true.
func (s *env) watch(client watcher, options metav1.ListOptions, what string, state func() string, last func(watch.Event) bool) {
	s.Helper()
	ctx, cancel := context.WithTimeoutCause(s.Context(), timeout, errors.New("it takes too long"))
	defer cancel()
	for ctx.Err() == nil {
		w, err := client.Watch(ctx, options)
		if err != nil {
			continue
		}
		for event := range w.ResultChan() {
			if last(event) {
				w.Stop()
				return
			}
		}
	}
	s.Fatalf("waited for %s: %v; it is\n%s", what, context.Cause(ctx), state())
}

func described(object any) string {
	if object, ok := object.(metav1.Object); ok && !reflect.ValueOf(object).IsNil() {
		object.SetManagedFields(nil)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// objectKinds are the kinds of objects that Firesteel makes for an application.
var objectKinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "persistentvolumeclaims"}, {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}, {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// untilNothingIsLeft waits until nothing is left of any application.
func (s *env) untilNothingIsLeft() {
	s.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		left = nil
		for _, kind := range objectKinds {
			list, err := s.Dynamic.Resource(kind).Namespace(s.ns).List(context.WithoutCancel(ctx), metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			for _, object := range list.Items {
				left = append(left, kind.Resource+" "+object.GetName())
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		s.Errorf("left behind: %v (%v)", left, err)
	}
}

func contains(text, part string) bool { return strings.Contains(text, part) }

func words(text string) []string { return strings.Fields(text) }
