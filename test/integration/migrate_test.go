package integration

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/test/harness/kubeflow"
)

// podWebhook is a webhook for all driver Pods, whose Service is absent.
const podWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: injector}
webhooks:
- name: inject.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: spark-operator, name: absent}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
`

// The Kubeflow operator runs, and Firesteel does not. What a move would meet is known before.
func TestMigrateCheckBesideTheKubeflowOperator(t *testing.T) {
	t.Parallel()
	m := &movingIn{env: ownPlane(t)}
	operator, err := kubeflow.Build(t.Context(), repository, m.dir)
	m.must(err)
	m.operator = operator
	chart, err := kubeflow.Chart(t.Context(), repository)
	m.must(err)
	_, err = m.Plane.Kubectl(t.Context(), "", "replace", "--filename="+chart+"/crds/sparkoperator.k8s.io_sparkapplications.yaml",
		"--filename="+chart+"/crds/sparkoperator.k8s.io_scheduledsparkapplications.yaml")
	m.must(err)
	m.createSparkConnect(chart)
	m.must(m.AddNamespace(t.Context(), kubeflow.Namespace))
	labels := map[string]string{"app.kubernetes.io/name": "spark-operator", "app.kubernetes.io/component": "controller"}
	_, err = m.Kube.AppsV1().Deployments(kubeflow.Namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-operator-controller", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "spark-operator-controller", Image: "spark-operator:2.5.2",
				Args: []string{"controller", "start", "--namespaces=team-a", "--enable-ui-service=false", "--controller-threads=10"},
			}}}},
		},
	}, metav1.CreateOptions{})
	m.must(err)
	a := m.team("team-a")
	m.start(a.ns)
	a.schedule("hourly", "@every 1h", "")
	a.bring([]string{"running-0", "completed-0"})

	// Everything is read.
	code, out, errOut := a.spark(t.Context(), "migrate check -o json")
	var report migration.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("exit code %d: %v: %s\n%s", code, err, errOut, out)
	}
	if code != 0 || !report.Ready || len(report.NotRead) > 0 {
		t.Errorf("exit code %d, not read: %q\n%s", code, report.NotRead, out)
	}
	if got := report.Suggested["config-kubeflow"]["ui-service"]; got != "disabled" || report.Suggested["config-scope"]["watched-namespaces"] != "team-a" {
		t.Errorf("the suggested settings are %v", report.Suggested)
	}
	if report.Drivers != (migration.DriverCounts{Running: 1, Compared: 1}) {
		t.Errorf("the drivers are %+v", report.Drivers)
	}
	for severity, wanted := range map[migration.Severity][]string{
		migration.Step:    {"The Kubeflow operator runs: ", "The CRD belongs to another owner"},
		migration.Differs: {"spec.containers[spark-kubernetes-driver].env[SPARK_CONF_DIR]", "may not create Pods"}, // spark-submit is a stand-in here
	} {
		for _, part := range wanted {
			if !hasItem(&report, severity, part) {
				t.Errorf("nothing says %q:\n%s", part, out)
			}
		}
	}
	if strings.Contains(out, "submission-id") {
		t.Errorf("the id of the attempt is a difference:\n%s", out)
	}

	// A user who may read applications alone.
	a.grant("limited", rbacv1.PolicyRule{APIGroups: []string{v1beta2.SchemeGroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	code, out, errOut = a.spark(t.Context(), "migrate check --as limited")
	for _, part := range []string{"ready: nothing stands in the way", "NOT READ", "drivers in the namespace team-a", "COMPLETED 1, RUNNING 1"} {
		if code != 0 || !strings.Contains(out, part) {
			t.Errorf("exit code %d: %s\nwithout %q:\n%s", code, errOut, part, out)
		}
	}
	a.sparkFails("migrate check --as nobody", 1, "ask for the right")

	// A webhook is in the way.
	_, err = a.kubectl(podWebhook, "apply", "-f", "-")
	m.must(err)
	if code, out, _ = a.spark(t.Context(), "migrate check"); code != 1 || !strings.Contains(out, "inject.example.org") || !strings.Contains(out, "its Service spark-operator/absent does not exist") {
		t.Errorf("exit code %d with a webhook in the way:\n%s", code, out)
	}
}

func hasItem(report *migration.Report, severity migration.Severity, part string) bool {
	for _, item := range report.Of(severity) {
		if strings.Contains(item.Message, part) {
			return true
		}
	}
	return false
}

// grant gives a user rights in the namespace.
func (t *team) grant(user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	_, err := t.Kube.RbacV1().Roles(t.ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}, metav1.CreateOptions{})
	t.must(err)
	_, err = t.Kube.RbacV1().RoleBindings(t.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	t.must(err)
	t.untilRightsAreKnown()
}
