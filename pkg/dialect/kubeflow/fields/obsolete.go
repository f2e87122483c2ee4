package fields

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// ObsoleteObjects returns what an application does not need that will create no more Pods: its group, for which the scheduler would
// reserve room for ever, and the Service of the UI if it has a node port, of which a cluster has few.
func ObsoleteObjects(app *v1beta2.SparkApplication, defaults settings.Defaults) []submission.Object {
	var obsolete []submission.Object
	if group := gangOf(app, defaults).NamedGroup(); group != nil {
		obsolete = append(obsolete, group)
	}
	if defaults.UINodePort(app.Spec.SparkUIOptions) {
		obsolete = append(obsolete, dialect.ServiceNamed(app.Namespace, names.UIServiceName(app)))
	}
	return obsolete
}
