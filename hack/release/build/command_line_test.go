package build_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/hack/release/build"
	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

const address = "https://example.com/firesteel/" + version

// builtCommandLine returns a folder like the one that a build of kubectl spark makes, with scripts in the place of its programs.
func builtCommandLine(t *testing.T) string {
	t.Helper()
	built := t.TempDir()
	files := map[string]string{"common/man/man1/kubectl-spark.1": "page", "common/completion/kubectl-spark.bash": "script"}
	for _, platform := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"} {
		suffix := ""
		if strings.HasPrefix(platform, "windows") {
			suffix = ".exe"
		}
		for _, program := range []string{"kubectl-spark", "kubectl-spark-upload"} {
			files[platform+"/"+program+suffix] = "#!/bin/sh\necho " + program + " of " + platform + "\n"
		}
	}
	for name, content := range files {
		path := filepath.Join(built, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return built
}

// packCommandLine packs the folder into a release.
func packCommandLine(t *testing.T) folder.Dir {
	t.Helper()
	release := build.Release{Source: "../../..", Folder: folder.Dir(t.TempDir()), Version: version, URL: address + "/"}
	if err := release.PackCommandLine(builtCommandLine(t)); err != nil {
		t.Fatal(err)
	}
	return release.Folder
}

// contents returns the files of an archive with their modes.
func contents(t *testing.T, archive []byte, name string) map[string]os.FileMode {
	t.Helper()
	found := map[string]os.FileMode{}
	if strings.HasSuffix(name, ".zip") {
		files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files.File {
			found[file.Name] = file.Mode()
		}
		return found
	}
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = os.FileMode(header.Mode)
	}
}

func TestArchivesOfTheCommandLineAreComplete(t *testing.T) {
	dir, again := packCommandLine(t), packCommandLine(t)
	archives, err := filepath.Glob(dir.Path("kubectl", "kubectl-spark-*"))
	if err != nil || len(archives) != 6 {
		t.Fatalf("the archives are %v: %v", archives, err)
	}
	for _, path := range archives {
		name := "kubectl/" + filepath.Base(path)
		archive := read(t, dir, name)
		files := contents(t, archive, name)
		want := map[string]os.FileMode{
			"kubectl-spark": 0o755, "kubectl-spark-upload": 0o755, "kubectl_complete-spark": 0o755,
			"LICENSE": 0o644, "LICENSES.md": 0o644, "man/man1/kubectl-spark.1": 0o644, "completion/kubectl-spark.bash": 0o644,
		}
		for file, mode := range want {
			if strings.Contains(name, "windows") && mode == 0o755 {
				file += map[string]string{"kubectl_complete-spark": ".cmd"}[file]
				if !strings.HasSuffix(file, ".cmd") {
					file += ".exe"
				}
			}
			if files[file] != mode {
				t.Errorf("%s: %s has the mode %v", name, file, files[file])
			}
		}
		if len(files) != len(want) {
			t.Errorf("%s has %v", name, files)
		}
		if !bytes.Equal(archive, read(t, again, name)) {
			t.Errorf("a second %s has other bytes", name)
		}
	}
}

// tool builds a program of krew.
func tool(t *testing.T, name string) string {
	t.Helper()
	command := exec.Command("go", "tool", "-n", name)
	command.Dir = "../krew"
	path, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSpace(string(path))
}

func TestKrewsOwnCheckAcceptsTheManifest(t *testing.T) {
	dir := packCommandLine(t)
	check := exec.Command(tool(t, "validate-krew-manifest"), "-manifest", dir.Path("kubectl", "spark.yaml"), "-skip-install")
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	var manifest struct {
		Spec struct {
			Version   string
			Platforms []struct{ URI, SHA256 string }
		}
	}
	if err := yaml.Unmarshal(read(t, dir, "kubectl/spark.yaml"), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Spec.Version != version || len(manifest.Spec.Platforms) != 6 {
		t.Errorf("it is %+v", manifest)
	}
	for _, platform := range manifest.Spec.Platforms {
		name, ok := strings.CutPrefix(platform.URI, address+"/")
		if !ok {
			t.Errorf("%s is not below %s", platform.URI, address)
			continue
		}
		if sum := sha256.Sum256(read(t, dir, name)); hex.EncodeToString(sum[:]) != platform.SHA256 {
			t.Errorf("the checksum of %s is %s", name, platform.SHA256)
		}
	}
}

func TestKrewInstallsTheCommandLineFromItsArchive(t *testing.T) {
	dir := packCommandLine(t)
	home := t.TempDir()
	archive := dir.Path("kubectl", "kubectl-spark-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
	install := exec.Command(tool(t, "krew"), "install", "--manifest="+dir.Path("kubectl", "spark.yaml"), "--archive="+archive)
	install.Env = slices.Concat(os.Environ(), []string{"KREW_ROOT=" + home, "HOME=" + home, "KREW_NO_UPGRADE_CHECK=1"})
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	installed, err := filepath.EvalSymlinks(filepath.Join(home, "bin", "kubectl-spark"))
	if err != nil {
		t.Fatal(err)
	}
	// kubectl spark looks for the other program beside itself.
	for _, program := range []string{"kubectl-spark", "kubectl-spark-upload"} {
		want := program + " of " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
		if output, err := exec.Command(filepath.Join(filepath.Dir(installed), program)).CombinedOutput(); err != nil || string(output) != want {
			t.Errorf("%s prints %q: %v", program, output, err)
		}
	}
}
