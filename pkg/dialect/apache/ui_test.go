package apache_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestUIHasAServiceBySettingOnly(t *testing.T) {
	for name, test := range map[string]struct {
		kind     corev1.ServiceType
		obsolete int
	}{
		"none":        {},
		"ClusterIP":   {kind: corev1.ServiceTypeClusterIP},
		"a node port": {kind: corev1.ServiceTypeNodePort, obsolete: 1},
	} {
		t.Run(name, func(t *testing.T) {
			app, objects := routed(t, `sparkConf: {spark.ui.port: "4045"}`).Obj(), launched()
			defaults := apache.Defaults{UIServiceType: test.kind, Settings: dialect.Settings{UINodeHost: "nodes.example.com"}}
			before := len(objects.Owned)
			if err := apache.Complete(app, defaults, objects); err != nil {
				t.Fatal(err)
			}
			obsolete := apache.ObsoleteObjects(app, defaults)
			if len(obsolete) != test.obsolete || test.obsolete > 0 && obsolete[0].GetName() != "pi-spark-ui" {
				t.Errorf("deleted at the end are %v", obsolete)
			}
			if test.kind == "" {
				if len(objects.Owned) != before || objects.UI != (submission.UI{}) {
					t.Errorf("there is a Service: %v", objects.Owned)
				}
				return
			}
			service := objects.UI.Service
			if service == nil || objects.Owned[len(objects.Owned)-1] != service || objects.Optional[0] != service {
				t.Fatalf("owned are %v, optional %v", objects.Owned, objects.Optional)
			}
			if port := service.Spec.Ports[0]; service.Name != "pi-spark-ui" || service.Spec.Type != test.kind || port.Port != 4045 ||
				port.TargetPort.IntVal != 4045 || service.Spec.Selector["firesteel.dev/launch-id"] != "of-this-attempt" {
				t.Errorf("the Service is %s", service)
			}
			if nodePort := test.kind == corev1.ServiceTypeNodePort; objects.UI.NodePort != nodePort || objects.UI.NodeHost != "nodes.example.com" {
				t.Errorf("it is reached by %+v", objects.UI)
			}
			if _, deletedByDriver := service.Labels[submission.LabelApplicationID]; deletedByDriver {
				t.Errorf("the driver deletes Services with the labels %v", service.Labels)
			}
		})
	}
}

func TestUIServiceNameFits(t *testing.T) {
	for _, name := range []string{"pi", strings.Repeat("a", 253)} {
		if got := apache.UIServiceName(pi().Named(name).Obj()); len(validation.IsDNS1035Label(got)) > 0 {
			t.Errorf("%s is no name of a Service", got)
		}
	}
}

func TestIngredientsWithoutAUIServiceAreThoseOfEarlierVersions(t *testing.T) {
	encoded := func(defaults apache.Defaults) string {
		text, err := json.Marshal(apache.Ingredients(pi().Obj(), defaults))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	objects := encoded(apache.Defaults{})
	if strings.Contains(objects, "UIService") {
		t.Errorf("the launch ID is made of %s", objects)
	}
	if with := encoded(apache.Defaults{UIServiceType: corev1.ServiceTypeNodePort}); with == objects {
		t.Error("an attempt with a Service has the launch ID of one without")
	}
}
