package archiver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// replica is a process that follows logs.
type replica struct {
	*following
	cancel func()
}

// beginAnother begins to follow, as another process. It has an archive of its own that is open.
func (e *followEnv) beginAnother() *replica {
	a := newArchiver(e.core.CoreV1(), archive.NewStores(), func() *config.Config { return e.settings }, e.clock)
	a.openLog = e.follower.openLog
	ctx, cancel := context.WithCancel(e.t.Context())
	follower := &Follower{Archiver: a, apis: e.follower.apis, here: e.follower.here}
	return &replica{newFollowing(ctx, follower, follower.present()), cancel}
}

// kill ends a replica that stores nothing any more, as by kill -9.
func (r *replica) kill() {
	for range maxFlushes {
		r.flushes <- struct{}{}
	}
	r.end()
}

func (r *replica) end() {
	r.cancel()
	r.streams.Wait()
}

// The lease lets one replica follow. One that lost it without noticing, as after a pause of its node, follows on for a while beside the next one.
func TestTwoReplicasThatFollowLoseAndRepeatNoLine(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { followByTwo(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func followByTwo(t *testing.T, rng *rand.Rand) {
	e := newFollowEnv(t, "flush-interval", "5s")
	e.stop()
	c := e.starts(driverLog)
	written := 0
	log := func(count int) {
		c.change(func() {
			for range count { // several in a second, and a chunk is full after some 30 of them
				at := began.Add(time.Duration(written) * 300 * time.Millisecond)
				c.text += fmt.Sprintf("%s line %d %s\n", at.Format(time.RFC3339Nano), written, strings.Repeat("x", rng.IntN(8<<10)))
				written++
			}
		})
	}
	replicas := make([]*replica, 2)
	defer func() {
		for _, r := range replicas {
			r.end()
		}
	}()
	for i := range replicas {
		replicas[i] = e.beginAnother()
		replicas[i].observe(e.driver(true))
	}
	for range 25 {
		log(rng.IntN(12))
		after(time.Duration(rng.IntN(8000)) * time.Millisecond)
		i := rng.IntN(len(replicas))
		switch rng.IntN(6) {
		case 0:
			replicas[i].kill()
			log(rng.IntN(5))
			replicas[i] = e.beginAnother()
			replicas[i].observe(e.driver(true))
		case 1:
			replicas[i].end()
			replicas[i] = e.beginAnother()
			replicas[i].observe(e.driver(true))
		case 2:
			c.breakStreams()
		case 3:
			e.withoutStorage(func() { after(12 * time.Second) })
		}
	}
	log(3)
	c.end()
	for _, r := range replicas {
		r.observe(e.driver(false))
	}
	after(2 * time.Minute)
	if got := e.stored("pi-driver", "uid-of-driver", "spark-kubernetes-driver", 0); got != c.text {
		t.Errorf("the archive has %d lines in %d bytes, want %d in %d; they differ from line %d on",
			strings.Count(got, "\n"), len(got), written, len(c.text), strings.Count(common(got, c.text), "\n"))
	}
}

// withoutStorage does something while the storage of the archive is away.
func (e *followEnv) withoutStorage(do func()) {
	e.t.Helper()
	away := e.folder + ".away"
	if err := errors.Join(os.Rename(e.folder, away), os.WriteFile(e.folder, nil, 0o600)); err != nil {
		e.t.Fatal(err)
	}
	do()
	if err := errors.Join(os.Remove(e.folder), os.Rename(away, e.folder)); err != nil {
		e.t.Fatal(err)
	}
}

// common returns the longest beginning that two texts share.
func common(a, b string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[:i]
		}
	}
	return a[:min(len(a), len(b))]
}
