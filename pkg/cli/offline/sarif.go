package offline

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/version"
)

// SARIF 2.1.0, as code review reads it: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool         `json:"tool"`
	Results    []sarifResult     `json:"results"`
	Properties map[string]string `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	PhysicalLocation sarifPhysical  `json:"physicalLocation"`
	LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

func (l *lint) writeSARIF(r *result) error {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "kubectl-spark lint", Version: version.String(), Rules: []sarifRule{}}},
		Results: []sarifResult{}, Properties: map[string]string{"settings": r.settings.String()},
	}
	for i := range r.findings {
		f := &r.findings[i]
		at := slices.Index(run.Tool.Driver.Rules, sarifRule{f.rule()})
		if at < 0 {
			at = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.rule()})
		}
		location := sarifLocation{PhysicalLocation: sarifPhysical{sarifArtifact{uriOf(f.input.file)}, sarifRegion{f.Line, f.Column}}}
		if f.Field != "" {
			location.LogicalLocations = []sarifLogical{{f.Field}}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.rule(), RuleIndex: at, Level: severityOf(f.Finding), Message: sarifText{f.Error()}, Locations: []sarifLocation{location},
		})
	}
	return writeIndented(l.Out, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// uriOf returns the path of a file as a URI. If the file is below the folder of the process, the URI is relative: tools for code review need that.
func uriOf(path string) string {
	if folder, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if below, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(below) {
			path = below
		}
	}
	location := url.URL{Path: strings.TrimPrefix(filepath.ToSlash(path), "./")}
	if strings.HasPrefix(location.Path, "/") {
		location.Scheme = "file"
	}
	return location.String()
}
