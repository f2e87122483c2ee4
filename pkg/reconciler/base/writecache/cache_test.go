package writecache

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

func object(uid types.UID, version string) *corev1.ConfigMap {
	object := &corev1.ConfigMap{}
	object.Namespace, object.Name, object.UID, object.ResourceVersion = "team-a", "pi", uid, version
	return object
}

func TestTheNewestIsTheOwnWriteUntilTheCacheHasCaughtUp(t *testing.T) {
	for name, test := range map[string]struct {
		own, cached *corev1.ConfigMap
		want        string
	}{
		"the cache's where nothing was written":             {nil, object("1", "17"), "17"},
		"one's own while the cache is behind":               {object("1", "18"), object("1", "17"), "18"},
		"numbers are compared, not texts":                   {object("1", "100"), object("1", "99"), "100"},
		"the cache's once it has caught up":                 {object("1", "18"), object("1", "18"), "18"},
		"the cache's once it is ahead":                      {object("1", "18"), object("1", "19"), "19"},
		"the cache's where it is of another birth":          {object("1", "18"), object("2", "17"), "17"},
		"the cache's where the versions cannot be compared": {object("1", "18"), object("1", "x"), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := New[*corev1.ConfigMap]()
			if test.own != nil {
				w.Remember(test.own)
			}
			if got := w.Newest(test.cached); got.ResourceVersion != test.want || got.UID != test.cached.UID {
				t.Errorf("the newest is %s of %s, want %s", got.ResourceVersion, got.UID, test.want)
			}
		})
	}
}

func TestWriteIsForgottenOnceTheCacheHasIt(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Newest(object("1", "18"))
	if len(w.writes) > 0 {
		t.Errorf("%d objects are kept in memory that the cache has", len(w.writes))
	}
}

func TestWriteIsForgottenOnceTheObjectIsDeleted(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Forget(object("1", "17"))
	if got := w.Newest(object("1", "17")); got.ResourceVersion != "17" {
		t.Errorf("the newest is %s", got.ResourceVersion)
	}
}

func TestNewestReturnsACopy(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Newest(object("1", "17")).SetName("changed")
	if got := w.Newest(object("1", "17")); got.Name != "pi" {
		t.Error("what was remembered was changed by who asked for it")
	}
}

func TestWriteIsForgottenIfTheCacheGoesBack(t *testing.T) {
	for name, test := range map[string]struct {
		before, after *corev1.ConfigMap
		back          bool
		want          string
	}{
		"it goes on":                   {object("1", "16"), object("1", "17"), false, "18"},
		"it goes back":                 {object("1", "17"), object("1", "12"), true, "12"},
		"another of its name has come": {object("2", "17"), object("1", "12"), false, "18"},
		"it shows the same once more":  {object("1", "17"), object("1", "17"), false, "18"},
		"the order is not known":       {object("1", "x"), object("1", "12"), false, "18"},
	} {
		t.Run(name, func(t *testing.T) {
			w := New[*corev1.ConfigMap]()
			w.Remember(object("1", "18"))
			if back := w.RolledBack(test.before, test.after); back != test.back {
				t.Errorf("it went back: %t, want %t", back, test.back)
			}
			if got := w.Newest(test.after); got.ResourceVersion != test.want {
				t.Errorf("the newest is %s, want %s", got.ResourceVersion, test.want)
			}
		})
	}
}

// keyOfObjects is the key of all objects in these tests.
var keyOfObjects = types.NamespacedName{Namespace: "team-a", Name: "pi"}

func TestGetReturnsOwnWritesBeforeTheInformerHasThem(t *testing.T) {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		write  func(*Cache[*corev1.ConfigMap])
		cached *corev1.ConfigMap
		after  time.Duration
		want   string // the resourceVersion, empty if there is no object
	}{
		"created":                          {write: written("1", "18"), want: "18"},
		"updated":                          {write: written("1", "18"), cached: object("1", "17"), want: "18"},
		"updated, and the informer has it": {write: written("1", "18"), cached: object("1", "19"), want: "19"},
		"replaced":                         {write: written("2", "18"), cached: object("1", "17"), want: "18"},
		"created long ago":                 {write: written("1", "18"), after: time.Minute},
		"deleted":                          {write: deleted("1", "18"), cached: object("1", "18")},
		"deleted, and the informer knows":  {write: deleted("1", "18")},
		"deleted, and created by another":  {write: deleted("1", "18"), cached: object("2", "19"), want: "19"},
		"deleted long ago, and still there": {
			write: deleted("1", "18"), cached: object("1", "18"), after: time.Minute, want: "18",
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := clocktesting.NewFakePassiveClock(start)
			c := NewExpiring[*corev1.ConfigMap](now, 10*time.Second)
			test.write(c)
			now.SetTime(start.Add(test.after))
			got, found := c.Get(keyOfObjects, test.cached, test.cached != nil)
			if found != (test.want != "") || found && got.ResourceVersion != test.want {
				t.Errorf("found %t: %v, want %q", found, got, test.want)
			}
			if held := c.Written(); len(held) > 1 || len(held) == 1 && held[0].ResourceVersion != test.want {
				t.Errorf("it holds %v", held)
			}
		})
	}
}

func TestReportedDeletionEndsAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		write    func(*Cache[*corev1.ConfigMap])
		reported *corev1.ConfigMap
		ours     bool
		held     int
	}{
		"of what Firesteel wrote":   {written("1", "18"), object("1", "18"), false, 0},
		"of an earlier object":      {written("2", "18"), object("1", "17"), false, 1},
		"of what Firesteel deleted": {deleted("1", "18"), object("1", "18"), true, 0},
		"of another object":         {deleted("1", "18"), object("2", "19"), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := New[*corev1.ConfigMap]()
			test.write(c)
			if ours := c.ReportedDeleted(test.reported); ours != test.ours || len(c.Written()) != test.held {
				t.Errorf("ours %t, %d held; want %t, %d", ours, len(c.Written()), test.ours, test.held)
			}
		})
	}
}

func TestManagedFieldsAreDropped(t *testing.T) {
	c, stored := New[*corev1.ConfigMap](), object("1", "18")
	stored.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "firesteel"}}
	c.Remember(stored)
	if got := c.Newest(object("1", "17")); len(got.ManagedFields) > 0 {
		t.Error("the next write would send managed fields")
	}
}

func TestExpiredWritesAreDropped(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	c := NewExpiring[*corev1.ConfigMap](now, time.Second)
	for n := range maxWrites {
		o := object("1", "18")
		o.Name = fmt.Sprint(n)
		c.Remember(o)
	}
	now.SetTime(now.Now().Add(time.Minute))
	if c.Remember(object("1", "18")); len(c.writes) != 1 {
		t.Errorf("%d writes are held", len(c.writes))
	}
}

func written(uid types.UID, version string) func(*Cache[*corev1.ConfigMap]) {
	return func(c *Cache[*corev1.ConfigMap]) { c.Remember(object(uid, version)) }
}

func deleted(uid types.UID, version string) func(*Cache[*corev1.ConfigMap]) {
	return func(c *Cache[*corev1.ConfigMap]) { c.RememberDeletion(object(uid, version)) }
}

// A reconcile reads the informer's cache, the informer reports a write, and the reconcile goes on with what it read.
func TestWriteThatWasJustReportedIsNewerThanWhatWasReadBefore(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	before := object("1", "17")
	w.Remember(object("1", "18"))
	if !w.IsEcho(object("1", "18")) {
		t.Fatal("the write was not reported")
	}
	if got := w.Newest(before); got.ResourceVersion != "18" {
		t.Errorf("the newest is %s, want 18", got.ResourceVersion)
	}
	if got := w.Newest(object("2", "17")); got.UID != "2" {
		t.Errorf("the newest is of %s, want the namesake", got.UID)
	}
	if !w.RolledBack(object("1", "18"), before) || w.Newest(before).ResourceVersion != "17" {
		t.Error("after a restore the write is still there")
	}
}
