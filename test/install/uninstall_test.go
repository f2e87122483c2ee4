package install

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// uninstall runs the script of make uninstall, with programs that only record what they are given. It returns what was deleted, and what the script wrote.
// Before a deletion is recorded, refuse runs, a part of a shell script.
func uninstall(t *testing.T, refuse string) (deleted []byte, output string, err error) {
	t.Helper()
	folder := t.TempDir()
	for program, script := range map[string]string{
		"go":      "#!/bin/sh\n",
		"kubectl": "#!/bin/sh\ncd " + folder + "\ncase $* in delete*'-f -'*) " + refuse + "\n{ echo ---; cat; echo; } >>deleted.yaml ;; 'get crd'*) echo knative ;; esac\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "hack/deploy.sh"), "--uninstall")
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "CRDS=")
	said, err := command.CombinedOutput()
	deleted, readErr := os.ReadFile(filepath.Join(folder, "deleted.yaml"))
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	return deleted, string(said), err
}

func TestUninstallDeletesWhatIsOptionalToo(t *testing.T) {
	text, output, err := uninstall(t, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	deleted := objects{}
	deleted.add(t, "what is deleted", text)
	for name, o := range read(t, "*.yaml", "admission*/*.yaml", "archive/*.yaml", "console/*.yaml", "archive-service/5*.yaml", "driver-logs/*.yaml", "other-operators/*.yaml", "webhook/*.yaml", "history/*.yaml", "workload-namespaces/2*.yaml",
		"eventing/[1-8]*.yaml", "archive-eventing/[5-7]*.yaml", "workload-namespaces-eventing/[5-7]*.yaml") {
		stays := o.GetKind() == "CustomResourceDefinition" || o.GetName() == "spark-driver"
		if (deleted[name] == nil) != stays {
			t.Errorf("%s is deleted: %t", name, deleted[name] != nil)
		}
	}
}

func TestUninstallGoesOnWhenAWebhookAnswersAgain(t *testing.T) {
	once := `[ -e refused ] || { touch refused; echo 'Error from server (InternalError): failed calling webhook "w.knative.dev": connection refused' >&2; exit 1; }`
	all, _, err := uninstall(t, "")
	if err != nil {
		t.Fatal(err)
	}
	deleted, output, err := uninstall(t, once)
	if err != nil || !bytes.Equal(deleted, all) {
		t.Errorf("%v, and %d bytes of manifests are deleted in place of %d\n%s", err, len(deleted), len(all), output)
	}
}

func TestUninstallEndsAtOtherErrors(t *testing.T) {
	deleted, output, err := uninstall(t, "echo 'error: timed out waiting for the condition' >&2; exit 1")
	if err == nil || len(deleted) > 0 || strings.Count(output, "timed out") != 1 {
		t.Errorf("it ends with %v, and deletes %d bytes of manifests\n%s", err, len(deleted), output)
	}
}
