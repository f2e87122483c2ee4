package dialect

import "k8s.io/apimachinery/pkg/runtime/schema"

// API holds the names that an API uses, and how its applications differ from those of another API.
type API struct {
	// GroupVersionKind is the kind of the applications, in the version in which they are read and written.
	schema.GroupVersionKind
	// Resource is the name of the applications in paths of the API server: sparkapplications.
	Resource string
	// Manifest is the file that has the CustomResourceDefinition.
	Manifest string
	// Finalizer stays on an application until its driver is stopped and its events are delivered.
	Finalizer string
	// FinalizerFirst reports whether every operator of this API, also the one that Firesteel replaces, adds that finalizer
	// first. Then no operator has begun with an application that has none.
	FinalizerFirst bool
	// FinishesRetained reports whether an application is finished though its driver Pod is retained: the API has no state for what comes
	// after.
	FinishesRetained bool
	// UserDriverLabel is the label of the driver Pods that users start for applications, and UserDriverID its value for an application. They
	// are empty if Firesteel starts all drivers of the API.
	UserDriverLabel string
	UserDriverID    func(app Application) string
	// LabelApplication is the label of a Pod that names its application.
	LabelApplication string
	// DriverSelector and ExecutorSelector select the Pods to watch: Firesteel's own, and those that another operator left.
	DriverSelector, ExecutorSelector string
	// ShowsExecutors reports whether the status shows each executor.
	ShowsExecutors bool
	// Fields are the paths of the fields that messages name.
	Fields Fields
}

// Fields are fields of an application's spec, from spec on.
type Fields struct {
	// ServiceAccount names the driver's service account.
	ServiceAccount string
	// DriverTemplate and ExecutorTemplate hold pod templates.
	DriverTemplate, ExecutorTemplate string
	// Settings is the ConfigMap with the operator's settings for the API's applications.
	Settings string
}

// template returns the template field of a role: driver or executor.
func (f Fields) template(role string) string {
	if role == "driver" {
		return f.DriverTemplate
	}
	return f.ExecutorTemplate
}

// CustomResourceDefinition returns the name of the applications' CustomResourceDefinition.
func (a *API) CustomResourceDefinition() string { return a.GroupResource().String() }

// GroupResource returns the group and the resource of the applications.
func (a *API) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: a.Group, Resource: a.Resource}
}

// GroupVersionResource returns the group, the version and the resource of the applications.
func (a *API) GroupVersionResource() schema.GroupVersionResource {
	return a.GroupVersion().WithResource(a.Resource)
}
