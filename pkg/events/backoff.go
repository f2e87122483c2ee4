package events

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Backoff is a delay that doubles from Start up to Cap.
type Backoff struct {
	Start time.Duration
	Cap   time.Duration
}

// delay is what to wait after a number of delays.
func (b Backoff) delay(after int) time.Duration {
	d := b.Start
	for range after {
		if d >= b.Cap/2 {
			return b.Cap
		}
		d *= 2
	}
	return d
}

func (b Backoff) validate() error {
	if b != (Backoff{}) && (b.Start <= 0 || b.Cap < b.Start) {
		return fmt.Errorf("back-off from %s to %s: must start above 0 and end no earlier", b.Start, b.Cap)
	}
	return nil
}

// jitter shortens a delay by up to a quarter, so that what failed together is not tried together.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/4+1) }
