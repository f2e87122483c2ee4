package kubeflow

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
)

// API is sparkoperator.k8s.io's.
var API = &dialect.API{
	GroupVersionKind: v1beta2.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/300-sparkoperator-sparkapplication.yaml",
	// The Kubeflow operator has none.
	Finalizer:        "firesteel.dev/finalizer",
	FinalizerFirst:   false,
	FinishesRetained: true,
	LabelApplication: names.LabelApplication,
	DriverSelector:   names.LabelRole + "=driver," + names.LabelLaunched + "=true",
	ExecutorSelector: names.LabelRole + "=executor," + names.LabelLaunched + "=true",
	ShowsExecutors:   true,
	Fields:           fields.Paths,
}
