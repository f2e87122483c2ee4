package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// statesPath is the page with the diagrams of the states.
const statesPath = "docs/users/states.md"

//go:embed states.md.tmpl
var statesLayout string

// states returns the page with the diagrams of the states. They are drawn from the tables that the state machines are tested
// against.
func states() ([]byte, error) {
	layout, err := template.New("states.md").Parse(statesLayout)
	if err != nil {
		return nil, err
	}
	ofEveryAPI := func(from, to lifecycle.State) bool {
		return lifecycle.Follows(from, to, false) && !interrupting(from) && !interrupting(to)
	}
	interrupted := func(from, to lifecycle.State) bool { return lifecycle.Follows(from, to, true) && !ofEveryAPI(from, to) }
	var out bytes.Buffer
	err = layout.Execute(&out, map[string]string{
		"Application": flowchart(lifecycle.States, ofEveryAPI, applicationGroups()),
		"Interrupted": flowchart(lifecycle.States, interrupted, applicationGroups()),
		"Cluster":     flowchart(cluster.States, cluster.Follows, nil),
	})
	return out.Bytes(), err
}

// interrupting reports whether only APIs that interrupt have a state.
func interrupting(state lifecycle.State) bool {
	return slices.Contains([]lifecycle.State{
		lifecycle.Suspending, lifecycle.Suspended, lifecycle.Resuming, lifecycle.Invalidating, lifecycle.Unknown,
	}, state)
}

// group is a set of states with common steps.
type group[S ~string] struct {
	name, title string
	members     []S
}

func applicationGroups() []group[lifecycle.State] {
	var waiting, active, ended, over []lifecycle.State
	for _, state := range lifecycle.States {
		switch {
		case state.Initializing() && !interrupting(state):
			waiting = append(waiting, state)
		case state.Starting(), state.Running():
			active = append(active, state)
		case state.AttemptEnded():
			ended = append(ended, state)
		case state.Terminated():
			over = append(over, state)
		}
	}
	return []group[lifecycle.State]{
		{"waiting", "waits for its launch", waiting}, {"active", "has a driver", active},
		{"ended", "the attempt has ended", ended}, {"over", "the application is over", over},
	}
}

// flowchart draws the steps between states in Mermaid's language. If all members of a group share steps, these are drawn as
// one step of the group. A group is a box with the members that have their own steps.
func flowchart[S ~string](states []S, follows func(from, to S) bool, groups []group[S]) string {
	drawn := map[[2]S]bool{}
	alone := map[S]bool{}
	var steps []string
	draw := func(from, to string) { steps = append(steps, fmt.Sprintf("    %s --> %s\n", from, to)) }
	for _, g := range groups {
		for _, to := range states {
			if slices.Contains(g.members, to) || !all(g.members, func(from S) bool { return follows(from, to) }) {
				continue
			}
			for _, from := range g.members {
				drawn[[2]S{from, to}] = true
			}
			draw(g.name, string(to))
			alone[to] = true
		}
	}
	for _, from := range states {
		for _, g := range groups {
			if slices.Contains(g.members, from) || !all(g.members, func(to S) bool { return follows(from, to) && !drawn[[2]S{from, to}] }) {
				continue
			}
			for _, to := range g.members {
				drawn[[2]S{from, to}] = true
			}
			draw(string(from), g.name)
			alone[from] = true
		}
	}
	for _, from := range append([]S{""}, states...) {
		for _, to := range states {
			if !follows(from, to) || drawn[[2]S{from, to}] {
				continue
			}
			name := string(from)
			if from == "" {
				name = `created(["created"])`
			}
			draw(name, string(to))
			alone[from], alone[to] = true, true
		}
	}
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	for _, g := range groups {
		members := slices.DeleteFunc(slices.Clone(g.members), func(s S) bool { return !alone[s] })
		if len(members) == 0 {
			fmt.Fprintf(&out, "    %s[%q]\n", g.name, g.title)
			continue
		}
		fmt.Fprintf(&out, "    subgraph %s[%q]\n", g.name, g.title)
		for _, member := range members {
			fmt.Fprintf(&out, "        %s\n", member)
		}
		out.WriteString("    end\n")
	}
	return out.String() + strings.Join(steps, "")
}

func all[S any](members []S, holds func(S) bool) bool {
	return !slices.ContainsFunc(members, func(member S) bool { return !holds(member) })
}
