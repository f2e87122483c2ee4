package apache

import (
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// API describes spark.apache.org.
var API = &dialect.API{
	GroupVersionKind: sparkv1.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/300-sparkapplication.yaml",
	// It is the Apache operator's finalizer: an object that the operator left can be deleted without waiting for it.
	Finalizer:        "sparkapplications.spark.apache.org/finalizer",
	FinalizerFirst:   true,
	LabelApplication: LabelApplication,
	// It matches whatever the name of the operator that created the Pods.
	DriverSelector:   "spark-role=driver," + LabelOperator,
	ExecutorSelector: "spark-role=executor," + LabelOperator,
	Fields: dialect.Fields{
		ServiceAccount:   finding.Entry("spec.sparkConf", policy.DriverAccountKey),
		DriverTemplate:   "spec.driverSpec.podTemplateSpec",
		ExecutorTemplate: "spec.executorSpec.podTemplateSpec",
		Settings:         "config-defaults",
	},
}
