package site

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/check/plan"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

var now = time.Date(2026, 3, 4, 8, 30, 0, 0, time.UTC)

// planEnv is a cluster with one application.
type planEnv struct {
	*testing.T
	*identity
	ref     live.Ref
	version string
	dynamic *dynamicfake.FakeDynamicClient
	typed   *fake.Clientset
	planned []*unstructured.Unstructured
}

func newPlanEnv(t *testing.T, manifest string) *planEnv {
	t.Helper()
	app := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(manifest), &app.Object); err != nil {
		t.Fatal(err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(app.GroupVersionKind())
	e := &planEnv{
		T: t, ref: live.Ref{Namespace: app.GetNamespace(), Resource: resource.GroupResource().String(), Name: app.GetName()}, version: resource.Version,
		dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), app), typed: fake.NewClientset(),
	}
	e.identity = &identity{
		objects: e.dynamic, client: e.typed, settings: installed(config.Default()), clock: testclock.NewFakeClock(now), user: "ann", plans: newPlanSlots(1),
	}
	o, err := overview.Read(app)
	if err != nil {
		t.Fatal(err)
	}
	made, found := plan.Of(o.Typed, config.Default(), now)
	if made == nil {
		t.Fatalf("the application is refused: %v", found)
	}
	for _, object := range made.Objects {
		if !plan.IsTemplate(object) {
			e.planned = append(e.planned, object)
		}
	}
	return e
}

// installed returns the settings of an installation.
func installed(settings *config.Config) func(context.Context) (*config.Config, error) {
	return func(context.Context) (*config.Config, error) { return settings, nil }
}

// create creates the planned objects, each as a function changes it.
func (e *planEnv) create(change func(*unstructured.Unstructured)) {
	e.Helper()
	for _, object := range e.planned {
		created := object.DeepCopy()
		change(created)
		resource, _ := meta.UnsafeGuessKindToResource(created.GroupVersionKind())
		if _, err := e.dynamic.Resource(resource).Namespace(created.GetNamespace()).Create(e.Context(), created, metav1.CreateOptions{}); err != nil {
			e.Fatal(err)
		}
	}
}

// forbid lets the API server refuse to read a resource; all of them for *.
func (e *planEnv) forbid(resource string) {
	refuse := func(action k8stesting.Action) (bool, runtime.Object, error) {
		if action.GetResource().Resource == "sparkapplications" {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "", nil)
	}
	e.dynamic.PrependReactor("get", resource, refuse)
	e.typed.PrependReactor("*", resource, refuse)
}

func (e *planEnv) plan() *pages.Plan {
	e.Helper()
	result, err := e.Plan(e.Context(), e.ref, e.version)
	if err != nil {
		e.Fatal(err)
	}
	return result
}

func states(p *pages.Plan) map[string]pages.PlannedState {
	all := map[string]pages.PlannedState{}
	for _, object := range p.Objects {
		kind, _, _ := strings.Cut(object.Name, "/")
		all[kind] = object.State
	}
	return all
}

const apacheApplication = `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"namespace":"team-a","name":"etl","uid":"uid"},
"spec":{"mainClass":"Main","jars":"local:///app.jar","runtimeVersions":{"sparkVersion":"4.1.0"},
"sparkConf":{"spark.kubernetes.container.image":"spark:4.1.0","spark.hadoop.fs.s3a.secret.key":"correct-horse"}}}`

func TestPlanShowsWhatDiffersFromWhatRuns(t *testing.T) {
	e := newPlanEnv(t, apacheApplication)
	if got := states(e.plan()); len(got) < 3 || got["pod"] != pages.Absent || got["configmap"] != pages.Absent {
		t.Errorf("before the launch: %v", got)
	}
	e.create(func(object *unstructured.Unstructured) {
		object.SetResourceVersion("7") // what the API server adds is no difference
		if object.GetKind() != "Pod" {
			return
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
		containers[0].(map[string]any)["image"] = "spark:4.0.0"
		if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "containers"); err != nil {
			t.Fatal(err)
		}
	})
	result := e.plan()
	for _, object := range result.Objects {
		isPod := strings.HasPrefix(object.Name, "pod/")
		if isPod != (object.State == pages.Differs) || !isPod && object.State != pages.AsPlanned {
			t.Errorf("%s is %d: %s", object.Name, object.State, object.Text)
		}
		if isPod && (!strings.Contains(object.Text, "-    image: spark:4.0.0\n+    image: spark:4.1.0\n") || strings.Contains(object.Text, "resourceVersion")) {
			t.Errorf("the difference is %s", object.Text)
		}
		if strings.Contains(object.Text, "correct-horse") {
			t.Errorf("%s shows a secret", object.Name)
		}
	}
}

func TestPlanShowsOnlyWhatTheUserMayRead(t *testing.T) {
	e := newPlanEnv(t, apacheApplication)
	e.forbid("configmaps")
	result := e.plan()
	if got := states(result); got["configmap"] != pages.Hidden || got["pod"] != pages.Absent || len(result.Unread) != 1 {
		t.Errorf("without the right to read ConfigMaps: %v, not read %v", got, result.Unread)
	}
	for _, object := range result.Objects {
		if object.State == pages.Hidden && object.Text != "" {
			t.Errorf("%s is hidden, and shows %s", object.Name, object.Text)
		}
	}
	e.forbid("*")
	if result := e.plan(); len(result.Objects) != 0 || !strings.Contains(result.Problem, "You may not read") {
		t.Errorf("without rights: %+v", result)
	}
}

func TestPlanOfWhatIsRefusedHasTheReason(t *testing.T) {
	e := newPlanEnv(t, apacheApplication)
	settings := config.Default()
	settings.Admission = &config.Admission{Rules: policy.Rules{policy.KeyDenied: "spark.hadoop.*"}}
	e.settings = installed(settings)
	if result := e.plan(); len(result.Refused) != 1 || !strings.Contains(result.Refused[0], "spark.hadoop.fs.s3a.secret.key") || strings.Contains(result.Refused[0], "correct-horse") || len(result.Objects) != 0 {
		t.Errorf("the plan is %+v", result)
	}
}

func TestDefaultsOfTheNamespaceCount(t *testing.T) {
	e := newPlanEnv(t, apacheApplication)
	own := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: config.OwnDefaultsName, Labels: map[string]string{config.LabelOwnDefaults: "enabled"}},
		Data:       map[string]string{"spark-defaults.conf": "spark.driver.memory 3g"},
	}
	if err := e.typed.Tracker().Add(own); err != nil {
		t.Fatal(err)
	}
	e.create(func(*unstructured.Unstructured) {})
	result := e.plan()
	if got := states(result); got["pod"] != pages.Differs || len(result.Unread) != 0 {
		t.Errorf("the states are %v, not read %v", got, result.Unread)
	}
}

const kubeflowApplication = `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"namespace":"team-a","name":"etl","uid":"uid"},
"spec":{"type":"Scala","mode":"cluster","image":"spark:4.1.0","mainApplicationFile":"local:///app.jar","mainClass":"Main","sparkVersion":"4.1.0",
"driver":{"cores":1,"serviceAccount":"spark"},"executor":{"instances":1,"cores":1}},
"status":{"applicationState":{"state":"RUNNING"},"submissionAttempts":1,"executionAttempts":1,"submissionID":"s","sparkApplicationId":"spark-1","driverInfo":{"podName":"etl-driver"}}}`

func TestDriverOfAnotherOperatorIsCompared(t *testing.T) {
	e := newPlanEnv(t, kubeflowApplication)
	if result := e.plan(); !result.Foreign || !strings.Contains(result.Problem, "no driver") {
		t.Errorf("without a driver: %+v", result)
	}
	driver := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "etl-driver", Labels: map[string]string{"spark-role": "driver"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "spark:3.5.1"}}},
	}
	if err := e.typed.Tracker().Add(driver); err != nil {
		t.Fatal(err)
	}
	result := e.plan()
	var image string
	for _, difference := range result.Driver {
		if strings.HasSuffix(difference.Field, ".image") {
			image = difference.Theirs + " " + difference.Ours
		}
	}
	if image != "spark:3.5.1 spark:4.1.0" || len(result.Unread) != 1 {
		t.Errorf("the image differs as %q; not read %v", image, result.Unread)
	}
	e.forbid("pods")
	if result := e.plan(); len(result.Driver) != 0 || !strings.Contains(result.Problem, "You may not read the Pods") {
		t.Errorf("without the right to read Pods: %+v", result)
	}
}

func TestPlanWithoutSettingsSaysSo(t *testing.T) {
	e := newPlanEnv(t, apacheApplication)
	e.settings = func(context.Context) (*config.Config, error) { return nil, errors.New("the namespace x has none") }
	if result := e.plan(); len(result.Objects) == 0 || !slices.Equal(result.Unread, []string{"the cluster's settings (the namespace x has none)"}) {
		t.Errorf("not read %v, compared %v", result.Unread, result.Objects)
	}
}

func TestPlansAreMadeByTurns(t *testing.T) {
	for name, row := range map[string]struct {
		places int
		user   string
		waits  bool
	}{
		"all places are taken": {1, "bob", true}, "the user has a plan made": {2, "ann", true}, "another user has a plan made": {2, "bob", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newPlanEnv(t, apacheApplication)
				e.plans = newPlanSlots(row.places)
				release, err := e.plans.acquire(t.Context(), row.user)
				if err != nil {
					t.Fatal(err)
				}
				if result := e.plan(); strings.Contains(result.Problem, "Try again") != row.waits {
					t.Errorf("the plan is %+v", result)
				}
				release()
				if result := e.plan(); result.Problem != "" || len(e.plans.places) != 0 {
					t.Errorf("afterwards: %+v, %d places are taken", result, len(e.plans.places))
				}
			})
		})
	}
}

func TestObjectOfManyLinesIsNotCompared(t *testing.T) {
	for lines, want := range map[int]pages.PlannedState{10: pages.Differs, maxLines + 1: pages.Large} {
		e := newPlanEnv(t, apacheApplication)
		e.create(func(object *unstructured.Unstructured) {
			if data, _, _ := unstructured.NestedMap(object.Object, "data"); object.GetKind() == "ConfigMap" {
				for key := range data {
					data[key] = strings.Repeat("a b\n", lines)
				}
				object.Object["data"] = data
			}
		})
		if got := states(e.plan()); got["configmap"] != want || got["pod"] != pages.AsPlanned {
			t.Errorf("with %d lines: %v", lines, got)
		}
	}
}
