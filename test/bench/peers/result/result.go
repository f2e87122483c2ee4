// Package result holds what comparisons of Firesteel with the Apache operator measured, and the table of it in pages.
package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// Result is one comparison.
type Result struct {
	Date     time.Time      `json:"date"`
	Machine  report.Machine `json:"machine"`
	Versions Versions       `json:"versions"`
	// Applications is the number of applications that were created at once, and AtRest of those created one at a time.
	Applications int     `json:"applications"`
	AtRest       int     `json:"atRest"`
	Rounds       []Round `json:"rounds"`
}

// Versions are those of all programs that the figures depend on.
type Versions struct {
	// Firesteel and ApacheOperator are commits.
	Firesteel       string `json:"firesteel"`
	ApacheOperator  string `json:"apacheOperator"`
	JavaOperatorSDK string `json:"javaOperatorSDK"`
	Java            string `json:"java"`
	Kubernetes      string `json:"kubernetes"`
}

// Round holds the figures of both operators, one measured after the other.
type Round struct {
	// First names the operator that was measured first.
	First     string  `json:"first"`
	Firesteel Figures `json:"firesteel"`
	Apache    Figures `json:"apache"`
}

// The operators, as First names them.
const (
	Firesteel = "firesteel"
	Apache    = "apache"
)

// Figures are what was measured of one operator. Less is better for each of them.
type Figures struct {
	// Times in seconds, from the first creation, and Deleted from the call that deletes all.
	Drivers       float64 `json:"driversSeconds"`
	ThreeQuarters float64 `json:"threeQuartersReleasedSeconds"`
	Released      float64 `json:"releasedSeconds"`
	Deleted       float64 `json:"deletedSeconds"`
	// Milliseconds from the call that creates an application to the notification of its driver Pod, one at a time.
	AtRestP50 float64 `json:"atRestP50Milliseconds"`
	AtRestP99 float64 `json:"atRestP99Milliseconds"`
	// CPU time for one application from creation to deletion, of the operator and of all processes but the load client.
	OperatorCPU float64 `json:"operatorCPUMilliseconds"`
	AllCPU      float64 `json:"allCPUMilliseconds"`
	// Memory is the operator's largest resident memory.
	Memory float64 `json:"memoryMiB"`
}

// ThreeQuarters is the number of applications whose release [Figures.ThreeQuarters] is the time of.
func ThreeQuarters(applications int) int { return max(applications*3/4, 1) }

// Write writes the result to a file.
func (r *Result) Write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// Read reads a result, and refuses one that lacks anything that its table needs.
func Read(file string) (*Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var r Result
	if err := decoder.Decode(&r); err != nil {
		return nil, fmt.Errorf("result %s: %w: is it one of make bench-peers?", file, err)
	}
	if missing := r.missing(); missing != "" {
		return nil, fmt.Errorf("result %s: %s is missing: is it one of make bench-peers?", file, missing)
	}
	return &r, nil
}

// missing names the first thing that the result lacks; empty if it is complete.
func (r *Result) missing() string {
	for _, part := range []struct {
		name  string
		empty bool
	}{
		{"the date", r.Date.IsZero()},
		{"the machine", r.Machine.CPU == "" || r.Machine.Cores == 0 || r.Machine.Memory == "" || r.Machine.Load == ""},
		{"the version of Firesteel", r.Versions.Firesteel == ""},
		{"the version of the Apache operator", r.Versions.ApacheOperator == ""},
		{"the version of the Java Operator SDK", r.Versions.JavaOperatorSDK == ""},
		{"the version of Java", r.Versions.Java == ""},
		{"the version of Kubernetes", r.Versions.Kubernetes == ""},
		{"the number of applications", r.Applications <= 0 || r.AtRest <= 0},
		{"a round", len(r.Rounds) == 0},
	} {
		if part.empty {
			return part.name
		}
	}
	for i, round := range r.Rounds {
		if round.First != Firesteel && round.First != Apache {
			return fmt.Sprintf("the first operator of round %d", i+1)
		}
		for _, row := range rows(r.Applications) {
			if row.of(round.Firesteel) <= 0 || row.of(round.Apache) <= 0 {
				return fmt.Sprintf("%q of round %d", row.name, i+1)
			}
		}
	}
	return ""
}
