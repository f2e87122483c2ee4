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
	status.ProjectUI(app, defaults, []submission.Object{service}, "192.0.2.1")
	want := v1beta2.DriverInfo{
		WebUIServiceName: "pi-ui-svc", WebUIPort: 4040, WebUIAddress: "10.0.0.7:4040",
		WebUIIngressName: "pi-ui-ingress", WebUIIngressAddress: "http://example.com/spark-1",
	}
	if diff := cmp.Diff(want, app.Status.DriverInfo); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatusHasTheNodePortOfTheSettingOnceTheDriverRuns(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.UIServiceType = corev1.ServiceTypeNodePort
	service := &corev1.Service{}
	service.Name, service.Spec.ClusterIP = "pi-ui-svc", "10.0.0.7"
	service.Spec.Ports = []corev1.ServicePort{{Port: 4040, NodePort: 30123}}
	for name, test := range map[string]struct {
		options       *v1beta2.SparkUIConfiguration
		before, after v1beta2.DriverInfo
	}{
		"by the setting": {
			nil,
			v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 30123},
			v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 30123, WebUIAddress: "192.0.2.1:30123"},
		},
		"by the application, as the Kubeflow operator shows it": {
			&v1beta2.SparkUIConfiguration{ServiceType: corev1.ServiceTypeNodePort},
			v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 4040, WebUIAddress: "10.0.0.7:4040"},
			v1beta2.DriverInfo{WebUIServiceName: "pi-ui-svc", WebUIPort: 4040, WebUIAddress: "10.0.0.7:4040"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := &v1beta2.SparkApplication{}
			app.Name, app.Spec.SparkUIOptions = "pi", test.options
			status.ProjectUI(app, defaults, []submission.Object{service}, "")
			if diff := cmp.Diff(test.before, app.Status.DriverInfo); diff != "" {
				t.Errorf("after the launch (-want +got):\n%s", diff)
			}
			app.Status.AppState.State = v1beta2.RunningState
			status.ProjectUI(app, defaults, nil, "192.0.2.1")
			if diff := cmp.Diff(test.after, app.Status.DriverInfo); diff != "" {
				t.Errorf("when it runs (-want +got):\n%s", diff)
			}
		})
	}
}
