package migrate

import "runtime"

// heap returns the bytes of live objects.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
