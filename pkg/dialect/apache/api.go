package apache

import (
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// API is spark.apache.org's.
var API = &dialect.API{
	GroupVersionKind: sparkv1.SchemeGroupVersion.WithKind("SparkApplication"),
	Resource:         "sparkapplications",
	Manifest:         "config/300-sparkapplication.yaml",
	// The Apache operator's, so that whoever deletes an object that it left need not wait for it.
	Finalizer:        "sparkapplications.spark.apache.org/finalizer",
	FinalizerFirst:   true,
	LabelApplication: LabelApplication,
	// Whatever the operator was called that made them.
	DriverSelector:   "spark-role=driver," + LabelOperator,
	ExecutorSelector: "spark-role=executor," + LabelOperator,
	Fields: dialect.Fields{
		ServiceAccount:   "spec.sparkConf.spark.kubernetes.authenticate.driver.serviceAccountName",
		DriverTemplate:   "spec.driverSpec.podTemplateSpec",
		ExecutorTemplate: "spec.executorSpec.podTemplateSpec",
		Settings:         "config-defaults",
	},
}
