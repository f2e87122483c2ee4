package gc

import "runtime/debug"

// smallHeapGrowth is how much the heap of a service may grow until the next collection, in percent. A service holds little and allocates little, so frequent
// collections cost it next to nothing, and keep its memory small.
const smallHeapGrowth = 30

// KeepHeapSmall adapts the collector to a service that holds little. It overrides $GOGC, but not $GOMEMLIMIT.
func KeepHeapSmall() { debug.SetGCPercent(smallHeapGrowth) }
