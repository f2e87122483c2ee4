package settings

import (
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Defaults are the operator's settings for the applications of this API. They are not the application's spec: a change
// of them is no edit of any application.
type Defaults struct {
	dialect.Settings
	// Properties are Spark properties, below those of the application.
	Properties map[string]string
	// DeniedProperties are keys of Spark properties with which an application's sparkConf is refused. One that ends with
	// a star stands for all that begin so.
	DeniedProperties []string
	// DiscouragedProperties are those that a warning names. They are written as the denied ones, which win.
	DiscouragedProperties []string
	// TimeToLive is that of applications that ask for none; zero for ever.
	TimeToLive time.Duration
	// DriverStartTimeout, ExecutorsStartTimeout and ActiveDeadline bound the time of applications without an annotation for
	// it; zero for no bound.
	DriverStartTimeout, ExecutorsStartTimeout, ActiveDeadline time.Duration
	// ForceTerminationGrace is how long after its deletion was accepted a driver Pod may take to go before it is deleted by
	// force; zero for ever.
	ForceTerminationGrace time.Duration
	// MaxTrackedExecutors is how many executors a status tells of.
	MaxTrackedExecutors int
	// DriverPodDisruptionBudget allows applications to protect their driver from evictions.
	DriverPodDisruptionBudget bool
	// BatchSchedulers are those that are told of the applications that name them: volcano, yunikorn, and names of
	// schedulers that have the coscheduling plugin of Kubernetes' scheduler-plugins.
	BatchSchedulers []string
	// DefaultBatchScheduler is that of applications that name none; empty for none.
	DefaultBatchScheduler string
	// UIService has each driver's UI behind a Service.
	UIService bool
	// Ingress is what is in front of that Service.
	Ingress Ingress
}

// Ingress is how Spark's UI is reached from outside of the cluster.
type Ingress struct {
	// URLFormat is a host and a path, in which {{$appName}}, {{$appNamespace}} and {{$appId}} are filled in; empty for
	// no Ingress.
	URLFormat string
	// ClassName is the Ingress's class; empty for the cluster's default.
	ClassName string
	// TLS and Annotations are those of applications that say nothing of their own.
	TLS         []networkingv1.IngressTLS
	Annotations map[string]string
}

// The batch schedulers that are known by their own names. Any other is taken for one with the coscheduling plugin.
const (
	Volcano  = "volcano"
	YuniKorn = "yunikorn"
)

// NewDefaults are those of an operator whose settings say nothing.
func NewDefaults() Defaults {
	return Defaults{
		DeniedProperties:      slices.Clone(deniedProperties),
		DiscouragedProperties: slices.Clone(discouragedProperties),
		MaxTrackedExecutors:   1000,
		UIService:             true,
	}
}

// deniedProperties are those that the Kubeflow operator refuses from 2.5.2 on, since by them an application gets rights
// that its fields don't show: another service account's, or another API server's.
var deniedProperties = []string{
	"spark.master",
	"spark.kubernetes.driver.master",
	"spark.kubernetes.authenticate.driver.serviceAccountName",
	"spark.kubernetes.authenticate.executor.serviceAccountName",
	"spark.kubernetes.authenticate.oauthToken",
	"spark.kubernetes.authenticate.oauthTokenFile",
	"spark.kubernetes.authenticate.driver.oauthToken",
	"spark.kubernetes.authenticate.driver.oauthTokenFile",
	"spark.kubernetes.authenticate.executor.oauthToken",
	"spark.kubernetes.authenticate.executor.oauthTokenFile",
}

// discouragedProperties it refuses, too, though it ran applications with them for years.
var discouragedProperties = []string{
	"spark.kubernetes.container.image",
	"spark.kubernetes.driver.container.image",
	"spark.kubernetes.executor.container.image",
}

// Denies says that an application may not set a property.
func (d Defaults) Denies(key string) bool { return listed(d.DeniedProperties, key) }

// Discourages says that an application should not set a property, though it may.
func (d Defaults) Discourages(key string) bool {
	return !d.Denies(key) && listed(d.DiscouragedProperties, key)
}

func listed(keys []string, key string) bool {
	return slices.ContainsFunc(keys, func(its string) bool {
		prefix, open := strings.CutSuffix(its, "*")
		return its == key || open && strings.HasPrefix(key, prefix)
	})
}
