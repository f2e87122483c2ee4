package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatchReportsWhenSoManyReachedAStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, begin := newBatch("a", 3), time.Now()
		go func() {
			for i, name := range []string{"a-00002", "a-00000", "another", "a-00002", "a-00001"} {
				<-time.After(time.Second)
				b.reach(name, released)
				if i == 0 {
					b.reach(name, deleted)
				}
			}
		}()
		if err := b.await(t.Context(), nil, released, 3, time.Minute); err != nil {
			t.Fatal(err)
		}
		for count, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 5 * time.Second} {
			if got := b.after(begin, released, count); got != want {
				t.Errorf("%d were released after %s, want %s", count, got, want)
			}
		}
		if got := b.after(begin, deleted, 1); got != time.Second {
			t.Errorf("the first was deleted after %s", got)
		}
	})
}

func TestBatchDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch("a", 2)
		b.reach("a-00001", driverCreated)
		if err := b.await(t.Context(), nil, driverCreated, 2, time.Minute); !errors.Is(err, errTooSlow) || !strings.Contains(err.Error(), "1 of 2") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestBatchDoesNotWaitForAnOperatorThatEnded(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	if err := newBatch("a", 2).await(t.Context(), ended, released, 2, time.Hour); err == nil || errors.Is(err, errTooSlow) {
		t.Errorf("error is %v", err)
	}
}
