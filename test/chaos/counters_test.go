package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// counters count the injected faults by kind.
type counters struct {
	mutex  sync.Mutex
	counts map[string]int
	total  int
	// enough is closed when as many were injected as are wanted.
	enough chan struct{}
	want   int
}

// newCounters wants a number of faults; 0 for as many as there will be.
func newCounters(want int) *counters {
	return &counters{counts: map[string]int{}, enough: make(chan struct{}), want: want}
}

func (t *counters) count(fault string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.counts[fault]++
	if t.total++; t.total == t.want {
		close(t.enough)
	}
}

// note counts the effect of a fault. It is no fault itself.
func (t *counters) note(effect string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.counts[effect]++
}

func (t *counters) sum() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.total
}

func (t *counters) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var text strings.Builder
	for _, fault := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&text, "  %6d  %s\n", t.counts[fault], fault)
	}
	return text.String() + fmt.Sprintf("  %6d  in all", t.total)
}

// missing returns which of the wanted faults were not injected.
func (t *counters) missing(faults []string) []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(faults), func(fault string) bool { return t.counts[fault] > 0 })
}
