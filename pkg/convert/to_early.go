package convert

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// earlySettings returns the default settings of that API without denied properties.
func earlySettings() early.Settings {
	s := early.NewSettings()
	s.DeniedProperties = nil
	return s
}

// toEarly converts an application of the Kubeflow operator's API.
func toEarly(app *v1beta2.SparkApplication) (*earlyv1alpha1.SparkApplication, finding.List, error) {
	plan, err := planOfKubeflow(app)
	if err != nil {
		return nil, nil, err
	}
	if app.Spec.ProxyUser != "" {
		return nil, nil, &finding.Finding{
			Field: "spec.proxyUser", Value: app.Spec.ProxyUser, Message: "has no field in spark-operator.k8s.io, so that the application would run as another user",
			Remedy: "leave it out, or choose another API",
		}
	}
	conf := userProperties(plan.Properties, app.Name, labelsOfKubeflow)
	simplifyImages(conf)
	given := app.Spec
	made := &earlyv1alpha1.SparkApplication{ObjectMeta: metadataOf(app)}
	made.Spec = earlyv1alpha1.SparkApplicationSpec{
		Type: earlyv1alpha1.SparkApplicationType(given.Type), Mode: earlyv1alpha1.ClusterMode,
		MainClass: given.MainClass, MainApplicationFile: given.MainApplicationFile, Arguments: given.Arguments,
		HadoopConf: given.HadoopConf, SparkConfigMap: given.SparkConfigMap, HadoopConfigMap: given.HadoopConfigMap,
		Deps: earlyv1alpha1.Dependencies{
			Jars: given.Deps.Jars, Files: given.Deps.Files, PyFiles: slices.Concat(given.Deps.PyFiles, given.Deps.LowerPyFiles),
		},
		Driver: earlyv1alpha1.DriverSpec{
			Image: roleImage(conf, names.Driver), Cores: earlyCores(given.Driver.Cores), Memory: optional(given.Driver.Memory),
			ConfigMaps: earlyPaths(given.Driver.ConfigMaps), Secrets: earlySecrets(given.Driver.Secrets), EnvVars: earlyEnv(given.Driver.SparkPodSpec),
		},
		Executor: earlyv1alpha1.ExecutorSpec{
			Image: roleImage(conf, names.Executor), Cores: earlyCores(given.Executor.Cores), Memory: optional(given.Executor.Memory),
			ConfigMaps: earlyPaths(given.Executor.ConfigMaps), Secrets: earlySecrets(given.Executor.Secrets), EnvVars: earlyEnv(given.Executor.SparkPodSpec),
			Instances: given.Executor.Instances,
		},
	}
	for _, role := range []names.Role{names.Driver, names.Executor} {
		for key, value := range role.Pods(&given).NodeSelector {
			conf[role.KubernetesProperty("node.selector."+key)] = value
		}
		if role.Pods(&given).Template != nil {
			delete(conf, role.KubernetesProperty("podTemplateContainerName"))
		}
	}
	if dialect.ImageVersion(made.Spec.Driver.Image) != plan.SparkVersion && plan.SparkVersion != "" {
		if made.Annotations == nil {
			made.Annotations = map[string]string{}
		}
		made.Annotations[early.AnnotationSparkVersion] = plan.SparkVersion
	}
	made.Spec.SparkConf, _, err = sparkConf(conf, func(conf map[string]string) (map[string]string, error) {
		made.Spec.SparkConf = conf
		plan, err := early.Plan(made, v1alpha1.Attempt{}, earlySettings())
		return plan.Properties, err
	})
	if err != nil {
		return nil, nil, early.Refusals(err, made, earlySettings()).Err()
	}
	return made, lostOfKubeflow(app, lostInEarly), nil
}

// roleImage takes the image of a role out of the properties. This API has no field for an image of both roles.
func roleImage(conf map[string]string, role names.Role) string {
	key := role.KubernetesProperty("container.image")
	image := conf[key]
	if image == "" {
		image = conf[imageKey]
	}
	delete(conf, key)
	if role == names.Executor {
		delete(conf, imageKey)
	}
	return image
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func earlyCores(cores *v1beta2.Cores) *earlyv1alpha1.Cores {
	if cores == nil {
		return nil
	}
	return ptr.To(earlyv1alpha1.Cores(strconv.FormatFloat(float64(*cores), 'f', -1, 64)))
}

func earlyPaths(given []v1beta2.NamePath) []earlyv1alpha1.NamePath {
	var paths []earlyv1alpha1.NamePath
	for _, each := range given {
		paths = append(paths, earlyv1alpha1.NamePath{Name: each.Name, Path: each.Path})
	}
	return paths
}

func earlySecrets(given []v1beta2.SecretInfo) []earlyv1alpha1.SecretInfo {
	var secrets []earlyv1alpha1.SecretInfo
	for _, each := range given {
		kind := string(each.Type)
		if each.Type == v1beta2.HadoopDelegationTokenSecret {
			kind = earlyv1alpha1.HDFSDelegationTokenSecret
		}
		secrets = append(secrets, earlyv1alpha1.SecretInfo{Name: each.Name, Path: each.Path, Type: kind})
	}
	return secrets
}

// earlyEnv returns the variables with plain values.
func earlyEnv(pods v1beta2.SparkPodSpec) map[string]string {
	variables := maps.Clone(pods.EnvVars)
	for _, variable := range pods.Env {
		if variable.ValueFrom == nil && !strings.Contains(variable.Value, "$(") {
			if variables == nil {
				variables = map[string]string{}
			}
			variables[variable.Name] = variable.Value
		}
	}
	return variables
}

// fieldsOfEarly are the fields of spark-operator.k8s.io.
var fieldsOfEarly = []string{
	"type", "mode", "deployMode", "mainClass", "mainApplicationFile", "arguments", "sparkConf", "hadoopConf", "sparkConfigMap", "hadoopConfigMap", "sparkVersion",
	"configMaps", "secrets", "env", "nodeSelector",
}

// lostInEarly returns the loss of a field in spark-operator.k8s.io. That API has no restarts and no time to live. About Pods, it has only Spark's
// properties.
func lostInEarly(route fields.Route, role string) loss {
	way := route.Driver
	if role == "executor" || way == fields.Nothing {
		way = route.Executor
	}
	switch field := route.Field; {
	case slices.Contains(fieldsOfEarly, field), way == fields.ByProperty, way == fields.BySubmission, way == fields.NoEffect, way == fields.Nothing:
		return loss{}
	case way == fields.ByLifecycle:
		return loss{noField, "do without it, or choose another API"}
	case way == fields.ByObject:
		return loss{noField, "create the object yourself, or choose another API"}
	case field == "volumes" && role == "":
		return loss{noField, inURL("driver") + ", and that of executors likewise"}
	case role == "":
		return loss{noField, "choose another API"}
	default:
		return loss{noField, inURL(role)}
	}
}

// inURL is the remedy for a field that only a pod template at a URL can have.
func inURL(role string) string {
	return "write it into a pod template at a URL, and name that by " + finding.Entry("spec.sparkConf", "spark.kubernetes."+role+".podTemplateFile")
}
