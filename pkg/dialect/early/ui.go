package early

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// uiMetadata returns the metadata of the Service of the driver's UI, and of the route to it.
func uiMetadata(app *v1alpha1.SparkApplication) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: UIServiceName(app), Namespace: app.Namespace, Labels: map[string]string{LabelAppID: AppID(app)}}
}

// uiAddress returns the address of the UI by the Gateway of the settings; nil if there is none. id is the ID of the attempt.
func (t *translation) uiAddress(s Settings, id string) (*url.URL, error) {
	if s.UIGateway == nil {
		return nil, nil
	}
	return names.Address(s.UIURLFormat, t.app, id)
}

// addUI adds the Service of the driver's UI, and the route to it, to what the driver owns.
func (t *translation) addUI(app *v1alpha1.SparkApplication, s Settings, objects *submission.Objects) error {
	port := fields.UIPort(t.app, t.settings)
	service := dialect.DriverService{
		Metadata: uiMetadata(app), Type: s.UIServiceType,
		Selector: map[string]string{LabelAppID: AppID(app), names.LabelRole: string(names.Driver)},
		PortName: dialect.UIPortName, Port: port, Target: port,
	}.Object()
	objects.Owned = append(objects.Owned, service)
	objects.Optional = append(objects.Optional, service)
	objects.UI = submission.UI{Service: service, NodePort: s.UIServiceType == corev1.ServiceTypeNodePort, NodeHost: s.UINodeHost}
	address, err := t.uiAddress(s, objects.Driver.Labels[submission.LabelApplicationID])
	if address != nil {
		objects.UI.URL = address.String()
		objects.Owned = append(objects.Owned, s.UIGateway.RouteTo(service, uiMetadata(app), address))
	}
	return err
}
