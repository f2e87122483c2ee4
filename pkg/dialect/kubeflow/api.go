package kubeflow

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// API is sparkoperator.k8s.io's.
var API = &dialect.API{
	GroupVersionKind: v1beta2.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/300-sparkoperator-sparkapplication.yaml",
	// The Kubeflow operator has none.
	Finalizer:        "firesteel.dev/finalizer",
	FinalizerFirst:   false,
	ReleasesFinished: true,
	LabelApplication: LabelApplication,
	DriverSelector:   labelRole + "=driver," + LabelLaunched + "=true",
	ExecutorSelector: labelRole + "=executor," + LabelLaunched + "=true",
	ShowsExecutors:   true,
	Fields:           fields,
}

// fields are where users write what messages speak of.
var fields = dialect.Fields{
	ServiceAccount:   "spec.driver.serviceAccount",
	DriverTemplate:   "spec.driver.template",
	ExecutorTemplate: "spec.executor.template",
	Settings:         "config-kubeflow",
}
