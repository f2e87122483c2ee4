package install

import (
	"io"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"knative.dev/pkg/version"
)

// ofVersion returns the chart as the release of a version has it: with its version and the digest of its controller in the values.
func ofVersion(t *testing.T, name, digest string) *chart.Chart {
	t.Helper()
	loaded := load(t)
	loaded.Metadata.Version, loaded.Values["chartVersion"] = name, name
	image := loaded.Values["image"].(map[string]any)
	image["repository"], image["digest"] = "controller", digest
	return loaded
}

// Helm keeps the old chart's default values by --reuse-values, and with them its images.
func TestUpgradeWithTheValuesOfTheOldChartIsRefused(t *testing.T) {
	first, second := digest, "sha256:"+strings.Repeat("2", 64)
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: version.DefaultKubernetesMinVersion}
	helm := &action.Configuration{
		Releases: storage.Init(driver.NewMemory()), KubeClient: &kubefake.PrintingKubeClient{Out: io.Discard},
		Capabilities: capabilities, Log: t.Logf,
	}
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace = "firesteel", systemNamespace
	if _, err := install.Run(ofVersion(t, "1.2.2", first), map[string]any{"commonLabels": map[string]any{"team": "data"}}); err != nil {
		t.Fatal(err)
	}
	upgrade := action.NewUpgrade(helm)
	upgrade.Namespace, upgrade.ReuseValues = systemNamespace, true
	_, err := upgrade.Run("firesteel", ofVersion(t, "1.2.3", second), nil)
	if err == nil || !strings.Contains(err.Error(), "chartVersion is 1.2.2, and the chart is 1.2.3") || !strings.Contains(err.Error(), "write --reset-then-reuse-values") {
		t.Errorf("--reuse-values is answered with %v", err)
	}
	upgrade.ReuseValues, upgrade.ResetThenReuseValues = false, true
	upgraded, err := upgrade.Run("firesteel", ofVersion(t, "1.2.3", second), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	all.add(t, "the release", []byte(upgraded.Manifest))
	controller := all.get(t, "Deployment", "controller")
	expect(t, controller, "metadata: {labels: {team: data}}")
	if image := containers(t, controller)[0].(map[string]any)["image"]; image != "controller@"+second {
		t.Errorf("the image is %v, want the one of the new chart", image)
	}
}

// The values of a chart without this value have been kept, too.
func TestUpgradeFromAChartWithoutAVersionInItsValuesIsRefused(t *testing.T) {
	_, _, err := release{"firesteel", systemNamespace, "chartVersion: null"}.render(t)
	if err == nil || !strings.Contains(err.Error(), "write --reset-then-reuse-values") {
		t.Errorf("it is answered with %v", err)
	}
}
