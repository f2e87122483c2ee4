package receiver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gocloud.dev/blob/memblob"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// cluster has the application pi with its driver, whose sidecar sends an event log.
func cluster(t *testing.T, change func(*corev1.Pod), of func(string) (*archive.Archive, error)) *Cluster {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	app := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: apache.API.GroupVersion().String(), Kind: apache.API.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Labels: map[string]string{"team": "a"}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "pi-driver", UID: "uid-of-driver", Annotations: map[string]string{eventlog.AttemptAnnotation: "2"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(app, apache.API.GroupVersionKind)},
	}}
	change(pod)
	objects := []runtime.Object{pod, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "uid-of-team-a"}}}
	return &Cluster{
		Client: fake.NewClientset(objects...), Metadata: metadatafake.NewSimpleMetadataClient(scheme, app), APIs: []*dialect.API{apache.API},
		Archive: func(_ context.Context, namespace string) (*archive.Archive, error) { return of(namespace) },
	}
}

func TestAttemptIsThatOfThePod(t *testing.T) {
	stored := archive.New(memblob.OpenBucket(nil))
	here := func(string) (*archive.Archive, error) { return stored, nil }
	driver := review.Pod{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "pi-driver"}, UID: "uid-of-driver"}
	as := func(change func(*corev1.Pod)) *Cluster { return cluster(t, change, here) }
	unchanged := func(*corev1.Pod) {}
	for name, test := range map[string]struct {
		cluster *Cluster
		want    error
		says    string
	}{
		"its driver":             {as(unchanged), nil, ""},
		"another Pod":            {as(func(p *corev1.Pod) { p.UID = "another" }), access.ErrNotAllowed, "is gone"},
		"no Pod":                 {as(func(p *corev1.Pod) { p.Name = "another" }), access.ErrNotAllowed, "is gone"},
		"no attempt":             {as(func(p *corev1.Pod) { p.Annotations = nil }), access.ErrNotAllowed, "is not a driver"},
		"a negative attempt":     {as(func(p *corev1.Pod) { p.Annotations[eventlog.AttemptAnnotation] = "-1" }), access.ErrNotAllowed, "is not a driver"},
		"a path":                 {as(func(p *corev1.Pod) { p.Annotations[eventlog.AttemptAnnotation] = "../0" }), access.ErrNotAllowed, "is not a driver"},
		"no owner":               {as(func(p *corev1.Pod) { p.OwnerReferences = nil }), access.ErrNotAllowed, "is not a driver"},
		"another kind of owner":  {as(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job" }), access.ErrNotAllowed, "is not a driver"},
		"an earlier application": {as(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" }), access.ErrNotAllowed, "SparkApplication team-a/pi that owns the Pod pi-driver is gone"},
		"no application":         {as(func(p *corev1.Pod) { p.OwnerReferences[0].Name = "another" }), access.ErrNotAllowed, "is gone"},
		"a namespace without archive": {
			cluster(t, unchanged, func(string) (*archive.Archive, error) { return nil, nil }), access.ErrNotAllowed, "has no archive",
		},
		"an archive that cannot be opened": {
			cluster(t, unchanged, func(string) (*archive.Archive, error) { return nil, errors.New("no credentials") }), access.ErrUnavailable, "no credentials",
		},
	} {
		_, err := test.cluster.Attempt(t.Context(), driver)
		if !errors.Is(err, test.want) || test.want != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.says)
		}
	}
	logs, _, err := stored.EventLogs(t.Context(), "team-a", 9)
	id := archive.ID{
		Namespace: archive.Namespace{Name: "team-a", UID: "uid-of-team-a"}, Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: "uid-of-pi",
	}
	if err != nil || len(logs) != 1 || logs[0] != (archive.EventLog{ID: id, Attempt: 2}) {
		t.Errorf("the event logs are %+v, %v", logs, err)
	}
}
