// Package flags knows the flags of the Kubeflow operator, and what takes their place.
package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// row is what takes the place of some flags.
type row struct {
	// flags are names of flags without dashes. A star at the end stands for any rest.
	flags []string
	// earlier are flags that the operator had before its version 2.0.
	earlier []string
	// gates are feature gates of the flag feature-gates.
	gates []string
	// instead is what takes their place, in Markdown. It begins with "none: " and a reason if there is nothing.
	instead string
}

var rows = []row{
	{flags: names("namespaces"), earlier: names("namespace"), instead: "`watched-namespaces` in `config-scope`"},
	{flags: names("namespace-selector"), instead: "`namespace-selector` in `config-scope`, besides those of `watched-namespaces`. If a namespace gets the label later, its applications are served from then on"},
	{earlier: names("label-selector-filter"), instead: "`label-selector` in `config-scope`"},
	{flags: names("default-time-to-live-seconds"), gates: names("DefaultTimeToLive"), instead: "`default-time-to-live` in `config-kubeflow`"},
	{flags: names("max-tracked-executor-per-app"), instead: "`max-tracked-executors` in `config-kubeflow`; a number of executors, not a bound of their ids"},
	{flags: names("enable-driver-pdb"), instead: "`driver-pod-disruption-budget` in `config-kubeflow`"},
	{flags: names("enable-batch-scheduler kube-scheduler-names"), instead: "`batch-schedulers` in `config-kubeflow`"},
	{flags: names("default-batch-scheduler"), instead: "`default-batch-scheduler` in `config-kubeflow`"},
	{flags: names("enable-ui-service"), instead: "`ui-service` in `config-kubeflow`"},
	{flags: names("ingress-url-format ingress-class-name ingress-tls ingress-annotations"), instead: "the keys of these names in `config-kubeflow`; the JSON can stay as it is"},
	{gates: names("LoadSparkDefaults"), instead: "`spark-defaults.conf` in `config-kubeflow`, also for the files in the operator's image"},
	{flags: names("metrics-prefix metrics-labels"), instead: "`metrics-prefix` and `metrics-labels` in `config-kubeflow`"},
	{flags: names("metrics-job-submit-latency-buckets metrics-job-start-latency-buckets"), instead: "`metrics-submit-latency-buckets` and `metrics-start-latency-buckets` in `config-kubeflow`"},
	{flags: names("enable-metrics metrics-bind-address"), earlier: names("metrics-port"), instead: "`metrics-protocol: prometheus` and `metrics-endpoint` in `config-observability`"},
	{flags: names("metrics-endpoint"), instead: "none: the path is `/metrics`"},
	{flags: names("secure-metrics metrics-cert-* metrics-key-name enable-http2"), instead: "none: terminate TLS in front of it, or push by `metrics-protocol: grpc` or `http/protobuf`"},
	{flags: names("health-probe-bind-address"), instead: "the environment variable `PROBE_PORT`; `/readiness` for `/readyz`, `/health` for `/healthz`"},
	{flags: names("pprof-bind-address"), instead: "`runtime-profiling` in `config-observability`"},
	{flags: names("leader-election"), instead: "none: it is always on"},
	{flags: names("leader-election-lock-name"), instead: "`map-lease-prefix.*` in `config-leader-election`"},
	{flags: names("leader-election-lock-namespace"), instead: "the environment variable `SYSTEM_NAMESPACE`"},
	{flags: names("leader-election-lease-duration leader-election-renew-deadline leader-election-retry-period"), instead: "`lease-duration`, `renew-deadline`, `retry-period` in `config-leader-election`"},
	{flags: names("zap-*"), earlier: names("logs v"), instead: "`loglevel.controller` and `zap-logger-config` in `config-logging`"},
	{flags: names("controller-threads"), instead: "none: 40 applications at once, up to 30 of one namespace; each waits for the API server only"},
	{flags: names("workqueue-ratelimiter-*"), instead: "none: work is done when it is due; only errors have a back-off"},
	{flags: names("kube-api-qps kube-api-burst"), instead: "none: the API server's Priority and Fairness is the limit"},
	{flags: names("cache-sync-timeout"), instead: "none: the controller is ready when it knows all applications"},
	{earlier: names("resync-interval"), instead: "none: nothing polls"},
	{flags: names("driver-pod-creation-grace-period"), instead: "none: the API server says, by uid, whether a driver is missing"},
	{flags: names("scheduled-spark-application-timestamp-precision"), instead: "none: runs are named after their scheduled time"},
	{flags: names("submitter-*"), gates: names("RestSubmitter"), instead: "none: there is no JVM to submit with"},
	{gates: names("PartialRestart"), instead: "none: every edit of what driver or executors run with runs the application anew"},
	{
		flags: names("webhook-* mutating-webhook-name validating-webhook-name enable-cert-manager"), earlier: names("enable-webhook"),
		instead: "none: `config/webhook` validates what users apply, and no webhook stands between an application and its Pods. The CRD refuses what the webhook refused, or the application fails with a reason",
	},
	{flags: names("enable-resource-quota-enforcement"), instead: "`quota` in `config-admission`: with `fail`, an attempt without room fails at once; with `hold`, its launch waits for room"},
}

func names(text string) []string { return strings.Fields(text) }

// Flag is a flag of the Kubeflow operator, or a gate of its flag feature-gates, among arguments.
type Flag struct {
	// Name is the name without dashes; of a gate feature-gates=<gate>.
	Name string
	// Value is the value; empty without one.
	Value string
	// Instead is what takes its place. If nothing does, it is the reason, and None is true.
	Instead string
	None    bool
	// dashes are those before the name.
	dashes string
}

// Given returns the flags of the Kubeflow operator among the arguments of a program.
func Given(arguments []string) []Flag {
	var given []Flag
	for i, argument := range arguments {
		name, value, hasValue := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		if name == argument || name == "" {
			continue // it has no dash
		}
		if !hasValue && i+1 < len(arguments) && !strings.HasPrefix(arguments[i+1], "-") {
			value = arguments[i+1]
		}
		dashes := argument[:len(argument)-len(strings.TrimLeft(argument, "-"))]
		if name == featureGates {
			given = append(given, gates(value)...)
			continue
		}
		if instead := find(name, func(r row) []string { return slices.Concat(r.flags, r.earlier) }); instead != "" {
			given = append(given, flag(name, value, instead, dashes))
		}
	}
	return given
}

const featureGates = "feature-gates"

// gates returns a flag for each gate, such as LoadSparkDefaults=true.
func gates(list string) []Flag {
	var given []Flag
	for gate := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(gate), "=")
		instead := find(name, func(r row) []string { return r.gates })
		if instead == "" {
			instead = "none: there are no feature gates"
		}
		given = append(given, flag(strings.TrimSuffix(featureGates+"="+name, "="), value, instead, "--"))
	}
	return given
}

func flag(name, value, instead, dashes string) Flag {
	reason, none := strings.CutPrefix(strings.ReplaceAll(instead, "`", ""), "none: ")
	return Flag{Name: name, Value: value, Instead: reason, None: none, dashes: dashes}
}

// Check returns an error that has a line for each flag of the Kubeflow operator among the arguments of a program: what to set instead.
// It returns nil if there is none.
func Check(arguments []string) error {
	var errs []error
	for _, given := range Given(arguments) {
		errs = append(errs, given.refusal())
	}
	return errors.Join(errs...)
}

func (f Flag) refusal() error {
	if f.None {
		return fmt.Errorf("%s%s is a flag of the Kubeflow operator that has no counterpart: %s. Remove it", f.dashes, f.Name, f.Instead)
	}
	return fmt.Errorf("%s%s is a flag of the Kubeflow operator. Remove it. What takes its place: %s", f.dashes, f.Name, f.Instead)
}

// find returns what takes the place of a flag or a gate; empty if it is unknown.
func find(name string, of func(row) []string) string {
	for _, r := range rows {
		for _, known := range of(r) {
			if prefix, star := strings.CutSuffix(known, "*"); name == known || star && strings.HasPrefix(name, prefix) {
				return r.instead
			}
		}
	}
	return ""
}
