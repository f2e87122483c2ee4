// Package apply applies the manifests of a release to a real API server. KUBEBUILDER_ASSETS names the folder of its programs.
package apply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
	"github.com/firesteel-dev/firesteel/test/harness/previous"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
	"github.com/firesteel-dev/firesteel/hack/release/releasetest"
)

// server is an API server without objects of Firesteel.
type server struct {
	*testing.T
	controlPlane *controlplane.ControlPlane
}

func start(t *testing.T) server {
	t.Helper()
	controlPlane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Unaudited: true, ServerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(controlPlane.Stop)
	return server{t, controlPlane}
}

func (s server) kubectl(arguments ...string) string {
	s.Helper()
	output, err := s.controlPlane.Kubectl(s.Context(), "", arguments...)
	if err != nil {
		s.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// awaitDefinitions is that of the control plane.
func (s server) awaitDefinitions(choice ...string) {
	s.Helper()
	if err := s.controlPlane.AwaitDefinitions(s.Context(), choice...); err != nil {
		s.Fatal(err)
	}
}

// bash runs a command in a folder, with kubectl on its path.
func (s server) bash(folder, command string) {
	s.Helper()
	if _, err := s.controlPlane.Bash(s.Context(), folder, command); err != nil {
		s.Error(err)
	}
}

func TestReleaseIsAppliedByOneCommandAndAgain(t *testing.T) {
	release, s := releasetest.New(t, "v1.2.3", "").Folder, start(t)
	apply := []string{
		"apply", "--server-side", "-f", release.Path("firesteel.yaml"), "-f", release.Path("firesteel-crds-spark.apache.org.yaml"),
		"-f", release.Path("firesteel-crds-sparkoperator.k8s.io.yaml"),
	}
	s.kubectl(apply...)
	for _, optional := range []string{"workload", "archive", "driver-logs", "admission", "admission-accounts", "admission-warnings", "other-operators", "webhook", "console", "archive-service", "history"} {
		s.kubectl("apply", "--server-side", "-f", release.Path("firesteel-"+optional+".yaml"))
	}
	s.kubectl(apply...)
	s.awaitDefinitions("crd", "-l", "app.kubernetes.io/version=v1.2.3")
	if names := strings.Fields(s.kubectl("get", "crd", "-o", "name")); len(names) != 5 {
		t.Errorf("the cluster has the CRDs %v, want 5", names)
	}
	got := s.kubectl("-n", "firesteel-system", "get", "deployment", "controller",
		"-o", "jsonpath={.metadata.labels.app\\.kubernetes\\.io/version} {.spec.selector.matchLabels}")
	if !strings.HasPrefix(got, "v1.2.3 ") || strings.Count(got, "v1.2.3") != 1 {
		t.Errorf("the controller has version and selector %s, want the version v1.2.3, and not in the selector", got)
	}

	s.kubectl("delete", "--wait=false", "-f", release.Path("firesteel.yaml"))
	if names := strings.Fields(s.kubectl("get", "crd", "-o", "name")); len(names) != 5 {
		t.Errorf("after firesteel.yaml was deleted, the cluster has the CRDs %v, want 5", names)
	}
	s.kubectl("get", "clusterrole", "spark-driver")
	s.kubectl("-n", "default", "get", "rolebinding", "spark-driver-accounts")
}

// The page about upgrades has these lines.
func TestReleaseUpgradesTheVersionBeforeReleases(t *testing.T) {
	release, s, before := releasetest.New(t, "v1.2.3", "").Folder, start(t), t.TempDir()
	if err := previous.CopyConfig(t.Context(), "../../..", before, previous.Commit()); err != nil {
		t.Fatal(err)
	}
	config := before + "/config"
	s.kubectl("apply", "-f", config) // as make deploy did
	s.kubectl("-n", "firesteel-system", "patch", "configmap", "config-events", "--type=merge", "-p", `{"data": {"deletion-grace": "1h"}}`)

	crds := []string{"-f", release.Path("firesteel-crds-spark.apache.org.yaml"), "-f", release.Path("firesteel-crds-sparkoperator.k8s.io.yaml")}
	s.kubectl(append([]string{"apply", "--server-side"}, crds...)...)
	s.awaitDefinitions("crd", "-l", "app.kubernetes.io/part-of=firesteel")
	// kubectl takes defaults of the variables that make deploy applied for another's.
	s.kubectl("apply", "--server-side", "--force-conflicts", "-f", release.Path("firesteel.yaml"), "-f", release.Path("firesteel-workload.yaml"))
	s.kubectl("apply", "--server-side", "-f", release.Path("firesteel.yaml"), "-f", release.Path("firesteel-workload.yaml"))
	if schemas := s.kubectl("get", "crd", "-o", `jsonpath={.items[*].metadata.annotations.firesteel\.dev/schema}`); len(strings.Fields(schemas)) != 5 {
		t.Errorf("the CRDs have the schemas %s, want 5", schemas)
	}
	image := s.kubectl("-n", "firesteel-system", "get", "deployment", "controller", "-o", "jsonpath={.spec.template.spec.containers[*].image}")
	if strings.HasPrefix(image, "ko://") {
		t.Errorf("the controller's image is %s, which is that of the version before", image)
	}
	if grace := s.kubectl("-n", "firesteel-system", "get", "configmap", "config-events", "-o", "jsonpath={.data.deletion-grace}"); grace != "1h" {
		t.Errorf("the setting is %q, want 1h: it was there before", grace)
	}
	s.kubectl("apply", "--server-side", "--force-conflicts", "-f", config)
}

// Options share the ConfigMap config-handlers with firesteel.yaml and with each other.
func TestUpgradeKeepsWhatOptionsSet(t *testing.T) {
	release, newer, s := releasetest.New(t, "v1.2.3", "").Folder, releasetest.New(t, "v1.2.4", "").Folder, start(t)
	apply := func(release folder.Dir, option string) {
		t.Helper()
		file := release.Path("firesteel-" + option + ".yaml")
		if option == "eventing" { // its other objects are of Knative's kinds
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			documents := strings.Split(string(text), "\n---\n")
			i := slices.IndexFunc(documents, func(document string) bool { return strings.Contains(document, "name: config-handlers") })
			file = filepath.Join(t.TempDir(), "settings.yaml")
			if err := os.WriteFile(file, []byte(documents[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s.kubectl("apply", "--server-side", "--field-manager=firesteel-"+option, "-f", file)
	}
	handlers := func(when, want string) {
		t.Helper()
		got := s.kubectl("-n", "firesteel-system", "get", "configmap", "config-handlers", "-o", "jsonpath={.data.restart} {.data.ttl} {.data.schedule} {.data.namespace}")
		example := s.kubectl("-n", "firesteel-system", "get", "configmap", "config-handlers", "-o", "jsonpath={.data._example}")
		if strings.TrimSpace(got) != want || example == "" {
			t.Errorf("%s the handlers are %q, and the example is %q", when, got, example)
		}
	}
	const both = "external external external in-process"
	s.kubectl("apply", "--server-side", "-f", release.Path("firesteel.yaml"))
	apply(release, "eventing")
	apply(release, "workload-namespaces")
	handlers("after both options", both)
	s.kubectl("apply", "--server-side", "-f", newer.Path("firesteel.yaml"))
	handlers("after the newer firesteel.yaml", both)
	apply(newer, "workload-namespaces")
	apply(newer, "eventing")
	handlers("after the newer options", both)
	s.kubectl("delete", "-f", newer.Path("firesteel-workload-namespaces.yaml"))
	s.kubectl("apply", "--server-side", "-f", newer.Path("firesteel.yaml"))
	apply(newer, "eventing")
	handlers("after an option was taken back", "external external external")
}

// The README of the folder has these commands.
func TestExamplesOfTheFolderAreApplied(t *testing.T) {
	release, s := releasetest.New(t, "v1.2.3", "").Folder, start(t)
	page, err := os.ReadFile(release.Path("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	s.kubectl("create", "namespace", "team-a")
	applied := 0
	for line := range strings.Lines(string(page)) {
		command, isCommand := strings.CutPrefix(line, "    ")
		if !isCommand || !strings.Contains(command, "kubectl apply ") {
			continue // others need a node, Helm or a registry
		}
		s.bash(string(release), command)
		if strings.Contains(command, "firesteel-crds-") {
			s.awaitDefinitions("crd", "--all")
		}
		applied++
	}
	s.kubectl("get", "sparkapplications.spark.apache.org", "spark-pi")
	s.kubectl("get", "sparkapplications.sparkoperator.k8s.io", "spark-pi")
	s.kubectl("-n", "team-a", "get", "serviceaccount", "spark")
	s.kubectl("get", "validatingadmissionpolicy", "spark-rules.firesteel.dev")
	if applied < 8 {
		t.Errorf("the page has %d commands that apply something", applied)
	}
	options, err := pages.Command(release.Path("README.md"), "kubectl delete --ignore-not-found -f firesteel-webhook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.bash(string(release), options) // of which some were never applied
	left := s.kubectl("get", "validatingadmissionpolicy,clusterrole", "-l", "app.kubernetes.io/part-of=firesteel", "-o", "name")
	if strings.Contains(left, "spark-rules") || strings.Contains(left, "driver-logs") || !strings.Contains(left, "spark-driver") {
		t.Errorf("without options there are %s", left)
	}
}

// TestFirstOperatorsCommandsWork runs those of its documentation, and upgrades what they installed, which needs --force-conflicts once.
func TestFirstOperatorsCommandsWork(t *testing.T) {
	release, s := releasetest.New(t, "v1.2.3", "").Folder, start(t)
	s.kubectl("create", "-f", release.Path("manifest/spark-operator.yaml"))
	s.awaitDefinitions("crd", "--all")
	s.kubectl("create", "-f", release.Path("manifest/spark-application-example.yaml"))
	s.kubectl("create", "-f", release.Path("manifest/spark-application-example-gcp-service-account.yaml"))
	if got := s.kubectl("get", "sparkapplications", "spark-app-example", "-o=yaml"); !strings.Contains(got, "SparkPi") {
		t.Errorf("the example is %s", got)
	}
	newer := releasetest.New(t, "v1.2.4", "").Folder
	for _, files := range [][]string{
		{"-f", newer.Path("firesteel-crds-sparkoperator.k8s.io.yaml")},
		{"-f", newer.Path("firesteel.yaml"), "-f", newer.Path("firesteel-workload.yaml")},
	} {
		apply := append([]string{"apply", "--server-side"}, files...)
		if _, err := s.controlPlane.Kubectl(s.Context(), "", apply...); err == nil || !strings.Contains(err.Error(), "conflict") {
			t.Errorf("an upgrade needs no --force-conflicts: %v", err)
		}
		s.kubectl(append(apply, "--force-conflicts")...)
		s.kubectl(apply...)
	}
}
