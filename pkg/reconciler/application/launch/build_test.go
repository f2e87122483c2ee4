package launch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	kubeflowsettings "github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// routed is an application with a config map and a route of its own, whose labels lie.
func routed() *sparkv1.SparkApplication {
	lies := map[string]string{dialect.LabelLaunch: "another", apache.LabelApplication: "another", "team": "a"}
	metadata := metav1.ObjectMeta{Name: "web", Labels: lies}
	return applicationtest.With(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
		app.Spec.MainClass = "Main"
		app.Spec.ConfigMapSpecs = []sparkv1.ConfigMapSpec{{Name: "settings", Labels: lies}}
		app.Spec.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{{
			ServiceMetadata: metadata, ServiceSpec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
			HTTPRouteMetadata: metadata, HTTPRouteSpec: &runtime.RawExtension{Raw: []byte(`{"parentRefs":[{"name":"g"}]}`)},
		}}
	})
}

func TestEachObjectOfALaunchHasTheLaunchID(t *testing.T) {
	got, err := New(Config{API: applications.Apache(nil)}).build(applicationtest.Viewed(routed()), v1alpha1.Attempt{}, nil)
	objects, launch := got.objects, got.launch
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Concat(objects.Before, objects.Owned), objects.Driver)
	if len(all) != 6 { // with the driver's own Service and ConfigMap
		t.Errorf("%d objects", len(all))
	}
	for _, object := range all {
		labels := object.GetLabels()
		if labels[dialect.LabelLaunch] != launch.ID || labels[apache.LabelApplication] != "pi" {
			t.Errorf("%s has the labels %v", describe(object), labels)
		}
	}
}

// TestWhatIsPlannedIsLaunched compares what kubectl spark plan shows with what is created.
func TestWhatIsPlannedIsLaunched(t *testing.T) {
	app, now := routed(), time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	got, err := New(Config{API: applications.Apache(nil)}).build(applicationtest.Viewed(app), v1alpha1.Attempt{Since: metav1.NewMicroTime(now)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range got.objects.Owned {
		dialect.OwnByDriver(object, got.objects.Driver)
	}
	planned, err := check.Create(app, config.Default(), now)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(got.objects.Before, []submission.Object{got.objects.Driver}, got.objects.Owned)
	if diff := cmp.Diff(want, planned.Objects); diff != "" {
		t.Errorf("objects (-launched +planned):\n%s", diff)
	}
}

// The webhook of annotated Pods does not select Pods with this label. Users cannot take it off.
func TestExecutorsHaveTheLaunchID(t *testing.T) {
	const property = "spark.kubernetes.executor.label." + dialect.LabelLaunch
	app := routed()
	app.Spec.SparkConf = map[string]string{property: "another"}
	got, err := New(Config{API: applications.Apache(nil)}).build(applicationtest.Viewed(app), v1alpha1.Attempt{}, nil)
	objects, launch := got.objects, got.launch
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects.Owned {
		if configMap, ok := object.(*corev1.ConfigMap); ok && strings.Contains(configMap.Data["spark.properties"], property+"="+launch.ID+"\n") {
			return
		}
	}
	t.Errorf("no config map of the driver has the property %s=%s", property, launch.ID)
}

// No driver that Firesteel makes is taken for one whose labels were changed.
func TestTheLabelsOfALaunchAreAsExpected(t *testing.T) {
	mine := map[string]string{names.LabelApplication: "mine", names.LabelLaunched: "mine"}
	theirs := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Labels: mine}}
	theirs.Spec.MainClass, theirs.Spec.SparkVersion, theirs.Spec.Type, theirs.Spec.Mode = "Main", "4.1.4", "Scala", "cluster"
	theirs.Spec.Image, theirs.Spec.MainApplicationFile = "spark", "local:///app.jar"
	for name, test := range map[string]struct {
		api *applications.API
		d   dialect.Dialect
		app dialect.Application
	}{
		"Apache":            {applications.Apache(nil), apache.New(apache.Defaults{}), routed()},
		"Apache, long name": {applications.Apache(nil), apache.New(apache.Defaults{}), applicationtest.With(applicationtest.Named(strings.Repeat("long", 60)), func(app *sparkv1.SparkApplication) { app.Spec.MainClass = "Main" })},
		"Kubeflow":          {applications.Kubeflow(nil), kubeflow.New(kubeflowsettings.Defaults{}), theirs},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := New(Config{API: test.api}).build(applicationtest.ViewedIn(test.d, test.app), v1alpha1.Attempt{}, nil)
			objects, launch := got.objects, got.launch
			if err != nil {
				t.Fatal(err)
			}
			if changes := test.api.ChangedLabels(test.app, test.d.DriverLabels(test.app), launch, objects.Driver); changes != nil {
				t.Error(changes)
			}
			if !test.api.SelectsDrivers().Matches(labelsOf(objects.Driver)) {
				t.Errorf("the informer does not show one with the labels %v", objects.Driver.Labels)
			}
			objects.Driver.Labels, objects.Driver.OwnerReferences = map[string]string{submission.LabelApplicationID: "another"}, nil
			changes := test.api.ChangedLabels(test.app, test.d.DriverLabels(test.app), launch, objects.Driver).Message()
			for _, part := range []string{
				"Driver Pod team-a/" + objects.Driver.Name + " was changed", "label spark-role is missing", fmt.Sprintf("instead of %q", launch.ApplicationID),
				"the owner reference to SparkApplication " + test.app.GetName() + " is missing",
				"kubectl --namespace team-a label pod " + objects.Driver.Name + " --overwrite ", " spark-role=driver", " spark-app-selector=" + launch.ApplicationID,
			} {
				if !strings.Contains(changes, part) {
					t.Errorf("it is not said that %s: %s", part, changes)
				}
			}
		})
	}
}

func labelsOf(object metav1.Object) labels.Set { return object.GetLabels() }

func TestLaunchIDDependsOnTheRoutes(t *testing.T) {
	idOf := func(app *sparkv1.SparkApplication) string {
		got, err := New(Config{API: applications.Apache(nil)}).build(applicationtest.Viewed(app), v1alpha1.Attempt{}, nil)
		launch := got.launch
		if err != nil {
			t.Fatal(err)
		}
		return launch.ID
	}
	edited := routed()
	edited.Spec.DriverHTTPRouteList[0].HTTPRouteSpec.Raw = []byte(`{"parentRefs":[{"name":"other"}]}`)
	if id := idOf(routed()); id != idOf(routed()) || id == idOf(edited) {
		t.Errorf("the launch is %s, again %s, and with another route %s", id, idOf(routed()), idOf(edited))
	}
}

func TestLaunchIDDependsOnTheServiceAndTheConfigMaps(t *testing.T) {
	idOf := func(annotations map[string]string) string {
		app := routed()
		app.Annotations = annotations
		got, err := New(Config{API: applications.Apache(nil)}).build(applicationtest.Viewed(app), v1alpha1.Attempt{}, nil)
		launch := got.launch
		if err != nil {
			t.Fatal(err)
		}
		return launch.ID
	}
	plain, headless := idOf(nil), idOf(map[string]string{dialect.AnnotationDriverService: "headless"})
	if none := idOf(map[string]string{dialect.AnnotationDriverService: "none"}); none == plain || headless != plain {
		t.Errorf("the launch is %s, with a headless Service %s, without a Service %s", plain, headless, none)
	}
	separate := idOf(map[string]string{dialect.AnnotationDriverConfigMaps: "separate"})
	if one := idOf(map[string]string{dialect.AnnotationDriverConfigMaps: "one"}); one == plain || separate != plain {
		t.Errorf("the launch is %s, with separate ConfigMaps %s, with one %s", plain, separate, one)
	}
	encoded, err := json.Marshal(submission.Plan{})
	if err != nil || strings.Contains(string(encoded), "WithoutService") || strings.Contains(string(encoded), "OneConfigMap") {
		t.Errorf("the launches of the previous version get other ids: %s, %v", encoded, err)
	}
}

// A launch goes on that another version of Firesteel fenced: the previous one, whose ids are those of this one, or the next one,
// which may make them from the canonical encoding.
func TestLaunchOfAnotherVersionContinues(t *testing.T) {
	app, l := routed(), New(Config{API: applications.Apache(nil)})
	got, err := l.build(applicationtest.Viewed(app), v1alpha1.Attempt{}, nil)
	now := got.launch
	if err != nil {
		t.Fatal(err)
	}
	plan, err := apache.New(apache.Defaults{}).Plan(app, v1alpha1.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	previous, err := dialect.LaunchID(json.Marshal, app, v1alpha1.Attempt{}, plan, apache.New(apache.Defaults{}).Ingredients(app))
	if err != nil {
		t.Fatal(err)
	}
	next, err := dialect.LaunchID(spec.Encode, app, v1alpha1.Attempt{}, plan, apache.New(apache.Defaults{}).Ingredients(app))
	if err != nil {
		t.Fatal(err)
	}
	if previous == next {
		t.Fatal("both encodings are the same")
	}
	if now.ID != previous {
		t.Errorf("the launch is %s, which the previous version, that makes %s of it, would delete", now.ID, previous)
	}
	for fenced, want := range map[string]string{previous: previous, next: next, "another": previous} {
		got, err := l.build(applicationtest.Viewed(app), v1alpha1.Attempt{}, &v1alpha1.Launch{ID: fenced})
		objects, launch := got.objects, got.launch
		if err != nil {
			t.Fatal(err)
		}
		if launch.ID != want || objects.Driver.GetLabels()[dialect.LabelLaunch] != want {
			t.Errorf("the launch fenced as %s goes on as %s, and its driver as %s", fenced, launch.ID, objects.Driver.GetLabels()[dialect.LabelLaunch])
		}
	}
}
