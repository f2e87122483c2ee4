package overview_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
	"github.com/firesteel-dev/firesteel/test/harness/recorded"
)

func read(t testing.TB, object *unstructured.Unstructured) *overview.Object {
	t.Helper()
	o, err := overview.Read(object)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestEachStateOfEachKindIsRead(t *testing.T) {
	var text strings.Builder
	for _, object := range recorded.All() {
		o := read(t, object.Object)
		causes := []string{}
		for _, r := range o.Why(o.Facts(time.Now(), overview.Pods{}, nil, "")) {
			causes = append(causes, string(r.Cause))
		}
		fmt.Fprintf(&text, "%s: %s, %s, attempt %d, driver %s, %s\n", object.Name, cmp.Or(o.State, "no state"), o.Phase, o.Attempt, cmp.Or(o.DriverPod, "none"),
			cmp.Or(strings.Join(causes, " "), "nothing keeps it"))
	}
	golden.Want(t, "testdata/recorded.golden", text.String())
}

func application(api, status string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	spec := `{"runtimeVersions":{"sparkVersion":"4.0.1"},"mainClass":"a.B","sparkConf":{"spark.driver.memory":"3g","spark.kubernetes.container.image":"spark"}}`
	if !strings.HasPrefix(api, "spark.apache.org") {
		spec = `{"type":"Scala","mode":"cluster","mainClass":"a.B","mainApplicationFile":"local:///a.jar","image":"spark","driver":{"memory":"3g","image":"spark"},"executor":{"instances":1,"image":"spark"}}`
	}
	text := fmt.Sprintf(`{"apiVersion":%q,"kind":"SparkApplication","metadata":{"namespace":"reports","name":"etl","uid":"u","creationTimestamp":"2026-01-01T12:00:00Z"},"spec":%s,"status":%s}`,
		api, spec, status)
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return o
}

func TestWhatAnotherOperatorRunsIsReadByItsStatus(t *testing.T) {
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		state  string
		phase  overview.Phase
		driver string
	}{
		"of the Kubeflow operator": {
			application("sparkoperator.k8s.io/v1beta2", `{"applicationState":{"state":"RUNNING"},"driverInfo":{"podName":"etl-driver"},"executionAttempts":1,"submissionAttempts":1}`),
			"RUNNING", overview.Running, "etl-driver",
		},
		"of the Kubeflow operator, failed": {
			application("sparkoperator.k8s.io/v1beta2", `{"applicationState":{"state":"FAILED","errorMessage":"driver container failed with ExitCode: 1, Reason: Error"},"driverInfo":{"podName":"etl-driver"}}`),
			"FAILED", overview.Failed, "etl-driver",
		},
		"of the Apache operator": {
			application("spark.apache.org/v1", `{"currentState":{"currentStateSummary":"RunningHealthy","lastTransitionTime":"2026-01-01T12:01:00Z"},`+
				`"stateTransitionHistory":{"0":{"currentStateSummary":"Submitted","lastTransitionTime":"2026-01-01T12:00:00Z"},"1":{"currentStateSummary":"RunningHealthy","lastTransitionTime":"2026-01-01T12:01:00Z"}},`+
				`"currentAttemptSummary":{"attemptInfo":{"id":0}}}`),
			"RunningHealthy", overview.Running, "",
		},
		"of the early operator": {
			application("spark-operator.k8s.io/v1alpha1", `{"applicationState":{"state":"COMPLETED"},"driverInfo":{"podName":"etl-driver"}}`),
			"COMPLETED", overview.Succeeded, "etl-driver",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, test.object)
			if !o.Inherited || o.State != test.state || o.Phase != test.phase || o.DriverPod != test.driver {
				t.Errorf("it is read as %s, %s, driver %q, inherited %t", o.State, o.Phase, o.DriverPod, o.Inherited)
			}
			facts := o.Facts(time.Now(), overview.Pods{}, nil, "")
			if facts.Properties["spark.driver.memory"] != "3g" {
				t.Errorf("the driver asks for %q", facts.Properties["spark.driver.memory"])
			}
			reasons := o.Why(facts)
			if !slices.ContainsFunc(reasons, func(r why.Reason) bool { return r.Cause == why.OtherOperatorRuns }) {
				t.Errorf("no reason names the other operator: %+v", reasons)
			}
		})
	}
}

func TestPodsAreThoseOfTheAttempt(t *testing.T) {
	pod := func(name, role, id, uid string, age int) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(int64(1000-age), 0)),
			Labels: map[string]string{"spark-role": role, "spark-app-selector": id, "spark-exec-id": strings.TrimPrefix(uid, "e")},
		}}
	}
	o := read(t, application("spark.apache.org/v1", `{"currentState":{"currentStateSummary":"DriverReady"},"firesteel":{"attempt":{"id":1,"since":"2026-01-01T12:00:00.000000Z"},"sequence":2,"acknowledged":2,`+
		`"launch":{"id":"l","driverPod":"etl-driver","driverUID":"d1","applicationID":"app-1"},`+
		`"transitions":[{"sequence":1,"time":"2026-01-01T12:00:00.000000Z","attempt":0,"state":"DriverRequested","driverPod":"etl-driver","applicationID":"app-0"},`+
		`{"sequence":2,"time":"2026-01-01T12:01:00.000000Z","attempt":1,"state":"DriverReady","driverPod":"etl-driver","applicationID":"app-1"}]}}`))
	theirs := pod("other-driver", "driver", "app-9", "d9", 0)
	theirs.OwnerReferences = []metav1.OwnerReference{{Kind: "SparkApplication", UID: "another", Controller: new(bool)}}
	*theirs.OwnerReferences[0].Controller = true
	found := []corev1.Pod{
		pod("etl-driver", "driver", "app-0", "d0", 9), pod("etl-exec-10", "executor", "app-1", "e10", 1), pod("etl-exec-2", "executor", "app-1", "e2", 1),
		pod("etl-exec-old", "executor", "app-0", "e1", 8), pod("etl-driver", "driver", "app-1", "d1", 2), theirs,
	}
	want := func(o *overview.Object, driver string, executors ...string) {
		t.Helper()
		pods := o.PodsOf(slices.Clone(found))
		var names []string
		for _, executor := range pods.Executors {
			names = append(names, executor.Name)
		}
		if pods.Driver == nil || string(pods.Driver.UID) != driver || !slices.Equal(names, executors) {
			t.Errorf("the driver is %v, the executors are %v", pods.Driver, names)
		}
	}
	want(o, "d1", "etl-exec-2", "etl-exec-10")
	before, known := o.OfAttempt(0)
	if !known {
		t.Fatal("nothing is known of attempt 0")
	}
	want(before, "d0", "etl-exec-old")
	if _, known := o.OfAttempt(7); known {
		t.Error("an attempt is known that never was")
	}
	if got := o.PodSelector(); got != "spark.operator/spark-app-name=etl" {
		t.Errorf("its Pods are selected by %q", got)
	}
}

func TestStatusWriterIsTheLastOne(t *testing.T) {
	object := application("spark.apache.org/v1", "{}")
	at := func(minute int) *metav1.Time {
		t := metav1.NewTime(time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC))
		return &t
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Apply", Time: at(9)}, {Manager: "old", Subresource: "status", Time: at(1)}, {Manager: "spark-operator", Subresource: "status", Time: at(2)},
	})
	if got := read(t, object).StatusWriter(); got != "spark-operator" {
		t.Errorf("it is %q", got)
	}
}

func TestObjectsOfOtherKindsAreRefused(t *testing.T) {
	other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "a", "name": "b"}}}
	if _, err := overview.Read(other); err == nil || !strings.Contains(err.Error(), "Pod a/b cannot be read") {
		t.Errorf("it is read with %v", err)
	}
}
