// Package pause lets measurements and servers of tests wait, and be interrupted. A test itself waits for what happens.
package pause

import (
	"context"
	"time"
)

// For waits for a time. If the context ends before, it returns the context's error.
func For(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
