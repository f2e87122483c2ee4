package dialect

import (
	"regexp"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// maxImage bounds the names of images that are searched for versions. Registries take no longer ones.
const maxImage = 512

var (
	// versionInTag finds versions in tags such as 3.5.7-java17 and v4.0.1.
	versionInTag = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)
	// oldVersion matches tags that begin with a version of Spark 1 or 2.
	oldVersion = regexp.MustCompile(`^v?[12]\.\d+([.-]|$)`)
	// forkedTag matches tags of the fork that first ran Spark on Kubernetes: v2.2.0-kubernetes-0.5.0.
	forkedTag = regexp.MustCompile(`(-kubernetes-|-k8s-)\d`)
)

// ImageVersion returns the version of Spark that the tag of an image names. It is empty if the tag names none that Firesteel knows.
func ImageVersion(image string) string {
	_, tag := splitImage(image)
	for _, version := range versionInTag.FindAllString(tag, -1) {
		if _, known := submission.RulesFor(version); known {
			return version
		}
	}
	return ""
}

// IsImageTooOld reports whether an image has Spark 1 or 2, by its name. Before 2.4 the entrypoint of an image takes no arguments of
// spark-submit, so that a driver cannot start. An image whose name does not have the word spark may have a version of its own. version is
// what the user says about the image: if it is one that Firesteel knows, the tag is the user's own, too.
func IsImageTooOld(image, version string) bool {
	repository, tag := splitImage(image)
	name := repository[strings.LastIndex(repository, "/")+1:]
	ofFork := strings.HasPrefix(repository, "kubespark/") || strings.Contains(repository, "/kubespark/")
	_, said := submission.RulesFor(version)
	return ofFork || !said && strings.Contains(name, "spark") && (oldVersion.MatchString(tag) || forkedTag.MatchString(tag))
}

// otherVersion warns of an image of Spark whose tag names another version than the one as which the application is submitted.
func otherVersion(plan submission.Plan) (found finding.List) {
	image := submission.DriverImage(plan)
	repository, _ := splitImage(image)
	version := ImageVersion(image)
	if version == "" || !strings.Contains(repository[strings.LastIndex(repository, "/")+1:], "spark") || minorOf(version) == minorOf(plan.SparkVersion) {
		return nil
	}
	if _, known := submission.RulesFor(plan.SparkVersion); known {
		found.Warn("sparkVersion", plan.SparkVersion, text.Format("is not the version in the tag of the image %q", image), "write "+version+", or name another image")
	}
	return found
}

// minorOf returns the first two numbers of a version.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// splitImage returns the repository and the tag of an image. A digest is ignored.
func splitImage(image string) (repository, tag string) {
	if len(image) > maxImage {
		return "", ""
	}
	image, _, _ = strings.Cut(strings.TrimSpace(image), "@")
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		return image[:at], image[at+1:]
	}
	return image, ""
}
