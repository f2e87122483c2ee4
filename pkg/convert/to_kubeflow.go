package convert

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// toKubeflow converts an application of the Apache operator's API.
func toKubeflow(app *sparkv1.SparkApplication) (*v1beta2.SparkApplication, finding.List, error) {
	defaults := apache.Defaults{Settings: dialect.NewSettings()}
	d := apache.New(defaults)
	plan, err := d.Plan(app, v1alpha1.Attempt{})
	if refused := append(d.Invalid(app), d.Refusals(app, err)...); len(refused) > 0 {
		return nil, nil, refused.Err()
	}
	conf := userProperties(plan.Properties, app.Name, labelsOfApache)
	made := &v1beta2.SparkApplication{ObjectMeta: metadataOf(app)}
	made.Spec = v1beta2.SparkApplicationSpec{
		Type: languageOf(plan.Resource), Mode: v1beta2.ClusterMode, SparkVersion: plan.SparkVersion, ProxyUser: plan.ProxyUser,
		MainClass: plan.MainClass, MainApplicationFile: plan.Resource.URI, Arguments: plan.Arguments, Suspend: app.Spec.Suspend,
	}
	if plan.Resource.URI == "" {
		made.Spec.MainApplicationFile = submission.NoResource
	}
	if made.Spec.MainClass == submission.PythonRunner {
		made.Spec.MainClass = ""
	}
	if conf[jarsKey] == plan.Resource.URI {
		delete(conf, jarsKey) // Spark adds the main resource itself
	}
	made.Spec.Driver.Template = sparkFirst(conf, names.Driver, plan.DriverTemplate)
	made.Spec.Executor.Template = sparkFirst(conf, names.Executor, plan.ExecutorTemplate)
	wanted := maps.Clone(conf)
	setFields(&made.Spec, conf, plan.DefaultImage)
	setRestarts(&made.Spec, apache.Policy(app, defaults))
	lost := lostOfApache(app, made)
	made.Spec.SparkConf, _, err = sparkConf(wanted, func(conf map[string]string) (map[string]string, error) {
		made.Spec.SparkConf = conf
		plan, err := fields.Plan(made, v1alpha1.Attempt{}, kubeflowSettings())
		return plan.Properties, err
	})
	if err != nil {
		return nil, nil, fields.Refusals(err, made, kubeflowSettings()).Err()
	}
	return made, lost, nil
}

func languageOf(resource submission.Resource) v1beta2.SparkApplicationType {
	switch {
	case resource.Kind == submission.Python || strings.HasSuffix(resource.URI, ".py"):
		return v1beta2.PythonApplication
	case resource.Kind == submission.R || strings.HasSuffix(strings.ToLower(resource.URI), ".r"):
		return v1beta2.RApplication
	default:
		return v1beta2.ScalaApplication
	}
}

// sparkFirst returns a template whose first container is Spark's. The Kubeflow operator takes the first one if none has its own name.
func sparkFirst(conf map[string]string, role names.Role, template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	key := role.KubernetesProperty("podTemplateContainerName")
	name := conf[key]
	if template == nil {
		return nil
	}
	delete(conf, key)
	template = template.DeepCopy()
	containers := template.Spec.Containers
	if at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name }); at > 0 && name != "" {
		spark := containers[at]
		template.Spec.Containers = slices.Insert(slices.Delete(containers, at, at+1), 0, spark)
	}
	return template
}

// setFields sets the fields that have the effect of properties: those that people look for, and those that would otherwise get another default.
func setFields(spec *v1beta2.SparkApplicationSpec, conf map[string]string, defaultImage string) {
	simplifyImages(conf)
	spec.Image = conf[imageKey]
	if spec.Image == "" {
		spec.Image = defaultImage
	}
	spec.ImagePullPolicy = conf["spark.kubernetes.container.image.pullPolicy"]
	spec.ImagePullSecrets = splitList(conf["spark.kubernetes.container.image.pullSecrets"])
	spec.HadoopConf = v1beta2.Properties(withPrefix(conf, "spark.hadoop."))
	spec.Deps = v1beta2.Dependencies{
		Jars: splitList(conf[jarsKey]), PyFiles: splitList(conf[pyFilesKey]), Files: splitList(conf[filesKey]), Archives: splitList(conf["spark.archives"]),
		Packages: splitList(conf["spark.jars.packages"]), ExcludePackages: splitList(conf["spark.jars.excludes"]), Repositories: splitList(conf["spark.jars.repositories"]),
	}
	for _, role := range []names.Role{names.Driver, names.Executor} {
		pods := role.Pods(spec)
		pods.Image = conf[role.KubernetesProperty("container.image")]
		if cores, err := strconv.ParseInt(conf[role.Property("cores")], 10, 32); err == nil && strconv.FormatInt(cores, 10) == conf[role.Property("cores")] {
			pods.Cores = ptr.To(v1beta2.Cores(cores))
		}
		pods.CoreRequest, pods.CoreLimit = conf[role.KubernetesProperty("request.cores")], conf[role.KubernetesProperty("limit.cores")]
		pods.Memory, pods.MemoryOverhead = conf[role.Property("memory")], conf[role.Property("memoryOverhead")]
		pods.ServiceAccount = conf["spark.kubernetes.authenticate."+string(role)+".serviceAccountName"]
		pods.JavaOptions = conf[role.Property("extraJavaOptions")]
		pods.Labels = withPrefix(conf, role.KubernetesProperty("label."))
		pods.Annotations = withPrefix(conf, role.KubernetesProperty("annotation."))
		pods.EnvVars = withPrefix(conf, role.EnvironmentPrefix())
	}
	spec.Driver.PodName = conf[names.DriverPodNameKey]
	spec.Driver.KubernetesMaster = conf["spark.kubernetes.driver.master"]
	if count, err := strconv.ParseInt(conf["spark.executor.instances"], 10, 32); err == nil && strconv.FormatInt(count, 10) == conf["spark.executor.instances"] {
		spec.Executor.Instances = ptr.To(int32(count))
	} else if _, set := conf["spark.executor.instances"]; !set && !submission.DynamicAllocation(func(key string) string { return conf[key] }) {
		spec.Executor.Instances = ptr.To[int32](submission.DefaultExecutors) // the Kubeflow operator has another default than Spark
	}
	if remove, err := strconv.ParseBool(conf["spark.kubernetes.executor.deleteOnTermination"]); err == nil {
		spec.Executor.DeleteOnTermination = &remove
	}
}

// withPrefix returns the properties with a prefix, without it; nil if there are none.
func withPrefix(conf map[string]string, prefix string) map[string]string {
	var found map[string]string
	for key, value := range conf {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			if found == nil {
				found = map[string]string{}
			}
			found[name] = value
		}
	}
	return found
}

// setRestarts sets the restart policy and the time to live. Seconds are rounded up.
func setRestarts(spec *v1beta2.SparkApplicationSpec, policy lifecycle.Policy) {
	restart := policy.Restart
	switch restart.Policy {
	case lifecycle.RestartAlways:
		spec.RestartPolicy.Type = v1beta2.RestartAlways
	case lifecycle.RestartOnFailure:
		spec.RestartPolicy.Type = v1beta2.RestartOnFailure
		spec.RestartPolicy.OnFailureRetries = retries(restart.OnFailure.MaxAttempts, restart.MaxAttempts)
		spec.RestartPolicy.OnSubmissionFailureRetries = retries(restart.OnSchedulingFailure.MaxAttempts, restart.MaxAttempts)
	default:
		spec.RestartPolicy.Type = v1beta2.RestartNever
	}
	if spec.RestartPolicy.Type != v1beta2.RestartNever {
		spec.RestartPolicy.OnFailureRetryInterval = ptr.To(seconds(ptr.Deref(restart.OnFailure.Backoff, restart.Backoff)))
		spec.RestartPolicy.OnSubmissionFailureRetryInterval = ptr.To(seconds(ptr.Deref(restart.OnSchedulingFailure.Backoff, restart.Backoff)))
	}
	if policy.TTL >= 0 {
		spec.TimeToLiveSeconds = ptr.To(seconds(policy.TTL))
	}
}

func seconds(duration time.Duration) int64 {
	return int64(math.Ceil(duration.Seconds()))
}

func retries(own *int64, all int64) *int32 {
	return ptr.To(int32(max(0, min(ptr.Deref(own, all), math.MaxInt32))))
}

// lostOfApache returns warnings about what does not carry over. It sets annotations for what they can express.
func lostOfApache(app *sparkv1.SparkApplication, made *v1beta2.SparkApplication) finding.List {
	var lost finding.List
	for _, routes := range []struct {
		field string
		count int
	}{
		{"driverServiceIngressList", len(app.Spec.DriverServiceIngressList)},
		{"driverHttpRouteList", len(app.Spec.DriverHTTPRouteList)},
		{"driverGrpcRouteList", len(app.Spec.DriverGRPCRouteList)},
	} {
		if routes.count > 0 {
			lost.Warn("spec."+routes.field, nil, noField, "describe the driver's ports in spec.driverIngressOptions, or create the Service and the route yourself")
		}
	}
	if len(app.Spec.ConfigMapSpecs) > 0 {
		lost.Warn("spec.configMapSpecs", nil, "does not carry over as a field", "apply the ConfigMaps that are printed before")
	}
	if app.Spec.Suspend {
		lost.Warn("spec.suspend", true, "holds the next launch, and in sparkoperator.k8s.io stops a running driver, too", "resume the application first")
	}
	tolerations := ptr.Deref(app.Spec.ApplicationTolerations, sparkv1.ApplicationTolerations{})
	const in = "spec.applicationTolerations."
	if restart := tolerations.RestartConfig; restart != nil {
		if restart.RestartPolicy == sparkv1.RestartOnInfrastructureFailure {
			lost.Warn(in+"restartConfig.restartPolicy", string(restart.RestartPolicy), "is no restart policy of sparkoperator.k8s.io, and became Never",
				"choose OnFailure, which also restarts what the application's own code ended")
		}
		if ptr.Deref(restart.RestartCounterResetMillis, -1) >= 0 {
			lost.Warn(in+"restartConfig.restartCounterResetMillis", nil, noField, "leave it out")
		}
	}
	retain := tolerations.ResourceRetainPolicy
	if retain == "" {
		retain = tolerations.ResourceRetentionPolicy
	}
	if retain != "" && retain != sparkv1.RetainAlways || tolerations.ResourceRetainDurationMillis != nil && *tolerations.ResourceRetainDurationMillis >= 0 {
		lost.Warn(in+"resourceRetainPolicy", nil, "does not carry over, sparkoperator.k8s.io retains driver Pods until the next run or the application's deletion",
			"set spec.timeToLiveSeconds")
	}
	if tolerations.InstanceConfig != nil {
		lost.Warn(in+"instanceConfig", nil, noField, "bound the wait for executors by the annotation "+dialect.AnnotationExecutorsStart)
	}
	lost.Add(carryTimeouts(tolerations.ApplicationTimeoutConfig, made)...)
	return lost
}

// carryTimeouts sets the annotations of start timeouts. It returns warnings about the other timeouts.
func carryTimeouts(given *sparkv1.ApplicationTimeoutConfig, made *v1beta2.SparkApplication) finding.List {
	var lost finding.List
	if given == nil {
		return nil
	}
	for annotation, bound := range map[string]*int64{
		dialect.AnnotationDriverStart: given.DriverStartTimeoutMillis, dialect.AnnotationExecutorsStart: given.ExecutorStartTimeoutMillis,
	} {
		if bound == nil || *bound <= 0 || made.Annotations[annotation] != "" {
			continue
		}
		if made.Annotations == nil {
			made.Annotations = map[string]string{}
		}
		made.Annotations[annotation] = (time.Duration(min(*bound, math.MaxInt32)) * time.Millisecond).String()
	}
	for _, other := range []struct {
		field string
		bound *int64
	}{
		{"driverReadyTimeoutMillis", given.DriverReadyTimeoutMillis}, {"forceTerminationGracePeriodMillis", given.ForceTerminationGracePeriodMillis},
		{"terminationRequeuePeriodMillis", given.TerminationRequeuePeriodMillis},
	} {
		if ptr.Deref(other.bound, 0) > 0 {
			lost.Warn("spec.applicationTolerations.applicationTimeoutConfig."+other.field, *other.bound, noField, "leave it out")
		}
	}
	return lost
}

// configMapsOf returns the ConfigMaps of spec.configMapSpecs as objects.
func configMapsOf(app *sparkv1.SparkApplication) []*unstructured.Unstructured {
	var configMaps []*unstructured.Unstructured
	for _, given := range app.Spec.ConfigMapSpecs {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		object.SetName(given.Name)
		if app.Namespace != "" {
			object.SetNamespace(app.Namespace)
		}
		object.SetLabels(given.Labels)
		object.SetAnnotations(given.Annotations)
		data := map[string]any{}
		for key, value := range given.Data {
			data[key] = value
		}
		object.Object["data"] = data
		configMaps = append(configMaps, object)
	}
	return configMaps
}
