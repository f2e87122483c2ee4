package model

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// realTimeLimit is how long a bubble may take by the machine's clock. Most take two seconds.
const realTimeLimit = 10 * time.Minute

// inBubble runs a test in a bubble, within realTimeLimit. The simulated time stands still while a goroutine is not durably blocked:
// one that never ends its work, or waits for a lock whose owner sleeps. So the panic names these goroutines.
func inBubble(t *testing.T, test func(t *testing.T)) {
	limit := time.AfterFunc(realTimeLimit, func() {
		panic(fmt.Sprintf("%s did not end within %s. These goroutines are not durably blocked:\n\n%s", t.Name(), realTimeLimit, notDurablyBlocked()))
	})
	defer limit.Stop()
	synctest.Test(t, test)
}

// notDurablyBlocked returns the stacks of the goroutines that keep the time of their bubble from going on.
func notDurablyBlocked() string {
	stacks := make([]byte, 16<<20)
	goroutines := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	return strings.Join(slices.DeleteFunc(goroutines, func(goroutine string) bool {
		state, _, _ := strings.Cut(goroutine, "\n")
		return !strings.Contains(state, "synctest bubble") || strings.Contains(state, "(durable)")
	}), "\n\n")
}

func TestGoroutinesThatHoldUpTheClockAreNamed(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var lock sync.Mutex
		var all sync.WaitGroup
		lock.Lock()
		all.Go(func() { waitForLock(&lock) })
		all.Go(sleep)
		for !strings.Contains(notDurablyBlocked(), "waitForLock(") || strings.Contains(notDurablyBlocked(), "model.sleep(") {
			runtime.Gosched()
		}
		lock.Unlock()
		all.Wait()
	})
}

func waitForLock(lock *sync.Mutex) {
	lock.Lock()
	defer lock.Unlock()
}

func sleep() { time.Sleep(time.Hour) }
