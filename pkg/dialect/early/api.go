package early

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// API describes spark-operator.k8s.io.
var API = &dialect.API{
	GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/early/300-early-sparkapplication.yaml",
	// The early operator had no finalizer.
	Finalizer:        "firesteel.dev/finalizer",
	FinalizerFirst:   false,
	FinishesRetained: true,
	UserDriverLabel:  LabelAppID,
	UserDriverID:     func(app dialect.Application) string { return AppID(app.(*v1alpha1.SparkApplication)) },
	LabelApplication: LabelApplication,
	DriverSelector:   "spark-role=driver," + LabelAppID,
	ExecutorSelector: "spark-role=executor," + LabelAppID,
	ShowsExecutors:   true,
	Fields: dialect.Fields{
		ServiceAccount:   finding.Entry(confField, policy.DriverAccountKey),
		DriverTemplate:   "a template at a URL that " + finding.Entry(confField, "spark.kubernetes.driver.podTemplateFile") + " names",
		ExecutorTemplate: "a template at a URL that " + finding.Entry(confField, "spark.kubernetes.executor.podTemplateFile") + " names",
		Settings:         fields.Paths.Settings,
	},
}
