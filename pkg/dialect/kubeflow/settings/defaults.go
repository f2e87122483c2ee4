package settings

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Defaults are the operator's settings for the applications of this API. They are not part of the application's spec: a
// change of them does not count as an edit of any application.
type Defaults struct {
	dialect.Settings
	// Properties are Spark properties. Those of the application override them.
	Properties map[string]string
	// DeniedProperties are keys of Spark properties. An application whose sparkConf has one is refused. A key that ends with
	// a star stands for all keys with that prefix.
	DeniedProperties []string
	// DiscouragedProperties are keys that a warning names. They are written as the denied ones, which win.
	DiscouragedProperties []string
	// TimeToLive is the time to live of applications that ask for none; zero means for ever.
	TimeToLive time.Duration
	// DriverStartTimeout, ExecutorsStartTimeout and ActiveDeadline bound the time of applications without the annotation.
	// Zero means no bound.
	DriverStartTimeout, ExecutorsStartTimeout, ActiveDeadline time.Duration
	// ForceTerminationGrace is how long a driver Pod may still exist after its deletion was accepted. After that it is
	// deleted by force. Zero means for ever.
	ForceTerminationGrace time.Duration
	// MaxTrackedExecutors is how many executors a status shows.
	MaxTrackedExecutors int
	// DriverPodDisruptionBudget allows applications to protect their driver from evictions.
	DriverPodDisruptionBudget bool
	// BatchSchedulers are those that get the requirements of the applications that name them: volcano, yunikorn, and names
	// of schedulers with the coscheduling plugin of Kubernetes' scheduler-plugins.
	BatchSchedulers []string
	// DefaultBatchScheduler is the batch scheduler of applications that name none; empty for none.
	DefaultBatchScheduler string
	// UIService creates a Service for each driver's UI.
	UIService bool
	// UIServiceType is the type of that Service if the application asks for none: NodePort, or empty for ClusterIP.
	UIServiceType corev1.ServiceType
	// Ingress is the Ingress in front of that Service.
	Ingress Ingress
}

// Ingress holds how Spark's UI is reached from outside of the cluster.
type Ingress struct {
	// URLFormat is a host and a path with the placeholders {{$appName}}, {{$appNamespace}} and {{$appId}}. Empty means no
	// Ingress, and no route.
	URLFormat string
	// Gateway is where routes lead from, which are created in place of Ingresses; nil for Ingresses. The launch ID is made of this struct: the
	// ID of a launch with an Ingress must not change.
	Gateway *dialect.Gateway `json:",omitempty"`
	// ClassName is the class of the Ingress; empty for the cluster's default.
	ClassName string
	// TLS and Annotations are those of applications that set none.
	TLS         []networkingv1.IngressTLS
	Annotations map[string]string
}

// NewDefaults returns the defaults of an operator without settings.
func NewDefaults() Defaults {
	return Defaults{
		Settings:         dialect.NewSettings(),
		DeniedProperties: slices.Clone(policy.KubeflowDenied),
		// The Kubeflow operator refuses these, too, although it ran applications with them for years.
		DiscouragedProperties: slices.Clone(policy.ImageKeys),
		MaxTrackedExecutors:   1000,
		UIService:             true,
	}
}

// UINodePort reports whether the Service of a driver's UI has a node port by these settings. One that the application itself asks for is the
// application's, and stays until its driver Pod is deleted.
func (d Defaults) UINodePort(options *v1beta2.SparkUIConfiguration) bool {
	return d.UIService && d.UIServiceType == corev1.ServiceTypeNodePort && (options == nil || options.ServiceType == "")
}

// Denies reports whether an application may not set a property.
func (d Defaults) Denies(key string) bool { return policy.Listed(d.DeniedProperties, key) }

// Discourages reports whether an application should not set a property, although it may.
func (d Defaults) Discourages(key string) bool {
	return !d.Denies(key) && policy.Listed(d.DiscouragedProperties, key)
}
