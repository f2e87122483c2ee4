package application

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
)

func TestOfADriverIsKeptWhatTheLifecycleReads(t *testing.T) {
	for _, api := range applications.All(nil) {
		t.Run(api.Group, func(t *testing.T) {
			kept := metav1.ObjectMeta{
				Namespace: "team-a", Name: "pi-0-driver", UID: "driver", ResourceVersion: "7",
				Labels:            map[string]string{"spark-role": "driver", "spark-app-selector": "pi-0", labelLaunch: "first", api.LabelApplication: "pi"},
				Annotations:       map[string]string{"spark.exit-exception": "java.lang.Error: no"},
				OwnerReferences:   []metav1.OwnerReference{{Kind: "SparkApplication", Name: "pi"}},
				DeletionTimestamp: &metav1.Time{Time: start}, DeletionGracePeriodSeconds: new(int64), Finalizers: []string{"example.com/held"},
			}
			status := corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true}}}
			pod := &corev1.Pod{ObjectMeta: *kept.DeepCopy(), Spec: corev1.PodSpec{NodeName: "n"}, Status: *status.DeepCopy()}
			pod.Annotations["large"], pod.Labels["team"] = "text", "a"
			pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
			object, err := stripDriver(api.API)(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&corev1.Pod{ObjectMeta: kept, Spec: corev1.PodSpec{NodeName: "n"}, Status: status}, object.(*driverPod).pod()); diff != "" {
				t.Errorf("Pod (-want +got):\n%s", diff)
			}
		})
	}
}

// A trace has what happened at its top, and why at its bottom.
func TestOfADriverAreKeptTheEndsOfItsTrace(t *testing.T) {
	trace := "java.lang.Error: no\n" + strings.Repeat("\tat frame\n", 6000) + "Caused by: somebody"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-0-driver", Annotations: map[string]string{"spark.exit-exception": trace}}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "spark-kubernetes-driver", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
	}}}
	want := lifecycle.ObserveDriver(pod.DeepCopy(), "").End
	pod = cachedDrivers(t, pod).get("", pod.Name)
	if kept := len(pod.Annotations["spark.exit-exception"]); kept > maxTrace+16 {
		t.Errorf("%d bytes of the trace are kept", kept)
	}
	if diff := cmp.Diff(want, lifecycle.ObserveDriver(pod, "").End); diff != "" {
		t.Errorf("the end of the driver (-whole trace +kept):\n%s", diff)
	}
}

func TestStripLeavesTombstonesAlone(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "team-a/pi", Obj: &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}}
	for name, strip := range map[string]cache.TransformFunc{
		"drivers": stripDriver(apache.API), "executors": executors.Strip, "applications": applications.Apache(nil).Compact,
	} {
		got, err := strip(tombstone)
		if diff := cmp.Diff(any(tombstone), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestUnfinished(t *testing.T) {
	live := int64(60_000)
	none := apache.Defaults{}
	for name, test := range map[string]struct {
		app      any
		defaults apache.Defaults
		want     bool
	}{
		"what is no application":      {"text", none, true},
		"what nobody has looked at":   {pi().Obj(), none, true},
		"what another operator ran":   {with(pi(), in("RunningHealthy")), none, true},
		"what another operator ended": {with(pi(), in("ResourceReleased")), none, false},
		"what runs":                   {pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), none, true},
		"what is kept":                {pi().In(lifecycle.TerminatedWithoutReleaseResources, 4, 4).Obj(), none, true},
		"what has something to tell":  {pi().In(lifecycle.ResourceReleased, 4, 3).Obj(), none, true},
		"what is told and over":       {pi().In(lifecycle.ResourceReleased, 4, 4).Obj(), none, false},
		"what is over and deleted": {with(pi().In(lifecycle.ResourceReleased, 4, 4), func(a *sparkv1.SparkApplication) {
			a.DeletionTimestamp = &metav1.Time{Time: start}
		}), none, true},
		"what is over and has a life": {with(pi().In(lifecycle.ResourceReleased, 4, 4), func(a *sparkv1.SparkApplication) {
			a.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{TTLAfterStopMillis: &live}
		}), none, true},
		"what is over and has a life by default": {
			pi().In(lifecycle.ResourceReleased, 4, 4).Obj(),
			apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{TTLAfterStopMillis: &live}}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unfinished(test.app, apache.New(test.defaults)); got != test.want {
				t.Errorf("unfinished: %t, want %t", got, test.want)
			}
		})
	}
}

// in is a state that another operator wrote.
func in(state string) func(*sparkv1.SparkApplication) {
	return func(app *sparkv1.SparkApplication) {
		app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: state}
	}
}

func TestADriverIsItsApplicationsWhoeverMadeIt(t *testing.T) {
	yes := true
	owner := func(version, kind string, controls *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "pi", Controller: controls}}
	}
	label := map[string]string{apache.LabelApplication: "pi"}
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		labels map[string]string
		want   bool
	}{
		"Firesteel":                                     {owner("spark.apache.org/v1", "SparkApplication", &yes), nil, true},
		"the Apache operator":                           {owner("spark.apache.org/v1", "SparkApplication", nil), nil, true},
		"the Apache operator, long ago":                 {owner("spark.apache.org/v1alpha1", "SparkApplication", nil), nil, true},
		"another operator":                              {owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", &yes), nil, false},
		"the Apache operator of a cluster":              {owner("spark.apache.org/v1", "SparkCluster", nil), nil, false},
		"one whose Pods were orphaned":                  {nil, label, true},
		"another operator, for whatever the labels say": {owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", &yes), label, false},
		"nobody": {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", OwnerReferences: test.owners, Labels: test.labels}}
			kept, err := stripDriver(apache.API)(pod)
			if err != nil {
				t.Fatal(err)
			}
			app, known := applicationOf(apache.API, kept.(*driverPod))
			if known != test.want || known && app.String() != "team-a/pi" {
				t.Errorf("its application is %s, %t", app, known)
			}
		})
	}
}

func with(a *application, change func(*sparkv1.SparkApplication)) *sparkv1.SparkApplication {
	app := a.Obj()
	change(app)
	return app
}
