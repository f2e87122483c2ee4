package base

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
)

func TestProcessSettlesBeforeItStops(t *testing.T) {
	p := NewProcess(nil, Started{}, nil)
	var looks atomic.Int32
	p.BeforeStop(func() bool { return true })
	p.BeforeStop(func() bool { return looks.Add(1) == 3 })
	for i := range burstSize {
		p.FirstLaunches.Set(types.UID(rune('a'+i)), true)
	}
	woken := make(chan struct{})
	if !p.FirstLaunches.Yield("waits", func() { close(woken) }) || p.Stopping() {
		t.Fatal("there is no burst, or the process stops already")
	}
	p.Settle(t.Context())
	if got := looks.Load(); got != 3 || !p.Stopping() || p.FirstLaunches.IsOn() {
		t.Errorf("it settled after %d looks; stopping: %t, a burst is on: %t", got, p.Stopping(), p.FirstLaunches.IsOn())
	}
	<-woken
}

func TestProcessSettlesForAWhileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProcess(nil, Started{}, nil)
		p.BeforeStop(func() bool { return false })
		ctx, cancel := context.WithTimeout(t.Context(), 4*settleLimit)
		defer cancel()
		p.Settle(ctx)
		if ctx.Err() != nil {
			t.Error("a condition that never holds keeps the process alive")
		}
	})
}
