package gc

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

func TestGrowthIsLargerForASmallHeap(t *testing.T) {
	for scanned, want := range map[uint64]int{
		0: 400, 1 << 20: 400, 8 << 20: 200, 16 << 20: 100, 20 << 20: 80, 32 << 20: minGrowthPercent, 4 << 30: minGrowthPercent,
	} {
		if got := growthPercent(scanned); got != want {
			t.Errorf("after a scan of %d bytes the heap may grow by %d %%, want %d %%", scanned, got, want)
		}
	}
}

// Without the stacks in the percentage, this heap would grow by three times as much.
func TestHeapGrowsByTheSameWhateverTheStacksTake(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	done := make(chan struct{})
	defer close(done)
	var ready sync.WaitGroup
	for range 64 {
		ready.Add(1)
		go withStack(16, func() {
			ready.Done()
			<-done
		})
	}
	ready.Wait()
	ballast := make([]*[1 << 10]byte, 8<<10) // 8 MiB
	for i := range ballast {
		ballast[i] = new([1 << 10]byte)
	}
	runtime.GC()
	newTune()()
	samples := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	growth, stacks := samples[0].Value.Uint64()-samples[1].Value.Uint64(), samples[2].Value.Uint64()
	if stacks < 16<<20 || growth > minGrowthBytes || growth < minGrowthBytes*9/10 {
		t.Errorf("beside stacks of %d KiB the heap may grow by %d KiB, want %d", stacks>>10, growth>>10, minGrowthBytes>>10)
	}
	runtime.KeepAlive(ballast)
}

// withStack calls a function with a number of frames of 16 KiB on its stack.
func withStack(frames int, act func()) byte {
	var frame [16 << 10]byte
	if frames == 0 {
		act()
		return frame[0]
	}
	frame[0] = withStack(frames-1, act)
	return frame[len(frame)-1] + frame[0]
}

func TestTuningFollowsEachCollection(t *testing.T) {
	tuned := make(chan struct{})
	ctx := t.Context()
	afterEachCollection(func() {
		select {
		case tuned <- struct{}{}:
		case <-ctx.Done():
		}
	})
	for times := 0; times < 3; {
		runtime.GC()
		select {
		case <-tuned:
			times++
		case <-time.After(time.Millisecond): // the next cleanup may have been registered only now
		}
	}
}
