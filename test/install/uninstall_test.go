package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// make uninstall runs this script, here with programs that only record what they are given.
func TestUninstallDeletesWhatIsOptionalToo(t *testing.T) {
	folder := t.TempDir()
	for program, script := range map[string]string{
		"go":      "#!/bin/sh\n",
		"kubectl": "#!/bin/sh\ncase $* in delete*'-f -'*) { echo ---; cat; echo; } >>" + folder + "/deleted.yaml ;; 'get crd'*) echo knative ;; esac\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "hack/deploy.sh"), "--uninstall")
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "CRDS=")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(folder, "deleted.yaml"))
	if err != nil {
		t.Fatal(err)
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
