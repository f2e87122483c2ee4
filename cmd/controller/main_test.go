package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubernetesversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestMain runs the controller if the environment asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_CONTROLLER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// newOldCluster returns the kubeconfig of an API server without objects, of an old version.
func newOldCluster(t *testing.T, version string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := any(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound,
		})
		if r.URL.Path == "/version" {
			answer = kubernetesversion.Info{GitVersion: version}
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["old"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["old"] = &clientcmdapi.Context{Cluster: "old"}
	config.CurrentContext = "old"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestControllerEndsOnAnOldClusterAndNamesTheVersionThatIsNeeded(t *testing.T) {
	controller := exec.CommandContext(t.Context(), os.Args[0], "-local")
	controller.Env = append(os.Environ(), "RUN_CONTROLLER=yes", "KUBECONFIG="+newOldCluster(t, "v1.33.9"),
		"SYSTEM_NAMESPACE=firesteel-system", "CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability", "CONFIG_LEADERELECTION_NAME=config-leader-election")
	output, err := controller.CombinedOutput()
	if err == nil || !strings.Contains(string(output), `kubernetes version \"1.33.9\" is not compatible, need at least \"1.34.0`) {
		t.Errorf("the controller ends with %v:\n%s", err, output)
	}
}

func TestControllerRefusesArgumentsOfTheKubeflowOperator(t *testing.T) {
	for arguments, want := range map[string]string{
		"controller start --namespaces=team-a": "What takes its place: watched-namespaces in config-scope",
		"-local controller":                    `"controller" is unexpected`,
	} {
		controller := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(arguments)...)
		controller.Env = append(os.Environ(), "RUN_CONTROLLER=yes", "KUBECONFIG="+newOldCluster(t, "v1.35.0"))
		output, err := controller.CombinedOutput()
		if err == nil || !strings.Contains(string(output), want) {
			t.Errorf("%s: the controller ends with %v:\n%s", arguments, err, output)
		}
	}
}
