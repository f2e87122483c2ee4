package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

// prereleaseNote is the annotation that tells Artifact Hub whether a version is a prerelease. The others that depend on the release follow it.
var prereleaseNote = regexp.MustCompile(`(?m)^  artifacthub\.io/prerelease: .*\n`)

// writeChart writes the chart, with the version and the digests of all images in it.
func (r *Release) writeChart() error {
	chart, err := r.readChart()
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(r.Version, "v")
	if err := chart.Set("Chart.yaml", map[string]string{"version": version, "appVersion": r.Version}); err != nil {
		return err
	}
	values, err := r.imageValues(chart["values.yaml"])
	if err != nil {
		return err
	}
	notes, err := r.chartNotes(version, values)
	if err != nil {
		return err
	}
	if !prereleaseNote.Match(chart["Chart.yaml"]) {
		return errors.New("the chart has no annotation artifacthub.io/prerelease")
	}
	chart["Chart.yaml"] = prereleaseNote.ReplaceAllLiteral(chart["Chart.yaml"], notes)
	values["chartVersion"] = version
	if err := chart.Set("values.yaml", values); err != nil {
		return err
	}
	if err := chart.SetRegistry(r.Registry); err != nil {
		return err
	}
	for _, image := range r.images {
		chart["README.md"] = bytes.ReplaceAll(chart["README.md"], []byte("ko://"+image.pkg), []byte(image.repository))
	}
	return r.Folder.WriteChart(chart)
}

// chartNotes returns the annotations of the chart that depend on the release.
func (r *Release) chartNotes(version string, values map[string]string) ([]byte, error) {
	changelog, err := r.read("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	changes, err := changesOf(changelog, version)
	if err != nil {
		return nil, err
	}
	images, err := annotation("artifacthub.io/images", r.chartImages(values))
	if err != nil {
		return nil, err
	}
	news, err := annotation("artifacthub.io/changes", changes)
	if err != nil {
		return nil, err
	}
	prerelease := fmt.Appendf(nil, "  artifacthub.io/prerelease: %q\n", strconv.FormatBool(semver.Prerelease(r.Version) != ""))
	return slices.Concat(prerelease, images, news), nil
}

func (r *Release) readChart() (folder.Chart, error) {
	chart := folder.Chart{}
	root := filepath.Join(r.Source, chartFolder)
	return chart, fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || file == ".helmignore" {
			return err
		}
		chart[file], err = os.ReadFile(filepath.Join(root, file))
		return err
	})
}

// imageValues returns the values of the chart that name images: wherever a repository is a program, its name and its digest.
func (r *Release) imageValues(text []byte) (map[string]string, error) {
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	set := map[string]string{}
	var walk func(prefix string, section map[string]any)
	walk = func(prefix string, section map[string]any) {
		for key, value := range section {
			switch value := value.(type) {
			case map[string]any:
				walk(prefix+key+".", value)
			case string:
				for _, image := range r.images {
					if value == "ko://"+image.pkg {
						set[prefix+key], set[prefix+"digest"] = image.repository, image.digest.String()
					}
				}
			}
		}
	}
	walk("", values)
	if len(set) == 0 || bytes.Count(text, []byte(": ko://"))*2 != len(set) {
		return nil, fmt.Errorf("values.yaml names other images than were built: %v", set)
	}
	return set, nil
}
