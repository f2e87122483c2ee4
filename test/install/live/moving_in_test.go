package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/kubeflow"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

const root = "../../.."

// shell runs commands of the page about moving in: helm and kubectl are on its path.
type shell struct {
	server
	folder string
	// chart is that of the Kubeflow operator.
	chart string
}

func newShell(s server) shell {
	s.Helper()
	folder := s.TempDir()
	command := exec.CommandContext(s.Context(), "go", "build", "-trimpath", "-o", folder, "helm.sh/helm/v3/cmd/helm")
	command.Env = append(command.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		s.Fatalf("build helm: %v\n%s", err, output)
	}
	chart, err := kubeflow.Chart(s.Context(), root)
	if err != nil {
		s.Fatal(err)
	}
	return shell{s, folder, chart}
}

// run runs a command. Without a node, the Jobs of hooks cannot.
func (s shell) run(command string) string {
	s.Helper()
	firesteel, err := filepath.Abs(chartFolder)
	if err != nil {
		s.Fatal(err)
	}
	command = strings.NewReplacer(
		"spark-operator/spark-operator --version 2.5.2", s.chart+" --no-hooks",
		"oci://registry.example.com/firesteel/charts/firesteel", firesteel+" --no-hooks",
	).Replace(command)
	output, err := s.plane.Bash(s.Context(), s.folder, command, "HOME="+s.folder,
		"PATH="+s.folder+":"+os.Getenv(controlplane.Assets)+":"+os.Getenv("PATH"))
	if err != nil {
		s.Fatal(err)
	}
	return output
}

// page runs the command of the page that begins with a text.
func (s shell) page(begin string) string {
	s.Helper()
	command, err := pages.Command(root+"/docs/operators/moving-in.md", begin)
	if err != nil {
		s.Fatal(err)
	}
	return s.run(command)
}

// has reports whether a namespace has the service account of the Kubeflow operator's drivers.
func (s shell) hasAccount(namespace string) bool {
	s.Helper()
	return s.kubectl("", "-n", namespace, "get", "serviceaccount", "spark-operator-spark", "--ignore-not-found", "-o", "name") != ""
}

func (s shell) wants(what, output, want string) {
	s.Helper()
	if !strings.Contains(output, want) {
		s.Errorf("%s: %s\nwant %s", what, output, want)
	}
}

// The commands of the page are run in its order, with the chart of the Kubeflow operator and Helm itself. Its webhooks are never answered, as
// if it were stopped.
func TestCommandsOfThePageAboutMovingIn(t *testing.T) {
	s := newShell(start(t))
	for _, namespace := range []string{"spark-operator", "team-a", "team-b"} {
		s.kubectl("", "create", "namespace", namespace)
	}
	s.kubectl("", "create", "-f", s.chart+"/crds")
	s.awaitDefinitions("crd", "--all")
	for _, namespace := range []string{"team-a", "team-b"} {
		s.kubectl(application, "-n", namespace, "create", "-f", "-")
	}
	s.run("helm -n spark-operator install spark-operator spark-operator/spark-operator --version 2.5.2 --set 'spark.jobNamespaces={team-a,team-b}'")
	second := strings.ReplaceAll(application, "name: pi", "name: second")
	if _, err := s.plane.Kubectl(t.Context(), second, "-n", "team-a", "create", "-f", "-"); err == nil {
		t.Error("the webhook of the operator refuses nothing in a team's namespace")
	}

	// One team.
	s.page("kubectl -n team-a annotate serviceaccount")
	s.page("helm -n spark-operator upgrade spark-operator spark-operator/spark-operator")
	s.takesOver()
	notes := s.page("helm -n firesteel-system install firesteel")
	s.wants("the notes", notes, "kubectl delete mutatingwebhookconfiguration spark-operator-webhook")
	s.kubectl(second, "-n", "team-a", "create", "-f", "-")
	if !s.hasAccount("team-a") || !s.hasAccount("team-b") {
		t.Error("drivers of a team have lost their service account")
	}
	s.wants("the scope", s.kubectl("", "-n", "firesteel-system", "get", "configmap", "config-scope", "-o", "jsonpath={.data.watched-namespaces}"), "team-a")

	// All.
	s.page("kubectl -n spark-operator scale deployment")
	s.page("kubectl delete mutatingwebhookconfiguration")
	s.page("helm -n firesteel-system upgrade firesteel")
	s.wants("the scope", s.kubectl("", "-n", "firesteel-system", "get", "configmap", "config-scope", "-o", "jsonpath={.data.watched-namespaces}"), "team-a, team-b")
	s.kubectl(second, "-n", "team-b", "create", "-f", "-")

	s.page("kubectl -n team-b annotate serviceaccount")
	policies := s.page("kubectl get crd -l app.kubernetes.io/part-of=firesteel")
	if strings.Count(policies, "keep") != 2 {
		t.Errorf("Helm does not keep the CRDs: %s", policies)
	}
	s.page("mkdir empty")
	s.page("helm -n spark-operator upgrade spark-operator ./empty")
	if left := s.kubectl("", "-n", "spark-operator", "get", "deployments", "-o", "name"); left != "" {
		t.Errorf("the other operator left %s", left)
	}
	for _, namespace := range []string{"team-a", "team-b"} {
		if names := s.kubectl("", "-n", namespace, "get", crdName, "-o", "name"); strings.Count(names, "\n") != 2 {
			t.Errorf("%s has the applications %s", namespace, names)
		}
		if !s.hasAccount(namespace) {
			t.Errorf("drivers in %s have lost their service account", namespace)
		}
	}

	// Back, and without Helm.
	s.page(`kubectl -n firesteel-system patch configmap config-scope --type=merge -p '{"data":{"watched-namespaces":"team-b"}}'`)
	s.page("kubectl -n team-a get sparkapplications.sparkoperator.k8s.io")
	s.page("kubectl annotate crd -l app.kubernetes.io/part-of=firesteel")
	s.page(`kubectl -n firesteel-system patch configmap config-scope --type=merge -p '{"data":{"watched-namespaces":"team-a"}}'`)
	s.page("kubectl -n team-a get events")
}
