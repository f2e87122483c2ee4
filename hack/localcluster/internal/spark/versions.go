package spark

import (
	"slices"
	"strings"
)

// versions are the ones that manifests of users name. If an image's name says
// one that the cluster does not hold, the image is a stand-in.
var versions = []string{
	"2.4.0", "2.4.4", "2.4.5",
	"3.0.0", "3.1.1", "3.4.1",
	"3.5.0", "3.5.1", "3.5.2", "3.5.3", "3.5.4", "3.5.5", "3.5.6", "3.5.7", "3.5.8", "3.5.9",
	"4.0.0-preview1", "4.0.0-preview2", "4.0.0", "4.0.1", "4.0.2", "4.0.3", "4.0.4", "4.0.5",
	"4.1.0-preview1", "4.1.0-preview2", "4.1.0-preview3", "4.1.0-preview4", "4.1.0", "4.1.1", "4.1.2", "4.1.3", "4.1.4",
	"4.2.0-preview1", "4.2.0-preview2", "4.2.0-preview3", "4.2.0-preview4", "4.2.0", "4.2.1",
	"4.3.0-preview1", "4.3.0",
}

// variants are the endings of the tags of the project's own images: which
// languages, and which Java, in the two spellings that are in use.
func variants(version string) []string {
	javas := []string{"17", "21", "25"}
	if strings.HasPrefix(version, "3.") {
		javas = []string{"11", "17"}
	}
	found := []string{"", "-scala", "-python3"}
	for _, java := range javas {
		found = append(found,
			"-java"+java, "-java"+java+"-scala", "-java"+java+"-python3",
			"-scala-java"+java, "-python3-java"+java)
		for _, scala := range scalas(version) {
			full := "-scala" + scala + "-java" + java
			found = append(found, full+"-ubuntu", full+"-python3-ubuntu", full+"-python3-r-ubuntu")
		}
	}
	return found
}

// scalas are the versions of Scala that a Spark was published for.
func scalas(version string) []string {
	switch {
	case strings.HasPrefix(version, "2."):
		return []string{"2.11", "2.12"}
	case strings.HasPrefix(version, "3."):
		return []string{"2.12", "2.13"}
	default:
		return []string{"2.13"}
	}
}

// others are images under names of their own that manifests of users hold.
var others = []string{
	"gcr.io/spark/spark:v3.0.0",
	"gcr.io/spark/spark:v3.1.1",
	"gcr.io/spark-operator/spark:v2.4.0",
	"gcr.io/spark-operator/spark:v2.4.4",
	"gcr.io/spark-operator/spark:v2.4.5",
	"gcr.io/spark-operator/spark:v2.4.0-gcs-prometheus",
	"gcr.io/spark-operator/spark:v2.4.4-gcs-prometheus",
	"gcr.io/spark-operator/spark:v2.4.5-gcs-prometheus",
	"gcr.io/spark-operator/spark:v3.0.0",
	"gcr.io/spark-operator/spark:v3.0.0-gcs-prometheus",
	"gcr.io/spark-operator/spark:v3.1.1",
	"gcr.io/spark-operator/spark:v3.1.1-gcs-prometheus",
	"gcr.io/spark-operator/spark:v3.2.0",
	"gcr.io/spark-operator/spark:v3.3.0",
	"gcr.io/spark-operator/spark-py:v2.4.0",
	"gcr.io/spark-operator/spark-py:v3.0.0",
	"gcr.io/spark-operator/spark-py:v3.1.1",
	"ghcr.io/apache/spark-docker/spark:3.5.0",
	"ghcr.io/apache/spark-docker/spark:3.5.3",
	"ghcr.io/apache/spark-docker/spark:3.5.4",
	"kubespark/spark-driver:v2.2.0-kubernetes-0.5.0",
	"kubespark/spark-executor:v2.2.0-kubernetes-0.5.0",
}

// Images are the full names under which images are to be had.
func Images() []string {
	var names []string
	for _, version := range versions {
		if beforeOwnImages(version) {
			continue
		}
		for _, variant := range variants(version) {
			names = append(names,
				"docker.io/apache/spark:"+version+variant,
				"docker.io/library/spark:"+version+variant)
		}
	}
	for _, name := range others {
		names = append(names, Canonical(name))
	}
	return names
}

// Canonical is an image's full name, as containerd has it.
func Canonical(name string) string {
	first, rest, found := strings.Cut(name, "/")
	switch {
	case !found:
		return "docker.io/library/" + name
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		return "docker.io/" + first + "/" + rest
	}
	return name
}

// Names are the full names that this release's image has in a cluster that holds
// these releases.
func (r Release) Names(held []Release) []string {
	return slices.DeleteFunc(Images(), func(name string) bool { return heldBy(name, held) != r })
}

// heldBy returns the release in the image of that name: the one of its own
// line, or else the default.
func heldBy(name string, held []Release) Release {
	_, tag, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	for _, r := range held {
		if minor(r.Version) == minor(tag) {
			return r
		}
	}
	return Default
}

// Repositories are names as the machine's own registry has them, without the
// registry that they come from, each once.
func Repositories(names []string) []string {
	var found []string
	for _, name := range names {
		_, path, _ := strings.Cut(name, "/")
		found = append(found, path)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// StandIns returns which images of this release say another version in their names:
// the project's own whatever their variant, similar names on one line.
func (r Release) StandIns(held []Release) []string {
	var lines []string
	var group string
	for _, name := range r.standIns(held) {
		repository, tag, _ := strings.Cut(name, ":")
		if next := repository + " " + minor(tag); next == group {
			lines[len(lines)-1] += ", :" + tag
		} else {
			group = next
			lines = append(lines, name)
		}
	}
	for i, line := range lines {
		if strings.Contains(line, ", ") {
			lines[i] += " are stand-ins: they hold Spark " + r.Version
		} else {
			lines[i] += " is a stand-in: it holds Spark " + r.Version
		}
	}
	return lines
}

func (r Release) standIns(held []Release) []string {
	var names []string
	for _, version := range versions {
		if version != r.Version && !beforeOwnImages(version) {
			names = append(names, "apache/spark:"+version)
		}
	}
	names = append(names, others...)
	return slices.DeleteFunc(names, func(name string) bool { return heldBy(name, held) != r })
}

// beforeOwnImages holds for versions older than the project's own images.
func beforeOwnImages(version string) bool { return strings.HasPrefix(version, "2.") }

// minor is a version without its patch: 4.1 of 4.1.0-preview1.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// exampleJars are the names of the examples' jar in images of all versions.
func exampleJars() []string {
	names := []string{
		"spark-examples_2.11-2.2.0-k8s-0.5.0.jar",
		"spark-examples_2.11-2.3.0.jar",
		"spark-examples_2.12-2.3.0.jar",
	}
	for _, version := range versions {
		for _, scala := range scalas(version) {
			names = append(names, "spark-examples_"+scala+"-"+version+".jar")
		}
	}
	return names
}
