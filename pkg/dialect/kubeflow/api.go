package kubeflow

import "github.com/firesteel-dev/firesteel/pkg/dialect"

// fields are where users write what messages speak of.
var fields = dialect.Fields{
	ServiceAccount:   "spec.driver.serviceAccount",
	DriverTemplate:   "spec.driver.template",
	ExecutorTemplate: "spec.executor.template",
}
