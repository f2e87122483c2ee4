package lookup_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
)

func namespace(its labels.Set) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: its},
	}
}

func scheme() *runtime.Scheme {
	scheme := fake.NewTestScheme()
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	return scheme
}

func TestLiveNamespacesAreReadEachTime(t *testing.T) {
	client := fake.NewSimpleMetadataClient(scheme())
	live := lookup.Live(client)
	check := func(when string, want labels.Set, exists bool) {
		t.Helper()
		its, known, err := live(t.Context(), "team-a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, its); diff != "" || known != exists {
			t.Errorf("%s it is known: %t; its labels (-want +got):\n%s", when, known, diff)
		}
	}
	check("before it is created", nil, false)
	if err := client.Tracker().Add(namespace(labels.Set{"spark": "enabled"})); err != nil {
		t.Fatal(err)
	}
	check("with a label", labels.Set{"spark": "enabled"}, true)
	if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("namespaces"), namespace(nil), ""); err != nil {
		t.Fatal(err)
	}
	check("without", nil, true)
}

// If the labels of a namespace cannot be read, the handler must return an error. Otherwise the event would count as handled.
func TestLiveNamespacesReportErrors(t *testing.T) {
	away := errors.New("the API server is away")
	client := fake.NewSimpleMetadataClient(scheme())
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, away })
	if its, known, err := lookup.Live(client)(t.Context(), "team-a"); !errors.Is(err, away) || known {
		t.Errorf("labels %v, known %t, error %v", its, known, err)
	}
}
