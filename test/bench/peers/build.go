package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// buildLimit bounds the build of the Apache operator. Its first one downloads the dependencies.
const buildLimit = 20 * time.Minute

// fewestJava is the oldest Java that has all options of the operator's chart.
const fewestJava = 25

// apacheBuild is the Apache operator, built from clones.
type apacheBuild struct {
	// stage is the folder of all that the build wrote.
	stage string
	// java is the program.
	java string
	// jvmArguments and memory, in MiB, are those of its container in the chart.
	jvmArguments []string
	memory       int
	crds         []string

	commit, sdkTag, javaVersion string
}

// buildApache builds the Apache operator in the folder stage, from the commit that its clone has checked out and the release
// of the Java Operator SDK that this commit names.
func buildApache(ctx context.Context, root, stage, operatorClone, sdkClone string) (*apacheBuild, error) {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	b := &apacheBuild{stage: stage}
	if err := b.findJava(ctx); err != nil {
		return nil, err
	}
	var err error
	if b.commit, err = output(ctx, "git", "-C", operatorClone, "rev-parse", "--short=10", "HEAD"); err != nil {
		return nil, fmt.Errorf("AKO=%s: name a clone of the Apache operator: %w", operatorClone, err)
	}
	source := filepath.Join(stage, "source", "operator")
	if err := unpack(ctx, operatorClone, "HEAD", source); err != nil {
		return nil, err
	}
	versions, err := catalog(filepath.Join(source, "gradle", "libs.versions.toml"))
	if err != nil {
		return nil, err
	}
	b.sdkTag = "v" + versions["operator-sdk"]
	sdkSource := filepath.Join(stage, "source", "josdk")
	if err := unpack(ctx, sdkClone, b.sdkTag, sdkSource); err != nil {
		return nil, fmt.Errorf("JOSDK=%s: name a clone of the Java Operator SDK with the tag %s: %w", sdkClone, b.sdkTag, err)
	}
	if err := errors.Join(
		gather(stage, "operator", source, "spark-operator-api", "spark-submission-worker", "spark-operator"),
		gather(stage, "josdk", sdkSource, "operator-framework-core", "operator-framework"),
		fillTemplates(filepath.Join(sdkSource, "operator-framework-core", "src", "main", "java-templates"),
			filepath.Join(stage, "josdk", "java"), map[string]string{
				"${project.version}": versions["operator-sdk"], "${fabric8-client.version}": versions["fabric8"],
			}),
		b.readChart(filepath.Join(source, "build-tools", "helm", "spark-kubernetes-operator")),
	); err != nil {
		return nil, err
	}
	return b, b.maven(ctx, filepath.Join(root, "test", "bench", "peers", "maven", "pom.xml"), versions)
}

// findJava finds the Java of JAVA_HOME, or else of the PATH.
func (b *apacheBuild) findJava(ctx context.Context) error {
	b.java = "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		b.java = filepath.Join(home, "bin", "java")
	}
	text, err := exec.CommandContext(ctx, b.java, "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s -version: %w: set JAVA_HOME to the folder of a JDK %d or later", b.java, err, fewestJava)
	}
	match := regexp.MustCompile(`version "(([0-9]+)[^"]*)"`).FindSubmatch(text)
	if match == nil {
		return fmt.Errorf("%s -version does not name its version: %s", b.java, text)
	}
	b.javaVersion = string(match[1])
	if major, err := strconv.Atoi(string(match[2])); err != nil || major < fewestJava {
		return fmt.Errorf("%s is Java %s: set JAVA_HOME to the folder of a JDK %d or later", b.java, b.javaVersion, fewestJava)
	}
	return nil
}

// maven compiles what gather has put together.
func (b *apacheBuild) maven(ctx context.Context, pom string, versions map[string]string) error {
	arguments := []string{"--quiet", "--batch-mode", "--file", pom, "package", "-Dstage=" + b.stage}
	for name, version := range versions {
		arguments = append(arguments, "-D"+name+"="+version)
	}
	cmd := exec.CommandContext(ctx, "mvn", arguments...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn package: %w\n%s", err, text)
	}
	return nil
}

// classPath is that of the operator.
func (b *apacheBuild) classPath() string {
	return filepath.Join(b.stage, "target", "operator", "classes") + ":" + filepath.Join(b.stage, "lib", "*")
}

// readChart reads what the operator's chart says of its process, and finds its CRDs.
func (b *apacheBuild) readChart(folder string) error {
	file := filepath.Join(folder, "values.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var values struct {
		OperatorDeployment struct {
			OperatorPod struct {
				OperatorContainer struct {
					JVMArgs   string `json:"jvmArgs"`
					Resources struct {
						Limits struct {
							Memory string `json:"memory"`
						} `json:"limits"`
					} `json:"resources"`
				} `json:"operatorContainer"`
			} `json:"operatorPod"`
		} `json:"operatorDeployment"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	container := values.OperatorDeployment.OperatorPod.OperatorContainer
	b.jvmArguments = strings.Fields(container.JVMArgs)
	limit := container.Resources.Limits.Memory
	gib, err := strconv.Atoi(strings.TrimSuffix(limit, "Gi"))
	if err != nil || len(b.jvmArguments) == 0 {
		return fmt.Errorf("%s: the memory limit is %q and the JVM's arguments are %q: they have no known form", file, limit, container.JVMArgs)
	}
	b.memory = gib << 10
	b.crds, err = filepath.Glob(filepath.Join(folder, "crds", "*.yaml"))
	if err == nil && len(b.crds) == 0 {
		err = fmt.Errorf("%s has no CRDs", folder)
	}
	return err
}

// output runs a command and returns what it prints.
func output(ctx context.Context, program string, arguments ...string) (string, error) {
	text, err := exec.CommandContext(ctx, program, arguments...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", program, err, exit.Stderr)
	}
	return strings.TrimSpace(string(text)), err
}

// unpack writes the files of a commit to a folder.
func unpack(ctx context.Context, clone, commit, folder string) error {
	cmd := exec.CommandContext(ctx, "git", "-C", clone, "archive", commit)
	cmd.Stderr = os.Stderr
	archive, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	unpacked := unpackTar(archive, folder)
	_, drained := io.Copy(io.Discard, archive)
	return errors.Join(unpacked, drained, cmd.Wait())
}

func unpackTar(archive io.Reader, folder string) error {
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			continue
		}
		if err := writeFile(filepath.Join(folder, header.Name), reader); err != nil { //nolint:gosec // the name is local
			return err
		}
	}
}

func writeFile(name string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

var catalogVersion = regexp.MustCompile(`^([a-z0-9-]+) = "([^"]+)"$`)

// catalog reads the versions in a version catalog of Gradle.
func catalog(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if match := catalogVersion.FindStringSubmatch(line); match != nil && section == "[versions]" {
			versions[match[1]] = match[2]
		}
	}
	if versions["operator-sdk"] == "" {
		return nil, fmt.Errorf("%s does not name the version of operator-sdk", file)
	}
	return versions, nil
}

// gather copies the main code of modules into the folders java and resources of one Maven module.
func gather(stage, module, source string, parts ...string) error {
	for _, part := range parts {
		for _, folder := range []string{"java", "resources"} {
			from, to := filepath.Join(source, part, "src", "main", folder), filepath.Join(stage, module, folder)
			if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) && folder == "resources" {
				continue
			}
			if err := os.MkdirAll(to, 0o755); err != nil {
				return err
			}
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillTemplates copies a folder of templates, with their variables replaced.
func fillTemplates(from, to string, variables map[string]string) error {
	var pairs []string
	for name, value := range variables {
		pairs = append(pairs, name, value)
	}
	replacer := strings.NewReplacer(pairs...)
	templates := os.DirFS(from)
	return fs.WalkDir(templates, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates, name)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(to, filepath.FromSlash(name)), strings.NewReader(replacer.Replace(string(text))))
	})
}
