package parity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFiresteelMakesWhatSparkSubmitMakes(t *testing.T) {
	meant, err := LoadDeviations()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range Versions {
		for _, c := range Cases(version) {
			t.Run(version+"/"+c.Name, func(t *testing.T) {
				recorded, err := Load(version, c.Name)
				if err != nil {
					t.Fatal(err)
				}
				built, refusal := c.Build(version, c.Name)
				for _, wrong := range Compare(c, version, recorded, Normal(built), refusal, meant) {
					t.Error(wrong)
				}
			})
		}
	}
	for _, deviation := range meant.Unused() {
		t.Errorf("nothing needs the deviation %+v", deviation)
	}
}

func TestEveryRecordingIsOfACase(t *testing.T) {
	known := map[string]bool{}
	for _, version := range Versions {
		for _, c := range Cases(version) {
			known[File(version, c.Name)] = true
		}
	}
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s is of no case", file)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 3<<20 {
		t.Errorf("the recordings take %d bytes", size)
	}
}

func TestCasesAreNamedOnceAndFitForNamespaces(t *testing.T) {
	for _, version := range Versions {
		seen := map[string]bool{}
		for _, c := range Cases(version) {
			if seen[c.Name] || len(c.Name) > 40 || c.Name != strings.ToLower(c.Name) {
				t.Errorf("%s: bad name %q", version, c.Name)
			}
			seen[c.Name] = true
		}
	}
}
