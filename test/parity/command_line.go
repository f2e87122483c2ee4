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
	s, found := line.Resolve(sparksubmit.Sources{
		Environment: func(string) string { return "" },
		ReadFolder:  func(string) ([]string, error) { return nil, fs.ErrNotExist },
		ReadFile: func(name string) ([]byte, error) {
			if manifest, given := manifests[name]; given {
				return []byte(manifest), nil
			}
			return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
		},
	})
	s.SparkVersion = version
	return s, found.Of(finding.Error).Err()
}
