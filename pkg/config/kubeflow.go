package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Kubeflow holds the settings of config-kubeflow.
type Kubeflow struct {
	settings.Defaults
	Metrics kubeflowmetrics.Settings
}

// NewKubeflow reads config-kubeflow.
func NewKubeflow(configMap *corev1.ConfigMap) (*Kubeflow, error) {
	defaults := Kubeflow{Defaults: settings.NewDefaults(), Metrics: kubeflowmetrics.Defaults()}
	if err := kubeflowKeys(&defaults).Read(KubeflowName, configMap); err != nil {
		return nil, err
	}
	if err := defaults.checkScheduler(); err != nil {
		return nil, fmt.Errorf("%s: %w", KubeflowName, err)
	}
	return &defaults, nil
}

// checkScheduler returns an error if the default batch scheduler is none of those that get pod groups or annotations.
func (k *Kubeflow) checkScheduler() error {
	if name := k.DefaultBatchScheduler; name != "" && !slices.Contains(k.BatchSchedulers, name) {
		return InvalidValue("default-batch-scheduler", name, "write it into batch-schedulers of "+KubeflowName+", too")
	}
	return nil
}

// kubeflowKeys returns the keys of config-kubeflow, each with the function that reads its value into the settings.
func kubeflowKeys(defaults *Kubeflow) Keys {
	ingress, metrics := &defaults.Ingress, &defaults.Metrics
	return Keys{
		"spark-defaults.conf": func(key, value string) (err error) {
			defaults.Properties, err = sparkProperties(key, value)
			return err
		},
		"denied-spark-properties":      propertyKeys(&defaults.DeniedProperties),
		"discouraged-spark-properties": propertyKeys(&defaults.DiscouragedProperties),
		"default-time-to-live":         timeToLive(&defaults.TimeToLive),
		"driver-start-timeout":         timeLimit(&defaults.DriverStartTimeout),
		"executors-start-timeout":      timeLimit(&defaults.ExecutorsStartTimeout),
		"active-deadline":              timeLimit(&defaults.ActiveDeadline),
		"force-termination-grace":      nonNegativeDuration(&defaults.ForceTerminationGrace),
		"max-tracked-executors": func(key, value string) (err error) {
			if defaults.MaxTrackedExecutors, err = strconv.Atoi(strings.TrimSpace(value)); err != nil ||
				defaults.MaxTrackedExecutors < 0 || defaults.MaxTrackedExecutors > maxTrackedExecutors {
				return InvalidValue(key, value, fmt.Sprintf("write a number from 0 to %d", maxTrackedExecutors))
			}
			return nil
		},
		"driver-pod-disruption-budget": enabled(&defaults.DriverPodDisruptionBudget),
		"batch-schedulers":             schedulers(&defaults.BatchSchedulers),
		"default-batch-scheduler": func(_, value string) error {
			defaults.DefaultBatchScheduler = strings.TrimSpace(value)
			return nil
		},
		"ui-service": enabled(&defaults.UIService),
		"ui-service-type": func(key, value string) error {
			err := uiServiceType(&defaults.UIServiceType)(key, value)
			if defaults.UIServiceType == corev1.ServiceTypeClusterIP {
				defaults.UIServiceType = ""
			}
			return err
		},
		"ingress-url-format":             urlFormat(&ingress.URLFormat),
		"ui-gateway":                     gateway(&ingress.Gateway, &ingress.URLFormat),
		"ingress-class-name":             className(&ingress.ClassName),
		"ingress-tls":                    yamlValue("write a list as spec.tls of an Ingress", &ingress.TLS),
		"ingress-annotations":            annotations(&ingress.Annotations),
		"driver-log-lines":               driverLogLines(&defaults.DriverLogLines),
		"driver-service":                 eitherWord(&defaults.WithoutDriverService, dialect.ParseDriverService, "write headless or none"),
		"driver-config-maps":             eitherWord(&defaults.OneDriverConfigMap, dialect.ParseDriverConfigMaps, "write separate or one"),
		"ui-node-host":                   nodeHost(&defaults.UINodeHost),
		"driver-service-account":         serviceAccount(&defaults.DriverServiceAccount),
		"pod-template-urls":              podTemplateURLs(&defaults.PodTemplates),
		"pod-security":                   podSecurity(&defaults.PodSecurity.Restricted),
		"pod-security-user":              podSecurityUser(&defaults.PodSecurity.User),
		"metrics-prefix":                 prefix(&metrics.Prefix),
		"metrics-labels":                 metricsLabels(&metrics.Labels),
		"metrics-submit-latency-buckets": buckets(&metrics.SubmitLatencyBuckets),
		"metrics-start-latency-buckets":  buckets(&metrics.StartLatencyBuckets),
	}
}

// maxTrackedExecutors is the number of executors that a status has room for, with about 100 bytes each.
const maxTrackedExecutors = 5000

// propertyKeys reads keys of Spark properties, which replace the default ones. An empty value means no keys.
func propertyKeys(into *[]string) func(key, value string) error {
	return func(key, value string) error {
		*into = policy.SplitList(value)
		if invalid := policy.ValidKeys(*into); invalid != "" {
			return InvalidValue(key, value, fmt.Sprintf(
				"write keys of Spark properties, separated by commas; a key may end with * (%q is not a key)", invalid))
		}
		return nil
	}
}

func timeToLive(into *time.Duration) func(key, value string) error {
	return func(key, value string) (err error) {
		if *into, err = time.ParseDuration(strings.TrimSpace(value)); err != nil || *into < 0 {
			return InvalidValue(key, value, "write a time with its unit, such as 24h, or 0s for ever")
		}
		return nil
	}
}

// timeLimit reads a time limit, in the same format as in the annotations of applications.
func timeLimit(into *time.Duration) func(key, value string) error { return bound(into, "for no limit") }

// bound reads a time up to dialect.MaxBound. zero says what 0s means.
func bound(into *time.Duration, zero string) func(key, value string) error {
	return func(key, value string) error {
		limit, ok := dialect.ParseBound(value)
		if !ok {
			return InvalidValue(key, value, fmt.Sprintf("write a time with its unit, such as 10m, up to %s, or 0s %s", dialect.MaxBound, zero))
		}
		*into = limit
		return nil
	}
}

func enabled(into *bool) func(key, value string) error {
	return func(key, value string) error {
		*into = value == "enabled"
		return OneOf("enabled", "disabled")(key, value)
	}
}

func schedulers(into *[]string) func(key, value string) error {
	return func(key, value string) error {
		*into = policy.SplitList(value)
		for _, name := range *into {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				return InvalidValue(key, value, fmt.Sprintf("write names of schedulers, separated by commas (%q is not valid)", name))
			}
		}
		return nil
	}
}

func className(into *string) func(key, value string) error {
	return func(key, value string) error {
		if *into = strings.TrimSpace(value); *into != "" && len(validation.IsDNS1123Subdomain(*into)) > 0 {
			return InvalidValue(key, value, "write the name of an IngressClass")
		}
		return nil
	}
}

func annotations(into *map[string]string) func(key, value string) error {
	const remedy = "write annotations, a key: value on each line"
	return func(key, value string) error {
		if err := yamlValue(remedy, into)(key, value); err != nil {
			return err
		}
		for name := range *into {
			if problems := metav1validation.ValidateLabelName(name, field.NewPath("")); len(problems) > 0 {
				return InvalidValue(key, value, fmt.Sprintf("%s (%q is not a valid key)", remedy, name))
			}
		}
		return nil
	}
}

// yamlValue reads YAML or JSON.
func yamlValue(remedy string, into any) func(key, value string) error {
	return func(key, value string) error { return decodeYAML(key, value, remedy, into) }
}

func prefix(into *string) func(key, value string) error {
	return func(key, value string) error {
		*into = strings.TrimSpace(value)
		if err := kubeflowmetrics.CheckPrefix(*into); err != nil {
			return InvalidValue(key, value, fmt.Sprintf("write a prefix of Prometheus metric names (%v)", err))
		}
		return nil
	}
}

func metricsLabels(into *[]string) func(key, value string) error {
	return func(key, value string) error {
		*into = policy.SplitList(value)
		if err := kubeflowmetrics.CheckLabels(*into); err != nil {
			return InvalidValue(key, value, fmt.Sprintf("write label keys that are valid in Prometheus, separated by commas (%v)", err))
		}
		return nil
	}
}

func buckets(into *[]float64) func(key, value string) error {
	const remedy = "write increasing numbers of seconds, separated by commas"
	return func(key, value string) error {
		*into = nil
		for _, text := range policy.SplitList(value) {
			bound, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return InvalidValue(key, value, fmt.Sprintf("%s (%q is not a number)", remedy, text))
			}
			*into = append(*into, bound)
		}
		if err := kubeflowmetrics.CheckBuckets(*into); err != nil {
			return InvalidValue(key, value, fmt.Sprintf("%s (%v)", remedy, err))
		}
		return nil
	}
}
