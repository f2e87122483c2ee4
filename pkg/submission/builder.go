package submission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Build returns the objects that start the plan's driver. If something in the plan cannot be submitted, the error is a
// *finding.Finding, or several joined. It mirrors Spark's KubernetesDriverBuilder and the part of SparkSubmit before it.
func Build(plan Plan) (*Objects, error) {
	objects, err := Draft(plan)
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// Draft is Build for a check: it returns the objects also with an error, without what is refused, so that more can be found about them.
func Draft(plan Plan) (*Objects, error) {
	d := newDriver(plan)
	d.checkPlan()
	d.normalise()
	d.checkSteps()
	d.startPod()
	for _, step := range d.steps() {
		step.configure(d)
	}
	mountProperties(d)
	d.finishPod()
	return &Objects{Before: d.before, Driver: d.pod, Owned: d.owned, Ignored: d.ignored}, d.conf.err()
}

// driver is a submission that is being built.
type driver struct {
	plan  Plan
	rules Rules
	// conf are the properties that the steps read. No step sees the properties that another step writes.
	conf *conf
	// written are the properties that the steps write. They override those of conf.
	written map[string]string
	// labels are those that Spark gives the pod: its own and those of the user's properties, without the template's.
	labels    map[string]string
	pod       *corev1.Pod
	container *corev1.Container
	// containerField is the path of the driver's container in the plan.
	containerField string
	// mounted are the volumes that were added to those of the template.
	mounted []mounted
	// podTemplate is the config map with the executors' pod template; nil if there is no template.
	podTemplate *mountedConfigMap
	// excluded are the classes of the steps that are left out; nil until they are read.
	excluded map[string]bool

	before, owned []Object
	ignored       []string
}

// step is one of Spark's feature steps: the name of its class and what it does to the submission.
type step struct {
	class     string
	configure func(*driver)
}

const featurePackage = "org.apache.spark.deploy.k8s.features."

// Classes of feature steps that other code refers to.
const (
	basicDriverStep   = featurePackage + "BasicDriverFeatureStep"
	driverServiceStep = featurePackage + "DriverServiceFeatureStep"
	networkPolicyStep = featurePackage + "NetworkPolicyFeatureStep"
	volcanoStep       = featurePackage + "VolcanoFeatureStep"
)

// builtInSteps are Spark's own, in its order.
var builtInSteps = []step{
	{basicDriverStep, basicDriver},
	{featurePackage + "DriverKubernetesCredentialsFeatureStep", driverCredentials},
	{driverServiceStep, driverService},
	{networkPolicyStep, networkPolicy},
	{featurePackage + "MountSecretsFeatureStep", mountSecrets},
	{featurePackage + "EnvSecretsFeatureStep", envSecrets},
	{featurePackage + "MountVolumesFeatureStep", mountVolumes},
	{featurePackage + "DriverCommandFeatureStep", driverCommand},
	{featurePackage + "HadoopConfDriverFeatureStep", hadoopConf},
	{featurePackage + "KerberosConfDriverFeatureStep", kerberosConf},
	{featurePackage + "PodTemplateConfigMapStep", podTemplateConfigMap},
	{featurePackage + "LocalDirsFeatureStep", localDirs},
}

const (
	userStepsKey     = "spark.kubernetes.driver.pod.featureSteps"
	excludedStepsKey = "spark.kubernetes.driver.pod.excludedFeatureSteps"
)

// newDriver returns a submission that reads the plan's properties. normalise makes a copy before any step changes one.
func newDriver(plan Plan) *driver {
	rules, _ := RulesFor(plan.SparkVersion)
	return &driver{
		plan:    plan,
		rules:   rules,
		conf:    &conf{values: plan.Properties},
		written: map[string]string{},
	}
}

// steps returns the steps of this submission: Spark's own and the user's, without the excluded ones.
func (d *driver) steps() []step {
	excluded := d.excludedSteps()
	steps := slices.Concat(builtInSteps, d.userSteps(excluded))
	return slices.DeleteFunc(steps, func(s step) bool {
		return excluded[s.class] || s.class == networkPolicyStep && !d.rules.NetworkPolicy
	})
}

// checkSteps reads all that Spark reads when it creates its steps. So an invalid value is refused even if the step is
// excluded or has nothing to do.
func (d *driver) checkSteps() {
	d.ipFamilies()
	d.ipFamilyPolicy()
	d.publishNotReady()
	d.claimAccessMode()
	d.localDirMedium()
}

// excludedSteps returns the classes of the steps that a property excludes. The property is read once, because it may be
// long.
func (d *driver) excludedSteps() map[string]bool {
	if d.excluded != nil {
		return d.excluded
	}
	d.excluded = map[string]bool{}
	if !d.rules.ExcludedSteps {
		return d.excluded
	}
	for _, class := range d.conf.list(excludedStepsKey) {
		d.excluded[class] = true
	}
	if d.excluded[basicDriverStep] {
		d.conf.refuse(excludedStepsKey, basicDriverStep, "makes the pod a driver at all", "leave it out of the list")
		delete(d.excluded, basicDriverStep)
	}
	if d.plan.WithoutService {
		delete(d.excluded, driverServiceStep) // it then creates no Service, and gives the driver its address
	}
	return d.excluded
}

// userSteps returns the steps that a property adds, each once. Any class but Volcano's is code that only a JVM can run.
func (d *driver) userSteps(excluded map[string]bool) []step {
	var steps []step
	for _, class := range d.conf.list(userStepsKey) {
		switch {
		case class == volcanoStep && len(steps) == 0:
			steps = append(steps, step{volcanoStep, volcano})
		case class != volcanoStep && !excluded[class]:
			d.conf.refuse(userStepsKey, class, "is a feature step of your own, which needs a JVM to run",
				"leave it out and say what it does with properties or the driver's pod template")
		}
	}
	return steps
}

// meta returns the metadata of an object of the attempt. The plan's labels override those that properties ask for.
func (d *driver) meta(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: d.plan.Namespace, Labels: merged(labels, d.plan.Labels)}
}

func (d *driver) appSelector() map[string]string {
	return map[string]string{LabelApplicationID: d.plan.Names.AppID}
}

// mount adds a volume to the driver. field is what asks for the volume; it is empty for a volume of every Spark driver.
func (d *driver) mount(mount corev1.VolumeMount, source corev1.VolumeSource, field string) {
	d.pod.Spec.Volumes = append(d.pod.Spec.Volumes, corev1.Volume{Name: mount.Name, VolumeSource: source})
	d.container.VolumeMounts = append(d.container.VolumeMounts, mount)
	d.mounted = append(d.mounted, mounted{field, mount})
}

func (d *driver) addEnv(name, value string) {
	d.container.Env = append(d.container.Env, corev1.EnvVar{Name: name, Value: value})
}
