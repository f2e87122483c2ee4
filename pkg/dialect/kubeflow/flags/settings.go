package flags

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// MaxTrackedExecutors is the largest value of max-tracked-executors.
const MaxTrackedExecutors = 5000

// given are flags by their names.
type given map[string]string

// on reports whether a switch is on. A flag without a value is.
func (g given) on(name string) bool {
	value, ok := g[name]
	on, err := strconv.ParseBool(value)
	return ok && (on || err != nil)
}

// conversions are the settings that have the value of flags. The value is empty if the setting keeps its default.
var conversions = []struct {
	setting dialect.Setting
	value   func(given) string
}{
	{of("config-scope", "watched-namespaces"), func(g given) string { return strings.Trim(g.first("namespaces", "namespace"), `"`) }},
	{of("config-scope", "namespace-selector"), copied("namespace-selector")},
	{of("config-scope", "label-selector"), copied("label-selector-filter")},
	{of("config-kubeflow", "default-time-to-live"), func(g given) string {
		if seconds, err := strconv.Atoi(g["default-time-to-live-seconds"]); err == nil && seconds > 0 && g.on(featureGates+"=DefaultTimeToLive") {
			return fmt.Sprintf("%ds", seconds)
		}
		return ""
	}},
	{of("config-kubeflow", "max-tracked-executors"), func(g given) string {
		const same = 1000
		number, err := strconv.Atoi(g["max-tracked-executor-per-app"])
		if err != nil || number == same {
			return ""
		}
		return strconv.Itoa(min(number, MaxTrackedExecutors))
	}},
	{of("config-kubeflow", "driver-pod-disruption-budget"), enabledBy("enable-driver-pdb")},
	{of("config-kubeflow", "batch-schedulers"), func(g given) string {
		if !g.on("enable-batch-scheduler") {
			return ""
		}
		names := []string{"volcano", "yunikorn"}
		for name := range strings.SplitSeq(g["kube-scheduler-names"], ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	}},
	{of("config-kubeflow", "default-batch-scheduler"), func(g given) string {
		if !g.on("enable-batch-scheduler") {
			return ""
		}
		return g["default-batch-scheduler"]
	}},
	{of("config-kubeflow", "ui-service"), func(g given) string {
		if _, set := g["enable-ui-service"]; !set || g.on("enable-ui-service") {
			return ""
		}
		return "disabled"
	}},
	{of("config-kubeflow", "ingress-url-format"), copied("ingress-url-format")},
	{of("config-kubeflow", "ingress-class-name"), copied("ingress-class-name")},
	{of("config-kubeflow", "ingress-tls"), copied("ingress-tls")},
	{of("config-kubeflow", "ingress-annotations"), copied("ingress-annotations")},
	{of("config-kubeflow", "metrics-prefix"), copied("metrics-prefix")},
	{of("config-kubeflow", "metrics-labels"), copied("metrics-labels")},
	{of("config-kubeflow", "metrics-submit-latency-buckets"), copied("metrics-job-submit-latency-buckets")},
	{of("config-kubeflow", "metrics-start-latency-buckets"), copied("metrics-job-start-latency-buckets")},
	{of("config-observability", "metrics-protocol"), func(g given) string {
		if !g.on("enable-metrics") {
			return ""
		}
		return "prometheus"
	}},
	{of("config-observability", "metrics-endpoint"), func(g given) string {
		const probes = ":8080" // of Firesteel's controller
		address := g["metrics-bind-address"]
		if port := g["metrics-port"]; port != "" {
			address = ":" + port
		}
		if !g.on("enable-metrics") || address == probes || address == "0" {
			return ""
		}
		return address
	}},
	{of("config-observability", "runtime-profiling"), func(g given) string {
		if address := g["pprof-bind-address"]; address == "" || address == "0" {
			return ""
		}
		return "enabled"
	}},
	{of("config-leader-election", "lease-duration"), copied("leader-election-lease-duration")},
	{of("config-leader-election", "renew-deadline"), copied("leader-election-renew-deadline")},
	{of("config-leader-election", "retry-period"), copied("leader-election-retry-period")},
	{of("config-logging", "loglevel.controller"), copied("zap-log-level")},
	{of("config-admission", "quota"), func(g given) string {
		if !g.on("enable-resource-quota-enforcement") {
			return ""
		}
		return "fail"
	}},
}

func of(configMap, key string) dialect.Setting {
	return dialect.Setting{ConfigMap: configMap, Key: key}
}

func copied(name string) func(given) string { return func(g given) string { return g[name] } }

func enabledBy(name string) func(given) string {
	return func(g given) string {
		if g.on(name) {
			return "enabled"
		}
		return ""
	}
}

// first returns the value of the first of some flags that is set.
func (g given) first(names ...string) string {
	for _, name := range names {
		if value, ok := g[name]; ok {
			return value
		}
	}
	return ""
}

// Settings returns the settings that have the same effect as flags. Those whose defaults have it are left out.
func Settings(list []Flag) []dialect.Setting {
	g := given{}
	for _, f := range list {
		g[f.Name] = f.Value
	}
	var settings []dialect.Setting
	for _, c := range conversions {
		if value := strings.TrimSpace(c.value(g)); value != "" {
			setting := c.setting
			setting.Value = value
			settings = append(settings, setting)
		}
	}
	return settings
}
