package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

var drawnStep = regexp.MustCompile(`(?m)^    (\S+) --> (\w+)$`)

// TestFlowchartDrawsEachStepOnce reads the drawn steps back, those of groups as those of their members.
func TestFlowchartDrawsEachStepOnce(t *testing.T) {
	for name, follows := range map[string]func(from, to lifecycle.State) bool{
		"an API that does not interrupt": func(from, to lifecycle.State) bool { return lifecycle.Follows(from, to, false) },
		"an API that interrupts":         func(from, to lifecycle.State) bool { return lifecycle.Follows(from, to, true) },
	} {
		t.Run(name, func(t *testing.T) {
			groups := applicationGroups()
			members := func(name string) []string {
				for _, g := range groups {
					if g.name == name {
						var names []string
						for _, member := range g.members {
							names = append(names, string(member))
						}
						return names
					}
				}
				return []string{strings.TrimPrefix(name, `created(["created"])`)}
			}
			var got, want []string
			for _, match := range drawnStep.FindAllStringSubmatch(flowchart(lifecycle.States, follows, groups), -1) {
				for _, from := range members(match[1]) {
					for _, to := range members(match[2]) {
						got = append(got, from+" --> "+to)
					}
				}
			}
			for _, from := range append([]lifecycle.State{""}, lifecycle.States...) {
				for _, to := range lifecycle.States {
					if follows(from, to) {
						want = append(want, string(from)+" --> "+string(to))
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("steps (-in the table +drawn):\n%s", diff)
			}
		})
	}
}
