package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts the faults that were injected, by kind.
type tally struct {
	mutex  sync.Mutex
	counts map[string]int
	total  int
	// enough is closed when as many were injected as are wanted.
	enough chan struct{}
	want   int
}

// newTally wants a number of faults; 0 for as many as there will be.
func newTally(want int) *tally {
	return &tally{counts: map[string]int{}, enough: make(chan struct{}), want: want}
}

func (t *tally) count(fault string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.counts[fault]++
	if t.total++; t.total == t.want {
		close(t.enough)
	}
}

func (t *tally) sum() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.total
}

func (t *tally) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var text strings.Builder
	for _, fault := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&text, "  %6d  %s\n", t.counts[fault], fault)
	}
	return text.String() + fmt.Sprintf("  %6d  in all", t.total)
}

// missing are those of some faults that were not injected.
func (t *tally) missing(faults []string) []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(faults), func(fault string) bool { return t.counts[fault] > 0 })
}
