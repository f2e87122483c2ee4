package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

func TestSettingsOfConfigKubeflowAreRead(t *testing.T) {
	unchanged := config.Kubeflow{Defaults: settings.NewDefaults(), Metrics: kubeflowmetrics.Defaults()}
	changed := func(change func(*config.Kubeflow)) config.Kubeflow {
		changed := unchanged
		change(&changed)
		return changed
	}
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  config.Kubeflow
	}{
		"the Kubeflow operator's by default": {data(), unchanged},
		"Spark properties": {
			data("spark-defaults.conf", "spark.eventLog.enabled true"),
			changed(func(d *config.Kubeflow) { d.Properties = map[string]string{"spark.eventLog.enabled": "true"} }),
		},
		"other denied properties": {
			data("denied-spark-properties", "spark.master,\n  spark.kubernetes.driver.volumes.*\n"),
			changed(func(d *config.Kubeflow) {
				d.DeniedProperties = []string{"spark.master", "spark.kubernetes.driver.volumes.*"}
			}),
		},
		"no denied and no discouraged properties": {
			data("denied-spark-properties", "", "discouraged-spark-properties", " "),
			changed(func(d *config.Kubeflow) { d.DeniedProperties, d.DiscouragedProperties = []string{}, []string{} }),
		},
		"a time to live":     {data("default-time-to-live", "24h\n"), changed(func(d *config.Kubeflow) { d.TimeToLive = 24 * time.Hour })},
		"no time to live":    {data("default-time-to-live", "0s"), unchanged},
		"a few executors":    {data("max-tracked-executors", "10"), changed(func(d *config.Kubeflow) { d.MaxTrackedExecutors = 10 })},
		"protected drivers":  {data("driver-pod-disruption-budget", "enabled"), changed(func(d *config.Kubeflow) { d.DriverPodDisruptionBudget = true })},
		"no Service of a UI": {data("ui-service", "disabled"), changed(func(d *config.Kubeflow) { d.UIService = false })},
		"batch schedulers": {
			data("batch-schedulers", "volcano, ours", "default-batch-scheduler", "ours"),
			changed(func(d *config.Kubeflow) {
				d.BatchSchedulers, d.DefaultBatchScheduler = []string{"volcano", "ours"}, "ours"
			}),
		},
		"an Ingress": {
			data("ingress-url-format", "https://example.com/{{ $appNamespace }}/{{$appName}}/{{$appId}}", "ingress-class-name", "nginx",
				"ingress-tls", `[{"hosts":["example.com"],"secretName":"tls"}]`, "ingress-annotations", "example.com/a: b"),
			changed(func(d *config.Kubeflow) {
				d.Ingress = settings.Ingress{
					URLFormat: "https://example.com/{{ $appNamespace }}/{{$appName}}/{{$appId}}", ClassName: "nginx",
					TLS:         []networkingv1.IngressTLS{{Hosts: []string{"example.com"}, SecretName: "tls"}},
					Annotations: map[string]string{"example.com/a": "b"},
				}
			}),
		},
		"time limits": {
			data("driver-start-timeout", "10m", "executors-start-timeout", "1h30m", "active-deadline", " 24h\n"),
			changed(func(d *config.Kubeflow) {
				d.DriverStartTimeout, d.ExecutorsStartTimeout, d.ActiveDeadline = 10*time.Minute, 90*time.Minute, 24*time.Hour
			}),
		},
		"drivers without a Service": {data("driver-service", "none"), changed(func(d *config.Kubeflow) { d.WithoutDriverService = true })},
		"one ConfigMap":             {data("driver-config-maps", "one"), changed(func(d *config.Kubeflow) { d.OneDriverConfigMap = true })},
		"no time limits":            {data("driver-start-timeout", "0s", "executors-start-timeout", "0s", "active-deadline", "0s"), unchanged},
		"no Ingress": {
			data("ingress-url-format", "", "ingress-class-name", "", "ingress-tls", "", "ingress-annotations", ""), unchanged,
		},
		"lines of logs": {data("driver-log-lines", "20"), changed(func(d *config.Kubeflow) { d.DriverLogLines = 20 })},
		"metrics": {
			data("metrics-prefix", "ours_", "metrics-labels", "team, namespace",
				"metrics-submit-latency-buckets", "0.5, 1", "metrics-start-latency-buckets", "30"),
			changed(func(d *config.Kubeflow) {
				d.Metrics = kubeflowmetrics.Settings{
					Prefix: "ours_", Labels: []string{"team", "namespace"},
					SubmitLatencyBuckets: []float64{.5, 1}, StartLatencyBuckets: []float64{30},
				}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewKubeflow(test.given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
		})
	}
	templates, err := config.NewKubeflow(data("pod-template-urls", "https://example.com/"))
	if err != nil || len(templates.PodTemplates) != 1 {
		t.Errorf("templates may be at %v, %v", templates, err)
	}
}

func TestInvalidSettingsOfKubeflow(t *testing.T) {
	const written = "write keys of Spark properties, separated by commas; a key may end with *"
	const address = "write a host with an optional path, such as {{$appName}}.example.com or example.com/{{$appNamespace}}/{{$appName}}"
	for name, test := range map[string]struct{ key, value, want string }{
		"a flag as the operator has it":        {"enable-ui-service", "true", `there is no key "enable-ui-service": write one of active-deadline, batch-schedulers, `},
		"a driver's Service that there is not": {"driver-service", "ClusterIP", `driver-service is "ClusterIP": write headless or none`},
		"ConfigMaps that there are not":        {"driver-config-maps", "spark", `driver-config-maps is "spark": write separate or one`},
		"a time limit without unit":            {"driver-start-timeout", "600", `driver-start-timeout is "600": write a time with its unit, such as 10m`},
		"a time limit below zero":              {"executors-start-timeout", "-1s", `executors-start-timeout is "-1s": write a time with its unit`},
		"a time limit longer than it":          {"active-deadline", "87601h", `active-deadline is "87601h": write a time with its unit, such as 10m, up to 87600h0m0s`},
		"a property that is not Spark's": {
			"spark-defaults.conf", "hadoop.x 1", `spark-defaults.conf: hadoop.x is "1": Spark reads only keys that begin with spark.`,
		},
		"a denied property that is not Spark's": {
			"denied-spark-properties", "spark.master hadoop.x", `denied-spark-properties is "spark.master hadoop.x": ` + written + ` ("hadoop.x" is not a key)`,
		},
		"a star in between": {
			"discouraged-spark-properties", "spark.*.image", `discouraged-spark-properties is "spark.*.image": ` + written + ` ("spark.*.image" is not a key)`,
		},
		"everything denied":           {"denied-spark-properties", "*", `denied-spark-properties is "*": ` + written},
		"a time to live without unit": {"default-time-to-live", "3600", `default-time-to-live is "3600": write a time with its unit, such as 24h, or 0s for ever`},
		"a time to live below zero":   {"default-time-to-live", "-1h", `default-time-to-live is "-1h": write a time`},
		"fewer executors than none":   {"max-tracked-executors", "-1", `max-tracked-executors is "-1": write a number from 0 to 5000`},
		"more executors than fit":     {"max-tracked-executors", "5001", `max-tracked-executors is "5001": write a number from 0 to 5000`},
		"a budget as a flag":          {"driver-pod-disruption-budget", "true", `driver-pod-disruption-budget is "true": write one of enabled, disabled`},
		"a Service as a flag":         {"ui-service", "yes", `ui-service is "yes": write one of enabled, disabled`},
		"a scheduler that is no name": {"batch-schedulers", "volcano, My_Own", `batch-schedulers is "volcano, My_Own": write names of schedulers, separated by commas ("My_Own" is not valid)`},
		"a default that is not among them": {
			"default-batch-scheduler", "volcano", `default-batch-scheduler is "volcano": write it into batch-schedulers of config-kubeflow, too`,
		},
		"a placeholder that there is not":     {"ingress-url-format", "{{$app}}.example.com", `ingress-url-format is "{{$app}}.example.com": ` + address},
		"an address without a host":           {"ingress-url-format", "/{{$appName}}", `ingress-url-format is "/{{$appName}}": ` + address},
		"an address with a port":              {"ingress-url-format", "example.com:8443/a", `ingress-url-format is "example.com:8443/a": ` + address},
		"a type of Service that there is not": {"ui-service-type", "LoadBalancer", `ui-service-type is "LoadBalancer": write one of NodePort, ClusterIP`},
		"a Gateway without a name":            {"ui-gateway", "urlFormat: a", `ui-gateway: name is "": write name, namespace, listener and urlFormat`},
		"a Gateway without addresses":         {"ui-gateway", "name: a", `ui-gateway: urlFormat is "": write name, namespace, listener and urlFormat`},
		"a Gateway with a bad address":        {"ui-gateway", "{name: a, urlFormat: /a}", `ui-gateway: urlFormat is "/a": ` + address},
		"a Gateway in no namespace":           {"ui-gateway", "{name: a, namespace: A, urlFormat: a}", `ui-gateway: namespace is "A": write name`},
		"a Gateway with another field":        {"ui-gateway", "{name: a, urlFormat: a, port: 1}", `ui-gateway is "{name: a, urlFormat: a, port: 1}": write name`},
		"a class that is no name":             {"ingress-class-name", "My Class", `ingress-class-name is "My Class": write the name of an IngressClass`},
		"TLS that is no list":                 {"ingress-tls", "hosts: [a]", `ingress-tls is "hosts: [a]": write a list as spec.tls of an Ingress (`},
		"TLS with a misspelt field":           {"ingress-tls", "- {host: a}", `ingress-tls is "- {host: a}": write a list as spec.tls of an Ingress (unknown field`},
		"annotations that are a list":         {"ingress-annotations", "[a]", `ingress-annotations is "[a]": write annotations, a key: value on each line (`},
		"an annotation without a key":         {"ingress-annotations", "a b: c", `ingress-annotations is "a b: c": write annotations, a key: value on each line ("a b" is not a valid key)`},
		"a prefix that is no text":            {"metrics-prefix", "\xff", `metrics-prefix is "\xff": write a prefix of Prometheus metric names (`},
		"a label of Prometheus's own":         {"metrics-labels", "app_type,le", `metrics-labels is "app_type,le": write label keys that are valid in Prometheus, separated by commas (`},
		"buckets that fall":                   {"metrics-submit-latency-buckets", "2,1", `metrics-submit-latency-buckets is "2,1": write increasing numbers of seconds, separated by commas (`},
		"buckets with a unit":                 {"metrics-start-latency-buckets", "30s", `metrics-start-latency-buckets is "30s": write increasing numbers of seconds, separated by commas ("30s" is not a number)`},
		"no buckets":                          {"metrics-start-latency-buckets", "", `metrics-start-latency-buckets is "": write increasing numbers`},
		"too many lines of logs":              {"driver-log-lines", "101", `driver-log-lines is "101": write a number from 0 to 100`},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := rejectionOf(t, named(config.KubeflowName, data(test.key, test.value)))
			if want := "config-kubeflow: " + test.want; !strings.HasPrefix(refusal, want) {
				t.Errorf("error is\n%s\nwant\n%s", refusal, want)
			}
		})
	}
}

// In the example, the lists of properties begin with the default ones.
func TestManifestOfKubeflowHasTheDefaults(t *testing.T) {
	_, example := manifest(t, config.KubeflowName)
	got, err := config.NewKubeflow(example)
	if err != nil {
		t.Fatal(err)
	}
	want := settings.NewDefaults()
	if len(got.DeniedProperties) < len(want.DeniedProperties) ||
		!slices.Equal(got.DeniedProperties[:len(want.DeniedProperties)], want.DeniedProperties) {
		t.Errorf("the denied properties are %q, which do not begin with %q", got.DeniedProperties, want.DeniedProperties)
	}
	if diff := cmp.Diff(want.DiscouragedProperties, got.DiscouragedProperties); diff != "" {
		t.Errorf("discouraged properties (-default +example):\n%s", diff)
	}
}
