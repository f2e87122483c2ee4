package dialect

import "k8s.io/apimachinery/pkg/runtime/schema"

// API says what an API calls things, and how its applications are told from those of another.
type API struct {
	// GroupVersionKind is the applications', in the version that they are read and written in.
	schema.GroupVersionKind
	// Resource is theirs in paths of the API server: sparkapplications.
	Resource string
	// Manifest is the file that has the CustomResourceDefinition.
	Manifest string
	// Finalizer holds an application until its driver is stopped and its story is told.
	Finalizer string
	// FinalizerFirst says that whoever serves this API, the operator that Firesteel replaces too, begins with that
	// finalizer: nobody has begun with an application that has none.
	FinalizerFirst bool
	// FinishesRetained reports whether an application is finished though its driver Pod is retained: the API has no state for what comes
	// after.
	FinishesRetained bool
	// LabelApplication is the label of a Pod that names its application.
	LabelApplication string
	// DriverSelector and ExecutorSelector select the Pods to watch: Firesteel's own, and those that another operator left.
	DriverSelector, ExecutorSelector string
	// ShowsExecutors says that the status tells of each executor.
	ShowsExecutors bool
	// Fields are where users write what messages speak of.
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

// template is the one of a role: driver or executor.
func (f Fields) template(role string) string {
	if role == "driver" {
		return f.DriverTemplate
	}
	return f.ExecutorTemplate
}

// CustomResourceDefinition is the name of the applications' own.
func (a *API) CustomResourceDefinition() string { return a.GroupResource().String() }

// GroupResource is the applications'.
func (a *API) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: a.Group, Resource: a.Resource}
}

// GroupVersionResource is the applications'.
func (a *API) GroupVersionResource() schema.GroupVersionResource {
	return a.GroupVersion().WithResource(a.Resource)
}
