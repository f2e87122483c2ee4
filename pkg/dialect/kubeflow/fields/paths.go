package fields

import "github.com/firesteel-dev/firesteel/pkg/dialect"

// Paths are the paths of the fields that messages of all dialects name.
var Paths = dialect.Fields{
	ServiceAccount:   "spec.driver.serviceAccount",
	DriverTemplate:   "spec.driver.template",
	ExecutorTemplate: "spec.executor.template",
	Settings:         "config-kubeflow",
}
