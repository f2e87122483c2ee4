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
	// Blocks is to fix before the move.
	Blocks Severity = "error"
	// Differs is done otherwise by Firesteel.
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

// Item is something that was found, on one object or on many alike.
type Item struct {
	Severity Severity `json:"severity"`
	Area     Area     `json:"area"`
	// Kind is that of the objects, as kubectl writes it with its group.
	Kind  string `json:"kind,omitempty"`
	Field string `json:"field,omitempty"`
	// Message says what was found on the first of the objects, and what to do.
	Message string `json:"message"`
	// Count is on how many objects it was found, and Examples are the first of them.
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"`
}

const (
	// maxItems bounds the items of a severity, maxStates the states of a kind, and maxExamples and maxText an item.
	maxItems, maxStates, maxExamples, maxText = 400, 64, 3, 1024
)

// Report is what was found in a cluster.
type Report struct {
	// Settings says by which settings of Firesteel it was judged.
	Settings string `json:"settings"`
	// Ready reports whether nothing has to be fixed before the move.
	Ready bool `json:"ready"`
	// NotRead is what was not read, and why.
	NotRead []string `json:"notRead"`
	// Kinds are the objects that were read.
	Kinds []*Kind `json:"objects"`
	// Operators are the other operators that were found.
	Operators []Installed `json:"operators"`
	// Suggested are settings of Firesteel with the effect of theirs: values by the keys of ConfigMaps by their names.
	Suggested map[string]map[string]string `json:"suggestedSettings"`
	Drivers   Compared                     `json:"drivers"`
	Items     []*Item                      `json:"items"`
	// More is how many findings are not among the items, since there are too many different ones.
	More int `json:"more,omitempty"`

	byKey map[string]*Item
	// counts are how many items there are by their severities: many differences leave room for what blocks the move.
	counts map[Severity]int
}

// Kind is how many objects of a kind there are.
type Kind struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	// Firesteel is how many of them Firesteel serves already.
	Firesteel int            `json:"servedByFiresteel,omitempty"`
	States    map[string]int `json:"states"`
}

// Compared counts drivers.
type Compared struct {
	// Running is how many applications of another operator have a driver, Compared how many of the drivers were compared, and Equal how many
	// differ in nothing that matters.
	Running  int `json:"running"`
	Compared int `json:"compared"`
	Equal    int `json:"equal"`
}

// NewReport returns an empty report.
func NewReport() *Report {
	return &Report{
		NotRead: []string{}, Kinds: []*Kind{}, Operators: []Installed{}, Suggested: map[string]map[string]string{}, Items: []*Item{},
		byKey: map[string]*Item{}, counts: map[Severity]int{},
	}
}

// Add adds what was found on an object. Items with the same key are one; example names the object and may be empty.
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

// Unread notes what was not read, and why; each once.
func (r *Report) Unread(what string) {
	if what = text.Clip(what, maxText); !slices.Contains(r.NotRead, what) && len(r.NotRead) < maxItems {
		r.NotRead = append(r.NotRead, what)
	}
}

// Finish sorts the items: the most severe first, of those the most frequent. It decides whether the cluster is ready.
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
	summary := "not ready: " + counted(r.counts[Blocks], "problem") + " to fix before the move"
	if r.Ready {
		summary = "ready: nothing stands in the way"
	}
	summary += fmt.Sprintf("; %s, %s", counted(r.counts[Differs], "difference"), counted(r.counts[Step], "step"))
	if r.More > 0 {
		summary += fmt.Sprintf("; %d findings are not shown", r.More)
	}
	if len(r.NotRead) > 0 {
		summary += fmt.Sprintf("; %s not read", counted(len(r.NotRead), "part"))
	}
	return summary
}

func counted(number int, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}
