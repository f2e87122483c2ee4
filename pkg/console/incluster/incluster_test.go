package incluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
)

// env is a cluster in which requests for a namespace are counted.
type env struct {
	*testing.T
	*Namespaces
	read    atomic.Int64
	watched *metadatafake.FakeMetadataClient
}

func newEnv(t *testing.T) *env {
	t.Helper()
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "read"}})
	e := &env{T: t, Namespaces: NewNamespaces(client)}
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		e.read.Add(1)
		return false, nil, nil
	})
	return e
}

func namespace(name string, uid types.UID) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid, Annotations: map[string]string{"long": "text"}},
	}
}

// follow follows one namespace.
func (e *env) follow() {
	e.Helper()
	scheme := metadatafake.NewTestScheme()
	e.must(metav1.AddMetaToScheme(scheme))
	e.watched = metadatafake.NewSimpleMetadataClient(scheme, namespace("team-a", "first"))
	e.Follow(e.Context(), e.watched, zap.NewNop().Sugar())
	e.until("team-a", "first")
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// until waits until a namespace has a uid; an empty one is that of no namespace.
func (e *env) until(name string, want types.UID) {
	e.Helper()
	e.must(wait.PollUntilContextTimeout(e.Context(), time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		got, err := e.named(ctx, name)
		return got.UID == want && (err == nil) == (want != ""), nil
	}))
}

func TestNamespaceIsTheLivingOne(t *testing.T) {
	e := newEnv(t)
	r := &reader{Users: NewUsers(e.Namespaces, nil, nil, nil)}
	if got, err := r.Namespace(t.Context(), "team-a"); err != nil || got.UID != "read" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"team-b", "", "../kube-system", "team-a/x"} {
		if _, err := r.Namespace(t.Context(), name); !errors.Is(err, console.ErrNoNamespace) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFollowedNamespacesCostNoRequest(t *testing.T) {
	e := newEnv(t)
	e.follow()
	e.read.Store(0)
	for range 50 {
		r := &reader{Users: NewUsers(e.Namespaces, nil, nil, nil)}
		if got, err := r.Namespace(t.Context(), "team-a"); err != nil || got.UID != "first" {
			t.Fatalf("got %v, %v", got, err)
		}
		for _, name := range []string{"team-b", "../team-a"} {
			if _, err := r.Namespace(t.Context(), name); !errors.Is(err, console.ErrNoNamespace) {
				t.Fatalf("%q: %v", name, err)
			}
		}
	}
	if read := e.read.Load(); read != 0 {
		t.Errorf("readers cost %d requests", read)
	}
	kept, _, _ := e.followed.GetStore().GetByKey("team-a")
	if object, ok := kept.(*metav1.PartialObjectMetadata); !ok || len(object.Annotations) > 0 {
		t.Errorf("%v is kept", kept)
	}
}

func TestNamespaceThatIsCreatedAgainIsAnotherOne(t *testing.T) {
	e := newEnv(t)
	e.follow()
	namespaces := corev1.SchemeGroupVersion.WithResource("namespaces")
	e.must(e.watched.Tracker().Delete(namespaces, "", "team-a"))
	e.until("team-a", "")
	e.must(e.watched.Tracker().Create(namespaces, namespace("team-a", "second"), ""))
	e.until("team-a", "second")
}

func TestNamespaceIsReadWhileTheWatchFails(t *testing.T) {
	e := newEnv(t)
	e.follow()
	note := func(err error) {
		_, _ = noting(e.Namespaces, func(context.Context, metav1.ListOptions) (int, error) { return 0, err })(t.Context(), metav1.ListOptions{})
	}
	e.must(wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) { // the first watch may begin late
		note(access.ErrUnavailable)
		got, err := e.named(ctx, "team-a")
		return got.UID == "read", err
	}))
	note(nil)
	e.until("team-a", "first")
}
