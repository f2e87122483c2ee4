package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPartsAreFoundByTheirNames(t *testing.T) {
	for chosen, want := range map[string][]string{
		"": names(), " ": names(), "cost": {partCost}, "cost,latency": {partCost, partLatency},
		"cost latency": {partCost, partLatency}, "cost, latency,": {partCost, partLatency}, "cost,nonsense": nil,
	} {
		if got, err := find(chosen); !slices.Equal(got, want) || (err == nil) == (want == nil) {
			t.Errorf("%q are %q, error %v", chosen, got, err)
		}
	}
}

func TestAReportThatCannotBeWrittenIsRefusedAtTheBeginning(t *testing.T) {
	dir := t.TempDir()
	for _, out := range []string{dir, filepath.Join(dir, "none", "bench.json")} {
		if _, err := begin(out); err == nil {
			t.Errorf("%s is taken", out)
		}
	}
}

func TestEarlierReportStaysUntilTheNextIsWritten(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bench.json")
	if err := os.WriteFile(out, []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	partial, err := begin(out)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "earlier" || partial == out {
		t.Errorf("it is %q, error %v; the next is %s", text, err, partial)
	}
}
