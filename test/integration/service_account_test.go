package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

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

// knownRights counts the calls of untilRightsAreKnown.
var knownRights atomic.Int64

// untilRightsAreKnown waits until the API server allows what the roles and bindings that exist allow. It knows them from watches, each of which
// reports in order: once it knows those that are created here, it knows all earlier ones.
func (s *env) untilRightsAreKnown() {
	s.Helper()
	name := fmt.Sprintf("known-%d", knownRights.Add(1))
	meta := metav1.ObjectMeta{Name: name}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes", "pods"}}}
	user := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	rbac, namespaced := s.Kube.RbacV1(), name+"-in-namespace"
	_, err := rbac.ClusterRoles().Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	s.must(err)
	_, err = rbac.ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: user, RoleRef: ref("ClusterRole")}, metav1.CreateOptions{})
	s.must(err)
	_, err = rbac.Roles(s.ns).Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	s.must(err)
	user = []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: namespaced}}
	_, err = rbac.RoleBindings(s.ns).Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: user, RoleRef: ref("Role")}, metav1.CreateOptions{})
	s.must(err)
	for user, of := range map[string]authorizationv1.ResourceAttributes{
		name: {Verb: "get", Resource: "nodes"}, namespaced: {Verb: "get", Resource: "pods", Namespace: s.ns},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &of}}
		s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
			answer, err := s.Kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		}))
	}
}

// may reports whether a service account of the test's namespace may create Pods there.
func (s *env) may(account string) bool {
	s.Helper()
	s.untilRightsAreKnown()
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
