package move

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache/properties"
)

// Parts of the paths of the Apache operator's chart.
const (
	pod       = "operatorDeployment/operatorPod/"
	container = pod + "operatorContainer/"
)

const namesOnly = "none: names of roles follow the release's"

// apache maps the values of spark-kubernetes-operator, the Apache operator's chart.
var apache = []row{
	{theirs: "image/repository", note: "none: it names that operator's image"},
	{theirs: "image/tag", note: "none: it is a version of that operator"},
	{theirs: "image/digest", note: "none: it names that operator's image"},
	{theirs: "image/pullPolicy", ours: "image/pullPolicy"},
	{theirs: "imagePullSecrets", ours: "image/pullSecrets"},
	{theirs: "operatorDeployment/replicas", ours: "controller/replicas", note: "with several, all work: `buckets` is two for each", convert: replicas},
	{theirs: "operatorDeployment/strategy", note: "none: replicas hand over to each other, so the Deployment rolls"},
	{theirs: pod + "priorityClassName", ours: "controller/priorityClassName"},
	{theirs: pod + "annotations", ours: "controller/annotations"},
	{theirs: pod + "labels", ours: "controller/labels"},
	{theirs: pod + "affinity", ours: "controller/affinity"},
	{theirs: pod + "nodeSelector", ours: "controller/nodeSelector"},
	{theirs: pod + "tolerations", ours: "controller/tolerations"},
	{theirs: pod + "topologySpreadConstraints", ours: "controller/topologySpreadConstraints"},
	{theirs: container + "jvmArgs", note: "none: there is no JVM"},
	{theirs: container + "env", ours: "controller/env", note: "except `SPARK_USER`", convert: without("SPARK_USER")},
	{theirs: container + "envFrom", ours: "controller/envFrom"},
	{theirs: container + "volumeMounts", ours: "controller/volumeMounts"},
	{theirs: container + "resources", note: "none: `controller.resources` has other needs, since there is no JVM"},
	{theirs: container + "probes", note: "none: the probes follow the controller's start"},
	{theirs: container + "metrics/port", ours: "settings/config-observability/metrics-endpoint", note: "with `metrics-protocol: prometheus`", convert: servedMetrics},
	{theirs: container + "securityContext", ours: "controller/securityContext", note: "except the default `runAsUser` 185", convert: omitting("runAsUser", float64(185))},
	{theirs: pod + "additionalContainers", ours: "controller/sidecars"},
	{theirs: pod + "volumes", ours: "controller/volumes"},
	{theirs: pod + "securityContext", ours: "controller/podSecurityContext"},
	{theirs: pod + "dnsPolicy", note: "none: the Pods have the cluster's"},
	{theirs: pod + "dnsConfig", note: "none: the Pods have the cluster's"},
	{theirs: "operatorDeployment/networkPolicy/enable", ours: "networkPolicy/enable"},
	{theirs: "operatorDeployment/networkPolicy/metricsIngress", ours: "networkPolicy/metricsIngress", note: "empty here: every Pod may read the metrics"},
	{theirs: "operatorRbac/serviceAccount/create", ours: "controller/serviceAccount/create"},
	{theirs: "operatorRbac/serviceAccount/name", ours: "controller/serviceAccount/name"},
	{theirs: "operatorRbac/clusterRole/create", ours: "controller/rbac/create", note: "false only if `role.create` is, too", convert: anyRole},
	{theirs: "operatorRbac/clusterRole/name", note: namesOnly},
	{theirs: "operatorRbac/clusterRoleBinding/create", ours: "controller/rbac/scope", note: "true: `Cluster`. False: `Namespaces`, if `roleBinding.create` is true", convert: roleScope},
	{theirs: "operatorRbac/clusterRoleBinding/name", note: namesOnly},
	{theirs: "operatorRbac/role/create", note: "none: with `controller.rbac.scope: Namespaces`, there is a Role in each namespace", convert: nothing},
	{theirs: "operatorRbac/role/name", note: namesOnly},
	{theirs: "operatorRbac/roleBinding/create", note: "see `clusterRoleBinding.create`", convert: nothing},
	{theirs: "operatorRbac/roleBinding/name", note: namesOnly},
	{theirs: "operatorRbac/roleBinding/roleRef", note: namesOnly},
	{theirs: "operatorRbac/configManagement", note: "none: the controller always follows its ConfigMaps"},
	{theirs: "operatorRbac/labels", note: "none: `commonLabels` are the labels of all objects"},
	{theirs: "workloadResources/namespaces/create", note: "none: namespaces must exist", convert: namespacesMustExist},
	{theirs: "workloadResources/namespaces/overrideWatchedNamespaces", ours: "spark/jobNamespaces", note: "false: `watchedNamespaces` of `spark-operator.properties` is watched, or `default`, and `\"\"` is in the list", convert: nothing},
	{theirs: "workloadResources/namespaces/data", ours: "spark/jobNamespaces", note: "empty: the namespace of that release", convert: workloadNamespaces, always: true},
	{theirs: "workloadResources/serviceAccount/create", ours: "spark/serviceAccount/create"},
	{theirs: "workloadResources/serviceAccount/name", ours: "spark/serviceAccount/name"},
	{theirs: "workloadResources/role", note: "none: a ClusterRole is bound in each namespace; with `controller.rbac.scope: Namespaces`, there is a Role in each"},
	{theirs: "workloadResources/clusterRole", note: "none: it is always there with `spark.rbac.create`"},
	{theirs: "workloadResources/roleBinding/create", ours: "spark/rbac/create"},
	{theirs: "workloadResources/roleBinding/name", note: namesOnly},
	{theirs: "workloadResources/sparkApplicationSentinel", note: "none: a broken watch is restarted; metrics show a controller that lags"},
	{theirs: "workloadResources/sparkClusterSentinel", note: "none: a broken watch is restarted; metrics show a controller that lags"},
	{theirs: "workloadResources/annotations", ours: "spark/serviceAccount/annotations", note: "and `spark.rbac.annotations`", convert: workloadAnnotations},
	{theirs: "workloadResources/labels", note: "none: `commonLabels` are the labels of all objects"},
	{theirs: "operatorConfiguration/append", note: "none: settings that are not given have their defaults"},
	{theirs: "operatorConfiguration/configMap", note: "none: `commonLabels` are the labels of all objects"},
	{theirs: "operatorConfiguration/log4j2.properties", note: "none: `settings.config-logging` has the log level"},
	{theirs: "operatorConfiguration/spark-operator.properties", ours: "settings", note: "property by property: [configuration](configuration.md#from-the-apache-operators-settings)", convert: propertiesFile},
	{theirs: "operatorConfiguration/metrics.properties", note: "none: `settings.config-observability` has the metrics"},
	{theirs: "operatorConfiguration/dynamicConfig/data", ours: "settings", note: "property by property, as `spark-operator.properties`", convert: dynamicProperties},
	{theirs: "operatorConfiguration/dynamicConfig", note: "none: the ConfigMaps are always watched"},
}

func servedMetrics(m *move) {
	m.set("settings/config-observability/metrics-protocol", "prometheus")
	m.set(m.row.ours, fmt.Sprintf(":%d", number(m.value)))
}

func anyRole(m *move) {
	if m.value == false && !m.on("operatorRbac/role/create") {
		m.set(m.row.ours, false)
	}
}

func roleScope(m *move) {
	if m.value == false && m.on("operatorRbac/roleBinding/create") {
		m.set(m.row.ours, "Namespaces")
	}
}

func namespacesMustExist(m *move) {
	if list, _ := m.there("workloadResources/namespaces/data").([]any); m.value == true && len(list) > 0 {
		m.note("create the namespaces first")
	}
}

// workloadNamespaces converts the namespaces with accounts of drivers. They are also those that are watched, unless a property says
// otherwise. With a Role in each namespace, no others can be watched.
func workloadNamespaces(m *move) {
	list, _ := m.value.([]any)
	if len(list) == 0 {
		if m.namespace == "" {
			m.err = errors.New("workloadResources.namespaces.data is empty, which stands for the namespace of that release: " +
				"name it, as in helmvalues -namespace spark-operator apache values.yaml")
		}
		list = []any{m.namespace}
	}
	watched := m.property(properties.WatchedNamespaces)
	if override := m.there("workloadResources/namespaces/overrideWatchedNamespaces"); watched == "" && (override == false || override == "false") {
		watched = "default" // that operator's own
	}
	if watched != "" && at(m.out, "controller/rbac/scope") != "Namespaces" {
		list = append([]any{""}, list...)
		m.set("settings/config-scope/watched-namespaces", watched)
	}
	m.set(m.row.ours, list)
}

// property returns a property of the operator. That of dynamicConfig wins.
func (m *move) property(name string) string {
	if dynamic, _ := m.there("operatorConfiguration/dynamicConfig/data").(Values); m.on("operatorConfiguration/dynamicConfig/create") {
		if value, ok := dynamic[properties.Prefix+name]; ok {
			return strings.TrimSpace(fmt.Sprint(value))
		}
	}
	file, _ := m.there("operatorConfiguration/spark-operator.properties").(string)
	loaded, err := properties.Load(file)
	if err != nil {
		return "" // the row of the file says so
	}
	return strings.TrimSpace(loaded[properties.Prefix+name])
}

func workloadAnnotations(m *move) {
	m.set("spark/serviceAccount/annotations", m.value)
	m.set("spark/rbac/annotations", m.value)
}

func propertiesFile(m *move) {
	loaded, err := properties.Load(fmt.Sprint(m.value))
	if err != nil {
		m.note("it is no properties file: %v", err)
		return
	}
	m.setProperties(loaded)
}

func dynamicProperties(m *move) {
	data, ok := m.value.(Values)
	if !ok || !m.on("operatorConfiguration/dynamicConfig/create") {
		return
	}
	conf := map[string]string{}
	for key, value := range data {
		conf[key] = fmt.Sprint(value)
	}
	m.setProperties(conf)
}

func (m *move) setProperties(conf map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		setting, ok := properties.SettingOf(key, conf[key])
		switch {
		case !ok:
			m.note("%s has no counterpart: docs/operators/configuration.md says why", key)
		case key == properties.Prefix+properties.WatchedNamespaces && m.watched():
			m.note("%s is left out: spark.jobNamespaces lists the namespaces", key)
		default:
			m.set("settings/"+setting.ConfigMap+"/"+setting.Key, setting.Value)
		}
	}
}

// watched reports whether spark.jobNamespaces says which namespaces are watched.
func (m *move) watched() bool {
	list, _ := at(m.out, "spark/jobNamespaces").([]any)
	return len(list) > 0 && !slices.Contains(list, any(""))
}
