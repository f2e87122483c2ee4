package parity

import (
	"fmt"
	"io/fs"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// Submission returns the case as Firesteel reads it from the command line of spark-submit, or why it refuses the command line.
func (c Case) Submission(version string) (*sparksubmit.Submission, error) {
	files, manifests := map[string]string{}, map[string]string{}
	for _, role := range roles {
		if manifest := c.templateOf(role); manifest != "" {
			files[role], manifests[role+".yaml"] = role+".yaml", manifest
		}
	}
	line, err := sparksubmit.Parse(c.Arguments("https://h:6443", files), nil)
	if err != nil {
		return nil, err
	}
	s, found := line.Resolve(sources(nil, manifests))
	s.SparkVersion = version
	return s, found.Of(finding.Error).Err()
}

// sources are variables of the environment, and the contents of files by their paths. There are no folders.
func sources(environment, files map[string]string) sparksubmit.Sources {
	return sparksubmit.Sources{
		Environment: func(name string) string { return environment[name] },
		ReadFolder:  func(string) ([]string, error) { return nil, fs.ErrNotExist },
		ReadFile: func(name string) ([]byte, error) {
			if content, given := files[name]; given {
				return []byte(content), nil
			}
			return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
		},
	}
}
