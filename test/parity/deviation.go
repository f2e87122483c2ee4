package parity

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed deviations.yaml
var deviationsFile []byte

// Deviation is an intended difference from Spark.
type Deviation struct {
	// Cases, Fields and Refused may hold asterisks for anything. Fields are paths as Differences returns them; Refused
	// is the field that Firesteel's refusal names, where Spark refuses nothing.
	Cases   string `json:"cases,omitempty"`
	Field   string `json:"field,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Accepted is true where Firesteel accepts what Spark refuses.
	Accepted bool `json:"accepted,omitempty"`
	// API is the one that alone differs; empty means that the submission itself does.
	API string `json:"api,omitempty"`
	// Versions are those that it holds for; empty means all.
	Versions []string `json:"versions,omitempty"`
	Reason   string   `json:"reason"`

	used bool
}

// Deviations are all intended ones.
type Deviations []*Deviation

// LoadDeviations reads deviations.yaml.
func LoadDeviations() (Deviations, error) {
	var result Deviations
	if err := yaml.UnmarshalStrict(deviationsFile, &result); err != nil {
		return nil, fmt.Errorf("deviations.yaml: %w", err)
	}
	for _, deviation := range result {
		if deviation.Reason == "" || deviation.Field == "" && deviation.Refused == "" && !deviation.Accepted {
			return nil, fmt.Errorf("deviations.yaml: %+v needs a reason, and what it is that differs", *deviation)
		}
	}
	return result, nil
}

// allow reports whether a comparison may end otherwise in what fits.
func (d Deviations) allow(c Comparison, fits func(*Deviation) bool) bool {
	for _, entry := range d {
		of := (len(entry.Versions) == 0 || slices.Contains(entry.Versions, c.Version)) && (entry.API == "" || entry.API == c.API)
		if of && (entry.Cases == "" || matches(entry.Cases, c.Name)) && fits(entry) {
			entry.used = true
			return true
		}
	}
	return false
}

// Unused returns the deviations that nothing needed.
func (d Deviations) Unused() []Deviation {
	var result []Deviation
	for _, entry := range d {
		if !entry.used {
			result = append(result, *entry)
		}
	}
	return result
}

func matches(pattern, text string) bool {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	return regexp.MustCompile("^" + expression + "$").MatchString(text)
}
