package spark

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// list reads a file of names.
func list(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			names = append(names, line)
		}
	}
	return names
}

func TestImagesOfManifestsAreThere(t *testing.T) {
	images := Images()
	for _, name := range list(t, "images.txt") {
		if !slices.Contains(images, Canonical(name)) {
			t.Errorf("there is no image %s", Canonical(name))
		}
	}
}

func TestJarsOfManifestsAreThere(t *testing.T) {
	jars := exampleJars()
	for _, name := range list(t, "jars.txt") {
		if !slices.Contains(jars, name) {
			t.Errorf("there is no jar %s", name)
		}
	}
	slices.Sort(jars)
	if len(slices.Compact(slices.Clone(jars))) != len(jars) {
		t.Errorf("a jar is there twice: %v", jars)
	}
}

func TestRepositoriesHaveNoHost(t *testing.T) {
	names := Repositories(Images())
	for _, want := range []string{"apache/spark:" + Default.Version, "library/spark:4.0.0", "spark-operator/spark:v3.1.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range names {
		if strings.Contains(name, "docker.io") || strings.Count(name, ":") != 1 {
			t.Errorf("%s is no repository with a tag", name)
		}
	}
}

// find are the releases of these versions.
func find(t *testing.T, versions ...string) []Release {
	t.Helper()
	found, err := Find(versions...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEachImageIsOfOneRelease(t *testing.T) {
	held := WithDefault(find(t, "3.5.9", "4.3.0", Default.Version, "3.5.9"))
	if len(held) != 3 {
		t.Fatalf("held are %v", held)
	}
	owners := map[string]string{}
	for _, r := range held {
		for _, name := range r.Names(held) {
			if owners[name] != "" {
				t.Errorf("%s is of %s and of %s", name, owners[name], r.Version)
			}
			owners[name] = r.Version
		}
	}
	for _, name := range Images() {
		if owners[name] == "" {
			t.Errorf("%s is of no release", name)
		}
	}
	for name, want := range map[string]string{
		"docker.io/apache/spark:3.5.9":                                  "3.5.9",
		"docker.io/library/spark:3.5.3-scala2.12-java11-python3-ubuntu": "3.5.9",
		"ghcr.io/apache/spark-docker/spark:3.5.0":                       "3.5.9",
		"docker.io/apache/spark:3.4.1":                                  "4.1.4",
		"docker.io/apache/spark:4.1.0-preview1":                         "4.1.4",
		"docker.io/apache/spark:4.2.0-scala":                            "4.1.4",
		"docker.io/apache/spark:4.3.0-python3":                          "4.3.0",
		"gcr.io/spark-operator/spark:v3.1.1":                            "4.1.4",
	} {
		if owners[name] != want {
			t.Errorf("%s is of %s, not %s", name, owners[name], want)
		}
	}
}

func TestMissingReleaseIsNamed(t *testing.T) {
	if _, err := Find("2.4.0"); err == nil || !strings.Contains(err.Error(), `"2.4.0"`) || !strings.Contains(err.Error(), "3.5.9, 4.0.5") {
		t.Errorf("got %v", err)
	}
}

func TestStandInsAreNamed(t *testing.T) {
	withSpark35 := WithDefault(find(t, "3.5.9"))
	for _, held := range [][]Release{{Default}, withSpark35} {
		for _, r := range held {
			lines := r.StandIns(held)
			text := strings.Join(lines, "\n")
			for _, name := range r.standIns(held) {
				repository, tag, _ := strings.Cut(name, ":")
				named := slices.ContainsFunc(lines, func(line string) bool {
					return strings.HasPrefix(line, repository+":") && strings.Contains(line, ":"+tag) && strings.HasSuffix(line, r.Version)
				})
				if !named {
					t.Errorf("%s is not named in:\n%s", name, text)
				}
			}
			if strings.Contains(text, ":"+r.Version+",") || strings.Contains(text, ":"+r.Version+" ") {
				t.Errorf("%s is no stand-in:\n%s", r.Version, text)
			}
		}
	}
	if text := strings.Join(Default.StandIns(withSpark35), "\n"); strings.Contains(text, ":3.5") {
		t.Errorf("Spark 3.5 is held, and yet:\n%s", text)
	}
}

func TestNamesOfImagesAreCompleted(t *testing.T) {
	for name, want := range map[string]string{
		"spark:4.0.0":            "docker.io/library/spark:4.0.0",
		"apache/spark:4.0.0":     "docker.io/apache/spark:4.0.0",
		"gcr.io/spark/spark:v1":  "gcr.io/spark/spark:v1",
		"localhost:5000/spark:1": "localhost:5000/spark:1",
	} {
		if got := Canonical(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestFilesOfPySparkHaveTheirPlacesInTheImage(t *testing.T) {
	for name, want := range map[string]string{
		"pyspark-4.1.4/deps/jars/a.jar":       "jars/a.jar",
		"pyspark-4.1.4/deps/bin/spark-submit": "bin/spark-submit",
		"pyspark-4.1.4/deps/examples/pi.py":   "examples/src/main/python/pi.py",
		"pyspark-4.1.4/deps/data/x/y":         "data/x/y",
		"pyspark-4.1.4/pyspark/sql/a.py":      "python/pyspark/sql/a.py",
		"pyspark-4.1.4/lib/py4j-src.zip":      "python/lib/py4j-src.zip",
		"pyspark-4.1.4/setup.py":              "",
		"pyspark-4.1.4/deps/bin/pyspark.cmd":  "",
		"pyspark-4.1.4/deps/../../etc/passwd": "",
	} {
		if got, wanted := place(name); got != want || wanted != (want != "") {
			t.Errorf("%s: got %q, %t", name, got, wanted)
		}
	}
}

func TestEditDebian(t *testing.T) {
	content, keep := editDebian("etc/passwd", strings.NewReader("root:x:0:0\n"))
	text, err := io.ReadAll(content)
	if err != nil || !keep || !strings.Contains(string(text), "root:x:0:0\nspark:x:185:185:") {
		t.Errorf("got %q, %t, %v", text, keep, err)
	}
	for name, want := range map[string]bool{"usr/share/doc/x": false, "dev/null": false, "dev": true, "usr/bin/tini": true} {
		if _, keep := editDebian(name, nil); keep != want {
			t.Errorf("%s: kept is %t", name, keep)
		}
	}
}

func TestZipFolder(t *testing.T) {
	base := t.TempDir()
	if err := writeFile(filepath.Join(base, "pyspark", "sql", "a.py"), strings.NewReader("pass"), 0o644); err != nil {
		t.Fatal(err)
	}
	dest := filepath.Join(t.TempDir(), "lib", "x.zip")
	if err := zipFolder(dest, base, "pyspark"); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(dest)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.File) != 1 || archive.File[0].Name != "pyspark/sql/a.py" {
		t.Errorf("got %v", archive.File)
	}
}

func TestChangedDownloadIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jar")
	if err := os.WriteFile(file, []byte("agent"), 0o600); err != nil {
		t.Fatal(err)
	}
	const digest = "d4f0bc5a29de06b510f9aa428f1eedba926012b591fef7a518e776a7c9bd1824"
	if err := checkDigest(file, digest); err != nil {
		t.Error(err)
	}
	if err := checkDigest(file, exporterJar.digest); err == nil || !strings.Contains(err.Error(), "a.jar has the SHA-256 digest "+digest) {
		t.Errorf("got %v", err)
	}
}

func TestJarsAreNamedWithTheirClassifiers(t *testing.T) {
	module, err := needs(connectors)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`xmlns:m="http://ant.apache.org/ivy/maven"`,
		`<dependency org="org.apache.hadoop" name="hadoop-aws" rev="3.4.2" conf="default-&gt;default" transitive="false">`,
		`<artifact name="gcs-connector" type="jar" m:classifier="shaded">`,
		`<artifact name="bundle" type="jar">`,
	} {
		if !strings.Contains(string(module), want) {
			t.Errorf("ivy.xml lacks %s:\n%s", want, module)
		}
	}
	for want, j := range map[string]jar{
		"gcs-connector-hadoop3-2.2.26-shaded.jar": gsJar, "bundle-2.29.52.jar": amazonJar, "jmx_prometheus_javaagent-0.11.0.jar": exporterJar,
	} {
		if got := j.file(); got != want {
			t.Errorf("the file of %s is %s, not %s", j.name, got, want)
		}
	}
}

func TestOnlyTheServicesThatAreNamedStayInAmazonsLibrary(t *testing.T) {
	folder, dest := t.TempDir(), filepath.Join(t.TempDir(), "bundle.jar")
	kept := []string{"META-INF/MANIFEST.MF", "software/amazon/awssdk/core/A.class", "software/amazon/awssdk/services/s3/B.class", "software/amazon/awssdk/services/sts/model/C.class"}
	for _, name := range append([]string{"software/amazon/awssdk/services/ec2/D.class", "software/amazon/awssdk/services/s3tables/E.class"}, kept...) {
		if err := writeFile(filepath.Join(folder, name), strings.NewReader(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := zipFolder(dest, folder, "."); err != nil {
		t.Fatal(err)
	}
	if err := keepServices(dest, []string{"s3", "sts"}); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(dest)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, entry := range archive.File {
		names = append(names, entry.Name)
		if text, err := fs.ReadFile(archive, entry.Name); err != nil || string(text) != entry.Name {
			t.Errorf("%s holds %q, %v", entry.Name, text, err)
		}
	}
	if !slices.Equal(names, kept) {
		t.Errorf("it has %q\nwant %q", names, kept)
	}
}

func TestScriptsAreExecutable(t *testing.T) {
	home := t.TempDir()
	if err := writeScripts(home); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"start-master.sh", "stop-worker.sh"} {
		info, err := os.Stat(filepath.Join(home, "sbin", name))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
