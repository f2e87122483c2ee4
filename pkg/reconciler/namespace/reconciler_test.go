package namespace

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

// relay records what is published.
type relay struct {
	published []events.Snapshot
	forgotten []types.UID
	progress  events.Progress
}

func (r *relay) Publish(s events.Snapshot)               { r.published = append(r.published, s) }
func (r *relay) Progress(types.UID) events.Progress      { return r.progress }
func (r *relay) Forget(uid types.UID)                    { r.forgotten = append(r.forgotten, uid) }
func (r *relay) ForgetMatching(func(events.Object) bool) {}
func (r *relay) HandlerSettingsChanged()                 {}
func (r *relay) HasSink() bool                           { return false }

// env is a reconciler with its caches.
type env struct {
	*Reconciler
	relay    *relay
	recorder *record.FakeRecorder
	settings *config.Config
	full     bool
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{relay: &relay{}, recorder: record.NewFakeRecorder(10), settings: config.Default(), full: true}
	var err error
	if e.settings.Handlers, err = config.NewHandlers(&corev1.ConfigMap{Data: map[string]string{namespaces.Handler: config.InProcess}}); err != nil {
		t.Fatal(err)
	}
	e.Reconciler = &Reconciler{
		settings: func() *config.Config { return e.settings }, namespaces: cache.NewStore(cache.MetaNamespaceKeyFunc),
		bindings: cache.NewStore(cache.MetaNamespaceKeyFunc), synced: func() bool { return e.full }, relay: e.relay, recorder: e.recorder,
		asked: map[string]*request{},
	}
	if err := e.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *env) has(t *testing.T, change func(*corev1.Namespace)) {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "team-a", UID: "uid-of-a", Labels: map[string]string{namespaces.LabelWorkloads: namespaces.Enabled},
		CreationTimestamp: metav1.NewTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)),
	}}
	if change != nil {
		change(n)
	}
	if err := e.namespaces.Add(n); err != nil {
		t.Fatal(err)
	}
}

// asks reconciles the namespace, and returns the id of the event with which the handler is asked; "" if it is not.
func (e *env) asks(t *testing.T) string {
	t.Helper()
	e.relay.published = nil
	if err := e.Reconcile(t.Context(), "team-a/team-a"); err != nil && !controller.IsSkipKey(err) {
		t.Fatal(err)
	}
	if len(e.relay.published) == 0 || e.relay.published[0].Request == nil {
		return ""
	}
	return e.relay.published[0].Request.Event.ID()
}

const id = "uid-of-a.2026-03-01T13:00:00Z"

func TestNamespaceIsAskedForUntilItHasTheRoleBinding(t *testing.T) {
	e := newEnv(t)
	e.has(t, nil)
	for range 2 {
		if got := e.asks(t); got != id {
			t.Errorf("it is asked for with %q, want %q", got, id)
		}
	}
	if err := e.bindings.Add(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: namespaces.Binding}}); err != nil {
		t.Fatal(err)
	}
	e.relay.progress.Pending = 1
	if got := e.asks(t); got != "" || len(e.relay.published) != 1 || len(e.relay.forgotten) > 0 {
		t.Errorf("with the RoleBinding it is asked for with %q; published %v; forgotten %v", got, e.relay.published, e.relay.forgotten)
	}
	e.relay.progress.Pending = 0
	if e.asks(t); len(e.relay.forgotten) != 1 {
		t.Error("after the delivery it is not forgotten")
	}
	if e.asks(t); len(e.relay.published) > 0 {
		t.Error("what is forgotten is published again")
	}
}

func TestNamespaceThatDoesNotAskIsNotAskedFor(t *testing.T) {
	for name, change := range map[string]func(e *env){
		"without the label": func(e *env) { e.has(t, func(n *corev1.Namespace) { n.Labels = nil }) },
		"being deleted":     func(e *env) { e.has(t, func(n *corev1.Namespace) { n.DeletionTimestamp = &n.CreationTimestamp }) },
		"gone":              func(*env) {},
		"caches that are not filled": func(e *env) {
			e.has(t, nil)
			e.full = false
		},
		"another leader": func(e *env) {
			e.has(t, nil)
			e.Demote(reconciler.UniversalBucket())
		},
		"the handler off": func(e *env) {
			e.has(t, nil)
			e.settings.Handlers = config.Default().Handlers
		},
		"outside the scope": func(e *env) {
			e.has(t, nil)
			scope, err := config.NewScope(&corev1.ConfigMap{Data: map[string]string{"watched-namespaces": "team-b"}})
			if err != nil {
				t.Fatal(err)
			}
			e.settings.Scope = scope
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			change(e)
			if got := e.asks(t); got != "" {
				t.Errorf("it is asked for with %q", got)
			}
		})
	}
}

func TestNamespaceThatIsCreatedAgainIsAskedForAnew(t *testing.T) {
	e := newEnv(t)
	e.has(t, nil)
	e.asks(t)
	e.has(t, func(n *corev1.Namespace) { n.UID = "uid-of-another" })
	if got := e.asks(t); !strings.HasPrefix(got, "uid-of-another.") || len(e.relay.forgotten) != 1 || e.relay.forgotten[0] != "uid-of-a" {
		t.Errorf("it is asked for with %q; forgotten %v", got, e.relay.forgotten)
	}
}

func TestHandlerThatDoesNotActIsReportedOnce(t *testing.T) {
	e := newEnv(t)
	e.has(t, nil)
	e.relay.progress = events.Progress{OverdueHandler: namespaces.Handler, LastError: "forbidden"}
	e.asks(t)
	e.asks(t)
	if len(e.recorder.Events) != 1 {
		t.Fatalf("there are %d Events, want one", len(e.recorder.Events))
	}
	if event := <-e.recorder.Events; !strings.Contains(event, "HandlerOverdue The handler namespace has not acted") || !strings.Contains(event, "forbidden") {
		t.Errorf("the Event is %q", event)
	}
}
