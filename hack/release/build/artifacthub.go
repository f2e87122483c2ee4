package build

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Artifact Hub reads annotations of the chart: https://artifacthub.io/docs/topics/annotations/helm/.

// chartImage is an image that the chart uses.
type chartImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// change is what is new in a version.
type change struct {
	Kind        string `json:"kind"`
	Description string `json:"description"`
}

// kinds are those that Artifact Hub knows, which are the headings of the changelog in small letters.
var kinds = []string{"added", "changed", "deprecated", "removed", "fixed", "security"}

// link is a link in Markdown.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// changesOf returns the changes of a version from a changelog, or those that are not released if it has no section of the version.
func changesOf(changelog []byte, version string) ([]change, error) {
	section, ok := sectionOf(changelog, version)
	if !ok {
		if section, ok = sectionOf(changelog, "Unreleased"); !ok {
			return nil, fmt.Errorf("CHANGELOG.md has neither a section %s nor Unreleased", version)
		}
	}
	var changes []change
	kind := ""
	for line := range strings.SplitSeq(section, "\n") {
		text := strings.TrimSpace(line)
		heading, isHeading := strings.CutPrefix(line, "### ")
		entry, isEntry := strings.CutPrefix(line, "- ")
		switch {
		case isHeading:
			if kind = strings.ToLower(heading); !slices.Contains(kinds, kind) {
				return nil, fmt.Errorf("CHANGELOG.md has the heading %q, want one of %v", heading, kinds)
			}
		case isEntry && kind == "":
			return nil, fmt.Errorf("CHANGELOG.md has an entry without a heading: %s", line)
		case isEntry:
			changes = append(changes, change{kind, entry})
		case text != "" && len(changes) > 0 && strings.HasPrefix(line, "  "):
			changes[len(changes)-1].Description += " " + text
		}
	}
	for i := range changes {
		changes[i].Description = link.ReplaceAllString(changes[i].Description, "$1")
	}
	return changes, nil
}

// sectionOf returns the section of a version, whose heading may have brackets and a date.
func sectionOf(changelog []byte, version string) (string, bool) {
	heading := regexp.MustCompile(`(?m)^## \[?` + regexp.QuoteMeta(version) + `\]?( .*)?$`).FindIndex(changelog)
	if heading == nil {
		return "", false
	}
	section, _, _ := bytes.Cut(changelog[heading[1]:], []byte("\n## "))
	return string(section), true
}

// chartImages returns the images that the values of the chart name.
func (r *Release) chartImages(values map[string]string) []chartImage {
	named := slices.Collect(maps.Values(values))
	var images []chartImage
	for _, image := range r.images {
		if slices.Contains(named, image.repository) {
			images = append(images, chartImage{image.repository, r.Registry + "/" + image.repository + "@" + image.digest.String()})
		}
	}
	return images
}

// annotation returns the lines of Chart.yaml for an annotation whose value is YAML.
func annotation(name string, value any) ([]byte, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return nil, err
	}
	block := "  " + name + ": |\n    " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    ") + "\n"
	return []byte(block), nil
}
