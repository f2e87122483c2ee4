package integration

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// application builds a SparkApplication.
type application struct{ app sparkv1.SparkApplication }

// App returns SparkPi on Spark 4.1 with a name.
func App(name string) *application {
	a := &application{}
	a.app.Name = name
	a.app.Spec = sparkv1.ApplicationSpec{
		RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.1"},
		SparkConf:       map[string]string{},
	}
	return a.Main("org.apache.spark.examples.SparkPi", "local:///opt/spark/examples/jars/spark-examples.jar")
}

func (a *application) Obj() *sparkv1.SparkApplication { return a.app.DeepCopy() }

func (a *application) Main(class, jar string) *application {
	a.app.Spec.MainClass, a.app.Spec.Jars = class, jar
	return a
}

func (a *application) Spark(version string) *application {
	a.app.Spec.RuntimeVersions.SparkVersion = version
	return a
}

func (a *application) Conf(key, value string) *application {
	a.app.Spec.SparkConf[key] = value
	return a
}

// OnDemandClaim adds a volume claim that is created for the driver.
func (a *application) OnDemandClaim() *application {
	const volume = "spark.kubernetes.driver.volumes.persistentVolumeClaim.data."
	return a.Conf(volume+"mount.path", "/data").Conf(volume+"options.claimName", "OnDemand").
		Conf(volume+"options.storageClass", "fast").Conf(volume+"options.sizeLimit", "1Gi")
}

func (a *application) Label(key, value string) *application {
	if a.app.Labels == nil {
		a.app.Labels = map[string]string{}
	}
	a.app.Labels[key] = value
	return a
}

func (a *application) Annotation(key, value string) *application {
	if a.app.Annotations == nil {
		a.app.Annotations = map[string]string{}
	}
	a.app.Annotations[key] = value
	return a
}

func (a *application) Tolerations(tolerations sparkv1.ApplicationTolerations) *application {
	a.app.Spec.ApplicationTolerations = &tolerations
	return a
}

func (a *application) Client() *application {
	a.app.Spec.DeploymentMode = sparkv1.ClientMode
	return a
}

func (a *application) Suspended() *application {
	a.app.Spec.Suspend = true
	return a
}

func (a *application) Driver(spec corev1.PodSpec) *application {
	a.app.Spec.DriverSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: spec}}
	return a
}

func (a *application) Executor(spec corev1.PodSpec) *application {
	a.app.Spec.ExecutorSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: spec}}
	return a
}

func (a *application) ConfigMap(name, key, value string) *application {
	a.app.Spec.ConfigMapSpecs = append(a.app.Spec.ConfigMapSpecs,
		sparkv1.ConfigMapSpec{Name: name, Data: map[string]string{key: value}})
	return a
}

// Restart allows a number of restarts, each after a back-off.
func (a *application) Restart(policy sparkv1.RestartPolicy, attempts int64, backoff time.Duration) *application {
	a.tolerations().RestartConfig = &sparkv1.RestartConfig{
		RestartPolicy: policy, MaxRestartAttempts: &attempts, RestartBackoffMillis: inMillis(backoff),
	}
	return a
}

func (a *application) Retain(policy sparkv1.RetainPolicy) *application {
	a.tolerations().ResourceRetainPolicy = policy
	return a
}

func (a *application) RetainFor(limit time.Duration) *application {
	a.tolerations().ResourceRetainDurationMillis = inMillis(limit)
	return a
}

func (a *application) TTL(limit time.Duration) *application {
	a.tolerations().TTLAfterStopMillis = inMillis(limit)
	return a
}

// DriverStartsWithin bounds the time to the driver's start.
func (a *application) DriverStartsWithin(limit time.Duration) *application {
	a.timeouts().DriverStartTimeoutMillis = inMillis(limit)
	return a
}

// ForceGoneWithin bounds the time until a terminating driver Pod is deleted by force.
func (a *application) ForceGoneWithin(limit time.Duration) *application {
	a.timeouts().ForceTerminationGracePeriodMillis = inMillis(limit)
	return a
}

// ExecutorsStartWithin bounds the time to the executors' start.
func (a *application) ExecutorsStartWithin(limit time.Duration) *application {
	a.timeouts().ExecutorStartTimeoutMillis = inMillis(limit)
	return a
}

// Executors sets the initial, the minimum and the maximum number of executors.
func (a *application) Executors(first, least, most int32) *application {
	a.tolerations().InstanceConfig = &sparkv1.ExecutorInstanceConfig{InitExecutors: first, MinExecutors: least, MaxExecutors: most}
	return a
}

func (a *application) tolerations() *sparkv1.ApplicationTolerations {
	if a.app.Spec.ApplicationTolerations == nil {
		a.app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{}
	}
	return a.app.Spec.ApplicationTolerations
}

func (a *application) timeouts() *sparkv1.ApplicationTimeoutConfig {
	if a.tolerations().ApplicationTimeoutConfig == nil {
		a.tolerations().ApplicationTimeoutConfig = &sparkv1.ApplicationTimeoutConfig{}
	}
	return a.tolerations().ApplicationTimeoutConfig
}

func inMillis(d time.Duration) *int64 {
	millis := d.Milliseconds()
	return &millis
}

// quota allows a number of objects of a resource.
func quota(kind corev1.ResourceName, count string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{kind: resource.MustParse(count)}},
	}
}
