package hostile

import (
	"encoding/json"
	"fmt"
	"reflect"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// Kind is one that is served.
type Kind struct {
	APIVersion, Kind, Resource string

	// base is a spec that works.
	base string
	// spec is the type of what manifests are made of, at a path within the spec.
	spec reflect.Type
	path []string
	// scheduled means that a schedule has it.
	scheduled bool
}

const (
	apacheSpec = `{"mainClass": "Main", "jars": "local:///a.jar", "runtimeVersions": {"sparkVersion": "4.1.1"},
		"sparkConf": {"spark.kubernetes.container.image": "spark:4.1.1"}}`
	kubeflowSpec = `{"type": "Scala", "mode": "cluster", "image": "spark:4.1.1", "sparkVersion": "4.1.1", "mainClass": "Main",
		"mainApplicationFile": "local:///a.jar", "driver": {"cores": 1}, "executor": {"instances": 1}}`
)

// Kinds are those that are served.
var Kinds = []Kind{
	{APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Resource: "sparkapplications",
		base: apacheSpec, spec: reflect.TypeFor[sparkv1.ApplicationSpec]()},
	{APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "SparkApplication", Resource: "sparkapplications",
		base: kubeflowSpec, spec: reflect.TypeFor[v1beta2.SparkApplicationSpec]()},
	{APIVersion: "spark-operator.k8s.io/v1alpha1", Kind: "SparkApplication", Resource: "sparkapplications",
		base: `{"mainClass": "Main", "mainApplicationFile": "local:///a.jar", "driver": {"image": "spark:4.1.1"}, "executor": {"image": "spark:4.1.1"}}`,
		spec: reflect.TypeFor[earlyv1alpha1.SparkApplicationSpec]()},
	{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Resource: "sparkclusters",
		base: `{"runtimeVersions": {"sparkVersion": "4.1.1"}, "clusterTolerations": {"instanceConfig": {"initWorkers": 1, "minWorkers": 1, "maxWorkers": 1}}}`,
		spec: reflect.TypeFor[sparkv1.ClusterSpec]()},
	{APIVersion: "firesteel.dev/v1alpha1", Kind: "ScheduledSparkApplication", Resource: "scheduledsparkapplications", scheduled: true,
		base: `{"schedule": "@daily", "template": {"spec": ` + apacheSpec + `}}`,
		spec: reflect.TypeFor[sparkv1.ApplicationSpec](), path: []string{"template", "spec"}},
	{APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "ScheduledSparkApplication", Resource: "scheduledsparkapplications", scheduled: true,
		base: `{"schedule": "@daily", "template": ` + kubeflowSpec + `}`,
		spec: reflect.TypeFor[v1beta2.SparkApplicationSpec](), path: []string{"template"}},
}

// String is the kind with its version.
func (k Kind) String() string { return k.APIVersion + " " + k.Kind }

// With returns an object of the kind with something in its spec, or in that of the application it schedules.
func (k Kind) With(spec any) []byte { return k.manifest("ordinary", "good", k.within(spec)) }

// within puts a spec of an application to where the kind has it.
func (k Kind) within(spec any) any {
	for i := len(k.path); i > 0; i-- {
		spec = map[string]any{k.path[i-1]: spec}
	}
	return spec
}

// manifest is an object of the kind with something in its spec.
func (k Kind) manifest(namespace, name string, change any) []byte {
	var base any
	if err := json.Unmarshal([]byte(k.base), &base); err != nil {
		panic(fmt.Sprintf("%s: %v", k, err))
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": map[string]any{
			"name": name, "namespace": namespace, "uid": "u-" + name, "creationTimestamp": "2026-11-01T00:00:00Z",
		},
		"spec": merged(base, change),
	})
	if err != nil {
		panic(fmt.Sprintf("%s: %v", k, err))
	}
	return text
}

// merged puts one value over another, as a merge patch does.
func merged(base, over any) any {
	its, ok := over.(map[string]any)
	if !ok {
		return over
	}
	result := map[string]any{}
	if below, ok := base.(map[string]any); ok {
		for key, value := range below {
			result[key] = value
		}
	}
	for key, value := range its {
		result[key] = merged(result[key], value)
	}
	return result
}
