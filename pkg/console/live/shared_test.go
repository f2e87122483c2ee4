package live

import (
	"slices"
	"testing"
	"time"
)

// alike sees the groups of a namespace.
type alike struct{ namespace, key string }

func (a alike) Sees(namespace, _ string) bool { return namespace == a.namespace }

func (a alike) Key() string { return a.key }

// namesFor returns those of the rows of a page.
func (e *env) namesFor(see Visible, query Query) (names []string) {
	for _, row := range e.Page(see, query).Rows {
		names = append(names, row.Name)
	}
	return names
}

func TestAnswersAreSharedByThoseWhoSeeTheSame(t *testing.T) {
	e := newEnv(t)
	e.set(app{namespace: "a", name: "one", states: runningStates})
	e.set(app{namespace: "b", name: "two", states: runningStates})
	e.flush()
	mine, same, other, unknown := alike{"a", "a"}, alike{"a", "a"}, alike{"b", "b"}, alike{"b", ""}
	first := e.Page(mine, Query{})
	if again := e.Page(same, Query{}); len(first.Rows) != 1 || &first.Rows[0] != &again.Rows[0] {
		t.Errorf("the same page was made twice: %v, %v", first.Rows, again.Rows)
	}
	if got := e.namesFor(other, Query{}); !slices.Equal(got, []string{"two"}) {
		t.Errorf("who sees something else gets %q", got)
	}
	if got := e.namesFor(unknown, Query{}); !slices.Equal(got, []string{"two"}) {
		t.Errorf("who sees what is not known gets %q", got)
	}
	if got := e.namesFor(same, Query{Filter: Filter{Text: "two"}}); len(got) != 0 {
		t.Errorf("another query gets %q", got)
	}
	since := now.Add(-time.Hour)
	if mine, other := e.Overview(mine, since), e.Overview(other, since); mine.Total.Running != 1 || len(mine.Namespaces) != 1 || other.Namespaces["b"].Running != 1 {
		t.Errorf("the overviews are %+v and %+v", mine.Namespaces, other.Namespaces)
	}
}

func TestSharedAnswersEndWithTheNextChange(t *testing.T) {
	e := newEnv(t)
	e.set(app{namespace: "a", name: "one", states: runningStates})
	e.flush()
	see := alike{"a", "a"}
	e.namesFor(see, Query{})
	e.set(app{namespace: "a", name: "new", states: runningStates})
	e.flush()
	if got := e.namesFor(see, Query{Sort: "name", Ascending: true}); !slices.Equal(got, []string{"new", "one"}) {
		t.Errorf("after a change the page has %q", got)
	}
	before := e.Page(see, Query{})
	e.clock.Step(shareFor + time.Millisecond)
	if after := e.Page(see, Query{}); before.Cursor == after.Cursor {
		t.Error("an answer is shared for longer than a second")
	}
}
