// Package live runs Helm against a real API server. KUBEBUILDER_ASSETS names the folder of its programs.
package live

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/cli"
)

const (
	namespace   = "default"
	chartFolder = root + "/charts/firesteel"
	crdName     = "sparkapplications.sparkoperator.k8s.io"
)

// application is one of the other operator, as kubectl takes it.
const application = `{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: pi}, spec: {type: Scala, mode: cluster,
  sparkVersion: 4.1.1, mainApplicationFile: "local:///pi.jar", driver: {}, executor: {}}}`

// server is an API server, and Helm for it.
type server struct {
	*testing.T
	plane *controlplane.ControlPlane
	helm  *action.Configuration
}

func start(t *testing.T) server {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Unaudited: true, ServerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	settings := cli.New()
	settings.KubeConfig = plane.Kubeconfig()
	s := server{t, plane, &action.Configuration{}}
	if err := s.helm.Init(settings.RESTClientGetter(), namespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s server) kubectl(input string, arguments ...string) string {
	s.Helper()
	output, err := s.plane.Kubectl(s.Context(), input, arguments...)
	if err != nil {
		s.Fatal(err)
	}
	return output
}

// awaitDefinitions is that of the control plane.
func (s server) awaitDefinitions(choice ...string) {
	s.Helper()
	if err := s.plane.AwaitDefinitions(s.Context(), choice...); err != nil {
		s.Fatal(err)
	}
}

// otherOperator is a chart with a CRD among its templates, and something else. Those of the two operators have their CRDs in the folder
// crds, which Helm neither upgrades nor deletes; other charts made of them do not.
func otherOperator(t *testing.T) *chart.Chart {
	t.Helper()
	crd, err := os.ReadFile(root + "/config/300-sparkoperator-sparkapplication.yaml")
	if err != nil {
		t.Fatal(err)
	}
	foreign := strings.ReplaceAll(string(crd), "app.kubernetes.io/part-of: firesteel", "app.kubernetes.io/part-of: another")
	if foreign == string(crd) {
		t.Fatal("the CRD has no label of Firesteel")
	}
	foreign = strings.ReplaceAll(foreign, "{{", `{{ "{{" }}`)
	return named("other", &chart.File{Name: "templates/crd.yaml", Data: []byte(foreign)}, &chart.File{
		Name: "templates/settings.yaml", Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"),
	})
}

func named(name string, templates ...*chart.File) *chart.Chart {
	return &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: "0.0.0"},
		Templates: templates,
	}
}

// installed has another operator's release with an application.
func installed(t *testing.T) server {
	t.Helper()
	s := start(t)
	install := action.NewInstall(s.helm)
	install.ReleaseName, install.Namespace = "other", namespace
	if _, err := install.Run(otherOperator(t), nil); err != nil {
		t.Fatal(err)
	}
	s.awaitDefinitions("crd/" + crdName)
	s.kubectl(application, "create", "-f", "-")
	return s
}

// takesOver applies Firesteel's CRDs as the hook of the chart does, and returns the releases that have them.
func (s server) takesOver() []string {
	s.Helper()
	const api = "sparkoperator.k8s.io"
	if _, err := s.applyCRDs(s.plane.Admin(), crds.Options{}, api); err == nil || !strings.Contains(err.Error(), "the CRD "+crdName+" belongs to ") {
		s.Errorf("of the CRD of another operator, it says %v", err)
	}
	result, err := s.applyCRDs(s.plane.Admin(), crds.Options{TakeOver: true}, api)
	if err != nil {
		s.Fatal(err)
	}
	return result.Releases
}

func TestCRDsOfAnotherReleaseOutliveIt(t *testing.T) {
	s := installed(t)
	if releases := s.takesOver(); !slices.Equal(releases, []string{"default/other"}) {
		t.Errorf("the releases with the CRDs are %v", releases)
	}
	uid := s.kubectl("", "get", crdName, "pi", "-o", "jsonpath={.metadata.uid}")

	upgrade := action.NewUpgrade(s.helm)
	upgrade.Namespace = namespace
	if _, err := upgrade.Run("other", named("empty"), nil); err != nil {
		t.Fatal(err)
	}
	if left := s.kubectl("", "get", "configmap", "settings", "--ignore-not-found", "-o", "name"); left != "" {
		t.Errorf("the upgrade left %s", left)
	}
	if _, err := action.NewUninstall(s.helm).Run("other"); err != nil {
		t.Fatal(err)
	}
	if now := s.kubectl("", "get", crdName, "pi", "-o", "jsonpath={.metadata.uid}"); now != uid {
		t.Errorf("the application is %q, want %q", now, uid)
	}
	if deleted := s.kubectl("", "get", "crd", crdName, "-o", "jsonpath={.metadata.deletionTimestamp}"); deleted != "" {
		t.Error("the CRD is being deleted")
	}
}

// If this fails, Helm looks at the live object now, and the upgrade before is not needed any more.
func TestUninstallingTheReleaseAloneDeletesItsCRDs(t *testing.T) {
	s := installed(t)
	s.takesOver()
	if _, err := action.NewUninstall(s.helm).Run("other"); err != nil {
		t.Fatal(err)
	}
	s.kubectl("", "wait", "--for=delete", "--timeout=60s", "crd/"+crdName)
}
