package base

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func arrive(b *Burst, from, to int) {
	for i := from; i < to; i++ {
		b.Set(types.UID(fmt.Sprint(i)), true)
	}
}

func finish(b *Burst, from, to int) {
	for i := from; i < to; i++ {
		b.Set(types.UID(fmt.Sprint(i)), false)
	}
}

func TestBurstIsOnWhileManyWaitOrHaveJustArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Burst{Window: time.Second}
		wants := func(want bool, when string) {
			t.Helper()
			if b.IsOn() != want {
				t.Errorf("it is on: %t, %s", !want, when)
			}
		}
		wants(false, "before anything arrived")
		arrive(&b, 0, burstSize-1)
		wants(false, "with few")
		arrive(&b, burstSize-1, burstSize)
		finish(&b, 0, burstSize)
		wants(true, "right after many arrived")
		time.Sleep(b.Window)
		wants(false, "when the arrivals are old")
		arrive(&b, 0, burstSize)
		time.Sleep(time.Hour)
		wants(true, "while many wait")
		finish(&b, 0, 1)
		wants(false, "when few wait")
		for i := range 2 * burstSize {
			arrive(&b, i, i+1)
			finish(&b, i, i+1)
			time.Sleep(b.Window / burstSize * 2)
		}
		wants(false, "while they arrive slowly")
		b.Window = 0
		arrive(&b, 0, burstSize-1)
		wants(false, "when few wait, whenever they arrived")
	})
}

func TestBurstWakesThoseThatYieldOnceItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Burst{Window: time.Second}
		woken := map[types.UID]int{}
		yield := func(of types.UID) bool { return b.Yield(of, func() { woken[of]++ }) }
		if yield("early") {
			t.Error("yields to no application")
		}
		arrive(&b, 0, burstSize)
		for _, of := range []types.UID{"a", "b", "a"} {
			if !yield(of) {
				t.Errorf("%s does not yield", of)
			}
		}
		time.Sleep(time.Minute)
		finish(&b, 0, 1) // few wait, and the last arrivals are old
		if woken["a"] != 1 || woken["b"] != 1 || len(woken) != 2 {
			t.Errorf("woken %v, want a and b once", woken)
		}

		clear(woken)
		finish(&b, 1, burstSize)
		arrive(&b, 0, burstSize)
		finish(&b, 0, burstSize)
		yield("c")
		time.Sleep(b.Window / 2)
		for i := range burstSize { // the burst goes on
			arrive(&b, i, i+1)
			finish(&b, i, i+1)
		}
		time.Sleep(b.Window - time.Millisecond)
		synctest.Wait()
		if len(woken) > 0 {
			t.Errorf("woken %v during the burst", woken)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if woken["c"] != 1 {
			t.Errorf("woken %v after the burst, want c once", woken)
		}
	})
}
