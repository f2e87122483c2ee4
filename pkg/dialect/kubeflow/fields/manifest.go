package fields

import (
	"strconv"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Manifest returns what the admin's rules read of an application.
func Manifest(app *v1beta2.SparkApplication, defaults settings.Defaults) *policy.Manifest {
	spec := app.Spec
	p := policy.Properties{Given: spec.SparkConf, Defaults: defaults.Properties}
	m := &policy.Manifest{
		Labels: app.Labels, Driver: roleOf(spec, names.Driver, p), Executor: roleOf(spec, names.Executor, p),
		Executors: policy.ExecutorsOf(p, executorFields(spec)), TimeToLive: &policy.Value{Field: "spec.timeToLiveSeconds"},
	}
	if seconds := spec.TimeToLiveSeconds; seconds != nil {
		m.TimeToLive.Text = strconv.FormatInt(*seconds, 10)
	}
	m.AddImages(policy.FieldOf("spec.image", spec.Image))
	// config-kubeflow denies the properties of this API, so their keys are left out.
	m.AddImageProperties(p, policy.ImageKeys...)
	m.AddHostPathProperties(p)
	m.AddVolumes("spec.volumes", spec.Volumes)
	for _, r := range []names.Role{names.Driver, names.Executor} {
		pods := r.Pods(&spec)
		m.AddImages(policy.FieldOf(r.Field("image"), pods.Image))
		m.AddContainers(r.Field("initContainers"), pods.InitContainers)
		m.AddContainers(r.Field("sidecars"), pods.Sidecars)
		m.AddPrivileged(r.Field("securityContext.privileged"), pods.SecurityContext)
		m.AddHostNamespace(r.Field("hostNetwork"), isTrue(pods.HostNetwork))
		if pods.Template != nil {
			m.AddPod(r.Field("template.spec"), &pods.Template.Spec)
		}
	}
	return m
}

func roleOf(spec v1beta2.SparkApplicationSpec, r names.Role, p policy.Properties) *policy.Role {
	pods := r.Pods(&spec)
	f := policy.RoleFields{
		Memory:   policy.FieldOf(r.Field("memory"), pods.Memory),
		Overhead: policy.FieldOf(r.Field("memoryOverhead"), pods.MemoryOverhead),
		Factor:   policy.FieldOf("spec.memoryOverheadFactor", spec.MemoryOverheadFactor),
		Request:  policy.FieldOf(r.Field("coreRequest"), pods.CoreRequest),
		Limit:    policy.FieldOf(r.Field("coreLimit"), pods.CoreLimit),
	}
	if pods.Cores != nil {
		f.Cores = policy.FieldOf(r.Field("cores"), strconv.FormatFloat(float64(*pods.Cores), 'f', -1, 64))
	}
	return policy.RoleOf(string(r), p, f)
}

func executorFields(spec v1beta2.SparkApplicationSpec) policy.ExecutorFields {
	f := policy.ExecutorFields{Instances: policy.NumberOf("spec.executor.instances", spec.Executor.Instances), Otherwise: "1"}
	if dynamic := spec.DynamicAllocation; dynamic != nil && dynamic.Enabled {
		f.Dynamic = true
		f.Initial = policy.NumberOf(dynamicField+"initialExecutors", dynamic.InitialExecutors)
		f.Min = policy.NumberOf(dynamicField+"minExecutors", dynamic.MinExecutors)
		f.Max = policy.NumberOf(dynamicField+"maxExecutors", dynamic.MaxExecutors)
	}
	return f
}
