package submission

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Plan holds everything that the objects of one attempt depend on. Build does not change the objects that it refers to.
type Plan struct {
	// Namespace is the namespace of all objects, and of the executors that the driver creates.
	Namespace string
	// SparkVersion is as the user wrote it ("4.1.0"). It chooses the Rules, is the label spark-version and replaces
	// {{SPARK_VERSION}} in images.
	SparkVersion string
	// Properties are Spark properties, without those that the submission adds. Like spark-submit, Build ignores keys outside
	// "spark."; Objects.Ignored lists them.
	Properties map[string]string
	// MainClass is needed for Java and Scala. Python and R have their runners.
	MainClass string
	// Resource is the application itself.
	Resource Resource
	// Arguments are passed to the application unchanged, empty ones included.
	Arguments []string
	// ProxyUser is spark-submit's --proxy-user; empty means none.
	ProxyUser string
	// SparkUser is the environment variable SPARK_USER; empty means "spark".
	SparkUser string
	// DriverTemplate and ExecutorTemplate are pod templates; nil means none.
	DriverTemplate, ExecutorTemplate *corev1.PodTemplateSpec
	// DefaultImage is used if no property names an image. If it is empty, a property must name one.
	DefaultImage string
	// Names are the names of the attempt's objects.
	Names Names
	// SubmitTime is spark.app.submitTime and the date in the header of the properties file.
	SubmitTime time.Time
	// Labels are added to the metadata of every object of the attempt, and never to a selector.
	Labels map[string]string
	// WithoutService means that no Service is created: executors find the driver by its Pod's address. Spark has no such
	// submission. If false, the field is left out of the encoding, so that the launch IDs of other plans do not change.
	WithoutService bool `json:",omitempty"`
	// OneConfigMap means that the executors' pod template is in the config map of the driver's properties, if both fit into it. Spark makes
	// two. If false, the field is left out of the encoding as well.
	OneConfigMap bool `json:",omitempty"`
	// EventLogs is the sidecar that sends the event log to the archive; nil for none. Build does not add it: EventLogSidecar.AddTo does, once the Pod is
	// complete.
	EventLogs *EventLogSidecar `json:",omitempty"`
}

// ResourceKind is what runs the main resource.
type ResourceKind string

const (
	// Java is a jar of Java or Scala, or only a main class in the image.
	Java ResourceKind = "java"
	// Python is a Python file, run by Spark's PythonRunner.
	Python ResourceKind = "python"
	// R is an R file, run by Spark's RRunner.
	R ResourceKind = "r"
)

// NoResource is spark-submit's word for an application without a resource of its own: its class is in the jars of the image.
const NoResource = "spark-internal"

// Resource is the main resource of an application.
type Resource struct {
	// Kind may be empty: then the URI's suffix determines it, as in spark-submit (.py, .R or .r, else Java).
	Kind ResourceKind
	// URI is where the driver finds the resource: local:///path for a file in the image, or a remote address such as
	// s3a://bucket/app.jar. Empty and "spark-internal" mean that there is none.
	URI string
}

// Language returns Kind or, without one, the language that the suffix of the URI stands for.
func (r Resource) Language() ResourceKind {
	switch {
	case r.Kind != "":
		return r.Kind
	case strings.HasSuffix(r.URI, ".py"):
		return Python
	case strings.HasSuffix(r.URI, ".R"), strings.HasSuffix(r.URI, ".r"):
		return R
	default:
		return Java
	}
}

func (r Resource) none() bool {
	return r.URI == "" || r.URI == NoResource
}

// Names are the names of an attempt's objects. The API's dialect chooses them, because the two operators name objects
// differently.
type Names struct {
	// AppID is spark.app.id and the label spark-app-selector of every pod of the attempt: at most 63 characters.
	AppID string
	// Prefix begins the names of objects without a name here: PREFIX-driver-svc, PREFIX-driver-podspec-conf-map,
	// PREFIX-policy, PREFIX-driver-pvc-<i>.
	Prefix string
	// DriverPod is the name of the driver's Pod, unless spark.kubernetes.driver.pod.name sets another.
	DriverPod string
	// ConfigMap holds the driver's properties file.
	ConfigMap string
	// FallbackService is the name of the driver's Service if PREFIX-driver-svc is not a valid name, for example if it is
	// longer than 63 characters. Spark uses spark-<uid>-driver-svc.
	FallbackService string
	// LocalDir is the scratch directory if no property names one. Spark uses /var/data/spark-<uuid>.
	LocalDir string
}
