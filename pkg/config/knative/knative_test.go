package knative_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"knative.dev/pkg/configmap"

	"github.com/firesteel-dev/firesteel/pkg/config/knative"
)

// data returns a config map with the key _example, which each of them has.
func data(pairs ...string) *corev1.ConfigMap {
	configMap := &corev1.ConfigMap{Data: map[string]string{"_example": "restart: nowhere"}}
	for i := 0; i < len(pairs); i += 2 {
		configMap.Data[pairs[i]] = pairs[i+1]
	}
	return configMap
}

func named(name string, configMap *corev1.ConfigMap) *corev1.ConfigMap {
	configMap.ObjectMeta = metav1.ObjectMeta{Namespace: "firesteel-system", Name: name}
	return configMap
}

func TestInvalidSettingsOfKnative(t *testing.T) {
	const logs, election, observability = "config-logging", "config-leader-election", "config-observability"
	const above, protocols = "write a time above zero with its unit, such as 15s", "write one of none, grpc, http/protobuf, stdout"
	for name, test := range map[string]struct {
		configMap *corev1.ConfigMap
		want      string
	}{
		"a level that there is not": {
			named(logs, data("loglevel.controller", "verbose")),
			`config-logging: loglevel.controller is "verbose": write debug, info, warn or error`,
		},
		"another's level": {
			named(logs, data("loglevel.webhook", "info")),
			`config-logging: there is no key "loglevel.webhook": write one of loglevel.controller, zap-logger-config`,
		},
		"a logger that is no JSON": {
			named(logs, data("zap-logger-config", "level: info")),
			`config-logging: zap-logger-config is "level: info": write zap's configuration in JSON (`,
		},
		"too many buckets": {
			named(election, data("buckets", "11")), `config-leader-election: buckets is "11": write a number from 1 to 10`,
		},
		"no buckets":             {named(election, data("buckets", "0")), `config-leader-election: buckets is "0": write a number from 1 to 10`},
		"a lease without a unit": {named(election, data("lease-duration", "15")), `config-leader-election: lease-duration is "15": ` + above},
		"no deadline":            {named(election, data("renew-deadline", "0s")), `config-leader-election: renew-deadline is "0s": ` + above},
		"a retry that is none":   {named(election, data("retry-period", "often")), `config-leader-election: retry-period is "often": ` + above},
		"a lease that is shorter than its renewal": {
			named(election, data("lease-duration", "15s")),
			`config-leader-election: lease-duration, renew-deadline, retry-period is "15s, 40s, 10s": ` +
				`write each longer than the next, such as 15s, 10s, 2s`,
		},
		"a renewal that is tried once": {
			named(election, data("retry-period", "35s")),
			`config-leader-election: lease-duration, renew-deadline, retry-period is "1m0s, 40s, 35s": ` +
				`write each longer than the next, such as 15s, 10s, 2s`,
		},
		"an older spelling": {
			named(election, data("leaseDuration", "15s")),
			`config-leader-election: there is no key "leaseDuration": ` +
				`write one of buckets, lease-duration, map-lease-prefix.*, renew-deadline, retry-period`,
		},
		"metrics of another kind": {
			named(observability, data("metrics-protocol", "prometeus")),
			`config-observability: metrics-protocol is "prometeus": write one of none, prometheus, grpc, http/protobuf`,
		},
		"metrics to nowhere": {
			named(observability, data("metrics-protocol", "grpc")),
			`config-observability: metrics-endpoint is "": write the URL to send to, which grpc needs`,
		},
		"no metrics to somewhere": {
			named(observability, data("metrics-endpoint", ":9090")),
			`config-observability: metrics-endpoint is ":9090": remove it, or write the protocol that needs it`,
		},
		"metrics without a port": {
			named(observability, data("metrics-protocol", "prometheus", "metrics-endpoint", "all")),
			`config-observability: metrics-endpoint is "all": write host:port to serve at, such as :9090`,
		},
		"metrics that never leave": {
			named(observability, data("metrics-export-interval", "-1s")), `config-observability: metrics-export-interval is "-1s": ` + above,
		},
		"traces of another kind": {
			named(observability, data("tracing-protocol", "zipkin")), `config-observability: tracing-protocol is "zipkin": ` + protocols,
		},
		"traces to nowhere": {
			named(observability, data("tracing-protocol", "http/protobuf")),
			`config-observability: tracing-endpoint is "": write the URL to send to, which http/protobuf needs`,
		},
		"more traces than reconciles": {
			named(observability, data("tracing-sampling-rate", "1.5")),
			`config-observability: tracing-sampling-rate is "1.5": write a number from 0 to 1`,
		},
		"a profile that is wanted": {
			named(observability, data("runtime-profiling", "true")),
			`config-observability: runtime-profiling is "true": write one of enabled, disabled`,
		},
		"a runtime that is never read": {
			named(observability, data("runtime-export-interval", "x")), `config-observability: runtime-export-interval is "x": ` + above,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.configMap)
			err := knative.Check(t.Context(), client.CoreV1().ConfigMaps("firesteel-system"))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
			var live error
			watcher := &configmap.ManualWatcher{Namespace: "firesteel-system"}
			knative.Watch(watcher, func(configMap *corev1.ConfigMap, err error) {
				if configMap.Name == test.configMap.Name {
					live = err
				}
			})
			watcher.OnChange(test.configMap)
			if live == nil || live.Error() != err.Error() {
				t.Errorf("an edit is rejected with %v", live)
			}
		})
	}
}

func TestValidSettingsOfKnative(t *testing.T) {
	for name, configMap := range map[string]*corev1.ConfigMap{
		"a level":            named("config-logging", data("loglevel.controller", "debug", "zap-logger-config", `{"level":"info"}`)),
		"buckets":            named("config-leader-election", data("buckets", "10", "map-lease-prefix.controller.a.b", "short")),
		"shorter leases":     named("config-leader-election", data("lease-duration", "15s", "renew-deadline", "10s", "retry-period", "2s")),
		"metrics":            named("config-observability", data("metrics-protocol", "prometheus", "metrics-endpoint", "0.0.0.0:9090")),
		"metrics of default": named("config-observability", data("metrics-protocol", "prometheus")),
		"traces": named("config-observability", data(
			"tracing-protocol", "grpc", "tracing-endpoint", "http://c:4317", "tracing-sampling-rate", "0.1")),
		"traces in the log":                       named("config-observability", data("tracing-protocol", "stdout", "runtime-profiling", "enabled")),
		"settings that Firesteel does not change": named("another", data("a", "b")),
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(configMap)
			if err := knative.Check(t.Context(), client.CoreV1().ConfigMaps("firesteel-system")); err != nil {
				t.Error(err)
			}
		})
	}
}
