package build

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// commandLineFolder has the archives of kubectl spark, and the manifest with which krew installs them.
	commandLineFolder = "kubectl"
	commandLine       = "kubectl-spark"
	// commonFolder has what the archives of all platforms hold, beside folders with the programs of each.
	commonFolder = "common"
	// UnnamedURL is where krew's manifest looks for the archives if no address is known yet. There can be no host of that name.
	UnnamedURL = "https://release.invalid/firesteel"
)

// commandLinePlatforms are those on which people use kubectl.
var commandLinePlatforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// completers are the programs that kubectl asks to complete command lines, by system. kubectl finds both by PATH.
var completers = map[string]struct{ name, text string }{
	"":        {"kubectl_complete-spark", "#!/bin/sh\nexec " + commandLine + " __complete \"$@\"\n"},
	"windows": {"kubectl_complete-spark.cmd", "@" + commandLine + ".exe __complete %*\r\n"},
}

// buildCommandLine builds kubectl spark for each platform, with its pages, and packs them.
func (r *Release) buildCommandLine(ctx context.Context) error {
	built, err := os.MkdirTemp("", commandLine)
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	stamp := "-X github.com/firesteel-dev/firesteel/internal/version.version=" + r.Version
	common := filepath.Join(built, commonFolder)
	if _, err := r.command(ctx, "go", "run", "-ldflags="+stamp, "./hack/manual", "-man", filepath.Join(common, "man", "man1"), "-completion", filepath.Join(common, "completion")); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Building %s for %s; the first time, that compiles for some minutes\n", commandLine, strings.Join(commandLinePlatforms, ", "))
	for _, platform := range commandLinePlatforms {
		system, machine, _ := strings.Cut(platform, "/")
		for module, pkg := range map[string]string{".": "./cmd/" + commandLine, "cmd/" + commandLine + "-upload": "."} {
			if _, err := r.command(ctx, "env", "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0", "go", "build", "-C", module, "-tags=grpcnotrace",
				"-ldflags=-s -w "+stamp, "-o", filepath.Join(built, platform)+"/", pkg); err != nil {
				return err
			}
		}
	}
	return r.PackCommandLine(built)
}

// PackCommandLine writes the archives of kubectl spark and krew's manifest. built has a folder SYSTEM/MACHINE for each platform, with its
// programs, and the folder common.
func (r *Release) PackCommandLine(built string) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Folder.Path(commandLineFolder), 0o755); err != nil {
		return err
	}
	var platforms []krewPlatform
	for _, platform := range commandLinePlatforms {
		system, machine, _ := strings.Cut(platform, "/")
		files, err := r.filesOf(built, system, machine)
		if err != nil {
			return err
		}
		pack, suffix, program := packTar, ".tar.gz", commandLine
		if system == "windows" {
			pack, suffix, program = packZip, ".zip", commandLine+".exe"
		}
		var archive bytes.Buffer
		if err := pack(&archive, files); err != nil {
			return err
		}
		name := path.Join(commandLineFolder, commandLine+"-"+system+"-"+machine+suffix)
		if err := r.write(name, archive.Bytes()); err != nil {
			return err
		}
		added := krewPlatform{URI: strings.TrimSuffix(r.URL, "/") + "/" + name, SHA256: sha256Of(archive.Bytes()), Bin: program}
		added.Selector.MatchLabels = map[string]string{"os": system, "arch": machine}
		platforms = append(platforms, added)
	}
	manifest, err := yaml.Marshal(r.krewManifest(platforms))
	if err != nil {
		return err
	}
	return r.write(commandLineFolder+"/spark.yaml", manifest)
}

// packed is a file of an archive.
type packed struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// filesOf returns the files of the archive of a platform, in the order of their names.
func (r *Release) filesOf(built, system, machine string) ([]packed, error) {
	completer, special := completers[system]
	if !special {
		completer = completers[""]
	}
	files := []packed{{completer.name, 0o755, []byte(completer.text)}}
	for name, source := range map[string]string{"LICENSE": "LICENSE", "LICENSES.md": "third_party/LICENSES.md"} {
		text, err := r.read(source)
		if err != nil {
			return nil, err
		}
		files = append(files, packed{name, 0o644, text})
	}
	for folder, mode := range map[string]fs.FileMode{path.Join(system, machine): 0o755, commonFolder: 0o644} {
		tree := os.DirFS(filepath.Join(built, filepath.FromSlash(folder)))
		if err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(tree, name)
			files = append(files, packed{name, mode, content})
			return err
		}); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b packed) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// packTar writes an archive without times and owners, so that a second one has the same bytes.
func packTar(to io.Writer, files []packed) error {
	compressed := gzip.NewWriter(to)
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: int64(file.mode), Size: int64(len(file.content)), ModTime: time.Unix(0, 0)}); err != nil {
			return err
		}
		if _, err := archive.Write(file.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

// packZip does the same as packTar.
func packZip(to io.Writer, files []packed) error {
	archive := zip.NewWriter(to)
	for _, file := range files {
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate}
		header.SetMode(file.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(file.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// krewManifest is a plugin as krew reads it.
type krewManifest struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       krewSpec          `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Caveats          string         `json:"caveats"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

func (r *Release) krewManifest(platforms []krewPlatform) krewManifest {
	return krewManifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "spark"},
		Spec: krewSpec{
			Version: r.Version, Homepage: repository, Platforms: platforms,
			ShortDescription: "Submit, follow and explain Spark applications",
			Description: "Submits Apache Spark applications with the command line of spark-submit, follows them, says why\n" +
				"they do not run, and checks manifests without a cluster. It works on spark.apache.org,\nsparkoperator.k8s.io and spark-operator.k8s.io, whichever operator runs them.\n",
			Caveats: "For completion, copy kubectl_complete-spark from the plugin's folder into PATH.\n",
		},
	}
}
