package archiver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"gocloud.dev/blob/memblob"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// bubbleClock is the clock of a bubble, at the end of the attempt when the test begins.
type bubbleClock struct {
	clock.RealClock
	begun time.Time
}

func (c bubbleClock) Now() time.Time { return began.Add(time.Minute).Add(time.Since(c.begun)) }

func (c bubbleClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// newLateEnv returns an env in a bubble, with a handler whose time passes.
func newLateEnv(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.handler = e.archiver(bubbleClock{begun: time.Now()}).handler(e.spark, nil)
	return e
}

// breakStorage puts a file into the place of the folder. It returns a function that ends this.
func (e *env) breakStorage() (mend func()) {
	e.t.Helper()
	if err := errors.Join(os.RemoveAll(e.folder), os.WriteFile(e.folder, nil, 0o600)); err != nil {
		e.t.Fatal(err)
	}
	return func() {
		e.t.Helper()
		if err := errors.Join(os.Remove(e.folder), os.Mkdir(e.folder, 0o700)); err != nil {
			e.t.Fatal(err)
		}
	}
}

func (e *env) deletePods() {
	e.t.Helper()
	for _, name := range []string{"pi-driver", "pi-exec-1"} {
		if err := e.core.CoreV1().Pods(pi.Namespace).Delete(e.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// The storage is away for an hour. Meanwhile nobody asks the handler again, since nothing waits any more.
func TestAnAttemptThatTheStorageDidNotTakeIsArchivedLater(t *testing.T) {
	apps := func(e *env) interface {
		Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
	} {
		return e.spark.SparkV1().SparkApplications(pi.Namespace)
	}
	for name, test := range map[string]struct {
		meanwhile func(*env)
		annotated string
		logs      int
		missing   string
	}{
		"the driver Pod is retained": {func(*env) {}, "whole.uid-of-driver", 5, ""},
		"the driver Pod is gone":     {(*env).deletePods, "", 0, "driver Pod pi-driver"},
		"the application is deleted": {func(e *env) {
			e.deletePods()
			if err := apps(e).Delete(e.t.Context(), pi.Name, metav1.DeleteOptions{}); err != nil {
				e.t.Fatal(err)
			}
		}, "", 0, "driver Pod pi-driver"},
		"a next attempt has begun": {func(e *env) {
			e.deletePods()
			e.app.Status.Firesteel.Attempt.ID++
			e.app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "launch-2", ApplicationID: "spark-2", DriverPod: "pi-2-driver", DriverUID: "uid-of-driver-2"}
			if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(e.t.Context(), e.app, metav1.UpdateOptions{}); err != nil {
				e.t.Fatal(err)
			}
		}, "", 0, "driver Pod pi-driver"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newLateEnv(t)
				mend := e.breakStorage()
				if err := e.handle(); err == nil || e.annotation() != "" {
					t.Fatalf("the handler is done with %q: %v", e.annotation(), err)
				}
				test.meanwhile(e)
				e.core.ClearActions()
				e.spark.ClearActions()
				pass(time.Hour)
				if requests := e.core.Actions(); len(requests) > 60 || len(e.spark.Actions()) > 0 {
					t.Errorf("in an hour there were %d requests, and for the application: %v", len(requests), e.spark.Actions())
				}
				for _, request := range e.core.Actions() {
					if verb := request.GetVerb(); verb != "list" && verb != "get" {
						t.Errorf("without storage it wrote: %v", request)
					}
				}
				mend()
				pass(lateBackoff.Cap * 2)
				manifest := e.manifest()
				if len(manifest.Logs) != test.logs || manifest.State != "Failed" || manifest.Attempt != 1 {
					t.Errorf("the manifest is %+v", manifest)
				}
				if named := len(manifest.Missing) > 0 && manifest.Missing[0].What == test.missing; named != (test.missing != "") {
					t.Errorf("missing is %+v, want %q", manifest.Missing, test.missing)
				}
				if content, err := e.attempt().Get(t.Context(), 1<<20, "objects", "application.json.gz"); err != nil || strings.Contains(string(content), "hunter") {
					t.Errorf("the application is %s: %v", content, err)
				}
				if test.annotated != "" && e.annotation() != test.annotated {
					t.Errorf("the annotation is %q", e.annotation())
				}
			})
		})
	}
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestAnAttemptIsNotTriedAgainForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newLateEnv(t)
		mend := e.breakStorage()
		if err := e.handle(); err == nil {
			t.Fatal("the handler is done")
		}
		pass(lifecycle.ArchiveLate)
		mend()
		e.core.ClearActions()
		pass(time.Hour)
		if e.annotation() != "" || len(e.core.Actions()) > 1 { // the reading of the annotation
			t.Errorf("the annotation is %q after %v", e.annotation(), e.core.Actions())
		}
	})
}

// The description of the application is that of its last attempt, whichever is archived first.
func TestALateAttemptLeavesTheDescriptionOfALaterOne(t *testing.T) {
	store := archive.New(memblob.OpenBucket(nil))
	description := archive.Application{Namespace: pi.Namespace, NamespaceUID: "uid", Resource: "sparkapplications.spark.apache.org", Name: pi.Name, UID: pi.UID}
	for _, test := range []struct {
		attempt, want int64
		retried       bool
	}{{1, 1, true}, {2, 2, false}, {1, 2, true}, {3, 3, true}} {
		description.Attempt = test.attempt
		if err := (&attempt{retried: test.retried, storage: store}).writeApplication(t.Context(), description); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Application(t.Context(), description.ID()); err != nil || got.Attempt != test.want {
			t.Errorf("after attempt %d, the description is that of %d, want %d: %v", test.attempt, got.Attempt, test.want, err)
		}
	}
}

// One that never succeeds is tried after the others.
func TestAnAttemptThatAlwaysFailsKeepsNoOtherBack(t *testing.T) {
	of := newLate()
	poison := &pending{uid: "poison", tries: 1}
	for _, p := range []*pending{poison, {uid: "other"}} {
		if _, ok := of.add("file:///x", p); !ok {
			t.Fatal("there is no memory for it")
		}
	}
	if all := of.all("file:///x"); len(all) != 2 || all[1] != poison {
		t.Errorf("the order is %v", all)
	}
}

// A namespace whose applications are large, or many, leaves memory for those of others.
func TestWhatWaitsForTheStorageIsBounded(t *testing.T) {
	of := newLate()
	added := func(namespace string) (count int) {
		for i := range 10_000 {
			p := &pending{name: types.NamespacedName{Namespace: namespace}, uid: types.UID(fmt.Sprint(namespace, i)), app: make([]byte, 16<<10)}
			if _, ok := of.add("file:///x", p); ok {
				count++
			}
		}
		return count
	}
	if got := []int{added("a"), added("b"), added("c")}; got[0] != 256 || got[1] != 128 || got[2] != 64 {
		t.Errorf("namespaces have %v attempts", got)
	}
	for _, p := range of.all("file:///x") {
		of.remove(p.key())
	}
	if of.memory.used != 0 || len(of.memory.held) > 0 || of.all("file:///x") != nil {
		t.Errorf("%d bytes are in use", of.memory.used)
	}
}

// While all slots are taken, as by a storage that hangs, an attempt is read already: afterwards its application may be gone.
func TestAnAttemptIsReadBeforeItWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		a := newArchiver(fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pi.Namespace, UID: "uid-of-team-a"}}).CoreV1(), archive.NewStores(),
			func() *config.Config { return e.settings }, bubbleClock{begun: time.Now()})
		e.handler = a.handler(e.spark, nil)
		var releases []func()
		for range maxJobsPerNamespace {
			release, ok := a.slots.TryAcquire(pi.Namespace)
			if !ok {
				t.Fatal("there is no slot")
			}
			releases = append(releases, release)
		}
		var asked atomic.Bool
		go func() {
			if err := e.handle(); err != nil {
				t.Error(err)
			}
			asked.Store(true)
		}()
		pass(answerWithin)
		if !asked.Load() {
			t.Error("the handler does not answer in time")
		}
		if err := e.spark.SparkV1().SparkApplications(pi.Namespace).Delete(t.Context(), pi.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, release := range releases {
			release()
		}
		synctest.Wait()
		if manifest := e.manifest(); manifest.Attempt != 1 || len(manifest.Missing) != 1 {
			t.Errorf("the manifest is %+v", manifest)
		}
	})
}

// One goroutine tries the attempts of an archive again: that of the first one that failed.
func TestLinesAboutALateAttemptNameItsOwnApplication(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	of := func(name string) *zap.SugaredLogger { return zap.New(core).Sugar().With("name", name) }
	a := &Archiver{clock: clocktesting.NewFakePassiveClock(began.Add(2 * lifecycle.ArchiveLate)), late: newLate()}
	a.retryUntilFailure(logging.WithLogger(t.Context(), of("first")), []*pending{
		{uid: "uid-of-second", ended: v1alpha1.Transition{Attempt: 1, Time: metav1.NewMicroTime(began)}, logger: of("second")},
	})
	var lines []string
	for _, entry := range logs.All() {
		line := entry.Message
		for _, field := range entry.Context {
			if field.Key == "name" {
				line += " of " + field.String
			}
		}
		lines = append(lines, line)
	}
	if want := "attempt not archived, and not tried again of second"; strings.Join(lines, "\n") != want {
		t.Errorf("the lines are %q, want %q", lines, want)
	}
}
