package submission

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestVolcanosPodGroupComesBeforeThePod(t *testing.T) {
	plan := pi("spark.kubernetes.driver.pod.featureSteps=" + volcanoStep)
	objects := mustBuild(t, plan)
	wantEqual(t, "objects before", len(objects.Before), 1)
	const name = "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061-podgroup"
	wantEqual(t, "name", objects.Before[0].GetName(), name)
	wantEqual(t, "annotation", objects.Driver.Annotations["scheduling.k8s.io/group-name"], name)
	wantRefused(t, with(plan, podGroupFileKey+"=/x.yaml"), podGroupFileKey, "/x.yaml", "create the PodGroup yourself")
	wantRefused(t, version(with(plan, podGroupFileKey+"=/x.yaml"), "4.2.0"), podGroupJSONKey)
	mustBuild(t, pi(podGroupFileKey+"=/x.yaml"))
}

func TestVolcanosPodGroupHasTheTemplateThatAPropertyHolds(t *testing.T) {
	plan := version(pi("spark.kubernetes.driver.pod.featureSteps="+volcanoStep), "4.2.0")
	plan.Labels = map[string]string{"own": "yes"}
	for template, want := range map[string]map[string]any{
		`{"metadata":{"name":"theirs","labels":{"a":"b"}},"spec":{"minMember":2,"queue":"q"}}`: {"minMember": 2.0, "queue": "q"},
		`{"metadata":{"labels":{"a":"b"}}}`:                                                    {},
		"metadata: {labels: {a: b}}":                                                           {},
	} {
		group := mustBuild(t, with(plan, podGroupJSONKey+"="+template)).Before[0].(*unstructured.Unstructured)
		wantEqual(t, "spec", group.Object["spec"], any(want))
		wantEqual(t, "name", group.GetName(), plan.Names.AppID+"-podgroup")
		wantEqual(t, "labels", group.GetLabels(), map[string]string{"a": "b", "own": "yes"})
	}
	for _, template := range []string{"{", "[]", "x", `{"spec":[]}`, `{"metadata":"x"}`} {
		wantRefused(t, with(plan, podGroupJSONKey+"="+template), podGroupJSONKey, "minMember")
		mustBuild(t, version(with(plan, podGroupJSONKey+"="+template), "4.1.0"))
	}
}
