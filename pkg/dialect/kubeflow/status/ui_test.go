package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestStatusHasTheUIAddressOnceItsServiceExists(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.Ingress.URLFormat = "example.com/{{$appId}}"
	app := &v1beta2.SparkApplication{}
	app.Name = "pi"
	app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ApplicationID: "spark-1"}}
	service := &corev1.Service{}
	service.Name, service.Spec.ClusterIP = "pi-ui-svc", "10.0.0.7"
	service.Spec.Ports = []corev1.ServicePort{{Port: 4040}}
	status.ProjectUI(app, defaults, []submission.Object{service})
	want := v1beta2.DriverInfo{
		WebUIServiceName: "pi-ui-svc", WebUIPort: 4040, WebUIAddress: "10.0.0.7:4040",
		WebUIIngressName: "pi-ui-ingress", WebUIIngressAddress: "http://example.com/spark-1",
	}
	if diff := cmp.Diff(want, app.Status.DriverInfo); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
