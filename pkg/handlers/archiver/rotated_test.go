package archiver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// A driver logs so many lines, of which the node has no more those before oldest.
const allLines, oldest = 25, 15

// rotatedEnv is a followEnv whose driver has ended, and whose node has the end of its log only. The follower has stored some lines, and still reads the others.
type rotatedEnv struct {
	*followEnv
	driver *container
	last   *replica
}

func newRotatedEnv(t *testing.T, stored int) *rotatedEnv {
	t.Helper()
	e := &rotatedEnv{followEnv: newFollowEnv(t)}
	e.stop()
	e.clock.SetTime(began.Add(time.Minute))
	e.driver = e.starts(driverLog)
	e.driver.log(0, stored)
	e.last = e.beginAnother()
	e.last.observe(e.followEnv.driver(true))
	if synctest.Wait(); stored > 0 {
		after(11 * time.Second)
	}
	e.mustHave(lines(stored))
	e.driver.log(stored, allLines)
	e.logs[driverLog] = strings.TrimPrefix(lines(allLines), lines(oldest))
	e.app.Status.Firesteel.Transitions = application().Status.Firesteel.Transitions
	e.update()
	return e
}

// ended lets the follower read the log to its end.
func (e *rotatedEnv) ended() {
	e.driver.end()
	e.last.observe(e.followEnv.driver(false))
	after(time.Second)
}

// log returns what the manifest says of the driver's log.
func (e *rotatedEnv) log() archive.Log {
	e.t.Helper()
	for _, log := range e.manifest().Logs {
		if log.Role == archive.RoleDriver {
			return log
		}
	}
	e.t.Fatal("the manifest has no log of the driver")
	return archive.Log{}
}

// The end of the attempt comes before the follower has read the lines that the node has no more. They are not missing: it is asked again until they are there.
func TestALogThatIsRotatedNearItsEndIsArchivedWhenItsFollowerHasReadIt(t *testing.T) {
	for name, stored := range map[string]int{"lines in between": 3, "the beginning": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newRotatedEnv(t, stored)
				defer e.last.end()
				for range 2 {
					if err := e.handle(); err == nil || !strings.Contains(err.Error(), errFollowing.Error()) || e.annotation() != "" {
						t.Fatalf("the annotation is %q: %v", e.annotation(), err)
					}
					e.mustHave(lines(stored)) // nothing is in the place of what the follower stores
				}
				e.ended()
				if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" {
					t.Errorf("the annotation is %q: %v", e.annotation(), err)
				}
				e.mustHave(lines(allLines))
				if log := e.log(); log.Missing != "" || log.BeginningMissing || !log.Followed || log.Bytes != int64(len(lines(allLines))) {
					t.Errorf("%+v", log)
				}
				after(2 * lateBackoff.Duration) // nothing is left to be tried again
			})
		})
	}
}

// A follower that has died stores nothing any more. What follows the attempt does not wait for it longer than the handler is asked, and the archive has what
// the node has.
func TestALogThatIsRotatedNearItsEndIsArchivedWithoutItsFollower(t *testing.T) {
	for name, test := range map[string]struct {
		stored    int
		missing   string
		beginning bool
	}{"lines in between": {3, gapMissing, false}, "the beginning": {0, "", true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newRotatedEnv(t, test.stored)
				e.last.kill()
				for _, since := range []time.Duration{time.Minute, 2*time.Minute - time.Second} {
					e.clock.SetTime(began.Add(since))
					if err := e.handle(); err == nil || e.annotation() != "" {
						t.Fatalf("after %s, the annotation is %q: %v", since, e.annotation(), err)
					}
				}
				e.clock.SetTime(began.Add(2 * time.Minute)) // half of the wait
				if err := e.handle(); err != nil {
					t.Fatal(err)
				}
				e.mustHave(lines(test.stored) + e.logs[driverLog])
				if log := e.log(); log.Missing != test.missing || log.BeginningMissing != test.beginning {
					t.Errorf("%+v", log)
				}
				if got := e.annotation(); test.missing != "" && got != "partly.uid-of-driver" {
					t.Errorf("the annotation is %q", got)
				}
				after(2 * lateBackoff.Duration)
			})
		})
	}
}

// A follower that lives may store its lines when what the node had is archived already.
func TestWhatAFollowerStoresLateIsNotMixedWithWhatIsArchived(t *testing.T) {
	for name, stored := range map[string]int{"lines in between": 3, "the beginning": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newRotatedEnv(t, stored)
				defer e.last.end()
				e.clock.SetTime(began.Add(2 * time.Minute)) // nothing is asked again
				if err := e.handle(); err != nil {
					t.Fatal(err)
				}
				archived := lines(stored) + e.logs[driverLog]
				e.mustHave(archived)
				after(11 * time.Second)
				e.mustHave(archived)
				e.driver.log(allLines, 2*allLines)
				e.ended()
				e.mustHave(archived)
				if log := e.log(); log.Bytes != int64(len(archived)) || log.Missing == "" && !log.BeginningMissing {
					t.Errorf("%+v", log)
				}
			})
		})
	}
}

// Lines that a follower has lost are lost for the one that goes on, and for the end of the attempt.
func TestAGapOfAFollowerIsKnownBehindIt(t *testing.T) {
	for name, next := range map[string]func(e *followEnv){
		"by another follower": func(e *followEnv) {
			e.begin()
			e.following.observe(e.driver(true))
			after(11 * time.Second)
			e.containers[driverLog].end()
			e.following.observe(e.driver(false))
			after(time.Second)
			e.stop()
		},
		"without one": func(*followEnv) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newFollowEnv(t)
				c := e.starts(driverLog)
				c.log(0, 3)
				e.following.observe(e.driver(true))
				after(11 * time.Second)
				rotated := e.starts(driverLog)
				rotated.text = strings.TrimPrefix(lines(allLines), lines(oldest))
				c.breakStreams()
				after(time.Minute)
				e.mustHave(lines(3) + rotated.text)
				e.stop()
				next(e)
				e.logs[driverLog] = rotated.text
				e.app.Status.Firesteel.Transitions = application().Status.Firesteel.Transitions
				e.update()
				if err := e.handle(); err != nil || e.annotation() != "partly.uid-of-driver" {
					t.Errorf("the annotation is %q: %v", e.annotation(), err)
				}
				if log := e.manifest().Logs[0]; log.Missing != gapMissing {
					t.Errorf("%+v", log)
				}
				e.mustHave(lines(3) + rotated.text)
			})
		})
	}
}

// A log of which no follower has begun anything is stored at once, as it is without one.
func TestALogThatNoFollowerKeepsIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newRotatedEnv(t, 3)
		e.last.end()
		e.logs["pi-exec-1/spark-kubernetes-executor"] = e.logs[driverLog]
		e.ended()
		if err := e.handle(); err != nil {
			t.Fatal(err)
		}
		for _, log := range e.manifest().Logs {
			if log.BeginningMissing != (log.Role == archive.RoleExecutor) {
				t.Errorf("%+v", log)
			}
		}
	})
}

// What the follower has lost itself, nothing has. What it has read to its end is there, also if the node does not give it.
func TestTheManifestSaysOfAFollowedLogWhatItsFollowerSays(t *testing.T) {
	from, to := began, began.Add(2*time.Second)
	for name, test := range map[string]struct {
		missing string
		gives   bool
		want    string
	}{
		"lines in between are missing": {gapMissing, true, gapMissing},
		"the node gives it no more":    {"", false, ""},
		"its end is missing":           {goneMissing, true, ""},
		"its end, and the node's, too": {goneMissing, false, goneMissing},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, "driver-logs", "follow")
			id := archive.LogID{Pod: "pi-driver", PodUID: "uid-of-driver", Container: "spark-kubernetes-driver"}
			attempt := e.attempt()
			w, err := attempt.WriteLog(t.Context(), id, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Copy(t.Context(), strings.NewReader(lines(3))); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			described := archive.Log{LogID: id, Role: archive.RoleDriver, From: &from, To: &to, Bytes: w.Bytes(), Followed: true, Missing: test.missing}
			if err := attempt.DescribeFollowed(t.Context(), described); err != nil {
				t.Fatal(err)
			}
			if !test.gives {
				delete(e.logs, driverLog)
			}
			if err := e.handle(); err != nil {
				t.Fatal(err)
			}
			if log := e.manifest().Logs[0]; log.Missing != test.want || log.Bytes != described.Bytes || !log.Followed {
				t.Errorf("%+v", log)
			}
		})
	}
}
