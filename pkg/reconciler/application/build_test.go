package application

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// routed is an application with a config map and a route of its own, whose labels lie.
func routed() *sparkv1.SparkApplication {
	lies := map[string]string{labelLaunch: "another", apache.LabelApplication: "another", "team": "a"}
	metadata := metav1.ObjectMeta{Name: "web", Labels: lies}
	return with(pi(), func(app *sparkv1.SparkApplication) {
		app.Spec.MainClass = "Main"
		app.Spec.ConfigMapSpecs = []sparkv1.ConfigMapSpec{{Name: "settings", Labels: lies}}
		app.Spec.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{{
			ServiceMetadata: metadata, ServiceSpec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
			HTTPRouteMetadata: metadata, HTTPRouteSpec: &runtime.RawExtension{Raw: []byte(`{"parentRefs":[{"name":"g"}]}`)},
		}}
	})
}

func TestEveryObjectOfALaunchIsMarked(t *testing.T) {
	objects, launch, err := (&Reconciler{api: applications.Apache(nil)}).build(apache.Dialect{}, routed(), v1alpha1.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Concat(objects.Before, objects.Owned), objects.Driver)
	if len(all) != 6 { // with the driver's own Service and ConfigMap
		t.Errorf("%d objects", len(all))
	}
	for _, object := range all {
		labels := object.GetLabels()
		if labels[labelLaunch] != launch.ID || labels[apache.LabelApplication] != "pi" {
			t.Errorf("%s has the labels %v", describe(object), labels)
		}
	}
}

func TestALaunchIsAnotherWhereARouteIs(t *testing.T) {
	idOf := func(app *sparkv1.SparkApplication) string {
		_, launch, err := (&Reconciler{api: applications.Apache(nil)}).build(apache.Dialect{}, app, v1alpha1.Attempt{})
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
