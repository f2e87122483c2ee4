package names

import (
	"cmp"
	"crypto/md5" //nolint:gosec // the Kubeflow operator hashes names with it; no secret depends on it
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// maxName is the length of a label value and of the name of a Service or a volume, a rule of Kubernetes.
const maxName = 63

// DriverPodNameKey is the Spark property that names the driver Pod.
const DriverPodNameKey = "spark.kubernetes.driver.pod.name"

// OfAttempt returns the names of the objects of an attempt. They are spark-submit's, and for the driver Pod the Kubeflow
// operator's. Spark's names have random parts. Here they are a function of the application and the attempt.
func OfAttempt(app *v1beta2.SparkApplication, attempt int64) submission.Names {
	unique := uniqueID(app.UID, attempt)
	return submission.Names{
		AppID:           "spark-" + unique,
		Prefix:          submission.ResourceNamePrefix(app.Name, unique[:16]),
		DriverPod:       DriverPodName(app),
		ConfigMap:       "spark-drv-" + unique[:16] + "-conf-map",
		FallbackService: "spark-" + unique[:16] + "-driver-svc",
		LocalDir:        "/var/data/spark-" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(unique)).String(),
	}
}

// uniqueID replaces Spark's random IDs. It has 32 characters, as the ID in Spark's application ID.
func uniqueID(uid types.UID, attempt int64) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, attempt))
	return hex.EncodeToString(digest[:16])
}

// DriverPodName returns the name of the driver Pod, which is the same for every attempt.
func DriverPodName(app *v1beta2.SparkApplication) string {
	return cmp.Or(app.Spec.Driver.PodName, app.Spec.SparkConf[DriverPodNameKey], app.Name+"-driver")
}

// UIServiceName returns the name of the Service of the driver's UI.
func UIServiceName(app *v1beta2.SparkApplication) string { return Suffixed(app.Name, "ui-svc") }

// UIIngressName returns the name of the Ingress of the driver's UI.
func UIIngressName(app *v1beta2.SparkApplication) string { return Suffixed(app.Name, "ui-ingress") }

// DriverServiceName returns the name of the Service of another port of the driver.
func DriverServiceName(app *v1beta2.SparkApplication, port int32) string {
	return Suffixed(app.Name, fmt.Sprintf("driver-%d", port))
}

// DriverIngressName returns the name of that Service's Ingress.
func DriverIngressName(app *v1beta2.SparkApplication, port int32) string {
	return Suffixed(app.Name, fmt.Sprintf("ing-%d", port))
}

// PrometheusConfigMapName returns the name of the config map of Spark's metrics and Prometheus' exporter.
func PrometheusConfigMapName(app *v1beta2.SparkApplication) string { return app.Name + "-prom-conf" }

// Suffixed returns a name with a suffix. It is shortened as the Kubeflow operator shortens the names of the UI: the
// beginning of the name, 8 characters of a hash and the suffix.
func Suffixed(name, suffix string) string {
	whole := name + "-" + suffix
	if len(whole) <= maxName {
		return whole
	}
	const hash = 8
	return fmt.Sprintf("%s-%s-%s", name[:maxName-len(suffix)-hash-2], hashOf(whole)[:hash], suffix)
}

func hashOf(text string) string {
	digest := md5.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(digest[:])
}

// VolcanoGroupName returns the name of the application's PodGroup for Volcano.
func VolcanoGroupName(app *v1beta2.SparkApplication) string { return "spark-" + app.Name + "-pg" }

// CoschedulingGroupName returns the name of the application's PodGroup for the coscheduling plugin.
func CoschedulingGroupName(app *v1beta2.SparkApplication) string { return Suffixed(app.Name, "pg") }
