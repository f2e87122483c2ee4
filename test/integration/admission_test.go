package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// The API server refuses with the policy of config/admission what otherwise only the controller would. It is bound to the
// namespace of this test, since others look at the controller's refusals.
func TestAdmissionPolicyRefusesPropertiesThatGiveRights(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	const denied = "spark.kubernetes.authenticate.driver.serviceAccountName"
	s.admit("old", denied+": other") // before there is a policy
	policy, err := os.ReadFile(configFolder + "/admission/400-sparkoperator-properties.yaml")
	s.must(err)
	_, err = s.kubectl(string(policy)+"  matchResources:\n    namespaceSelector:\n      matchLabels:\n        kubernetes.io/metadata.name: "+s.ns+"\n",
		"apply", "-f", "-")
	s.must(err)
	t.Cleanup(func() {
		_, err := s.Plane.Kubectl(context.WithoutCancel(t.Context()), string(policy), "delete", "-f", "-")
		s.must(err)
	})
	// The API server takes some time to read the policy.
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		_, err := s.tryProperty("new", denied+": other", "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), `sparkConf key "`+denied+`" is not allowed`), nil
	})
	s.must(err)
	s.admit("new", "spark.executor.memory: 1g", "--dry-run=server")
	s.admit("new", "spark.kubernetes.namespace: "+s.ns, "--dry-run=server")
	if _, err := s.tryProperty("new", "spark.kubernetes.namespace: kube-system", "--dry-run=server"); err == nil {
		t.Error("an application in another namespace than its own is admitted")
	}
	// What is there already can have its metadata edited, but not its spec.
	if _, err := s.kubectl("", "label", kubeflowApplications, "old", "team=a"); err != nil {
		t.Errorf("a label is refused: %v", err)
	}
	if _, err := s.kubectl("", "patch", kubeflowApplications, "old", "--type=merge", "-p", `{"spec":{"mode":"cluster"}}`); err == nil {
		t.Error("an edit that leaves the property is admitted")
	}
}

const kubeflowApplications = "sparkapplications.sparkoperator.k8s.io"

// admit checks that an application with a property is admitted.
func (s *env) admit(name, property string, arguments ...string) {
	s.Helper()
	if _, err := s.tryProperty(name, property, arguments...); err != nil {
		s.Errorf("%s is refused: %v", property, err)
	}
}

// tryProperty hands an application with a property to kubectl.
func (s *env) tryProperty(name, property string, arguments ...string) (string, error) {
	manifest := fmt.Sprintf(`
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: %s
spec:
  suspend: true
  mainApplicationFile: local:///opt/main.jar
  sparkConf:
    %s
  driver: {}
  executor: {}
`, name, property)
	return s.kubectl(manifest, append([]string{"create", "-f", "-"}, arguments...)...)
}
