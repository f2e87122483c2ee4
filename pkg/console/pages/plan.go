package pages

import (
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// Plan is how what runs differs from what the application and the settings make.
type Plan struct {
	// Problem is why nothing can be compared, in a sentence; empty if it can.
	Problem string
	// Refused are the errors for which Firesteel runs no such application, and Warnings what it finds else.
	Refused, Warnings []string
	// Unread are what was not read, and may change the result.
	Unread []string
	// Objects are those of the attempt.
	Objects []PlannedObject
	// Foreign reports whether another operator runs the application: then Driver is how its driver differs from Firesteel's.
	Foreign bool
	Driver  []migration.DriverDifference
}

// PlannedObject is an object of an attempt.
type PlannedObject struct {
	// Name is the kind and the name, such as pod/pi-0-driver.
	Name  string
	State PlannedState
	// Text is the difference to what runs as a unified diff, or the whole object if there is none.
	Text string
}

// PlannedState is what is known of a planned object.
type PlannedState int

// The states of planned objects.
const (
	// AsPlanned is an object that is what is planned.
	AsPlanned PlannedState = iota
	// Differs is one that is not.
	Differs
	// Absent is one that is not there.
	Absent
	// Hidden is one that the viewer may not read.
	Hidden
	// Large is one that is too large to be compared here.
	Large
)

var plannedStates = map[PlannedState]status{
	AsPlanned: {Icon: "succeeded", Tone: "succeeded", Word: "as planned"},
	Differs:   {Icon: "warning", Tone: "warning", Word: "differs"},
	Absent:    {Icon: "deleted", Tone: "waiting", Word: "not there"},
	Hidden:    {Icon: "deleted", Tone: "waiting", Word: "hidden: you may not read it"},
	Large:     {Icon: "deleted", Tone: "waiting", Word: "too large to be compared here"},
}

// planView is a plan as a page shows it.
type planView struct {
	*Plan
	// Summary is a sentence.
	Summary string
	Objects []plannedView
	// Command compares by the command line.
	Command string
	// Kept reports whether the page is only asked for what surrounds the plan.
	Kept bool
}

type plannedView struct {
	Name   string
	Status status
	Open   bool
	Lines  []diffLine
	// Cut is how many further lines there are.
	Cut string
}

// diffLine is a line of a diff. Mark is added, removed or place, or empty.
type diffLine struct{ Mark, Text string }

// maxDiffLines bounds the lines that are shown of an object.
const maxDiffLines = 1000

// plan compares an application with what runs, with the viewer's identity.
func (s *Server) plan(v *view, row *live.Row) (*planView, error) {
	if v.URL.Query().Get(paramPart) == partHead {
		return &planView{Plan: &Plan{}, Kept: true}, nil
	}
	identity, err := v.viewer.Identity()
	if err != nil {
		return nil, err
	}
	plan, err := identity.Plan(v.Context(), row.Ref, versionOf(row))
	if err != nil {
		return nil, err
	}
	view := &planView{Plan: plan, Summary: plan.summary()}
	for i := range plan.Objects {
		view.Objects = append(view.Objects, plannedViewOf(&plan.Objects[i]))
	}
	view.Command = "kubectl get " + row.Resource + " " + row.Name + " -n " + row.Namespace + " -o yaml | kubectl spark plan -f - --settings cluster --diff"
	if plan.Foreign {
		view.Command = "kubectl spark migrate check -n " + row.Namespace
	}
	return view, nil
}

// summary says in a sentence what was found.
func (p *Plan) summary() string {
	if p.Problem != "" || len(p.Refused) > 0 {
		return ""
	}
	if p.Foreign {
		if len(p.Driver) == 0 {
			return "The driver that another operator made is what Firesteel would make."
		}
		return "The driver that another operator made differs from the one that Firesteel would make in " + plural(len(p.Driver), "field", "fields") + "."
	}
	count := map[PlannedState]int{}
	for _, object := range p.Objects {
		count[object.State]++
	}
	switch known := len(p.Objects) - count[Hidden] - count[Large]; {
	case len(p.Objects) == 0:
		return "Nothing is created: the user starts the driver."
	case known == 0:
		return "None of its objects could be compared."
	case count[Absent] == known:
		return "None of its objects is there. This is what an attempt creates now."
	case count[AsPlanned] == known:
		return "What runs is what the application and the settings make now."
	default:
		return plural(known-count[AsPlanned], "object is", "objects are") + " not what the application and the settings make now."
	}
}

func plannedViewOf(object *PlannedObject) plannedView {
	view := plannedView{Name: object.Name, Status: plannedStates[object.State], Open: object.State == Differs}
	count := 0
	for line := range strings.Lines(object.Text) {
		if count++; count > maxDiffLines {
			continue
		}
		text := strings.TrimSuffix(line, "\n")
		mark := ""
		switch {
		case object.State != Differs:
		case strings.HasPrefix(text, "@@"), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
			mark = "place"
		case strings.HasPrefix(text, "+"):
			mark = "added"
		case strings.HasPrefix(text, "-"):
			mark = "removed"
		}
		view.Lines = append(view.Lines, diffLine{mark, text})
	}
	if count > maxDiffLines {
		view.Cut = plural(count-maxDiffLines, "further line", "further lines")
	}
	return view
}
