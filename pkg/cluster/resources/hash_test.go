package resources_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

const richCluster = `
sparkConf: {spark.ui.port: "4040", spark.worker.cleanup.enabled: "true"}
masterSpec: {statefulSetSpec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: master, resources: {limits: {memory: 2Gi}}}]}}}}
workerSpec: {statefulSetSpec: {template: {spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: worker, env: [{name: A, value: b}]}]}}}}
`

// TestGoldenHashes fails if the encoding of the built objects or of their sources changes. An upgrade would then
// write the StatefulSets of every cluster, and replace its Pods.
func TestGoldenHashes(t *testing.T) {
	want := map[string][2]string{
		"plain c-master": {"b729b8cb47ce9a98", "2-fc9fbb6f4667e4df-1-b729b8cb47ce9a98"},
		"plain c-worker": {"bc90fc687bae2ced", "2-fc9fbb6f4667e4df-2-bc90fc687bae2ced"},
		"rich c-master":  {"b5b7e5deeef25a62", "2-2be69a8827305a36-1-b5b7e5deeef25a62"},
		"rich c-worker":  {"d6b0a9908d9093a9", "2-10852dc56775bad8-2-d6b0a9908d9093a9"},
	}
	got := map[string][2]string{}
	for name, spec := range map[string]string{"plain ": "", "rich ": richCluster} {
		objects := build(t, spec)
		for _, set := range []*appsv1.StatefulSet{objects.Master, objects.Worker} {
			got[name+set.Name] = [2]string{set.Annotations[HashAnnotation], set.Annotations[MadeOfAnnotation]}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hash and sources (-want +got):\n%s", diff)
	}
}

// builtOtherwise is a StatefulSet as another version of Firesteel builds it from the same spec.
func builtOtherwise(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	other := set.DeepCopy()
	other.Spec.Template.Spec.EnableServiceLinks = ptr.To(true)
	const hash = "0123456789abcdef"
	made := strings.TrimSuffix(set.Annotations[MadeOfAnnotation], set.Annotations[HashAnnotation])
	other.Annotations[HashAnnotation], other.Annotations[MadeOfAnnotation] = hash, made+hash
	return other
}

func TestSameSource(t *testing.T) {
	worker := build(t, "").Worker
	otherwise := builtOtherwise(worker)
	earlier := worker.DeepCopy()
	delete(earlier.Annotations, MadeOfAnnotation)
	rewritten := otherwise.DeepCopy() // by an earlier version, which does not know of the annotation, after an edit
	rewritten.Annotations[HashAnnotation] = "fedcba9876543210"
	scaled := build(t, workers(3, 2, 2)).Worker
	edited := build(t, `sparkConf: {a: b}`).Worker
	for name, test := range map[string]struct {
		existing, wanted *appsv1.StatefulSet
		same, butPods    bool
	}{
		"the same":                               {worker, worker, true, true},
		"built otherwise from the same":          {otherwise, worker, true, true},
		"of an earlier version":                  {earlier, worker, true, false},
		"of an earlier version, built otherwise": {rewritten, worker, false, false},
		"scaled":                                 {build(t, workers(2, 2, 2)).Worker, scaled, false, true},
		"scaled, built otherwise":                {builtOtherwise(build(t, workers(2, 2, 2)).Worker), scaled, false, true},
		"edited":                                 {worker, edited, false, false},
		"edited, built otherwise":                {otherwise, edited, false, false},
		"another operator's":                     {&appsv1.StatefulSet{}, worker, false, false},
	} {
		if got := Same(test.existing, test.wanted); got != test.same {
			t.Errorf("%s: same is %t", name, got)
		}
		if got := SameButPods(test.existing, test.wanted); got != test.butPods {
			t.Errorf("%s: same but for Pods is %t", name, got)
		}
	}
}

// Changes in other parts of a cluster's spec replace no Pods.
func TestSourcesAreOfTheirStatefulSetOnly(t *testing.T) {
	plain := build(t, "")
	for spec, want := range map[string][2]bool{
		`suspend: true`: {true, true}, `masterSpec: {serviceMetadata: {labels: {a: b}}}`: {true, true},
		`masterSpec: {statefulSetMetadata: {labels: {a: b}}}`: {false, true}, `workerSpec: {statefulSetSpec: {minReadySeconds: 1}}`: {true, false},
		`sparkConf: {a: b}`: {false, false}, `runtimeVersions: {sparkVersion: 4.2.0}`: {false, false},
	} {
		changed := build(t, spec)
		if got := [2]bool{SameButPods(plain.Master, changed.Master), SameButPods(plain.Worker, changed.Worker)}; got != want {
			t.Errorf("with %s master and workers are made of the same: %v", spec, got)
		}
	}
	other, err := Build(cluster(t, ""), Defaults{Image: "ours"})
	if err != nil || SameButPods(plain.Master, other.Master) || SameButPods(plain.Worker, other.Worker) {
		t.Errorf("another image is set, and they are made of the same: %v", err)
	}
}
