package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/magiconair/properties"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// maxDriverLogLines is the largest value of driver-log-lines. A record has room for fewer lines.
const maxDriverLogLines = 100

// NewDefaults reads config-defaults.
func NewDefaults(configMap *corev1.ConfigMap) (*apache.Defaults, error) {
	defaults := &apache.Defaults{Settings: dialect.NewSettings()}
	err := defaultsKeys(defaults).Read(DefaultsName, configMap)
	return defaults, err
}

// defaultsKeys returns the keys of config-defaults, each with the function that reads its value into the defaults.
func defaultsKeys(defaults *apache.Defaults) Keys {
	return Keys{
		"image": func(_, value string) error {
			defaults.Image = strings.TrimSpace(value)
			return nil
		},
		"spark-defaults.conf": func(key, value string) (err error) {
			defaults.Properties, err = sparkProperties(key, value)
			return err
		},
		"applicationTolerations": func(key, value string) error {
			tolerations := &defaults.Tolerations
			if err := decodeYAML(key, value, "write it as spec.applicationTolerations of an application", tolerations); err != nil {
				return err
			}
			tolerations.ResourceRetainPolicy = cmp.Or(tolerations.ResourceRetainPolicy, tolerations.ResourceRetentionPolicy)
			return checkTolerations(key, tolerations)
		},
		"active-deadline":        timeLimit(&defaults.ActiveDeadline),
		"driver-log-lines":       driverLogLines(&defaults.DriverLogLines),
		"driver-service":         eitherWord(&defaults.WithoutDriverService, dialect.ParseDriverService, "write headless or none"),
		"driver-config-maps":     eitherWord(&defaults.OneDriverConfigMap, dialect.ParseDriverConfigMaps, "write separate or one"),
		"ui-service-type":        optionalUIServiceType(&defaults.UIServiceType),
		"ui-node-host":           nodeHost(&defaults.UINodeHost),
		"driver-service-account": serviceAccount(&defaults.DriverServiceAccount),
		"pod-template-urls":      podTemplateURLs(&defaults.PodTemplates),
		"batch-schedulers":       schedulers(&defaults.BatchSchedulers),
		"pod-security":           podSecurity(&defaults.PodSecurity.Restricted),
		"pod-security-user":      podSecurityUser(&defaults.PodSecurity.User),
	}
}

func driverLogLines(into *int) func(key, value string) error {
	return func(key, value string) (err error) {
		if *into, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || *into < 0 || *into > maxDriverLogLines {
			return InvalidValue(key, value, fmt.Sprintf("write a number from 0 to %d", maxDriverLogLines))
		}
		return nil
	}
}

// eitherWord reads one of two words.
func eitherWord(into *bool, parse func(text string) (other, ok bool), remedy string) func(key, value string) error {
	return func(key, value string) error {
		other, ok := parse(value)
		if *into = other; !ok {
			return InvalidValue(key, value, remedy)
		}
		return nil
	}
}

func serviceAccount(into *string) func(key, value string) error {
	return func(key, value string) error {
		if *into = strings.TrimSpace(value); *into != "" && len(validation.IsDNS1123Subdomain(*into)) > 0 {
			return InvalidValue(key, value, "write the name of a service account, such as spark")
		}
		return nil
	}
}

func podSecurity(restricted *bool) func(key, value string) error {
	return func(key, value string) error {
		profile := strings.TrimSpace(value)
		*restricted = profile == "restricted"
		return OneOf("off", "restricted")(key, profile)
	}
}

func podSecurityUser(into *int64) func(key, value string) error {
	return func(key, value string) (err error) {
		if strings.TrimSpace(value) == "image" {
			*into = 0
			return nil
		}
		if *into, err = strconv.ParseInt(strings.TrimSpace(value), 10, 32); err != nil || *into <= 0 {
			return InvalidValue(key, value, "write the number of a user that is not root, such as 185, or image")
		}
		return nil
	}
}

func podTemplateURLs(into *podtemplate.Allowed) func(key, value string) error {
	return func(key, value string) (err error) {
		if *into, err = podtemplate.ParseAllowed(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
}

// perApplicationKeys lists the Spark properties that need a different value in each application.
var perApplicationKeys = []string{
	"spark.app.id", "spark.app.name", "spark.kubernetes.driver.pod.name", "spark.kubernetes.executor.podNamePrefix",
	"spark.kubernetes.namespace", "spark.submit.deployMode",
}

// sparkProperties parses the text of a spark-defaults.conf.
func sparkProperties(place, text string) (map[string]string, error) {
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	loaded, err := loader.LoadBytes([]byte(text))
	if err != nil {
		return nil, InvalidValue(place, text, fmt.Sprintf("write a key and a value on each line, as in Spark's file of this name (%v)", err))
	}
	conf := map[string]string{}
	for key, value := range loaded.Map() {
		conf[key] = strings.TrimSpace(value)
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		switch {
		case !strings.HasPrefix(key, "spark."):
			errs = append(errs, InvalidValue(place+": "+key, conf[key], "Spark reads only keys that begin with spark., so correct it or remove it"))
		case slices.Contains(perApplicationKeys, key):
			errs = append(errs, InvalidValue(place+": "+key, conf[key], "each application needs its own value, so remove it"))
		}
	}
	return conf, errors.Join(errs...)
}

// decodeYAML decodes YAML. It returns an error for a field that the Go type does not have.
func decodeYAML(key, text, remedy string, into any) error {
	encoded, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return InvalidValue(key, text, fmt.Sprintf("%s (%v)", remedy, err))
	}
	unknown, err := json.UnmarshalStrict(encoded, into)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return InvalidValue(key, text, fmt.Sprintf("%s (%v)", remedy, err))
	}
	return nil
}

// checkTolerations refuses what the CustomResourceDefinition refuses in an application, and values without meaning.
func checkTolerations(key string, t *sparkv1.ApplicationTolerations) error {
	restart, instances := t.RestartConfig, t.InstanceConfig
	if restart == nil {
		restart = &sparkv1.RestartConfig{}
	}
	if instances == nil {
		instances = &sparkv1.ExecutorInstanceConfig{}
	}
	path := func(field string) string { return key + ": " + field }
	nonNegative := func(field string, value *int64) error {
		if value == nil || *value >= 0 {
			return nil
		}
		return InvalidValue(path(field), fmt.Sprint(*value), "write zero or more")
	}
	executors := func(field string, value int32) error {
		wide := int64(value)
		return nonNegative("instanceConfig."+field, &wide)
	}
	return errors.Join(
		checkOneOf(path("restartConfig.restartPolicy"), restart.RestartPolicy,
			sparkv1.RestartAlways, sparkv1.RestartNever, sparkv1.RestartOnFailure, sparkv1.RestartOnInfrastructureFailure),
		nonNegative("restartConfig.maxRestartAttempts", restart.MaxRestartAttempts),
		nonNegative("restartConfig.restartBackoffMillis", restart.RestartBackoffMillis),
		nonNegative("restartConfig.maxRestartOnFailure", restart.MaxRestartOnFailure),
		nonNegative("restartConfig.restartBackoffMillisForFailure", restart.RestartBackoffMillisForFailure),
		nonNegative("restartConfig.maxRestartOnSchedulingFailure", restart.MaxRestartOnSchedulingFailure),
		nonNegative("restartConfig.restartBackoffMillisForSchedulingFailure", restart.RestartBackoffMillisForSchedulingFailure),
		executors("initExecutors", instances.InitExecutors),
		executors("minExecutors", instances.MinExecutors),
		executors("maxExecutors", instances.MaxExecutors),
		checkOneOf(path("resourceRetainPolicy"), t.ResourceRetainPolicy,
			sparkv1.RetainAlways, sparkv1.RetainOnFailure, sparkv1.RetainNever),
	)
}

// checkOneOf checks that a value is one of the given ones. An empty value is valid, and means the default.
func checkOneOf[T ~string](field string, value T, values ...T) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return InvalidValue(field, string(value), fmt.Sprintf("write one of %v", values))
}
