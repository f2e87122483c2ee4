package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

const namedAccount = "spark.kubernetes.authenticate.driver.serviceAccountName"

// workloadRBAC applies config/workload to the test's namespace, as a GitOps tool does.
func (s *env) workloadRBAC() {
	s.Helper()
	manifest, err := os.ReadFile(filepath.Join("..", "..", "config", "workload", "rbac.yaml"))
	s.must(err)
	_, err = s.kubectl(strings.ReplaceAll(string(manifest), "namespace: default", "namespace: "+s.ns), "apply", "--filename=-")
	s.must(err)
}

// may reports whether a service account of the test's namespace may create Pods there.
func (s *env) may(account string) bool {
	s.Helper()
	answer, _ := s.kubectl("", "auth", "can-i", "create", "pods", "--as=system:serviceaccount:"+s.ns+":"+account)
	return strings.TrimSpace(answer) == "yes"
}

func TestServiceAccountsForSparkAloneGetDriverRights(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	role, err := os.ReadFile(filepath.Join("..", "..", "config", "202-spark-driver-clusterrole.yaml"))
	s.must(err)
	_, err = s.kubectl(string(role), "apply", "--filename=-")
	s.must(err)
	s.workloadRBAC()
	for account, want := range map[string]bool{"spark": true, "spark-operator-spark": true, "default": false} {
		if got := s.may(account); got != want {
			t.Errorf("%s may create Pods: %t, want %t", account, got, want)
		}
	}
}

func TestServiceAccountBindingOfAnEarlierVersionSurvivesAnUpgrade(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	earlier := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-driver"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: s.ns}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "spark-driver"},
	}
	before, err := s.Kube.RbacV1().RoleBindings(s.ns).Create(t.Context(), earlier, metav1.CreateOptions{})
	s.must(err)
	s.workloadRBAC()
	after, err := s.Kube.RbacV1().RoleBindings(s.ns).Get(t.Context(), "spark-driver", metav1.GetOptions{})
	s.must(err)
	if after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the binding was changed: %s", described(after))
	}
}

func TestServiceAccountThatIsNotNamedIsWarnedOf(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	s.driver("pi", 0)
	message := s.untilCondition("pi", "Warning", metav1.ConditionTrue, "SpecNotHonored").Message
	for _, part := range []string{"spec.sparkConf[" + namedAccount, "config-defaults", s.ns + "/default", "--serviceaccount=" + s.ns + ":default"} {
		if !strings.Contains(message, part) {
			t.Errorf("the warning %q does not contain %q", message, part)
		}
	}
	s.kubeflowApplication(strings.Replace(sparkPi("4.1.1"), "    serviceAccount: default\n", "", 1))
	app := s.untilShown("spark-pi", v1beta2.SubmittedState)
	if c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionWarning); c == nil ||
		!strings.Contains(c.Message, "spec.driver.serviceAccount") || !strings.Contains(c.Message, "config-kubeflow") {
		t.Errorf("the warning is %+v", c)
	}
}

func TestServiceAccountOfTheSetting(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.serviceAccount("spark")
	s.serviceAccount("own")
	s.configured("config-defaults", "driver-service-account", "spark")
	s.ownController(controllerOf(s))
	s.create(App("pi"))
	s.create(App("own").Conf(namedAccount, "own"))
	for name, want := range map[string]string{"pi": "spark", "own": "own"} {
		if got := s.driver(name, 0).Spec.ServiceAccountName; got != want {
			t.Errorf("the driver of %s runs as %s, want %s", name, got, want)
		}
		s.untilState(name, "DriverRequested")
		if c := s.condition(name, "Warning"); c != nil {
			t.Errorf("%s has the warning %q", name, c.Message)
		}
	}
	if text := s.confMap("pi-0-spark-drv-conf-map").Data["spark.properties"]; !strings.Contains(text, namedAccount+"=spark") {
		t.Errorf("executors do not get the account:\n%s", text)
	}
}
