package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Resources are resources of one API.
type Resources struct {
	Group     string
	Resources []string
}

// api is a set of kinds that one policy is for.
type api struct {
	// name is the prefix of the names of its policies. kinds are its kinds, in words.
	name, kinds string
	// resources are the kinds.
	resources []Resources
	// scheduled is the path of the spec of runs in the spec of a schedule; empty if none of the kinds is a schedule.
	scheduled []string
	// variables are the fields of a Manifest, beside the variables about the spec.
	variables []Variable
	// containers and volumes are the lists in the spec over which expressions loop. lists are the properties over whose entries they loop.
	containers, volumes, lists []string
	// accounts are optional entries of the fields and properties that name service accounts.
	accounts []string
	// noEffect are fields and properties without effect.
	noEffect []NoEffect
}

// The properties that name service accounts.
const (
	DriverAccountKey   = "spark.kubernetes.authenticate.driver.serviceAccountName"
	ExecutorAccountKey = "spark.kubernetes.authenticate.executor.serviceAccountName"
	anyAccountKey      = "spark.kubernetes.authenticate.serviceAccountName"
)

// apis are those that Firesteel serves.
func apis() []api { return []api{apache(), cluster(), kubeflow(), early()} }

func apache() api {
	return api{
		name: "spark", kinds: "SparkApplications of spark.apache.org and their schedules",
		resources: []Resources{{"spark.apache.org", []string{"sparkapplications"}}, {"firesteel.dev", []string{"scheduledsparkapplications"}}},
		scheduled: []string{"template", "spec"},
		variables: slices.Concat(
			[]Variable{templateLabels(true), propertyKeys()},
			roleNames{role: "driver"}.variables(), roleNames{role: "executor"}.variables(),
			executors(nil, "", "2"),
			[]Variable{{"timeToLive", ttlOf("applicationTolerations.ttlAfterStopMillis", " && int(v) >= 0")}},
			podVariables(map[string]pod{
				"driverPod": podAt("driverSpec.podTemplateSpec.spec"), "executorPod": podAt("executorSpec.podTemplateSpec.spec"),
			}, imageProperties(), []string{hostPathProperties()}, nil),
		),
		containers: containersIn("driverSpec.podTemplateSpec.spec", "executorSpec.podTemplateSpec.spec"),
		volumes:    []string{"driverSpec.podTemplateSpec.spec.volumes", "executorSpec.podTemplateSpec.spec.volumes"},
		accounts:   slices.Concat(accountProperties(), accountsIn("driverSpec.podTemplateSpec.spec", "executorSpec.podTemplateSpec.spec")),
		noEffect:   append([]NoEffect{ApacheForeign}, ApacheNoEffect...),
	}
}

// accountProperties are the optional entries of the properties that name service accounts.
func accountProperties() []string {
	return []string{property(DriverAccountKey), property(ExecutorAccountKey), property(anyAccountKey)}
}

// accountsIn are the optional entries of the service accounts of Pod specs, by both names of the field.
func accountsIn(pods ...string) []string {
	var accounts []string
	for _, path := range pods {
		accounts = append(accounts, text(path+".serviceAccountName"), text(path+".serviceAccount"))
	}
	return accounts
}

// containersIn are the lists of containers of Pod specs.
func containersIn(pods ...string) []string {
	var lists []string
	for _, path := range pods {
		lists = append(lists, path+".containers", path+".initContainers")
	}
	return lists
}

// templateLabels is the variable of the labels of the template of a schedule, which its runs have, too.
func templateLabels(scheduled bool) Variable {
	if !scheduled {
		return Variable{"templateLabels", "{}"}
	}
	return Variable{"templateLabels", "object.kind == 'ScheduledSparkApplication' ? " + orEmpty("object.spec.?template.?metadata.?labels", "{}") + " : {}"}
}

// ttlOf is the variable about the time to live.
func ttlOf(field, valid string) string {
	return fmt.Sprintf("[{'field': %s, 'value': [%s.orValue(null)].exists(v, v != null%s) ? 'set' : ''}]", at(field), optionalField(field), valid)
}

func cluster() api {
	return api{
		name: "sparkcluster", kinds: "SparkClusters",
		resources: []Resources{{"spark.apache.org", []string{"sparkclusters"}}},
		variables: slices.Concat(
			[]Variable{templateLabels(false), propertyKeys(), {"workers", workers()}},
			podVariables(map[string]pod{
				"masterPod": podAt("masterSpec.statefulSetSpec.template.spec"), "workerPod": podAt("workerSpec.statefulSetSpec.template.spec"),
			}, []string{first(property(ImageKeys[0]))}, nil, nil),
		),
		containers: containersIn("masterSpec.statefulSetSpec.template.spec", "workerSpec.statefulSetSpec.template.spec"),
		volumes:    []string{"masterSpec.statefulSetSpec.template.spec.volumes", "workerSpec.statefulSetSpec.template.spec.volumes"},
		accounts:   accountsIn("masterSpec.statefulSetSpec.template.spec", "workerSpec.statefulSetSpec.template.spec"),
		noEffect:   ClusterNoEffect,
	}
}

// workers is the list of the numbers of workers: an autoscaler scales up to maxWorkers.
func workers() string {
	const instances = "clusterTolerations.instanceConfig."
	return all(first(number(instances+"initWorkers")),
		fmt.Sprintf("(%s.orValue(0) < %s.orValue(0) ? %s : [])",
			optionalField(instances+"minWorkers"), optionalField(instances+"maxWorkers"), first(number(instances+"maxWorkers"))))
}

func kubeflow() api {
	return api{
		name: "sparkoperator", kinds: "SparkApplications and ScheduledSparkApplications of sparkoperator.k8s.io",
		resources: []Resources{{"sparkoperator.k8s.io", []string{"sparkapplications", "scheduledsparkapplications"}}},
		scheduled: []string{"template"},
		variables: slices.Concat(
			[]Variable{templateLabels(false)},
			kubeflowRole("driver").variables(), kubeflowRole("executor").variables(),
			kubeflowExecutors(),
			[]Variable{{"timeToLive", ttlOf("timeToLiveSeconds", "")}},
			podVariables(map[string]pod{
				"driverPod": podAt("driver.template.spec"), "executorPod": podAt("executor.template.spec"),
				"driverRole": podAt("driver"), "executorRole": podAt("executor"),
			},
				slices.Concat(textLists("image", "driver.image", "executor.image"), imageProperties(), containersOf(imagesIn, "driver", "executor")),
				[]string{volumesOf("variables.spec.?volumes", "volumes"), hostPathProperties()},
				slices.Concat(containersOf(privilegedIn, "driver", "executor"), []string{
					isTrue("variables.spec.?driver.?securityContext.?privileged", "driver.securityContext.privileged"),
					isTrue("variables.spec.?executor.?securityContext.?privileged", "executor.securityContext.privileged"),
				}),
			),
		),
		containers: append(containersIn("driver.template.spec", "executor.template.spec"),
			"driver.sidecars", "executor.sidecars", "driver.initContainers", "executor.initContainers"),
		volumes: []string{"driver.template.spec.volumes", "executor.template.spec.volumes", "volumes"},
		accounts: slices.Concat(
			[]string{text("driver.serviceAccount"), text("executor.serviceAccount")},
			accountProperties(), accountsIn("driver.template.spec", "executor.template.spec"),
		),
		noEffect: append([]NoEffect{KubeflowForeign}, KubeflowNoEffect...),
	}
}

func kubeflowRole(role string) roleNames {
	return roleNames{
		role: role, memory: []string{text(role + ".memory")}, overhead: []string{text(role + ".memoryOverhead")},
		factor: []string{text("memoryOverheadFactor")},
		cores:  []string{number(role + ".cores")}, request: []string{text(role + ".coreRequest")}, limit: []string{text(role + ".coreLimit")},
	}
}

func kubeflowExecutors() []Variable {
	// Its fields count only if it is enabled.
	const enabled = "variables.spec.?dynamicAllocation.?enabled.orValue(false) == true"
	within := func(field string) string {
		return fmt.Sprintf("(%s ? %s : optional.none())", enabled, number("dynamicAllocation."+field))
	}
	return executors(map[string]string{
		"instances": number("executor.instances"), "initialExecutors": within("initialExecutors"),
		"minExecutors": within("minExecutors"), "maxExecutors": within("maxExecutors"),
	}, enabled, "1")
}

// containersOf are lists about the sidecars of roles.
func containersOf(list func(containers, field string) string, roles ...string) []string {
	var lists []string
	for _, role := range roles {
		lists = append(lists, list(orEmpty("variables.spec.?"+role+".?sidecars", "[]"), at(role+".sidecars")+named("c")))
	}
	return lists
}

func imagesIn(containers, field string) string {
	return fmt.Sprintf("%s.filter(c, c != null && %s != '').map(c, {'field': %s.image', 'value': %s})", containers, orText("c.?image"), field, textOf("c.image"))
}

func privilegedIn(containers, field string) string {
	return fmt.Sprintf("%s.filter(c, c != null && %s.?privileged.orValue(false) == true).map(c, {'field': %s.securityContext.privileged', 'value': ''})",
		containers, orEmpty("c.?securityContext", "{}"), field)
}

func early() api {
	return api{
		name: "early", kinds: "SparkApplications of spark-operator.k8s.io",
		resources: []Resources{{"spark-operator.k8s.io", []string{"sparkapplications"}}},
		variables: slices.Concat(
			[]Variable{templateLabels(false), earlyNames(), earlyProperties()},
			earlyRole("driver").variables(), earlyRole("executor").variables(),
			executors(map[string]string{"instances": number("executor.instances")}, "", "2"),
			podVariables(nil, slices.Concat(textLists("driver.image", "executor.image"), imageProperties(EarlyImageKeys...)), []string{hostPathProperties()}, nil),
		),
		lists:    slices.Sorted(maps.Keys(EarlyLists)),
		accounts: accountProperties(),
		noEffect: append([]NoEffect{KubeflowForeign, EarlyLogsLocation}, EarlyNoEffect...),
	}
}

func earlyRole(role string) roleNames {
	return roleNames{
		role: role, memory: []string{text(role + ".memory")}, cores: []string{number(role + ".cores")},
		// A property of the old name counts only if there is none of the name of today.
		overhead: []string{property("spark." + role + ".memoryOverhead"), property("spark.kubernetes." + role + ".memoryOverhead")},
	}
}

// earlyNames is the variable of the names of properties today, by their old names.
func earlyNames() Variable {
	var entries []string
	for _, old := range slices.Sorted(maps.Keys(EarlyRenamed)) {
		entries = append(entries, celText(old)+": "+celText(EarlyRenamed[old]))
	}
	return Variable{"renamed", "{" + strings.Join(entries, ", ") + "}"}
}

// earlyProperties are the keys of properties as they are written and, where they have another name today, by that.
func earlyProperties() Variable {
	entry := "{'field': " + atProperty("k") + ", 'value': %s}"
	lists := []string{
		"variables.conf.map(k, " + fmt.Sprintf(entry, "string(k)") + ")",
		"variables.conf.filter(k, k in variables.renamed).map(k, " + fmt.Sprintf(entry, "variables.renamed[k]") + ")",
	}
	for _, old := range slices.Sorted(maps.Keys(EarlyPrefixes)) {
		lists = append(lists, fmt.Sprintf("variables.conf.filter(k, k.startsWith(%[1]s)).map(k, "+fmt.Sprintf(entry, "%[2]s + k.substring(%[3]d)")+")",
			celText(old), celText(EarlyPrefixes[old]), len(old)))
	}
	for _, key := range slices.Sorted(maps.Keys(EarlyLists)) {
		lists = append(lists, fmt.Sprintf("(%[1]s in variables.conf ? string(variables.conf[%[1]s]).split(',').filter(e, e.trim() != '')"+
			".map(e, {'field': %[2]s, 'value': %[3]s + e.trim().split('=')[0]}) : [])", celText(key), atProperty(celText(key)), celText(EarlyLists[key])))
	}
	return Variable{"properties", all(lists...)}
}

// The names of Spark properties of 2017 that applications of spark-operator.k8s.io may have, and their names today.
var (
	// EarlyRenamed are properties that have another name today.
	EarlyRenamed = map[string]string{
		"spark.kubernetes.driver.docker.image":     "spark.kubernetes.driver.container.image",
		"spark.kubernetes.executor.docker.image":   "spark.kubernetes.executor.container.image",
		"spark.kubernetes.docker.image.pullPolicy": "spark.kubernetes.container.image.pullPolicy",
		"spark.kubernetes.driver.memoryOverhead":   "spark.driver.memoryOverhead",
		"spark.kubernetes.executor.memoryOverhead": "spark.executor.memoryOverhead",
	}
	// EarlyImageKeys are those of them that name images.
	EarlyImageKeys = slices.DeleteFunc(slices.Sorted(maps.Keys(EarlyRenamed)), func(old string) bool {
		return !slices.Contains(ImageKeys, EarlyRenamed[old])
	})
	// EarlyLists are properties that are lists of key=value, with the prefix of today's property for each entry.
	EarlyLists = map[string]string{
		"spark.kubernetes.driver.labels":        "spark.kubernetes.driver.label.",
		"spark.kubernetes.executor.labels":      "spark.kubernetes.executor.label.",
		"spark.kubernetes.driver.annotations":   "spark.kubernetes.driver.annotation.",
		"spark.kubernetes.executor.annotations": "spark.kubernetes.executor.annotation.",
	}
	// EarlyPrefixes begin properties for one annotation each, with the prefix of today.
	EarlyPrefixes = map[string]string{
		"spark.kubernetes.driver.annotations.":   "spark.kubernetes.driver.annotation.",
		"spark.kubernetes.executor.annotations.": "spark.kubernetes.executor.annotation.",
	}
)
