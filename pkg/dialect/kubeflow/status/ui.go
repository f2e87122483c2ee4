package status

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// ProjectUI writes the address of the driver's UI into a status that shows a launch, once its Service was created. The address of a node
// port may follow when the driver runs.
func ProjectUI(app *v1beta2.SparkApplication, launch *v1alpha1.Launch) {
	info, ui := &app.Status.DriverInfo, lifecycle.UIOf(launch)
	if info.PodName == "" || ui.Port == 0 {
		return
	}
	info.WebUIServiceName, info.WebUIPort, info.WebUIAddress = names.UIServiceName(app), ui.Port, ui.Address()
	if ui.URL != "" {
		info.WebUIIngressName, info.WebUIIngressAddress = names.UIIngressName(app), ui.URL
	}
}
