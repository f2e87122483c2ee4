package early

import (
	"hash/fnv"
	"io"
	"strconv"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
)

// The labels of the Pods of an application.
const (
	// LabelAppID has the appId of the status. The Service of the UI has it, too, and selects by it.
	LabelAppID = "spark-operator.k8s.io/appId"
	// LabelApplication has the name of the application.
	LabelApplication = "spark-operator.k8s.io/appName"
)

// AppID returns the ID that the early operator gives an application. It stays the same for all runs.
func AppID(app *v1alpha1.SparkApplication) string { return names.Suffixed(app.Name, number(app)) }

// UIServiceName returns the name of the Service of the driver's UI.
func UIServiceName(app *v1alpha1.SparkApplication) string {
	return names.Suffixed(app.Name, "ui-"+number(app))
}

// number returns the early operator's hash of an application: FNV-1, not 1a, of its name, namespace and UID.
func number(app *v1alpha1.SparkApplication) string {
	hash := fnv.New32()
	for _, part := range []string{app.Name, app.Namespace, string(app.UID)} {
		_, _ = io.WriteString(hash, part) // never fails
	}
	return strconv.FormatUint(uint64(hash.Sum32()), 10)
}

// driverLabels returns the selector of the driver Pods of an application.
func driverLabels(app *v1alpha1.SparkApplication) string {
	return "spark-role=driver," + LabelApplication + "=" + app.Name
}
