package early

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	confField    = "spec.sparkConf"
	instancesKey = "spark.executor.instances"
)

// translation is an application in terms of the Kubeflow operator's API.
type translation struct {
	app *v1beta2.SparkApplication
	// settings are those for the translated application.
	settings settings.Defaults
	// spellings are the paths that the user wrote, for messages about the translated application.
	spellings spellings
	// refused is why the application can never run, and warnings is what is not done as it asks: what is found by the translation.
	refused, warnings finding.List
	// byUser reports whether the user starts the driver. Then the translated application has only what is observed.
	byUser bool
}

// lastTranslation holds the translation of one application. Writes to its status and annotations return other objects with the same spec.
type lastTranslation struct {
	of          translationKey
	translation *translation
}

// translationKey identifies what the settings translate: the generation stands for the spec.
type translationKey struct {
	uid          types.UID
	generation   int64
	sparkVersion string
}

// translate returns the translation of an application. It has the application's identity and annotations as they are now. It has no
// labels of it: the early operator gave Pods none of them.
func translate(app *v1alpha1.SparkApplication, s Settings) *translation {
	key := translationKey{app.UID, app.Generation, app.Annotations[AnnotationSparkVersion]}
	if s.last == nil || app.Generation == 0 { // no generation: the API server has not stored this spec
		return translateAnew(app, s)
	}
	if s.last.translation == nil || s.last.of != key {
		*s.last = lastTranslation{key, translateAnew(app, s)}
	}
	t := *s.last.translation
	t.app = &v1beta2.SparkApplication{ObjectMeta: identity(app), Spec: t.app.Spec}
	return &t
}

// Translate returns an application as one of the Kubeflow operator's API that runs with the same driver, and what is found by the
// translation.
func Translate(app *v1alpha1.SparkApplication, s Settings) (*v1beta2.SparkApplication, finding.List) {
	t := translateAnew(app, s)
	return t.app, slices.Concat(t.refused, t.warnings)
}

func identity(app *v1alpha1.SparkApplication) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: app.Name, Namespace: app.Namespace, UID: app.UID, Generation: app.Generation, Annotations: app.Annotations,
		CreationTimestamp: app.CreationTimestamp, DeletionTimestamp: app.DeletionTimestamp,
	}
}

func translateAnew(app *v1alpha1.SparkApplication, s Settings) *translation {
	spec, given := canonical(app.Spec)
	t := &translation{app: &v1beta2.SparkApplication{ObjectMeta: identity(app)}, settings: s.ofKubeflow(), spellings: given}
	if byUser(spec) {
		t.setUserDriver(spec)
		return t
	}
	t.app.Spec = v1beta2.SparkApplicationSpec{
		Type: v1beta2.SparkApplicationType(spec.Type), Mode: v1beta2.ClusterMode,
		MainClass: spec.MainClass, MainApplicationFile: spec.MainApplicationFile, Arguments: spec.Arguments,
		HadoopConf: v1beta2.Properties(spec.HadoopConf), SparkConfigMap: spec.SparkConfigMap, HadoopConfigMap: spec.HadoopConfigMap,
		Deps: v1beta2.Dependencies{Jars: spec.Deps.Jars, Files: spec.Deps.Files, PyFiles: spec.Deps.PyFiles},
	}
	t.app.Spec.Driver.SparkPodSpec = v1beta2.SparkPodSpec{
		Image: spec.Driver.Image, Memory: ptr.Deref(spec.Driver.Memory, ""),
		ConfigMaps: namePaths(spec.Driver.ConfigMaps), Secrets: secretInfos(spec.Driver.Secrets), EnvVars: spec.Driver.EnvVars,
	}
	t.app.Spec.Executor.SparkPodSpec = v1beta2.SparkPodSpec{
		Image: spec.Executor.Image, Memory: ptr.Deref(spec.Executor.Memory, ""),
		ConfigMaps: namePaths(spec.Executor.ConfigMaps), Secrets: secretInfos(spec.Executor.Secrets), EnvVars: spec.Executor.EnvVars,
	}
	t.setProperties(spec)
	t.setCores("driver", &t.app.Spec.Driver.SparkPodSpec, spec.Driver.Cores)
	t.setCores("executor", &t.app.Spec.Executor.SparkPodSpec, spec.Executor.Cores)
	t.refuseTwoTypes(app.Spec)
	t.setInstances(spec)
	t.setImages(s)
	t.setVersion(s)
	t.checkMode(spec)
	t.warnOfUnused(spec)
	t.warnOfAnnotations()
	return t
}

func namePaths(given []v1alpha1.NamePath) []v1beta2.NamePath {
	var translated []v1beta2.NamePath
	for _, each := range given {
		translated = append(translated, v1beta2.NamePath{Name: each.Name, Path: each.Path})
	}
	return translated
}

func secretInfos(given []v1alpha1.SecretInfo) []v1beta2.SecretInfo {
	var translated []v1beta2.SecretInfo
	for _, each := range given {
		kind := each.Type
		if kind == v1alpha1.HDFSDelegationTokenSecret {
			kind = v1alpha1.HadoopDelegationTokenSecret
		}
		translated = append(translated, v1beta2.SecretInfo{Name: each.Name, Path: each.Path, Type: v1beta2.SecretType(kind)})
	}
	return translated
}

// refuseTwoTypes refuses a secret whose type has two spellings with different values.
func (t *translation) refuseTwoTypes(given v1alpha1.SparkApplicationSpec) {
	for _, list := range []struct {
		field   string
		secrets []v1alpha1.SecretInfo
	}{
		{"spec.driver.driverSecrets", given.Driver.DriverSecrets},
		{"spec.driver.secrets", given.Driver.Secrets},
		{"spec.executor.executorSecrets", given.Executor.ExecutorSecrets},
		{"spec.executor.secrets", given.Executor.Secrets},
	} {
		for i, secret := range list.secrets {
			if secret.Type != "" && secret.FirstType != "" && secret.Type != secret.FirstType && len(t.refused) < finding.Max {
				t.refuse("TwoSpellings", fmt.Sprintf("%s[%d].type", list.field, i), secret.FirstType,
					fmt.Sprintf("and secretType %.64q are two spellings of one field and have different values", secret.Type), "leave one of them out")
			}
		}
	}
}

// coresFormat matches numbers and the CPU quantities that the early operator's Spark took. There are at most nine digits on each side.
var coresFormat = lazy.Regexp(`^(\d{1,9})(\.\d{1,9})?$|^(\d{1,9})m$`)

// setCores sets the cores of a role. A part of a core is what the Pod requests, and tasks get whole cores.
func (t *translation) setCores(role string, pods *v1beta2.SparkPodSpec, given *v1alpha1.Cores) {
	field, text := "spec."+role+".cores", strings.TrimSpace(string(ptr.Deref(given, "")))
	switch part := t.takeCores(role); {
	case part == "":
	case text == "":
		t.spellings[field] = finding.Entry(confField, coresKey(role))
		field, text = t.spellings[field], part
	case text != part:
		t.warnings.Warn(finding.Entry(confField, coresKey(role)), part, fmt.Sprintf("has no effect, %s says %.64q", field, text), "leave one of them out")
	}
	if text == "" {
		return
	}
	cores, ok := parseCores(text)
	if !ok {
		t.refuse("InvalidCores", field, text, "is no number of cores", "write one such as 1, 0.1 or 100m")
		return
	}
	whole := math.Ceil(cores)
	if whole > cores {
		pods.CoreRequest = text
		t.spellings["spec."+role+".coreRequest"] = field
	}
	pods.Cores = ptr.To(v1beta2.Cores(whole))
}

// takeCores takes a part of a core out of the property of a role, where Spark of 2017 took one, too. It returns nothing if the property has
// none, or if another property has what the Pod requests.
func (t *translation) takeCores(role string) string {
	key := coresKey(role)
	text := strings.TrimSpace(t.app.Spec.SparkConf[key])
	cores, ok := parseCores(text)
	if !ok || strings.Trim(text, "0123456789") == "" {
		return ""
	}
	if _, set := t.app.Spec.SparkConf["spark.kubernetes."+role+".request.cores"]; set {
		t.app.Spec.SparkConf[key] = strconv.FormatFloat(math.Ceil(cores), 'f', 0, 64)
		return ""
	}
	delete(t.app.Spec.SparkConf, key)
	return text
}

func coresKey(role string) string { return "spark." + role + ".cores" }

// parseCores returns a number of cores above zero.
func parseCores(text string) (cores float64, ok bool) {
	if !coresFormat().MatchString(text) {
		return 0, false
	}
	number, milli := strings.CutSuffix(text, "m")
	cores, err := strconv.ParseFloat(number, 64)
	if milli {
		cores /= 1000
	}
	return cores, err == nil && cores > 0
}

// setInstances sets the number of executors that Spark has by default. The Kubeflow operator has another.
func (t *translation) setInstances(spec v1alpha1.SparkApplicationSpec) {
	t.app.Spec.Executor.Instances = spec.Executor.Instances
	if spec.Executor.Instances != nil {
		return
	}
	property := func(key string) (value string, set bool) {
		if value, set = t.app.Spec.SparkConf[key]; !set {
			value, set = t.settings.Properties[key]
		}
		return value, set
	}
	dynamic := submission.DynamicAllocation(func(key string) string { value, _ := property(key); return value })
	if _, set := property(instancesKey); !set && !dynamic { // an empty value is refused later
		t.app.Spec.Executor.Instances = ptr.To[int32](submission.DefaultExecutors)
	}
}

// checkMode refuses applications whose driver runs outside of the cluster.
func (t *translation) checkMode(spec v1alpha1.SparkApplicationSpec) {
	if spec.Mode == v1alpha1.ClientMode {
		t.refuse("ClientModeUnsupported", "spec.mode", spec.Mode, "is not supported, the driver runs in a Pod",
			fmt.Sprintf("leave it out, or write %s", v1alpha1.ClusterMode))
	}
}

// scalaSuffix finds the versions of Scala in the names of jars that no Spark 3 can load.
var scalaSuffix = regexp.MustCompile(`_2\.1[01]([-.][^/]*)?$`)

// warnOfUnused warns of what nothing acts on, and of jars for another Scala.
func (t *translation) warnOfUnused(spec v1alpha1.SparkApplicationSpec) {
	if spec.LogsLocation != "" {
		t.warnings.Warn("spec.logsLocation", spec.LogsLocation, policy.EarlyLogsLocation.Message, policy.EarlyLogsLocation.Remedy)
	}
	t.warnOfPodName(spec)
	jars := []struct{ field, uri string }{{"spec.mainApplicationFile", spec.MainApplicationFile}}
	for i, uri := range spec.Deps.Jars {
		jars = append(jars, struct{ field, uri string }{fmt.Sprintf("spec.deps.jars[%d]", i), uri})
	}
	var found finding.List
	for _, jar := range jars {
		if len(found) < finding.Max && scalaSuffix.MatchString(jar.uri) {
			found.Warn(jar.field, jar.uri, "is for Scala 2.11 or older by its name, and Spark 3 and newer have Scala 2.12 or 2.13",
				"build it for the Scala of the image")
		}
	}
	t.warnings.Add(t.spellings.of(found)...)
}

func (t *translation) warnOfPodName(spec v1alpha1.SparkApplicationSpec) {
	if spec.Driver.PodName != "" {
		t.warnings.Warn("spec.driver.podName", spec.Driver.PodName, "has no effect, it is for the mode "+string(v1alpha1.InClusterClientMode),
			"leave it out, or name the Pod by "+finding.Entry(confField, "spark.kubernetes.driver.pod.name"))
	}
}

func (t *translation) refuse(reason, field string, value any, message, remedy string) {
	t.refused.Add(finding.Finding{Severity: finding.Error, Reason: reason, Field: field, Value: value, Message: message, Remedy: remedy})
}
