package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
)

// Severity is what follows from an Item.
type Severity string

// The severities, in the order in which they are printed.
const (
	// Blocks must be fixed before the move.
	Blocks Severity = "error"
	// Differs is what Firesteel does in another way.
	Differs Severity = "warning"
	// Step is a step of the move, or good to know.
	Step Severity = "note"
)

var severities = []Severity{Blocks, Differs, Step}

// Area is what an Item is about.
type Area string

// The areas.
const (
	Objects     Area = "objects"
	Drivers     Area = "drivers"
	Operator    Area = "operator"
	Definitions Area = "definitions"
	Webhooks    Area = "webhooks"
	Accounts    Area = "accounts"
)

// Item is a finding, about one object or about many.
type Item struct {
	Severity Severity `json:"severity"`
	Area     Area     `json:"area"`
	// Kind is that of the objects, as kubectl writes it with its group.
	Kind  string `json:"kind,omitempty"`
	Field string `json:"field,omitempty"`
	// Message is the finding about the first of the objects, with the remedy.
	Message string `json:"message"`
	// Count is the number of these objects, and Examples are the first of them.
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"`
}

const (
	// maxItems bounds the items of a severity, maxStates the states of a kind, and maxExamples and maxText an item.
	maxItems, maxStates, maxExamples, maxText = 400, 64, 3, 1024
)

// Report is what was found in a cluster.
type Report struct {
	// Settings names the settings of Firesteel that the checks used.
	Settings string `json:"settings"`
	// Ready reports whether nothing has to be fixed before the move.
	Ready bool `json:"ready"`
	// NotRead is what was not read, and why.
	NotRead []string `json:"notRead"`
	// Kinds are the numbers of objects that were read, by kind.
	Kinds []*KindCounts `json:"objects"`
	// Operators are the other operators that were found.
	Operators []InstalledOperator `json:"operators"`
	// Suggested are settings of Firesteel with the same effect as theirs: by the name of the ConfigMap, then by key.
	Suggested map[string]map[string]string `json:"suggestedSettings"`
	Drivers   DriverCounts                 `json:"drivers"`
	Items     []*Item                      `json:"items"`
	// More is how many findings are not among the items, since there are too many different ones.
	More int `json:"more,omitempty"`

	byKey map[string]*Item
	// counts are the numbers of items by severity. Each severity has a bound of its own, so that many differences do not crowd out what blocks
	// the move.
	counts map[Severity]int
}

// KindCounts are the numbers of objects of a kind.
type KindCounts struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	// Firesteel is how many of them Firesteel serves already.
	Firesteel int            `json:"servedByFiresteel,omitempty"`
	States    map[string]int `json:"states"`
}

// DriverCounts are the numbers of drivers that other operators run.
type DriverCounts struct {
	Running int `json:"running"`
	// Compared are those that were compared with Firesteel's.
	Compared int `json:"compared"`
	// Equal are those of them without a difference that matters.
	Equal int `json:"equal"`
}

// NewReport returns an empty report.
func NewReport() *Report {
	return &Report{
		NotRead: []string{}, Kinds: []*KindCounts{}, Operators: []InstalledOperator{}, Suggested: map[string]map[string]string{}, Items: []*Item{},
		byKey: map[string]*Item{}, counts: map[Severity]int{},
	}
}

// Add adds a finding about an object. Findings with the same key become one item. example names the object; it may be empty.
func (r *Report) Add(key string, item Item, example string) {
	key = strings.Join([]string{string(item.Severity), string(item.Area), item.Kind, key}, "\x00")
	known := r.byKey[key]
	if known == nil {
		if r.counts[item.Severity] >= maxItems {
			r.More++
			return
		}
		r.counts[item.Severity]++
		item.Message = text.Clip(item.Message, maxText)
		known = &item
		r.byKey[key] = known
		r.Items = append(r.Items, known)
	}
	known.Count++
	if example != "" && len(known.Examples) < maxExamples {
		known.Examples = append(known.Examples, example)
	}
}

// AddNotRead adds what was not read, and why. Each text is added once.
func (r *Report) AddNotRead(what string) {
	if what = text.Clip(what, maxText); !slices.Contains(r.NotRead, what) && len(r.NotRead) < maxItems {
		r.NotRead = append(r.NotRead, what)
	}
}

// Finish sorts the items by severity, area and count, and decides whether the cluster is ready. It is called once, at the end.
func (r *Report) Finish() {
	slices.SortStableFunc(r.Items, func(a, b *Item) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Area, b.Area), b.Count-a.Count)
	})
	r.Ready = r.counts[Blocks] == 0
}

// Of returns the items of a severity.
func (r *Report) Of(severity Severity) (found []*Item) {
	for _, item := range r.Items {
		if item.Severity == severity {
			found = append(found, item)
		}
	}
	return found
}

// Summary is the first line of the report.
func (r *Report) Summary() string {
	summary := "not ready: " + text.Count(r.counts[Blocks], "problem") + " to fix before the move"
	if r.Ready {
		summary = "ready: nothing stands in the way"
	}
	summary += fmt.Sprintf("; %s, %s", text.Count(r.counts[Differs], "difference"), text.Count(r.counts[Step], "step"))
	if r.More > 0 {
		summary += fmt.Sprintf("; %d findings are not shown", r.More)
	}
	if len(r.NotRead) > 0 {
		summary += fmt.Sprintf("; %s not read", text.Count(len(r.NotRead), "part"))
	}
	return summary
}
