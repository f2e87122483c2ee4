package move

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/flags"
)

// metricsPort is the default of the Kubeflow operator. Firesteel's controller uses this port for its probes.
const metricsPort = 8080

// kubeflow maps the values of spark-operator, the Kubeflow operator's chart.
var kubeflow = []row{
	{theirs: "nameOverride", note: "none: with one name, the ClusterRoles of both operators would collide"},
	{theirs: "fullnameOverride", note: "none: with one name, the ClusterRoles of both operators would collide"},
	{theirs: "commonLabels", ours: "commonLabels"},
	{theirs: "image/registry", note: "none: it leads to that operator's image"},
	{theirs: "image/repository", note: "none: it names that operator's image"},
	{theirs: "image/tag", note: "none: it is a version of that operator"},
	{theirs: "image/pullPolicy", ours: "image/pullPolicy"},
	{theirs: "image/pullSecrets", ours: "image/pullSecrets"},
	{theirs: "hook/upgradeCrd", note: "none: the hook always applies the CRDs, unless `crds.install` is false"},
	{theirs: "hook/image", note: "none: it names that operator's image"},
	{theirs: "hook/resources", ours: "hook/resources"},
	{theirs: "hook/nodeSelector", ours: "hook/nodeSelector"},
	{theirs: "hook/affinity", ours: "hook/affinity"},
	{theirs: "hook/tolerations", ours: "hook/tolerations"},
	{theirs: "hook/labels", ours: "hook/labels"},
	{theirs: "hook/annotations", ours: "hook/annotations"},
	{theirs: "controller/replicas", ours: "controller/replicas", note: "with several, all work: `buckets` is two for each", convert: replicas},
	{theirs: "controller/featureGates", note: "`DefaultTimeToLive` is needed no more; none for the others: [flags](kubeflow-flags.md)", convert: featureGates},
	{theirs: "controller/revisionHistoryLimit", ours: "controller/revisionHistoryLimit"},
	{theirs: "controller/leaderElection/enable", note: "none: it is always on"},
	{theirs: "controller/leaderElection/leaseDuration", ours: "settings/config-leader-election/lease-duration"},
	{theirs: "controller/leaderElection/renewDeadline", ours: "settings/config-leader-election/renew-deadline"},
	{theirs: "controller/leaderElection/retryPeriod", ours: "settings/config-leader-election/retry-period"},
	{theirs: "controller/workers", note: "none: 40 applications at once, up to 30 of one namespace; each waits for the API server only"},
	{theirs: "controller/logLevel", ours: "settings/config-logging/loglevel.controller"},
	{theirs: "controller/logEncoder", note: "none: the log is JSON; `zap-logger-config` of `settings.config-logging` has zap's own configuration"},
	{theirs: "controller/driverPodCreationGracePeriod", note: "none: the API server says, by uid, whether a driver is missing"},
	{theirs: "controller/maxTrackedExecutorPerApp", ours: "settings/config-kubeflow/max-tracked-executors", note: "5000 at most", convert: trackedExecutors},
	{theirs: "controller/defaultTimeToLiveSeconds", ours: "settings/config-kubeflow/default-time-to-live", note: "only with the gate `DefaultTimeToLive` there", convert: timeToLive},
	{theirs: "controller/driverPodDisruptionBudget/enable", ours: "settings/config-kubeflow/driver-pod-disruption-budget", convert: enabled},
	{theirs: "controller/kubeAPIQPS", note: "none: the API server's Priority and Fairness is the limit"},
	{theirs: "controller/kubeAPIBurst", note: "none: the API server's Priority and Fairness is the limit"},
	{theirs: "controller/scheduledSparkApplicationTimestampPrecision", note: "none: runs are named after their scheduled time"},
	{theirs: "controller/uiService/enable", ours: "settings/config-kubeflow/ui-service", convert: enabled},
	{theirs: "controller/uiIngress/enable", note: "an Ingress is made if `ingress-url-format` is set", convert: nothing},
	{theirs: "controller/uiIngress/urlFormat", ours: "settings/config-kubeflow/ingress-url-format", convert: ifOn("controller/uiIngress/enable")},
	{theirs: "controller/uiIngress/ingressClassName", ours: "settings/config-kubeflow/ingress-class-name"},
	{theirs: "controller/uiIngress/tls", ours: "settings/config-kubeflow/ingress-tls"},
	{theirs: "controller/uiIngress/annotations", ours: "settings/config-kubeflow/ingress-annotations"},
	{theirs: "controller/batchScheduler/enable", ours: "settings/config-kubeflow/batch-schedulers", note: "`volcano, yunikorn`, and the names of `kubeSchedulerNames`", convert: batchSchedulers},
	{theirs: "controller/batchScheduler/kubeSchedulerNames", ours: "settings/config-kubeflow/batch-schedulers", note: "only with `batchScheduler.enable`", convert: nothing},
	{theirs: "controller/batchScheduler/default", ours: "settings/config-kubeflow/default-batch-scheduler", convert: ifOn("controller/batchScheduler/enable")},
	{theirs: "controller/serviceAccount/create", ours: "controller/serviceAccount/create"},
	{theirs: "controller/serviceAccount/name", ours: "controller/serviceAccount/name"},
	{theirs: "controller/serviceAccount/annotations", ours: "controller/serviceAccount/annotations"},
	{theirs: "controller/serviceAccount/automountServiceAccountToken", note: "none: the controller needs its token"},
	{theirs: "controller/rbac/create", ours: "controller/rbac/create"},
	{theirs: "controller/rbac/annotations", ours: "controller/rbac/annotations"},
	{theirs: "controller/labels", ours: "controller/labels"},
	{theirs: "controller/annotations", ours: "controller/annotations"},
	{theirs: "controller/deploymentAnnotations", ours: "controller/deploymentAnnotations"},
	{theirs: "controller/volumes", ours: "controller/volumes", note: "except `tmp`: nothing is written", convert: without("tmp")},
	{theirs: "controller/volumeMounts", ours: "controller/volumeMounts", note: "except `tmp`", convert: without("tmp")},
	{theirs: "controller/nodeSelector", ours: "controller/nodeSelector"},
	{theirs: "controller/affinity", ours: "controller/affinity"},
	{theirs: "controller/tolerations", ours: "controller/tolerations"},
	{theirs: "controller/priorityClassName", ours: "controller/priorityClassName"},
	{theirs: "controller/podSecurityContext", ours: "controller/podSecurityContext", note: "except the default `fsGroup` 185", convert: omitting("fsGroup", float64(185))},
	{theirs: "controller/topologySpreadConstraints", ours: "controller/topologySpreadConstraints"},
	{theirs: "controller/hostUsers", ours: "controller/hostUsers"},
	{theirs: "controller/env", ours: "controller/env"},
	{theirs: "controller/envFrom", ours: "controller/envFrom"},
	{theirs: "controller/resources", ours: "controller/resources", note: "less is enough: there is no JVM"},
	{theirs: "controller/securityContext", ours: "controller/securityContext"},
	{theirs: "controller/sidecars", ours: "controller/sidecars"},
	{theirs: "controller/podDisruptionBudget/enable", ours: "controller/podDisruptionBudget/enable"},
	{theirs: "controller/podDisruptionBudget/minAvailable", ours: "controller/podDisruptionBudget/minAvailable", convert: ifOn("controller/podDisruptionBudget/enable")},
	{theirs: "controller/pprof/enable", ours: "settings/config-observability/runtime-profiling", convert: enabled},
	{theirs: "controller/pprof/port", note: "none: it is 8008, unless `controller.env` has `PROFILING_PORT`"},
	{theirs: "controller/pprof/portName", note: "none: no Service has this port"},
	{theirs: "controller/workqueueRateLimiter", note: "none: work is done when it is due; only errors have a back-off"},
	{theirs: "submitter", note: "none: there is no JVM to submit with"},
	{theirs: "webhook/resourceQuotaEnforcement/enable", ours: "settings/config-admission/quota", note: "true: `fail`. With `hold` a launch waits for room", convert: quota},
	{theirs: "webhook", note: "none: `webhook.enable` validates what users apply, and no webhook stands between an application and its Pods. `admission.enable` refuses Spark properties that give rights"},
	{theirs: "spark/jobNamespaces", ours: "spark/jobNamespaces", note: "the same meaning: `\"\"` stands for all. Left out there, it is `default` alone", convert: jobNamespaces},
	{theirs: "spark/jobNamespaceSelector", ours: "spark/jobNamespaceSelector", note: "nothing if all namespaces are watched", convert: namespaceSelector},
	{theirs: "spark/serviceAccount/create", ours: "spark/serviceAccount/create"},
	{theirs: "spark/serviceAccount/name", ours: "spark/serviceAccount/name", note: "empty there: the release's name and `-spark`"},
	{theirs: "spark/serviceAccount/annotations", ours: "spark/serviceAccount/annotations"},
	{theirs: "spark/serviceAccount/automountServiceAccountToken", note: "none: a driver needs its token"},
	{theirs: "spark/rbac/create", ours: "spark/rbac/create"},
	{theirs: "spark/rbac/annotations", ours: "spark/rbac/annotations"},
	{theirs: "prometheus/metrics/enable", ours: "settings/config-observability/metrics-protocol", convert: metricsProtocol},
	{theirs: "prometheus/metrics/port", ours: "settings/config-observability/metrics-endpoint", note: "except the default 8080, where the probes are: it is 9090", convert: metricsEndpoint},
	{theirs: "prometheus/metrics/portName", note: "none: it is `metrics`"},
	{theirs: "prometheus/metrics/endpoint", note: "none: it is `/metrics`"},
	{theirs: "prometheus/metrics/prefix", ours: "settings/config-kubeflow/metrics-prefix"},
	{theirs: "prometheus/metrics/jobSubmitLatencyBuckets", ours: "settings/config-kubeflow/metrics-submit-latency-buckets"},
	{theirs: "prometheus/metrics/jobStartLatencyBuckets", ours: "settings/config-kubeflow/metrics-start-latency-buckets"},
	{theirs: "prometheus/metrics/labels", ours: "settings/config-kubeflow/metrics-labels"},
	{theirs: "prometheus/podMonitor/create", ours: "prometheus/podMonitor/create", convert: ifOn("prometheus/metrics/enable")},
	{theirs: "prometheus/podMonitor/labels", ours: "prometheus/podMonitor/labels"},
	{theirs: "prometheus/podMonitor/jobLabel", ours: "prometheus/podMonitor/jobLabel"},
	{theirs: "prometheus/podMonitor/podMetricsEndpoint", ours: "prometheus/podMonitor/podMetricsEndpoint"},
	{theirs: "certManager", note: "none: the opt-in webhook makes its own certificates"},
}

// nothing is the conversion of a value that another row converts.
func nothing(*move) {}

// quota makes attempts without room fail.
func quota(m *move) {
	if truth(m.value) {
		m.set(m.row.ours, "fail")
	}
}

// ifOn copies a value if a switch of the other chart is on.
func ifOn(path string) func(*move) {
	return func(m *move) {
		if m.on(path) {
			m.set(m.row.ours, m.value)
		}
	}
}

func gate(m *move, name string) bool {
	gates, _ := m.there("controller/featureGates").([]any)
	return slices.ContainsFunc(gates, func(gate any) bool {
		fields, _ := gate.(Values)
		return fields["name"] == name && truth(fields["enabled"])
	})
}

func featureGates(m *move) {
	for _, name := range []string{"PartialRestart", "LoadSparkDefaults", "RestSubmitter"} {
		if gate(m, name) {
			m.note("the gate %s has no counterpart: docs/operators/kubeflow-flags.md says what takes its place", name)
		}
	}
}

func trackedExecutors(m *move) {
	const most = flags.MaxTrackedExecutors
	if number(m.value) > most {
		m.note("%v is more than a status has room for, and became %d", m.value, most)
	}
	m.set(m.row.ours, min(number(m.value), most))
}

func timeToLive(m *move) {
	if seconds := number(m.value); seconds > 0 && gate(m, "DefaultTimeToLive") {
		m.set(m.row.ours, fmt.Sprintf("%ds", seconds))
	}
}

func batchSchedulers(m *move) {
	if !truth(m.value) {
		return
	}
	names := []string{"volcano", "yunikorn"}
	others, _ := m.there("controller/batchScheduler/kubeSchedulerNames").([]any)
	for _, name := range others {
		names = append(names, fmt.Sprint(name))
	}
	m.set(m.row.ours, strings.Join(names, ", "))
}

// jobNamespaces copies the list. An empty one is no default: it stands for all namespaces, or leaves the choice to the selector.
func jobNamespaces(m *move) { m.put(m.row.ours, m.value) }

func namespaceSelector(m *move) {
	namespaces, _ := m.there("spark/jobNamespaces").([]any)
	if !slices.Contains(namespaces, any("")) {
		m.set(m.row.ours, m.value)
	} else if m.value != "" {
		m.note("left out: all namespaces are watched, since spark.jobNamespaces has \"\"")
	}
}

func metricsProtocol(m *move) {
	m.set(m.row.ours, map[bool]string{true: "prometheus", false: "none"}[truth(m.value)])
}

func metricsEndpoint(m *move) {
	switch port := number(m.value); {
	case !m.on("prometheus/metrics/enable"):
	case port == metricsPort:
		m.note("%d is the port of the probes here: metrics are at 9090", port)
	default:
		m.set(m.row.ours, fmt.Sprintf(":%d", port))
	}
}
