package submission

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Plan is everything that decides what the objects of one attempt look like. Build never changes what it refers to.
type Plan struct {
	// Namespace is where all objects go and where the driver makes its executors.
	Namespace string
	// SparkVersion is as the user wrote it ("4.1.0"): it chooses the Rules, is the label spark-version and replaces
	// {{SPARK_VERSION}} in images.
	SparkVersion string
	// Properties are Spark properties before the submission's own. Like spark-submit, Build passes over keys outside
	// "spark."; Objects.Ignored lists them.
	Properties map[string]string
	// MainClass is needed for Java and Scala; Python and R have their runners.
	MainClass string
	// Resource is the application itself.
	Resource Resource
	// Arguments go to the application unchanged, empty ones included.
	Arguments []string
	// ProxyUser is spark-submit's --proxy-user; empty means none.
	ProxyUser string
	// SparkUser is the environment variable SPARK_USER; empty means "spark".
	SparkUser string
	// DriverTemplate and ExecutorTemplate are pod templates; nil means none.
	DriverTemplate, ExecutorTemplate *corev1.PodTemplateSpec
	// DefaultImage runs where no property names an image; empty means that a property must.
	DefaultImage string
	// Names are the names of the attempt's objects.
	Names Names
	// SubmitTime is spark.app.submitTime and the date in the header of the properties file.
	SubmitTime time.Time
	// Labels go on the metadata of every object of the attempt, and never into a selector.
	Labels map[string]string
	// WithoutService has no Service made: executors find the driver by its Pod's address. Spark knows no such submission.
	// Left out of the encoding if false, so that the launch ids of other plans stay as they are.
	WithoutService bool `json:",omitempty"`
}

// ResourceKind says what runs the main resource.
type ResourceKind string

const (
	// Java is a jar of Java or Scala, or just a main class that the image holds.
	Java ResourceKind = "java"
	// Python is a Python file, run by Spark's PythonRunner.
	Python ResourceKind = "python"
	// R is an R file, run by Spark's RRunner.
	R ResourceKind = "r"
)

// sparkInternal is spark-submit's word for an application without a resource of its own.
const sparkInternal = "spark-internal"

// Resource is the main resource of an application.
type Resource struct {
	// Kind may be empty: then the URI's suffix tells it, as in spark-submit (.py, .R or .r, else Java).
	Kind ResourceKind
	// URI is where the driver finds the resource: local:///path for one in the image, or a remote one such as
	// s3a://bucket/app.jar. Empty and "spark-internal" mean that there is none.
	URI string
}

func (r Resource) kind() ResourceKind {
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
	return r.URI == "" || r.URI == sparkInternal
}

// Names are the names of an attempt's objects. The API's dialect gives them, since the two operators name differently.
type Names struct {
	// AppID is spark.app.id and the label spark-app-selector of every pod of the attempt: at most 63 characters.
	AppID string
	// Prefix begins the names of what has no name of its own: PREFIX-driver-svc, PREFIX-driver-podspec-conf-map,
	// PREFIX-policy, PREFIX-driver-pvc-<i>.
	Prefix string
	// DriverPod is the driver's Pod, unless spark.kubernetes.driver.pod.name says otherwise.
	DriverPod string
	// ConfigMap holds the driver's properties file.
	ConfigMap string
	// FallbackService is the driver's Service where PREFIX-driver-svc is no valid name for one, as when it is longer
	// than 63 characters. Spark's own shape is spark-<uid>-driver-svc.
	FallbackService string
	// LocalDir is the scratch directory where no property names one. Spark's own shape is /var/data/spark-<uuid>.
	LocalDir string
}
