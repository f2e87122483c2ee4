package spark

import (
	"fmt"
	"slices"
	"strings"
)

// Release is a version of Spark that is to be had from PyPI.
type Release struct {
	Version string
	// digest is of its source archive.
	digest string
}

// releases are the newest of each line that Firesteel submits to.
var releases = []Release{
	{"3.5.9", "sha256:ea27adc39ddac9413b8951e45aa748cbed6c785971b81386efc41938f6243d93"},
	{"4.0.5", "sha256:a0d44b0e7faf0458ad83b7aa664e7ed8b96beed8a55d66ce3b0dfac2309dfca6"},
	Default,
	{"4.2.1", "sha256:d79b7c8ee41e66a9202fe6f600ca90b931ca571ae9dbdf31c58d2672e5102da0"},
	{"4.3.0", "sha256:e8c517948eff7088a7aa07449aa8eafa4a15a8d50319de2525a6fd26622476c6"},
}

// Default is the release that the cluster has an image of in any case.
var Default = Release{"4.1.4", "sha256:bcbd5e18690cf79d438e97210ad06fb8d451a251bb77becc2b0418868d2acd73"}

// Find are the releases of these versions, each once.
func Find(versions ...string) ([]Release, error) {
	var found []Release
	for _, version := range versions {
		at := slices.IndexFunc(releases, func(r Release) bool { return r.Version == version })
		if at < 0 {
			return nil, fmt.Errorf("there is no Spark %q to be had, but %s", version, strings.Join(known(), ", "))
		}
		if !slices.Contains(found, releases[at]) {
			found = append(found, releases[at])
		}
	}
	return found, nil
}

func known() []string {
	var versions []string
	for _, r := range releases {
		versions = append(versions, r.Version)
	}
	return versions
}

// WithDefault are the default release and these, each once.
func WithDefault(more []Release) []Release {
	others := slices.DeleteFunc(slices.Clone(more), func(r Release) bool { return r == Default })
	return append([]Release{Default}, others...)
}
