package crd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

const sparkClusters = "300-sparkcluster.yaml"

func TestClustersOfAllKindsAreTaken(t *testing.T) {
	manifests := bytes.Split(read(t, "testdata/clusters.yaml"), []byte("\n---\n"))
	for _, manifest := range append(manifests, read(t, "../../examples/cluster.yaml")) {
		name := decode(t, manifest)["metadata"].(map[string]any)["name"].(string)
		t.Run(name, func(t *testing.T) {
			for _, version := range sparkVersions {
				resource := newResource(t, sparkClusters, version)
				if unknown := resource.unknown(t, manifest); len(unknown) > 0 {
					t.Errorf("%s does not know %q", version, unknown)
				}
				admitted, refusal := resource.admit(t, manifest)
				if refusal != nil {
					t.Errorf("%s refuses it: %v", version, refusal)
				}
				if diff := cmp.Diff(decode(t, manifest), admitted); diff != "" {
					t.Errorf("changed (-given +admitted):\n%s", diff)
				}
				decodeCluster(t, admitted)
			}
		})
	}
}

func TestUnknownFieldsOfClusterTemplatesAreReported(t *testing.T) {
	admitted, _ := newResource(t, sparkClusters, "v1").admit(t, cluster(t, "a",
		`{workerSpec: {statefulSetSpec: {tomorrow: {}, template: {spec: {containers: [{nam: worker}]}}}}}`))
	want := []string{
		`unknown field "spec.workerSpec.statefulSetSpec.template.spec.containers[0].nam"`,
		`unknown field "spec.workerSpec.statefulSetSpec.tomorrow"`,
	}
	if got := decodeCluster(t, admitted).UnknownFields; !cmp.Equal(want, got) {
		t.Errorf("unknown fields %q, want %q", got, want)
	}
}

func TestClusterThatCannotBeDecodedHasItsName(t *testing.T) {
	admitted, refusal := newResource(t, sparkClusters, "v1").admit(t, cluster(t, "odd",
		`{masterSpec: {statefulSetSpec: {template: {spec: {containers: 5}}}}}`))
	if refusal != nil {
		t.Fatalf("the schema is stricter than the Apache operator's: %v", refusal)
	}
	decoded := &sparkv1.SparkCluster{}
	decodeInto(t, admitted, decoded)
	if decoded.Name != "odd" || !strings.Contains(decoded.Undecodable, "containers") {
		t.Errorf("%s: %s", decoded.Name, decoded.Undecodable)
	}
}

func TestSparkClusterSchemaCoversItsGoType(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(30).Funcs(ofRecords()...).Funcs(
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
		func(at *metav1.MicroTime, _ randfill.Continue) { *at = metav1.NewMicroTime(metav1.Unix(1, 0).Time) },
		func(_ *metav1.ObjectMeta, _ randfill.Continue) {},
		func(_ *appsv1.StatefulSetSpec, _ randfill.Continue) {},
		func(_ *corev1.ServiceSpec, _ randfill.Continue) {},
		func(_ *autoscalingv2.HorizontalPodAutoscalerSpec, _ randfill.Continue) {},
		func(_ *networkingv1.NetworkPolicyPeer, _ randfill.Continue) {},
	)
	cluster := &sparkv1.SparkCluster{}
	filler.Fill(cluster)
	text, err := json.Marshal(cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range sparkVersions {
		if lacking := newResource(t, sparkClusters, version).unknown(t, text); len(lacking) > 0 {
			t.Errorf("%s lacks %q", version, lacking)
		}
	}
}

func TestRefusedClusters(t *testing.T) {
	for name, test := range map[string]struct {
		name, spec string
		want       string // part of the message; empty where it is accepted
	}{
		"no tolerations":                        {spec: `{clusterTolerations: null}`, want: "spec.clusterTolerations"},
		"no numbers of workers":                 {spec: `{clusterTolerations: {instanceConfig: {initWorkers: 1}}}`, want: "minWorkers"},
		"fewer workers than none":               {spec: workers(-1, 1, 1), want: "initWorkers"},
		"no workers":                            {spec: workers(0, 0, 0)},
		"a minimum above the maximum":           {spec: workers(2, 5, 1)},
		"more or fewer than the range":          {spec: workers(7, 1, 3)},
		"a version that is no label":            {spec: `{runtimeVersions: {sparkVersion: "4.1+mine"}}`, want: "sparkVersion"},
		"a name that Services cannot have":      {name: "a.b", spec: `{}`, want: `"a.b" cannot begin the names of Services`},
		"a name that begins with a digit":       {name: "4you", spec: `{}`, want: "of which the first is a letter"},
		"a name that is too long":               {name: strings.Repeat("a", 53), spec: `{}`, want: "at most 52"},
		"the longest name":                      {name: strings.Repeat("a", 52), spec: `{}`},
		"metrics that no client may read":       {spec: `{workerSpec: {networkPolicy: {metricsPort: 9404, metricsIngress: []}}}`, want: "metricsIngress"},
		"metrics without a port":                {spec: `{workerSpec: {networkPolicy: {metricsIngress: [{}]}}}`, want: "metricsPort"},
		"a template that Kubernetes refuses":    {spec: `{workerSpec: {statefulSetSpec: {template: {spec: {containers: [{}]}}}}}`},
		"a StatefulSet without much of a spec":  {spec: `{masterSpec: {statefulSetSpec: {}}}`},
		"an autoscaler without what it scales":  {spec: `{workerSpec: {horizontalPodAutoscalerSpec: {}}}`},
		"a property that is a number":           {spec: `{sparkConf: {spark.worker.ui.port: 8082}}`, want: "spark.worker.ui.port"},
		"everything that is optional left null": {spec: `{masterSpec: null, workerSpec: null, sparkConf: null, suspend: null}`},
	} {
		t.Run(name, func(t *testing.T) {
			admitted, refusal := newResource(t, sparkClusters, "v1").admit(t, cluster(t, test.name, test.spec))
			switch {
			case test.want == "" && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case test.want == "":
				decodeCluster(t, admitted)
			case refusal == nil || !strings.Contains(refusal.Error(), test.want):
				t.Errorf("refused with %v, want a message with %q", refusal, test.want)
			}
		})
	}
}

// kubectl scale changes only initWorkers. If that would have no effect, it says why.
func TestScalingIsRefusedWhileAnAutoscalerScales(t *testing.T) {
	const submitted = `{currentState: {currentStateSummary: Submitted}}`
	const template = `{template: {spec: {containers: [{name: worker, image: a}]}}}`
	scaled := workers(2, 1, 3)
	for name, test := range map[string]struct {
		stored, edited string
		status         string // of what is stored; empty for that of a cluster that runs
		refused        bool
	}{
		"before the cluster is seen":     {stored: scaled, edited: workers(3, 1, 3), status: `{}`},
		"while its creation is held":     {stored: with(scaled, `suspend: true`), edited: with(workers(3, 1, 3), `suspend: true`), status: submitted},
		"while it is created":            {stored: scaled, edited: workers(3, 1, 3), status: submitted, refused: true},
		"suspended in vain":              {stored: with(scaled, `suspend: true`), edited: with(workers(3, 1, 3), `suspend: true`), refused: true},
		"once nothing is left of it":     {stored: scaled, edited: workers(3, 1, 3), status: `{currentState: {currentStateSummary: ResourceReleased}}`},
		"scaling":                        {stored: scaled, edited: workers(3, 1, 3), refused: true},
		"scaling by hand":                {stored: workers(2, 2, 2), edited: workers(3, 2, 2)},
		"scaling with min above max":     {stored: workers(2, 3, 1), edited: workers(4, 3, 1)},
		"an edit of the range":           {stored: scaled, edited: workers(2, 1, 5)},
		"an edit of all numbers":         {stored: scaled, edited: workers(5, 5, 5)},
		"nothing":                        {stored: scaled, edited: scaled},
		"a template and the number":      {stored: scaled, edited: with(workers(3, 1, 3), `workerSpec: {statefulSetSpec: `+template+`}`)},
		"another template and number":    {stored: with(scaled, `workerSpec: {statefulSetSpec: `+template+`}`), edited: with(workers(3, 1, 3), `workerSpec: {statefulSetSpec: {template: {spec: {containers: [{name: worker, image: b}]}}}}`)},
		"the same template, scaled":      {stored: with(scaled, `workerSpec: {statefulSetSpec: `+template+`}`), edited: with(workers(3, 1, 3), `workerSpec: {statefulSetSpec: `+template+`}`), refused: true},
		"a property and the number":      {stored: with(scaled, `sparkConf: {a: b}`), edited: with(workers(3, 1, 3), `sparkConf: {a: c}`)},
		"a version and the number":       {stored: scaled, edited: with(workers(3, 1, 3), `runtimeVersions: {sparkVersion: 4.2.0}`)},
		"a suspension and the number":    {stored: scaled, edited: with(workers(3, 1, 3), `suspend: true`)},
		"the same properties, scaled":    {stored: with(scaled, `sparkConf: {a: b}`), edited: with(workers(3, 1, 3), `sparkConf: {a: b}`), refused: true},
		"scaling as the autoscaler goes": {stored: scaled, edited: workers(3, 3, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			resource := newResource(t, sparkClusters, "v1")
			stored, refusal := resource.admit(t, cluster(t, "a", test.stored))
			if refusal != nil {
				t.Fatal(refusal)
			}
			edited, _ := resource.admit(t, cluster(t, "a", test.edited))
			if test.status == "" {
				test.status = `{currentState: {currentStateSummary: RunningHealthy}, workers: {replicas: 2, registered: 2}}`
			}
			status := decode(t, []byte(test.status))
			stored["status"], edited["status"] = status, status // which an edit of the spec leaves as it is
			refusal = resource.refuseUpdate(t, edited, stored)
			if refused := refusal != nil; refused != test.refused {
				t.Fatalf("refused with %v", refusal)
			}
			if test.refused && !strings.Contains(refusal.Error(), "spec.clusterTolerations.instanceConfig.initWorkers: Invalid value") {
				t.Errorf("refused with %v", refusal)
			}
		})
	}
}

func TestSparkClusterAcceptsTheStatusOfTheOtherOperator(t *testing.T) {
	text := []byte(`
apiVersion: spark.apache.org/v1
kind: SparkCluster
metadata: {name: adopted}
spec: {runtimeVersions: {sparkVersion: 4.0.0}, clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}}
status:
  currentState: {currentStateSummary: RunningHealthy, lastTransitionTime: "2026-01-02T03:04:05.123456789Z", message: Cluster has reached ready state.}
  stateTransitionHistory:
    "0": {currentStateSummary: Submitted, lastTransitionTime: "2026-01-02T03:04:05Z"}
  currentAttemptSummary: {attemptInfo: {id: 0, restartCounter: 0}}
`)
	admitted, refusal := newResource(t, sparkClusters, "v1").admit(t, text)
	if refusal != nil {
		t.Errorf("refused: %v", refusal)
	}
	if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
		t.Errorf("changed (-given +admitted):\n%s", diff)
	}
	decodeCluster(t, admitted)
}

func workers(initially, least, most int) string {
	return fmt.Sprintf(`{clusterTolerations: {instanceConfig: {initWorkers: %d, minWorkers: %d, maxWorkers: %d}}}`, initially, least, most)
}

// with adds a field to a spec.
func with(spec, field string) string { return strings.TrimSuffix(spec, "}") + ", " + field + "}" }

// cluster is one with some fields of a spec, which may override those that it must have.
func cluster(t *testing.T, name, spec string) []byte {
	t.Helper()
	fields := decode(t, []byte(with(workers(1, 1, 1), `runtimeVersions: {sparkVersion: 4.1.4}`)))
	maps.Copy(fields, decode(t, []byte(spec)))
	if name == "" {
		name = "c"
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkCluster", "metadata": map[string]any{"name": name}, "spec": fields,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decodeCluster(t *testing.T, object map[string]any) *sparkv1.SparkCluster {
	t.Helper()
	cluster := &sparkv1.SparkCluster{}
	decodeInto(t, object, cluster)
	if cluster.Undecodable != "" {
		t.Errorf("accepted, but cannot be decoded: %s", cluster.Undecodable)
	}
	return cluster
}
