package admission

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// seed is drawn anew by each run, unless SEED repeats one.
func seed(t *testing.T) uint64 {
	t.Helper()
	drawn := uint64(time.Now().UnixNano())
	if given := os.Getenv("SEED"); given != "" {
		var err error
		if drawn, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SEED=%d", drawn)
	return drawn
}

var (
	randomSizes   = []any{"1g", "16g", "17G", "512m", "1024", "1.5g", "", " 2g ", "20gb", "3gib", "99999999999b", "1x", "0", "999999999999999p"}
	randomNumbers = []any{"1", "10", "11", "0", "", " 3 ", "x", "-1", "1e3", "9999999999"}
	randomCores   = []any{"1", "4", "5", "500m", "4500m", "0.5", "4.5", "", "x", "1e3", " 2 "}
	randomFactors = []any{"0.1", "20", "x", "", "1e9"}
	randomTruths  = []any{"true", "TRUE", " true ", "false", " False ", "yes", "", "${spark.on}", "\u0001true"}
	randomImages  = []any{
		"spark", "apache/spark:4.1.0", "docker.io/apache/spark", "registry.example.com/spark:1", "registry.example.com:5000/spark",
		"registry.example.com.evil.org/spark", "localhost/spark", "docker.io/apache/sparkling", "docker.io/apache/spark@sha256:1", "",
		"${spark.image}", "registry.example.com/${spark.image}", "registry.example.com/spark:{{SPARK_VERSION}}", "{{SPARK_VERSION}}/apache/spark",
		"registry.example.com/{{SPARK_VERSION}}/spark", "Registry/spark",
	}
	randomTexts = []any{"a", ""}
)

// randomProperties are values of Spark properties that rules read.
var randomProperties = map[string][]any{
	"spark.driver.memory": randomSizes, "spark.driver.memoryOverhead": randomSizes, "spark.driver.minMemoryOverhead": randomSizes,
	"spark.executor.memory": randomSizes, "spark.executor.memoryOverhead": randomSizes, "spark.executor.pyspark.memory": randomSizes,
	"spark.memory.offHeap.size": randomSizes, "spark.memory.offHeap.enabled": randomTruths,
	"spark.driver.memoryOverheadFactor": randomFactors, "spark.executor.memoryOverheadFactor": randomFactors, "spark.kubernetes.memoryOverheadFactor": randomFactors,
	"spark.kubernetes.driver.memoryOverhead": randomSizes, "spark.kubernetes.executor.memoryOverhead": randomSizes,
	"": randomSizes, "spark.yarn.driver.memoryOverhead": randomSizes, "spark.yarn.executor.memoryOverhead": randomSizes, "spark.executor.minMemoryOverhead": randomSizes,
	"spark.driver.cores": randomCores, "spark.kubernetes.driver.request.cores": randomCores, "spark.kubernetes.driver.limit.cores": randomCores,
	"spark.executor.cores": randomCores, "spark.kubernetes.executor.request.cores": randomCores, "spark.kubernetes.executor.limit.cores": randomCores,
	"spark.executor.instances": randomNumbers, "spark.dynamicAllocation.enabled": randomTruths,
	"spark.dynamicAllocation.maxExecutors": randomNumbers, "spark.dynamicAllocation.minExecutors": randomNumbers,
	"spark.dynamicAllocation.initialExecutors": randomNumbers,
	"spark.kubernetes.container.image":         randomImages, "spark.kubernetes.driver.container.image": randomImages,
	"spark.kubernetes.executor.container.image": randomImages, "spark.kubernetes.driver.docker.image": randomImages,
	"spark.kubernetes.driver.volumes.hostPath.a.mount.path": randomTexts, "spark.kubernetes.executor.volumes.hostPath.a.options.path": randomTexts,
	"spark.kubernetes.driver.volumes.emptyDir.a.mount.path": randomTexts,
	"spark.kubernetes.driver.master":                        randomTexts, "spark.kubernetes.authenticate.driver.serviceAccountName": randomTexts,
	"spark.kubernetes.driver.labels": {"a=b", "a = b, c", "", ",", "a"}, "spark.kubernetes.executor.annotations": {"x=y,z=1"},
	"spark.kubernetes.driver.annotations.b": randomTexts, "spark.kubernetes.docker.image.pullPolicy": {"Always"},
}

var randomContainers = []any{
	[]any{},
	[]any{map[string]any{"name": "a", "image": "registry.example.com/a"}},
	[]any{map[string]any{"name": "a", "image": "other/a"}, map[string]any{"name": "b", "image": ""}},
	[]any{map[string]any{"name": "a", "securityContext": map[string]any{"privileged": true}}},
	[]any{map[string]any{"name": "a", "securityContext": map[string]any{"privileged": false, "runAsUser": 1}}, map[string]any{"name": "b", "image": "b"}},
	[]any{map[string]any{"name": nil, "image": nil, "securityContext": nil}, map[string]any{"name": nil, "securityContext": map[string]any{"privileged": true}}},
	nil,
}

var randomVolumes = []any{
	[]any{},
	[]any{map[string]any{"name": "a", "hostPath": map[string]any{"path": "/"}}},
	[]any{map[string]any{"name": "a", "emptyDir": map[string]any{}}, map[string]any{"name": "b", "hostPath": map[string]any{"path": "/b"}}},
	[]any{map[string]any{"name": "a", "emptyDir": map[string]any{}}},
	[]any{map[string]any{"name": nil, "hostPath": map[string]any{"path": "/"}}},
	nil,
}

var switches = []any{true, false}

// randomPod are the fields of a Pod template that rules read.
func randomPod(path string) map[string][]any {
	return map[string][]any{
		path + ".containers": randomContainers, path + ".initContainers": randomContainers, path + ".volumes": randomVolumes,
		path + ".hostNetwork": switches, path + ".hostPID": switches, path + ".hostIPC": switches,
	}
}

// randomFields are the fields of each API that rules read.
var randomFields = map[string]map[string][]any{
	"spark": merged(randomPod("driverSpec.podTemplateSpec.spec"), randomPod("executorSpec.podTemplateSpec.spec"), map[string][]any{
		"applicationTolerations.ttlAfterStopMillis": {-1, 0, 1000},
	}),
	"sparkcluster": merged(randomPod("masterSpec.statefulSetSpec.template.spec"), randomPod("workerSpec.statefulSetSpec.template.spec"), map[string][]any{
		"clusterTolerations.instanceConfig.initWorkers": {0, 3, 10, 11},
		"clusterTolerations.instanceConfig.minWorkers":  {0, 1, 5},
		"clusterTolerations.instanceConfig.maxWorkers":  {0, 10, 11},
	}),
	"sparkoperator": merged(randomPod("driver.template.spec"), randomPod("executor.template.spec"), map[string][]any{
		"timeToLiveSeconds": {0, 100}, "image": randomImages, "volumes": randomVolumes[:5], "memoryOverheadFactor": randomFactors,
		"driver.image": randomImages, "driver.memory": randomSizes, "driver.memoryOverhead": randomSizes, "driver.cores": {1, 4, 5, 0.5, 4.5, "2", "4.5"},
		"driver.coreRequest": randomCores, "driver.coreLimit": randomCores, "driver.hostNetwork": switches, "driver.sidecars": randomContainers[:6],
		"driver.initContainers": randomContainers[:6], "driver.securityContext.privileged": switches,
		"executor.image": randomImages, "executor.memory": randomSizes, "executor.memoryOverhead": randomSizes, "executor.cores": {1, 8, 9, "0.1"},
		"executor.coreRequest": randomCores, "executor.coreLimit": randomCores, "executor.hostNetwork": switches, "executor.sidecars": randomContainers[:6],
		"executor.initContainers": randomContainers[:6], "executor.securityContext.privileged": switches, "executor.instances": {0, 1, 10, 11},
		"dynamicAllocation.enabled": switches, "dynamicAllocation.maxExecutors": {1, 10, 11}, "dynamicAllocation.minExecutors": {0, 11},
		"dynamicAllocation.initialExecutors": {0, 11},
	}),
	"early": {
		"driver.image": randomImages, "driver.memory": append(slices.Clone(randomSizes), nil), "driver.cores": {1, 4, "5", "500m", "4500m", 0.5, nil, 0},
		"executor.image": randomImages, "executor.memory": append(slices.Clone(randomSizes), nil), "executor.cores": {1, "8", "9", "100m", nil},
		"executor.instances": {0, 1, 10, 11, nil}, "submissionByUser": switches,
	},
}

func merged(fields ...map[string][]any) map[string][]any {
	all := map[string][]any{}
	for _, some := range fields {
		for path, values := range some {
			all[path] = values
		}
	}
	return all
}

// randomSettings are values of the rules, each with one that switches it off.
var randomSettings = map[string][]string{
	policy.KeyDenied: {
		"spark.kubernetes.driver.master", "spark.kubernetes.authenticate.*, spark.kubernetes.driver.master", "spark.kubernetes.driver.label.*", " ",
		"spark.kubernetes.driver.annotation.b,spark.kubernetes.executor.annotation.z", "spark.kubernetes.container.image.pullPolicy\nspark.driver.memoryOverhead",
	},
	policy.KeyExecutors: {"10", "0", " 10 ", ""}, policy.KeyWorkers: {"10", "0"}, policy.KeyDriverMemory: {"16g", "4096", "2tb"},
	policy.KeyExecutorMemory: {"16g", "20480m"}, policy.KeyDriverCores: {"4", "4.5", "2000m"}, policy.KeyExecutorCores: {"8"},
	policy.KeyLabels: {"team", "team, example.com/cost", ""}, policy.KeyRegistries: {"registry.example.com", "registry.example.com/, docker.io/apache/spark"},
	policy.KeyTimeToLive: {"required", "optional"}, policy.KeyHostPath: {"denied", "allowed"}, policy.KeyHostNamespaces: {"denied", "allowed"},
	policy.KeyPrivileged: {"denied", "denied", "allowed"},
}

// random draws an object and settings.
func (k kind) random(t testing.TB, draws *rng.Rand) (*unstructured.Unstructured, map[string]string) {
	t.Helper()
	pick := func(values []any) any { return values[draws.Below(len(values))] }
	spec, conf := map[string]any{}, map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(randomProperties)) {
		if draws.Chance(0.12) {
			conf[key] = pick(randomProperties[key])
		}
	}
	if len(conf) > 0 {
		spec["sparkConf"] = conf
	}
	if k.policy == "sparkcluster" {
		spec["clusterTolerations"] = map[string]any{"instanceConfig": map[string]any{"initWorkers": 1, "minWorkers": 1, "maxWorkers": 1}}
	}
	for _, path := range slices.Sorted(maps.Keys(randomFields[k.policy])) {
		if draws.Chance(0.25) {
			set(spec, strings.Split(path, "."), pick(randomFields[k.policy][path]))
		}
	}
	labels := map[string]string{}
	if draws.Chance(0.5) {
		labels["team"] = []string{"a", ""}[draws.Below(2)]
	}
	if draws.Chance(0.5) {
		labels["example.com/cost"] = "b"
	}
	settings := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(randomSettings)) {
		if draws.Chance(0.75) {
			settings[key] = randomSettings[key][draws.Below(len(randomSettings[key]))]
		}
	}
	object := k.object(t, spec, labels)
	if k.kind == "ScheduledSparkApplication" && k.policy == "spark" && draws.Chance(0.5) {
		set(object.Object, []string{"spec", "template", "metadata", "labels"}, map[string]any{"team": []any{"c", ""}[draws.Below(2)]})
	}
	return object, settings
}

// set sets a value in maps within maps.
func set(into map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := into[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[name] = inner
		}
		into = inner
	}
	into[path[len(path)-1]] = value
}
