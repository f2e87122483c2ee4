package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// uiOf returns where the UI of a launched driver is reached: by its Service as the API server returned it. It is zero if there is none.
func uiOf(ui submission.UI, created []submission.Object) lifecycle.UI {
	if ui.Service == nil {
		return lifecycle.UI{}
	}
	at := slices.IndexFunc(created, func(object submission.Object) bool {
		return keyOf(object) == keyOf(ui.Service)
	})
	if at < 0 {
		return lifecycle.UI{} // the API server refused it
	}
	service, ok := created[at].(*corev1.Service)
	if !ok || len(service.Spec.Ports) == 0 {
		return lifecycle.UI{}
	}
	reached := lifecycle.UI{Port: service.Spec.Ports[0].Port, Host: service.Spec.ClusterIP, URL: ui.URL}
	if ui.NodePort {
		reached.Port, reached.Host = service.Spec.Ports[0].NodePort, ui.NodeHost
	}
	return reached
}
