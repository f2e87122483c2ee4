package submission

import (
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

const (
	// maxReference is more than the longest reference of an image: a name, a tag and a digest.
	maxReference = 1024
	// maxRepository is the longest repository, without the host of its registry.
	maxRepository = 255
)

// The parts of a reference. The library of the kubelet, github.com/distribution/reference, compiles nine expressions at each start of a process.
// A test holds these equal to it.
var (
	imageRegistry   = lazy.Regexp(`^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[A-Fa-f0-9:]+\])(:[0-9]+)?$`)
	imageRepository = lazy.Regexp(`^[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*$`)
	imageTag        = lazy.Regexp(`^[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}$`)
	hexadecimal     = lazy.Regexp(`^[a-f0-9]+$`)
)

// digestLengths are how many hexadecimal digits the digests have.
var digestLengths = map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}

// noReference returns why a text is no reference of an image, as the kubelet reads it; empty if it is one.
func noReference(image string) string {
	if image == "" {
		return "" // refused, or set by an admission webhook
	}
	if len(image) > maxReference {
		return "it is too long"
	}
	rest, digest, hasDigest := strings.Cut(image, "@")
	if algorithm, digits, _ := strings.Cut(digest, ":"); hasDigest && !isHexadecimal(digits, digestLengths[algorithm]) {
		return "its digest is not one such as sha256: with 64 hexadecimal digits"
	}
	repository := rest
	if at := strings.LastIndex(rest, ":"); at > strings.LastIndex(rest, "/") {
		if repository = rest[:at]; !imageTag().MatchString(rest[at+1:]) {
			return "its tag is not one of at most 128 letters, digits, _, . and -"
		}
	}
	repository = repositoryOf(repository)
	switch {
	case isHexadecimal(image, digestLengths["sha256"]):
		return "64 hexadecimal digits are an ID"
	case len(repository) > maxRepository:
		return "its name is too long"
	case imageRepository().MatchString(repository):
		return ""
	case imageRepository().MatchString(strings.ToLower(repository)):
		return "its name has capital letters"
	default:
		return "its name is not of lower-case letters and digits, with /, ., _ and - between them"
	}
}

// isHexadecimal reports whether a text is a number of hexadecimal digits.
func isHexadecimal(text string, digits int) bool {
	return len(text) == digits && hexadecimal().MatchString(text)
}

// repositoryOf returns the name of an image in its registry. Those of Docker Hub without a folder are in library/.
func repositoryOf(name string) string {
	host, rest, found := strings.Cut(name, "/")
	isHost := found && (host == "localhost" || strings.ContainsAny(host, ".:") || strings.ToLower(host) != host)
	if isHost && imageRegistry().MatchString(host) {
		name = rest
	}
	if !strings.Contains(name, "/") && (!isHost || host == "docker.io" || host == "index.docker.io") {
		return "library/" + name
	}
	return name
}
