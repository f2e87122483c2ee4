package status

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// ProjectUI writes the address of the driver's UI into a status, as soon as its Service was created. That of a node port follows when the
// driver runs: host is the IP of its node.
func ProjectUI(app *v1beta2.SparkApplication, defaults settings.Defaults, created []submission.Object, host string) {
	info, nodePort := &app.Status.DriverInfo, defaults.UINodePort(app.Spec.SparkUIOptions)
	for _, object := range created {
		service, ok := object.(*corev1.Service)
		if !ok || service.Name != names.UIServiceName(app) || len(service.Spec.Ports) == 0 {
			continue
		}
		info.WebUIServiceName = service.Name
		info.WebUIPort = service.Spec.Ports[0].Port
		if nodePort {
			info.WebUIPort, info.WebUIAddress = dialect.UIPort(service), ""
		} else if ip := service.Spec.ClusterIP; ip != "" {
			info.WebUIAddress = ip + ":" + strconv.Itoa(int(info.WebUIPort))
		}
		if launch := app.Status.Firesteel; defaults.Ingress.URLFormat != "" && launch != nil && launch.Launch != nil {
			if address, err := names.Address(defaults.Ingress.URLFormat, app, launch.Launch.ApplicationID); err == nil {
				info.WebUIIngressName, info.WebUIIngressAddress = names.UIIngressName(app), address.String()
			}
		}
	}
	if nodePort && info.WebUIServiceName != "" && info.WebUIAddress == "" && app.Status.AppState.State == v1beta2.RunningState {
		info.WebUIAddress = dialect.UIAddress(host, info.WebUIPort)
	}
}
