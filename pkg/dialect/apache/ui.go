package apache

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UIServiceName returns the name of the Service of the driver's UI, which the Apache operator does not have.
func UIServiceName(app *sparkv1.SparkApplication) string {
	return shortened(app.Name, maxAppID, app.Namespace, app.Name) + "-spark-ui"
}

// addUI adds the Service of the driver's UI to what the driver owns, if the operator's settings ask for one.
func addUI(app *sparkv1.SparkApplication, defaults Defaults, objects *submission.Objects) {
	if defaults.UIServiceType == "" {
		return
	}
	port := dialect.UIPort(property(app, defaults, dialect.UIPortKey))
	service := dialect.DriverService{
		Metadata: metav1.ObjectMeta{
			Name: UIServiceName(app), Namespace: app.Namespace, Labels: map[string]string{LabelOperator: OperatorName},
		},
		Type: defaults.UIServiceType, Selector: maps.Clone(objects.Driver.Labels),
		PortName: dialect.UIPortName, Port: port, Target: port,
	}.Object()
	objects.Owned = append(objects.Owned, service)
	objects.Optional = append(objects.Optional, service)
	objects.UI = submission.UI{
		Service: service, NodePort: defaults.UIServiceType == corev1.ServiceTypeNodePort, NodeHost: defaults.UINodeHost,
	}
}

// ObsoleteObjects returns the pod group of the attempt, for which the batch scheduler would reserve room for ever, and the Service of the
// UI if it has a node port, of which a cluster has few. An application's config maps are needed as long as its driver is retained.
func ObsoleteObjects(app *sparkv1.SparkApplication, defaults Defaults) []submission.Object {
	var obsolete []submission.Object
	if group := groupOf(app, defaults); group != nil {
		obsolete = append(obsolete, group)
	}
	if defaults.UIServiceType == corev1.ServiceTypeNodePort {
		obsolete = append(obsolete, dialect.ServiceNamed(app.Namespace, UIServiceName(app)))
	}
	return obsolete
}
