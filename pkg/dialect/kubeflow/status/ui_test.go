package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
)

func TestStatusHasTheUIOnceItsServiceExists(t *testing.T) {
	for name, test := range map[string]struct {
		launch *v1alpha1.Launch
		want   v1beta2.DriverInfo
	}{
		"nothing was launched": {nil, v1beta2.DriverInfo{}},
		"without a Service":    {&v1alpha1.Launch{UIURL: "http://example.com/spark-1"}, v1beta2.DriverInfo{}},
		"behind an Ingress": {
			&v1alpha1.Launch{UIPort: 4040, UIHost: "10.0.0.7", UIURL: "http://example.com/spark-1"},
			v1beta2.DriverInfo{
				WebUIServiceName: "pi-ui-svc", WebUIPort: 4040, WebUIAddress: "10.0.0.7:4040",
				WebUIIngressName: "pi-ui-ingress", WebUIIngressAddress: "http://example.com/spark-1",
			},
		},
		"at a node that is not known": {&v1alpha1.Launch{UIPort: 30123}, v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 30123}},
		"at a node": {
			&v1alpha1.Launch{UIPort: 30123, UIHost: "192.0.2.1"},
			v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 30123, WebUIAddress: "192.0.2.1:30123"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := &v1beta2.SparkApplication{}
			app.Name, app.Status.DriverInfo.PodName, test.want.PodName = "pi", "pi-driver", "pi-driver"
			status.ProjectUI(app, test.launch)
			if diff := cmp.Diff(test.want, app.Status.DriverInfo); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	idle := &v1beta2.SparkApplication{}
	if status.ProjectUI(idle, &v1alpha1.Launch{UIPort: 4040, UIHost: "10.0.0.7"}); idle.Status.DriverInfo != (v1beta2.DriverInfo{}) {
		t.Errorf("without a driver it shows %+v", idle.Status.DriverInfo)
	}
}
