package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// smokeCount applications in smokeBatches batches are enough to see that each part works.
const (
	smokeCount   = 20
	smokeBatches = 2
)

// Nothing here asks how long anything takes: that is what make bench is for.
func TestEachPartReportsItsFigures(t *testing.T) {
	b := &bench{count: smokeCount, batches: smokeBatches, began: time.Now(), yardsticks: map[string]*yardstick{}}
	if err := b.measure(t.Context(), "../..", names()); err != nil {
		t.Fatal(err)
	}
	for _, want := range wantedFigures() {
		at := slices.IndexFunc(b.Figures, func(f *report.Figure) bool { return f.Part+": "+f.Case+": "+f.Name == want })
		if at < 0 {
			t.Errorf("there is no figure %q", want)
			continue
		}
		if figure := b.Figures[at]; len(figure.Samples) == 0 || figure.Value() <= 0 {
			t.Errorf("%s is %v", want, figure.Samples)
		}
	}
	for _, figure := range b.Figures {
		if figure.Goal != nil && figure.Goal.OfRatio && figure.Ratio() <= 0 {
			t.Errorf("%s: %s: %s has a goal for the ratio to a yardstick that is %v", figure.Part, figure.Case, figure.Name, figure.Yardstick)
		}
	}
}

// wantedFigures are those that each run has.
func wantedFigures() (names []string) {
	want := func(part, of string, names ...string) {
		for _, name := range names {
			names = append(names, part+": "+of+": "+name)
		}
	}
	quantiles := func(what string) []string { return []string{what + ", p50", what + ", p90", what + ", p99"} }
	for _, of := range []string{"Apache", "Kubeflow"} {
		want(partYardstick, of, append(stageNames[:], "launch writes", "start writes", "release writes")...)
		want(partLatency, of, slices.Concat(quantiles("application created to driver Pod"),
			quantiles("driver's phase to status"), quantiles("driver's phase to event"))...)
		for _, where := range []string{", in process", ", HTTP sink"} {
			want(partCost, of+where, "CPU of the controller", "allocated",
				"controller: create pods", "controller: update sparkapplications/status", "all processes: create pods")
		}
		want(partCost, of+", HTTP sink", "events")
	}
	for _, of := range []string{"Apache, in process", "Apache, HTTP sink", "Kubeflow, in process"} {
		want(partThroughput, of, append(stageNames[:], "CPU of the controller")...)
	}
	want(partArchive, "Apache, in a folder", append(stageNames[:], "CPU of controller", "CPU of kube-apiserver", "CPU of all processes",
		"requests beside log reads", "resident at most", "archived")...)
	for _, trigger := range []string{"dead", "slow"} {
		want(partNeighbours, fmt.Sprintf("%d applications behind a %s Trigger", smokeCount*64/100, trigger), quantiles("another team's event")...)
	}
	want(partReplicas, "1 replicas", stageNames[:]...)
	want(partReplicas, "2 replicas", append(stageNames[:], "CPU of controller 1", "CPU of controller 2")...)
	all := fmt.Sprintf("%d applications", smokeCount)
	want(partHandover, "one of two replicas is stopped", "longest wait for a driver")
	want(partHandover, "one of two replicas is killed", "longest wait for a driver")
	want(partApache, all, "finish", "delete")
	want(partWebhook, "annotated Pod", append(slices.Concat(quantiles("dry run"), quantiles("answer")), "resident at most")...)
	want(partWebhook, fmt.Sprintf("application beside %d, compared with quotas", smokeCount*storedEach),
		append(quantiles("answer at 100 a second"), "resident at most")...)
	want(partCommandLine, "kubectl spark version", "initialisation")
	want(partCommandLine, "one manifest", append(quantiles("plan"), quantiles("lint")...)...)
	want(partCommandLine, fmt.Sprintf("a folder of %d manifests", smokeCount), "lint")
	want(partCommandLine, fmt.Sprintf("%d applications", smokeCount*listedEach), "list: first line", "list: last line", "list: CPU", "list: resident at most",
		"list -w: resident after the list", "list -w: resident after as many changes")
	shown := fmt.Sprintf("%d applications, %d of them living", smokeCount*listedEach, smokeCount*listedEach/livingEach)
	for _, what := range []string{"first overview of a user", "first list of a user", "first application of a user", "overview at 50 users", "list at 50 users", "application at 50 users", "transition to screen"} {
		want(partConsole, shown, quantiles(what)...)
	}
	want(partConsole, shown, "ready after", "resident before the first user", "resident at most", "pages at 50 users", "CPU at 50 users", "CPU for a page at 50 users")
	want(partMemory, "no applications", "resident", "heap")
	want(partMemory, all, "resident", "heap", "heap, each")
	want(partMemory, all+", after a restart", "resident", "heap")
	want(partGrowth, all, "CPU of the controller", "allocated", "requests of all processes")
	return names
}
