// Package hack tests the scripts that choose a cluster. Stand-ins take the place of kind, kubectl, go and container engines.
package hack

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tools are the real programs that the scripts need.
var tools = []string{"awk", "basename", "bash", "cat", "dirname", "env", "false", "grep", "make", "mkdir", "mktemp", "nice", "printenv", "rm", "sed", "sleep", "true"}

// standIn records how it was called, with the cluster that it would use, and runs a script.
const standIn = `#!/usr/bin/env bash
echo "${0##*/} $*" >>"$RECORD"
echo "${KUBECONFIG:-}" >>"$RECORD.kubeconfigs"
`

// foreign is the kubeconfig in a user's environment.
const foreign = "/home/user/kubeconfig"

// machine is an environment with stand-ins.
type machine struct {
	bin, cache, record string
	variables          map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{bin: filepath.Join(dir, "bin"), cache: filepath.Join(dir, "cache"), record: filepath.Join(dir, "record")}
	m.variables = map[string]string{"FIRESTEEL_CACHE": m.cache, "RECORD": m.record, "PATH": m.bin, "HOME": dir, "KUBECONFIG": foreign}
	if err := os.Mkdir(m.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		program, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(m.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	m.install(t, "id", "echo 0")
	m.install(t, "uname", "echo Linux")
	m.install(t, "kubectl", `case $* in *current-context) echo prod ;; *view*) echo https://prod.example.com ;; esac`)
	m.install(t, "go", `case $* in *" env") echo KUBECONFIG=/local/kubeconfig ;; "env GOARCH") echo arm64 ;; esac`)
	return m
}

// install adds a stand-in that runs a script. It takes the place of a link to a real program: a write through the link would destroy that program.
func (m *machine) install(t *testing.T, name, script string) {
	t.Helper()
	path := filepath.Join(m.bin, name)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(standIn+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// kind adds stand-ins of kind and of a container engine. clusters are those that it has.
func (m *machine) kind(t *testing.T, clusters ...string) {
	t.Helper()
	m.install(t, "docker", "")
	m.install(t, "kind", `[[ $* != "get clusters" ]] || echo '`+strings.Join(clusters, "\n")+`'`)
	m.variables["CLUSTER"] = "kind"
}

// run runs a command in the root of the repository. It returns what the command printed, and whether it succeeded.
func (m *machine) run(t *testing.T, program string, args ...string) (output string, ok bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = ".."
	if program == "make" {
		command.Path = filepath.Join(m.bin, program)
	}
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		command.Env = append(command.Env, name+"="+m.variables[name])
	}
	text, err := command.CombinedOutput()
	return string(text), err == nil
}

// must is run of a command that succeeds.
func (m *machine) must(t *testing.T, program string, args ...string) string {
	t.Helper()
	output, ok := m.run(t, program, args...)
	if !ok {
		t.Fatalf("%s %v failed:\n%s", program, args, output)
	}
	return output
}

// calls returns the calls of a stand-in.
func (m *machine) calls(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(m.record)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(text)) {
		if args, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+" "); ok {
			calls = append(calls, args)
		}
	}
	return calls
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
}

func TestKindClusterIsCreatedAndUsed(t *testing.T) {
	m := newMachine(t)
	m.kind(t, "other", "firesteel-2")
	output := m.must(t, "hack/with-cluster.sh", "env")
	kubeconfig := filepath.Join(m.cache, "kind/kubeconfig")
	mustContain(t, output, "KUBECONFIG="+kubeconfig+"\n", "KO_DOCKER_REPO=kind.local\n", "KIND_CLUSTER_NAME=firesteel\n", "KO_DEFAULTPLATFORMS=linux/arm64\n")
	want := []string{"get clusters", "create cluster --name=firesteel --kubeconfig=" + kubeconfig + " --wait=120s"}
	if got := m.calls(t, "kind"); !slices.Equal(got, want) {
		t.Errorf("kind was called with %q, want %q", got, want)
	}
}

func TestKindClusterThatIsThereIsUsed(t *testing.T) {
	m := newMachine(t)
	m.kind(t, "firesteel")
	m.must(t, "hack/with-cluster.sh", "--as-found", "true")
	want := []string{"get clusters", "export kubeconfig --name=firesteel --kubeconfig=" + filepath.Join(m.cache, "kind/kubeconfig")}
	if got := m.calls(t, "kind"); !slices.Equal(got, want) {
		t.Errorf("kind was called with %q, want %q", got, want)
	}
}

func TestKindClusterOfOneCommandIsDeletedAfterIt(t *testing.T) {
	m := newMachine(t)
	m.kind(t)
	if _, ok := m.run(t, "hack/with-cluster.sh", "--as-found", "false"); ok {
		t.Error("the failure of the command is lost")
	}
	if calls := m.calls(t, "kind"); !strings.HasPrefix(calls[len(calls)-1], "delete cluster --name=firesteel ") {
		t.Errorf("kind was called with %q", calls)
	}
}

func TestClusterDownDeletesTheKindCluster(t *testing.T) {
	m := newMachine(t)
	m.kind(t, "firesteel")
	m.must(t, "make", "cluster-down")
	if calls := m.calls(t, "kind"); len(calls) != 1 || !strings.HasPrefix(calls[0], "delete cluster --name=firesteel ") {
		t.Errorf("kind was called with %q", calls)
	}
}

func TestKindNamesWhatIsMissing(t *testing.T) {
	m := newMachine(t)
	m.variables["CLUSTER"] = "kind"
	output, ok := m.run(t, "hack/with-cluster.sh", "true")
	if ok {
		t.Error("it succeeds without kind")
	}
	mustContain(t, output, "no kind on the PATH")
	m.install(t, "kind", "")
	output, ok = m.run(t, "hack/with-cluster.sh", "true")
	if ok {
		t.Error("it succeeds without a container engine")
	}
	mustContain(t, output, "no docker, podman or nerdctl on the PATH")
}

func TestEventingIsNotInstalledInOtherClusters(t *testing.T) {
	m := newMachine(t)
	m.kind(t, "firesteel")
	m.variables["EVENTING"] = "yes"
	m.install(t, "kubectl", "exit 1")
	output, ok := m.run(t, "hack/with-cluster.sh", "true")
	if ok {
		t.Error("it succeeds without Knative Eventing")
	}
	mustContain(t, output, "yours to install")
}

func TestExistingClusterIsNamed(t *testing.T) {
	m := newMachine(t)
	m.variables["CLUSTER"] = "existing"
	mustContain(t, m.must(t, "hack/with-cluster.sh", "printenv", "KUBECONFIG"), "context prod of "+foreign+": https://prod.example.com", "\n"+foreign+"\n")
	if output, ok := m.run(t, "hack/with-cluster.sh", "--down"); ok {
		t.Errorf("it takes an existing cluster down:\n%s", output)
	}
}

func TestKubeconfigAloneChoosesNoCluster(t *testing.T) {
	for _, target := range []string{
		"run", "cluster", "cluster-down", "deploy", "deploy-eventing", "undeploy-eventing", "uninstall", "namespace", "demo", "demo-eventing", "eventing", "test-e2e", "bench-eventing",
	} {
		t.Run(target, func(t *testing.T) {
			m := newMachine(t)
			m.run(t, "make", target) // the stand-ins may make it fail
			text, err := os.ReadFile(m.record + ".kubeconfigs")
			if err != nil {
				t.Fatal(err)
			}
			record, err := os.ReadFile(m.record)
			if err != nil {
				t.Fatal(err)
			}
			kubeconfigs := strings.Split(string(text), "\n")
			for i, call := range strings.Split(string(record), "\n") {
				usesCluster := strings.HasPrefix(call, "kubectl") || strings.HasPrefix(call, "go run ./cmd/setup") || strings.HasPrefix(call, "go build -o")
				if usesCluster && kubeconfigs[i] == foreign {
					t.Errorf("%s uses the cluster of KUBECONFIG", call)
				}
			}
			if !slices.ContainsFunc(m.calls(t, "go"), func(call string) bool { return strings.HasPrefix(call, "run ./cmd/localcluster ") }) {
				t.Error("it does not ask for the local cluster")
			}
		})
	}
}

func TestDemoSaysWhatItDoesBeforeItDoesIt(t *testing.T) {
	m := newMachine(t)
	m.install(t, "go", "exit 1")
	output, _ := m.run(t, "make", "demo")
	mustContain(t, output, "about 12 minutes on two cores", "build Kubernetes")
	if err := os.MkdirAll(filepath.Join(m.cache, "bin/kubernetes"), 0o755); err != nil {
		t.Fatal(err)
	}
	output, _ = m.run(t, "make", "demo")
	mustContain(t, output, "about 1.5 minutes")
	if strings.Contains(output, "build Kubernetes") {
		t.Errorf("it announces to build what is built:\n%s", output)
	}

	m.variables["CLUSTER"] = "existing"
	output, _ = m.run(t, "make", "demo")
	mustContain(t, output, "KO_DOCKER_REPO: the registry")
	if calls := m.calls(t, "kubectl"); len(calls) > 0 {
		t.Errorf("without a registry, kubectl was called with %q", calls)
	}
	m.variables["KO_DOCKER_REPO"] = "registry.example.com/firesteel"
	output, _ = m.run(t, "make", "demo")
	mustContain(t, output, "context prod", "namespace firesteel-system", "spark-pi, word-count, flaky and misspelt-class", "ClusterRoles", "registry.example.com/firesteel", "Deploying Firesteel")
	for _, call := range m.calls(t, "kubectl") {
		if !strings.HasPrefix(call, "config ") {
			t.Errorf("kubectl was called with %s although no image could be built", call)
		}
	}
}
