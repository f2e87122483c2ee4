package submission

import (
	"cmp"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	driverPodNameKey   = "spark.kubernetes.driver.pod.name"
	driverLabelPrefix  = "spark.kubernetes.driver.label."
	driverEnvPrefix    = "spark.kubernetes.driverEnv."
	imageKey           = "spark.kubernetes.container.image"
	driverImageKey     = "spark.kubernetes.driver.container.image"
	driverMasterKey    = "spark.kubernetes.driver.master"
	executorImageKey   = "spark.kubernetes.executor.container.image"
	versionPlaceholder = "{{SPARK_VERSION}}"
	defaultSparkUser   = "spark"
)

// LabelApplicationID is Spark's label with the spark.app.id of an attempt, on all its Pods.
const LabelApplicationID = "spark-app-selector"

// LabelExecutorID is Spark's label with the number of an executor, on its Pod.
const LabelExecutorID = "spark-exec-id"

// Labels that Spark puts on its pods and selects them by.
const (
	versionLabel    = "spark-version"
	appNameKeyLabel = "spark-app-name"
	roleLabel       = "spark-role"
)

// basicDriver makes the pod a driver. It sets its image, resources, environment, ports, labels and scheduling. It mirrors
// BasicDriverFeatureStep.
func basicDriver(d *driver) {
	d.basicPod()
	d.basicContainer()
	d.basicEnvironment()
	d.driverResources()
	d.securityContext()
	d.written["spark.app.id"] = d.plan.Names.AppID
	d.written["spark.kubernetes.submitInDriver"] = "true"
}

func (d *driver) basicPod() {
	name := d.driverPodName()
	d.written[driverPodNameKey] = name
	d.pod.Name = name
	d.labels = d.driverLabels()
	d.pod.Labels = merged(d.pod.Labels, d.labels)
	d.pod.Annotations = merged(d.pod.Annotations, d.driverAnnotations())
	d.schedule(&d.pod.Spec)
}

func (d *driver) driverPodName() string {
	name, field := d.plan.Names.DriverPod, "names.driverPod"
	if d.conf.set(driverPodNameKey) {
		name, field = d.conf.text("", driverPodNameKey), driverPodNameKey
	}
	if name != "" || field == driverPodNameKey {
		d.conf.checkName(field, name, "pod")
	}
	return name
}

func (d *driver) schedule(spec *corev1.PodSpec) {
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.NodeSelector = merged(spec.NodeSelector, d.nodeSelector())
	spec.SchedulerName = d.conf.text(spec.SchedulerName,
		"spark.kubernetes.driver.scheduler.name", "spark.kubernetes.scheduler.name")
	for _, secret := range d.conf.list("spark.kubernetes.container.image.pullSecrets") {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
}

func (d *driver) nodeSelector() map[string]string {
	selector := map[string]string{}
	for _, prefix := range []string{"spark.kubernetes.node.selector.", "spark.kubernetes.driver.node.selector."} {
		for _, p := range d.conf.withPrefix(prefix) {
			d.conf.checkLabel(prefix, p.name, p.value)
			selector[p.name] = p.value
		}
	}
	return selector
}

// driverLabels returns the labels that properties ask for, and Spark's own, which no property may set.
func (d *driver) driverLabels() map[string]string {
	presets := map[string]string{
		versionLabel:       d.plan.SparkVersion,
		LabelApplicationID: d.plan.Names.AppID,
		appNameKeyLabel:    d.appNameLabel(),
		roleLabel:          "driver",
	}
	labels := maps.Clone(presets)
	for _, p := range d.conf.withPrefix(driverLabelPrefix) {
		if _, preset := presets[p.name]; preset {
			d.conf.refuse(driverLabelPrefix+p.name, p.value, "is a label of Spark's own", "leave it out")
			continue
		}
		labels[p.name] = p.value
		if d.rules.LabelPlaceholders {
			labels[p.name] = d.replaceIDs(p.value)
		}
		d.conf.checkLabel(driverLabelPrefix, p.name, labels[p.name])
	}
	return labels
}

func (d *driver) appNameLabel() string {
	name, set := d.conf.values["spark.app.name"]
	if !set {
		name = "spark"
	}
	return appNameLabel(name)
}

func (d *driver) driverAnnotations() map[string]string {
	const prefix = "spark.kubernetes.driver.annotation."
	annotations := map[string]string{}
	for _, p := range d.conf.withPrefix(prefix) {
		d.conf.checkAnnotation(prefix, p.name, p.value)
		annotations[p.name] = d.replaceIDs(p.value)
	}
	return annotations
}

// replaceIDs replaces the placeholder of the application's ID by the ID, and the placeholder of the executor's ID by
// nothing.
func (d *driver) replaceIDs(text string) string {
	if !strings.Contains(text, "{{") {
		return text // most have no placeholder, and a replacer is large
	}
	return strings.NewReplacer("{{APP_ID}}", d.plan.Names.AppID, "{{EXECUTOR_ID}}", "").Replace(text)
}

func (d *driver) basicContainer() {
	if d.container.Name == "" {
		d.container.Name = DefaultDriverContainer
	}
	d.container.Image = d.image(driverImageKey)
	d.checkExecutorImage()
	d.container.ImagePullPolicy = corev1.PullPolicy(
		d.conf.oneOf("spark.kubernetes.container.image.pullPolicy", "IfNotPresent", "Always", "Never"))
	for _, port := range d.driverPorts() {
		d.addPort(port)
	}
}

// image returns the image of a role. ofRole is the property of the role. The template's image is not used: Spark overwrites
// it.
func (d *driver) image(ofRole string) string {
	key, image, _ := d.conf.lookup(ofRole, imageKey)
	switch {
	case image == "" && ofRole == executorImageKey:
		d.conf.refuse(ofRole, "", "is missing, and the driver's image is not the executors'", "name the image of the executors, or one for both roles")
	case image == "":
		d.conf.refuse(cmp.Or(key, imageKey), "", "is missing", "name the image to run")
	case image != strings.TrimSpace(image):
		d.conf.refuse(key, image, "begins or ends with a blank", "leave the blank out")
	}
	return WithVersion(image, d.plan.SparkVersion)
}

// WithVersion replaces the version placeholder by a Spark version. A version that is too long for the label spark-version is
// refused: it would allow texts of any length.
func WithVersion(image, version string) string {
	if len(version) > validation.LabelValueMaxLength {
		return image
	}
	return strings.ReplaceAll(image, versionPlaceholder, version)
}

// checkExecutorImage refuses a driver that could create no executor because executors have no image.
func (d *driver) checkExecutorImage() {
	_, image, _ := d.conf.lookup(driverImageKey, imageKey)
	if image != "" && d.makesExecutors() {
		d.image(executorImageKey)
	}
}

// makesExecutors reports whether the driver asks Kubernetes for executors. With a local master it does all the work itself.
// With a standalone master it joins a cluster.
func (d *driver) makesExecutors() bool {
	local := strings.HasPrefix(strings.TrimSpace(d.conf.text("", driverMasterKey)), "local")
	return !local && !standaloneMaster.MatchString(d.conf.values[masterKey])
}

func (d *driver) basicEnvironment() {
	d.addEnv("SPARK_USER", d.sparkUser())
	d.addEnv("SPARK_APPLICATION_ID", d.plan.Names.AppID)
	for _, p := range d.conf.withPrefix(driverEnvPrefix) {
		d.conf.checkVariable(driverEnvPrefix, p.name, p.value)
		d.addEnv(p.name, p.value)
	}
	podIP := &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}
	d.container.Env = append(d.container.Env, corev1.EnvVar{
		Name:      "SPARK_DRIVER_BIND_ADDRESS",
		ValueFrom: &corev1.EnvVarSource{FieldRef: podIP},
	})
}

func (d *driver) sparkUser() string {
	switch {
	case d.rules.ProxyUserRuns && d.plan.ProxyUser != "":
		return d.plan.ProxyUser
	case d.plan.SparkUser != "":
		return d.plan.SparkUser
	default:
		return defaultSparkUser
	}
}

// securityContext sets whether the driver's processes may gain privileges, if the version of Spark sets it. It overrides the
// template.
func (d *driver) securityContext() {
	const ofBothRoles = "spark.kubernetes.securityContext.allowPrivilegeEscalation"
	const ofDriver = "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation"
	if !d.rules.NoPrivilegeEscalation {
		return
	}
	allowed := d.conf.boolean(false, ofDriver, ofBothRoles)
	if d.container.SecurityContext == nil {
		d.container.SecurityContext = &corev1.SecurityContext{}
	}
	d.container.SecurityContext.AllowPrivilegeEscalation = &allowed
}

// merged returns base with the entries of over; nil if there are none.
func merged(base, over map[string]string) map[string]string {
	if len(base)+len(over) == 0 {
		return nil
	}
	result := make(map[string]string, len(base)+len(over))
	maps.Copy(result, base)
	maps.Copy(result, over)
	return result
}
