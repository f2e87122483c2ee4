package build

import (
	"slices"
	"strings"
	"testing"
)

const changelog = `# Changelog

## Unreleased

### Added

- Something [new](docs/new.md), which takes
  two lines.

### Fixed

- A fault.

## [1.2.3] - 2026-11-26

### Security

- A hole.

## 1.2.2

### Removed

- What nobody used.
`

func TestChangesAreThoseOfTheVersionOrNotReleasedYet(t *testing.T) {
	unreleased := []change{{"added", "Something new, which takes two lines."}, {"fixed", "A fault."}}
	for version, want := range map[string][]change{
		"1.2.4-rc.1": unreleased,
		"1.2":        unreleased,
		"1.2.3":      {{"security", "A hole."}},
		"1.2.2":      {{"removed", "What nobody used."}},
	} {
		got, err := changesOf([]byte(changelog), version)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the changes are %v, want %v (%v)", version, got, want, err)
		}
	}
}

func TestChangelogThatArtifactHubCannotShowIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"## 1.2.2\n":                           "neither a section 1.2.3 nor Unreleased",
		"## Unreleased\n\n### New\n\n- One.\n": `the heading "New"`,
		"## Unreleased\n\n- One.\n":            "an entry without a heading",
	} {
		if _, err := changesOf([]byte(text), "1.2.3"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is answered with %v, want %s", text, err, want)
		}
	}
}
