package spark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// jar is a jar of Maven Central, and the SHA-256 digest that it must have.
type jar struct{ group, name, version, classifier, digest string }

// file is the name of the jar's file.
func (j jar) file() string {
	if j.classifier == "" {
		return j.name + "-" + j.version + ".jar"
	}
	return j.name + "-" + j.version + "-" + j.classifier + ".jar"
}

// ivyModule is an ivy.xml that needs some jars.
type ivyModule struct {
	XMLName xml.Name `xml:"ivy-module"`
	Version string   `xml:"version,attr"`
	Maven   string   `xml:"xmlns:m,attr"`
	Info    struct {
		Organisation string `xml:"organisation,attr"`
		Module       string `xml:"module,attr"`
	} `xml:"info"`
	Dependencies []ivyDependency `xml:"dependencies>dependency"`
}

type ivyDependency struct {
	Organisation  string `xml:"org,attr"`
	Name          string `xml:"name,attr"`
	Revision      string `xml:"rev,attr"`
	Configuration string `xml:"conf,attr"`
	Transitive    bool   `xml:"transitive,attr"`
	Artifact      struct {
		Name       string `xml:"name,attr"`
		Type       string `xml:"type,attr"`
		Classifier string `xml:"m:classifier,attr,omitempty"`
	} `xml:"artifact"`
}

// needs is an ivy.xml that names these jars and nothing that they depend on.
func needs(jars []jar) ([]byte, error) {
	module := ivyModule{Version: "2.0", Maven: "http://ant.apache.org/ivy/maven"}
	module.Info.Organisation, module.Info.Module = "firesteel", "image"
	for _, j := range jars {
		dependency := ivyDependency{Organisation: j.group, Name: j.name, Revision: j.version, Configuration: "default->default"}
		dependency.Artifact.Name, dependency.Artifact.Type, dependency.Artifact.Classifier = j.name, "jar", j.classifier
		module.Dependencies = append(module.Dependencies, dependency)
	}
	return xml.MarshalIndent(module, "", "  ")
}

// fetchJars downloads jars into a folder, through the Ivy that Spark looks for packages with. Home is the folder of a Spark.
func fetchJars(ctx context.Context, t *step.Task, home, dest string, jars ...jar) error {
	work, err := os.MkdirTemp("", "ivy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	module, err := needs(jars)
	if err != nil {
		return err
	}
	file := filepath.Join(work, "ivy.xml")
	if err := os.WriteFile(file, module, 0o600); err != nil {
		return err
	}
	if err := t.Run(ctx, "java", "-cp", filepath.Join(home, "jars", "*"), "org.apache.ivy.Main", "-cache", filepath.Join(work, "cache"),
		"-confs", "default", "-ivy", file, "-retrieve", filepath.Join(dest, "[artifact]-[revision](-[classifier]).[ext]")); err != nil {
		return err
	}
	for _, j := range jars {
		if err := checkDigest(filepath.Join(dest, j.file()), j.digest); err != nil {
			return err
		}
	}
	return nil
}

func checkDigest(file, want string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, content); err != nil {
		return err
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		return fmt.Errorf("%s has the SHA-256 digest %s, not %s", filepath.Base(file), got, want)
	}
	return nil
}
