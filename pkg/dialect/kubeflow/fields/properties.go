package fields

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Spark properties that more than one file uses.
const (
	appNameKey         = "spark.app.name"
	namespaceKey       = "spark.kubernetes.namespace"
	deployModeKey      = "spark.submit.deployMode"
	imageKey           = "spark.kubernetes.container.image"
	instancesKey       = "spark.executor.instances"
	dynamicKey         = "spark.dynamicAllocation.enabled"
	decommissionKey    = "spark.decommission.enabled"
	hadoopPrefix       = "spark.hadoop."
	confField          = "spec.sparkConf"
	dynamicField       = "spec.dynamicAllocation."
	pythonVersionField = "spec.pythonVersion"
	// pythonTwo is a version of Python that no Spark has since 3.1. Spark refuses its property.
	pythonTwo = "2"
)

// property is the value of a Spark property, and what sets it: a field, or a source outside of the manifest.
type property struct{ value, field, source string }

// properties are Spark properties. A later value wins, as on a command line.
type properties map[string]property

// set sets a property if the field is set.
func (p properties) set(key, value, field string) {
	if value != "" {
		p[key] = property{value: value, field: field}
	}
}

func (p properties) setNumber(key string, value *int32, field string) {
	if value != nil {
		p.set(key, strconv.Itoa(int(*value)), field)
	}
}

func (p properties) setBool(key string, value *bool, field string) {
	if value != nil {
		p.set(key, strconv.FormatBool(*value), field)
	}
}

// setList sets a property that is a list.
func (p properties) setList(key string, values []string, field string) {
	p.set(key, strings.Join(values, ","), field)
}

// setAll sets a property for each entry of a map, also if its value is empty.
func (p properties) setAll(prefix string, values map[string]string, field string) {
	for key, value := range values {
		p[prefix+key] = property{value: value, field: finding.Entry(field, key)}
	}
}

// values returns the properties without their sources.
func (p properties) values() map[string]string {
	values := make(map[string]string, len(p))
	for key, property := range p {
		values[key] = property.value
	}
	return values
}

// propertiesOf returns the Spark properties of an application, in the order of the Kubeflow operator's command line.
func propertiesOf(app *v1beta2.SparkApplication, defaults settings.Defaults) properties {
	p := properties{}
	for key, value := range defaults.Properties {
		p[key] = property{value: value, source: "the operator's default " + key}
	}
	p.setImage(app.Spec)
	p.setConf(app.Spec)
	p.set(names.DriverPodNameKey, app.Spec.Driver.PodName, "spec.driver.podName")
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.setRole(r, app)
	}
	p.setDriver(app.Spec.Driver)
	p.setExecutor(app.Spec)
	p.setAll("spark.kubernetes.node.selector.", app.Spec.NodeSelector, "spec.nodeSelector")
	p.setDynamicAllocation(app.Spec.DynamicAllocation)
	p.setDependencies(app.Spec.Deps)
	p.setMonitoring(app)
	p.setScheduler(app, defaults)
	for key, value := range fixedProperties(app) {
		p[key] = property{value: value, field: "metadata"}
	}
	p.setInstances()
	return p
}

func (p properties) setImage(spec v1beta2.SparkApplicationSpec) {
	p.set(imageKey, spec.Image, "spec.image")
	p.set("spark.kubernetes.container.image.pullPolicy", spec.ImagePullPolicy, "spec.imagePullPolicy")
	p.setList("spark.kubernetes.container.image.pullSecrets", spec.ImagePullSecrets, "spec.imagePullSecrets")
	if spec.PythonVersion != nil && spec.PythonVersion.String() != pythonTwo {
		p.set("spark.kubernetes.pyspark.pythonVersion", spec.PythonVersion.String(), pythonVersionField)
	}
	p.set("spark.kubernetes.memoryOverheadFactor", spec.MemoryOverheadFactor, "spec.memoryOverheadFactor")
	p.set("spark.kubernetes.submission.waitAppCompletion", "false", "spec")
}

func (p properties) setConf(spec v1beta2.SparkApplicationSpec) {
	p.setAll("", spec.SparkConf, confField)
	p.setAll(hadoopPrefix, spec.HadoopConf, "spec.hadoopConf")
}

// setRole sets the properties that driver and executors have in common.
func (p properties) setRole(r names.Role, app *v1beta2.SparkApplication) {
	spec := r.Pods(&app.Spec)
	p.set(r.KubernetesProperty("container.image"), app.Spec.Image, "spec.image")
	p.set(r.KubernetesProperty("container.image"), spec.Image, r.Field("image"))
	p.setCores(r, spec)
	p.set(r.KubernetesProperty("limit.cores"), spec.CoreLimit, r.Field("coreLimit"))
	p.set(r.Property("memory"), spec.Memory, r.Field("memory"))
	p.set(r.Property("memoryOverhead"), spec.MemoryOverhead, r.Field("memoryOverhead"))
	p.set("spark.kubernetes.authenticate."+string(r)+".serviceAccountName", spec.ServiceAccount, r.Field("serviceAccount"))
	p.set(r.Property("extraJavaOptions"), spec.JavaOptions, r.Field("javaOptions"))
	p.setAll(r.KubernetesProperty("label."), names.InheritedLabels(app), "metadata.labels")
	p.setAll(r.KubernetesProperty("label."), spec.Labels, r.Field("labels"))
	p.setAll(r.KubernetesProperty("label."), names.OwnLabels(app, r), "metadata")
	p.setAll(r.KubernetesProperty("annotation."), spec.Annotations, r.Field("annotations"))
	for variable, secret := range spec.EnvSecretKeyRefs {
		p.set(r.KubernetesProperty("secretKeyRef."+variable), secret.Name+":"+secret.Key, finding.Entry(r.Field("envSecretKeyRefs"), variable))
	}
	p.setAll(r.EnvironmentPrefix(), spec.EnvVars, r.Field("envVars"))
	p.setSecrets(r, spec.Secrets)
	p.setLocalDirs(r, app)
	p.setEscalation(r, spec.SecurityContext)
}

// setCores sets the cores. Older manifests have a fraction of one core: then the Pod requests that fraction, and tasks get a
// whole core.
func (p properties) setCores(r names.Role, spec *v1beta2.SparkPodSpec) {
	if cores := spec.Cores; cores != nil {
		whole := int64(*cores)
		if v1beta2.Cores(whole) < *cores {
			whole++
			p.set(r.KubernetesProperty("request.cores"), strconv.FormatFloat(float64(*cores), 'f', -1, 64), r.Field("cores"))
		}
		p.set(r.Property("cores"), strconv.FormatInt(whole, 10), r.Field("cores"))
	}
	p.set(r.KubernetesProperty("request.cores"), spec.CoreRequest, r.Field("coreRequest"))
}

// secretVariables are the environment variables with the paths of the keys of secrets, by type.
var secretVariables = map[v1beta2.SecretType]struct{ variable, key string }{
	v1beta2.GCPServiceAccountSecret:     {"GOOGLE_APPLICATION_CREDENTIALS", "key.json"},
	v1beta2.HadoopDelegationTokenSecret: {"HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"},
}

// setSecrets sets the secrets that Spark can mount: their names fit into names of volumes. podMutation.secrets mounts the
// others.
func (p properties) setSecrets(r names.Role, secrets []v1beta2.SecretInfo) {
	for i, secret := range secrets {
		field := r.Field(fmt.Sprintf("secrets[%d]", i))
		if mountedBySpark(secret) {
			p.set(r.KubernetesProperty("secrets."+secret.Name), secret.Path, field)
		}
		if leads, typed := secretVariables[secret.Type]; typed {
			p.set(r.EnvironmentPrefix()+leads.variable, path.Join(secret.Path, leads.key), field)
		}
	}
}

// setEscalation sets whether processes may gain privileges. Spark 4.3 forbids it whatever a template says.
func (p properties) setEscalation(r names.Role, context *corev1.SecurityContext) {
	switch {
	case context == nil:
	case podsecurity.Privileged(context):
		p.set(r.KubernetesProperty("securityContext.allowPrivilegeEscalation"), "true", r.Field("securityContext.privileged"))
	default:
		p.setBool(r.KubernetesProperty("securityContext.allowPrivilegeEscalation"), context.AllowPrivilegeEscalation,
			r.Field("securityContext.allowPrivilegeEscalation"))
	}
}

// setDriver sets the properties that only the driver has.
func (p properties) setDriver(spec v1beta2.DriverSpec) {
	p.set("spark.kubernetes.driver.master", spec.KubernetesMaster, "spec.driver.kubernetesMaster")
	p.setAll("spark.kubernetes.driver.service.label.", spec.ServiceLabels, "spec.driver.serviceLabels")
	p.setAll("spark.kubernetes.driver.service.annotation.", spec.ServiceAnnotations, "spec.driver.serviceAnnotations")
}

// setExecutor sets the properties that only executors have, and those that complete the template that executors are made
// from.
func (p properties) setExecutor(spec v1beta2.SparkApplicationSpec) {
	p.setNumber(instancesKey, spec.Executor.Instances, "spec.executor.instances")
	p.setBool("spark.kubernetes.executor.deleteOnTermination", spec.Executor.DeleteOnTermination, "spec.executor.deleteOnTermination")
	if seconds := spec.Executor.TerminationGracePeriodSeconds; seconds != nil {
		// Spark 4.1 and newer override the template with their own period.
		p.set("spark.kubernetes.executor.terminationGracePeriodSeconds", strconv.FormatInt(*seconds, 10)+"s",
			"spec.executor.terminationGracePeriodSeconds")
	}
	p.setExecutorEnv(spec.Executor.Env)
	if spec.SparkConfigMap != "" {
		p.set(names.Executor.EnvironmentPrefix()+names.SparkConfDirVariable, names.SparkConfDir, "spec.sparkConfigMap")
	}
	if spec.HadoopConfigMap != "" {
		delete(p, names.Executor.EnvironmentPrefix()+names.HadoopConfDirVariable) // would come after the template's
	}
}

func (p properties) setDynamicAllocation(allocation *v1beta2.DynamicAllocation) {
	if allocation == nil || !allocation.Enabled {
		return
	}
	tracking := allocation.ShuffleTrackingEnabled == nil || *allocation.ShuffleTrackingEnabled
	p.set(dynamicKey, "true", dynamicField+"enabled")
	p.setNumber("spark.dynamicAllocation.initialExecutors", allocation.InitialExecutors, dynamicField+"initialExecutors")
	p.setNumber("spark.dynamicAllocation.minExecutors", allocation.MinExecutors, dynamicField+"minExecutors")
	p.setNumber("spark.dynamicAllocation.maxExecutors", allocation.MaxExecutors, dynamicField+"maxExecutors")
	p.setBool("spark.dynamicAllocation.shuffleTracking.enabled", &tracking, dynamicField+"shuffleTrackingEnabled")
	if timeout := allocation.ShuffleTrackingTimeout; timeout != nil {
		p.set("spark.dynamicAllocation.shuffleTracking.timeout", strconv.FormatInt(*timeout, 10), dynamicField+"shuffleTrackingTimeout")
	}
}

func (p properties) setDependencies(deps v1beta2.Dependencies) {
	p.setList("spark.jars", deps.Jars, "spec.deps.jars")
	p.setList("spark.jars.packages", deps.Packages, "spec.deps.packages")
	p.setList("spark.jars.excludes", deps.ExcludePackages, "spec.deps.excludePackages")
	p.setList("spark.jars.repositories", deps.Repositories, "spec.deps.repositories")
	p.setList("spark.submit.pyFiles", slices.Concat(deps.PyFiles, deps.LowerPyFiles), "spec.deps.pyFiles")
	p.setList("spark.files", deps.Files, "spec.deps.files")
	p.setList("spark.archives", deps.Archives, "spec.deps.archives")
}

// setInstances sets one executor for an application that does not set their number.
func (p properties) setInstances() {
	if _, set := p[instancesKey]; !set && !submission.DynamicAllocation(func(key string) string { return p[key].value }) {
		p.set(instancesKey, "1", "spec.executor.instances")
	}
}

// fixedProperties are those that only the operator can set. A manifest that sets one is accepted. UnsupportedFields warns
// that it has no effect.
func fixedProperties(app *v1beta2.SparkApplication) map[string]string {
	return map[string]string{namespaceKey: app.Namespace, deployModeKey: "cluster", appNameKey: app.Name}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }
