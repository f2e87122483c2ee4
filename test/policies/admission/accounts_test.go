package admission

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// usesOnly lets a user use one service account.
func usesOnly(account string) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
		if asked.GetVerb() == "use" && asked.GetResource() == "serviceaccounts" && asked.GetNamespace() == "team-a" && asked.GetName() == account {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionDeny, "", nil
	})
}

func TestAccountsThatAnAuthorMayNotUseAreRefusedWhereverTheyAreNamed(t *testing.T) {
	policies := admissionPolicies(t, "admission-accounts", version.MajorMinor(1, 35))
	template := func(path string) []string {
		return []string{path + ".serviceAccountName", path + ".serviceAccount"}
	}
	properties := []string{"spark.kubernetes.authenticate.driver.serviceAccountName", "spark.kubernetes.authenticate.executor.serviceAccountName"}
	apache := append(template("driverSpec.podTemplateSpec.spec"), template("executorSpec.podTemplateSpec.spec")...)
	kubeflow := append([]string{"driver.serviceAccount", "executor.serviceAccount"}, append(template("driver.template.spec"), template("executor.template.spec")...)...)
	fields := map[string][]string{
		"apache": apache, "apache schedule": apache, "kubeflow": kubeflow, "kubeflow schedule": kubeflow, "early": nil,
		"cluster": append(template("masterSpec.statefulSetSpec.template.spec"), template("workerSpec.statefulSetSpec.template.spec")...),
	}
	for name, k := range kinds {
		p := policies[k.policy+"-service-accounts.firesteel.dev"]
		judge := func(spec map[string]any, may string) string {
			return strings.Join(denials(t, p.decisions(t, k.object(t, spec, nil), nil, nil, usesOnly(may))), "; ")
		}
		if said := judge(map[string]any{}, ""); said != "" {
			t.Errorf("%s without an account: %s", name, said)
		}
		var specs []map[string]any
		for _, field := range fields[name] {
			spec := map[string]any{}
			set(spec, strings.Split(field, "."), "reports")
			specs = append(specs, spec)
		}
		if name != "cluster" {
			for _, key := range properties {
				specs = append(specs, map[string]any{"sparkConf": map[string]any{key: "reports"}})
			}
		}
		for _, spec := range specs {
			if said := judge(spec, "reports"); said != "" {
				t.Errorf("%s %v of one who may use it: %s", name, spec, said)
			}
			if said := judge(spec, "other"); !strings.Contains(said, `"reports" is a service account that you may not use: name another, or ask for the verb use on it in namespace team-a`) {
				t.Errorf("%s %v of one who may use another: %q", name, spec, said)
			}
		}
	}
}
