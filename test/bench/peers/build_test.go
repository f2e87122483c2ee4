package main

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes a file below a folder of the test, and returns its path.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := writeFile(file, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCatalogHasTheVersionsAndNothingElse(t *testing.T) {
	file := write(t, t.TempDir(), "libs.versions.toml", `# a comment
[versions]
fabric8 = "7.8.0"
operator-sdk = "5.5.1"

[libraries]
kubernetes-client = { group = "io.fabric8", name = "kubernetes-client", version.ref = "fabric8" }
[plugins]
other = "1"
`)
	versions, err := catalog(file)
	if err != nil || len(versions) != 2 || versions["fabric8"] != "7.8.0" || versions["operator-sdk"] != "5.5.1" {
		t.Errorf("versions are %v, error %v", versions, err)
	}
}

func TestCatalogWithoutTheOperatorSDKIsRefused(t *testing.T) {
	file := write(t, t.TempDir(), "libs.versions.toml", "[versions]\nfabric8 = \"7.8.0\"\n")
	if versions, err := catalog(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("versions are %v, error %v", versions, err)
	}
}

const chart = `operatorDeployment:
  operatorPod:
    operatorContainer:
      jvmArgs: "-XX:+UseParallelGC -XX:MaxRAMPercentage=80"
      resources:
        limits:
          memory: 2Gi
`

func TestChartGivesTheOperatorItsArgumentsAndItsMemory(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "values.yaml", chart)
	crd := write(t, folder, "crds/a.yaml", "")
	var b apacheBuild
	if err := b.readChart(folder); err != nil {
		t.Fatal(err)
	}
	if b.memory != 2048 || !slices.Equal(b.jvmArguments, []string{"-XX:+UseParallelGC", "-XX:MaxRAMPercentage=80"}) || !slices.Equal(b.crds, []string{crd}) {
		t.Errorf("the chart is read as %+v", b)
	}
}

func TestChartOfAnotherFormIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no memory": strings.Replace(chart, "memory: 2Gi", "cpu: 1", 1), "no arguments": strings.Replace(chart, "jvmArgs", "javaArgs", 1),
		"another unit": strings.Replace(chart, "2Gi", "2048M", 1), "no CRDs": chart,
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "values.yaml", text)
			if name != "no CRDs" {
				write(t, folder, "crds/a.yaml", "")
			}
			if err := new(apacheBuild).readChart(folder); err == nil || !strings.Contains(err.Error(), folder) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestTemplatesHaveTheirVariablesFilled(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write(t, from, "io/Versions.java", `String SDK = "${project.version}";`)
	if err := fillTemplates(from, to, map[string]string{"${project.version}": "5.5.1"}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "io", "Versions.java")); err != nil || string(text) != `String SDK = "5.5.1";` {
		t.Errorf("it is %q, error %v", text, err)
	}
}

func TestArchiveWritesNothingOutsideItsFolder(t *testing.T) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for _, name := range []string{"../outside", "in/side"} {
		if err := writer.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	if err := unpackTar(&archive, filepath.Join(parent, "folder")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(parent, "outside")); err == nil {
		t.Error("it wrote ../outside")
	}
	if _, err := os.Stat(filepath.Join(parent, "folder", "in", "side")); err != nil {
		t.Error(err)
	}
}
