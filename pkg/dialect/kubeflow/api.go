package kubeflow

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
)

// API describes sparkoperator.k8s.io.
var API = &dialect.API{
	GroupVersionKind: v1beta2.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/300-sparkoperator-sparkapplication.yaml",
	// The Kubeflow operator has no finalizer.
	Finalizer:        "firesteel.dev/finalizer",
	FinalizerFirst:   false,
	FinishesRetained: true,
	LabelApplication: names.LabelApplication,
	DriverSelector:   names.LabelRole + "=driver," + names.LabelLaunched + "=true",
	ExecutorSelector: names.LabelRole + "=executor," + names.LabelLaunched + "=true",
	ShowsExecutors:   true,
	Fields:           fields.Paths,
}
