package install

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func TestPodsMeetTheRestrictedProfile(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	const values = "eventing: {enable: true}\nwebhook: {enable: true}\nconsole: {enable: true}\narchiveService: {enable: true}\nhistory: {enable: true}\ncontroller: {archive: true, sink: {extensions: {cluster: a}}}"
	for install, all := range map[string]objects{
		"chart": with(t, values), "chart with a token": with(t, "controller: {sink: {uri: https://sink, audience: sink}}"),
		"config": read(t, "*.yaml", "eventing/5*.yaml", "archive-eventing/5*.yaml", "webhook/5*.yaml", "console/5*.yaml", "archive-service/5*.yaml", "history/5*.yaml"),
	} {
		pods := 0
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if kind := all[name].GetKind(); kind != "Deployment" && kind != "Job" {
				continue
			}
			pods++
			text, err := json.Marshal(podSpec(t, all[name]))
			if err != nil {
				t.Fatal(err)
			}
			spec := &corev1.PodSpec{}
			if err := json.Unmarshal(text, spec); err != nil {
				t.Fatal(err)
			}
			if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{}, spec)); !result.Allowed {
				t.Errorf("%s: the Pods of %s violate the restricted profile: %s", install, name, result.ForbiddenDetail())
			}
		}
		if pods == 0 {
			t.Errorf("%s has no Pods", install)
		}
	}
}
