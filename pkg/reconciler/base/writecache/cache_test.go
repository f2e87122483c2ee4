package writecache

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func object(uid types.UID, version string) *corev1.ConfigMap {
	object := &corev1.ConfigMap{}
	object.Namespace, object.Name, object.UID, object.ResourceVersion = "team-a", "pi", uid, version
	return object
}

func TestNewest(t *testing.T) {
	for name, test := range map[string]struct {
		own, cached *corev1.ConfigMap
		want        string
	}{
		"the cache's where nothing was written":    {nil, object("1", "17"), "17"},
		"one's own while the cache is behind":      {object("1", "18"), object("1", "17"), "18"},
		"numbers are compared, not texts":          {object("1", "100"), object("1", "99"), "100"},
		"the cache's once it has caught up":        {object("1", "18"), object("1", "18"), "18"},
		"the cache's once it is ahead":             {object("1", "18"), object("1", "19"), "19"},
		"the cache's where it is of another birth": {object("1", "18"), object("2", "17"), "17"},
		"the cache's where nobody can tell":        {object("1", "18"), object("1", "x"), "x"},
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

func TestWhatTheCacheHasIsForgotten(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Newest(object("1", "18"))
	if len(w.written) > 0 {
		t.Errorf("%d objects are kept in memory that the cache has", len(w.written))
	}
}

func TestWhatIsGoneIsForgotten(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Forget(object("1", "17"))
	if got := w.Newest(object("1", "17")); got.ResourceVersion != "17" {
		t.Errorf("the newest is %s", got.ResourceVersion)
	}
}

func TestCopiesAreHandedOut(t *testing.T) {
	w := New[*corev1.ConfigMap]()
	w.Remember(object("1", "18"))
	w.Newest(object("1", "17")).SetName("changed")
	if got := w.Newest(object("1", "17")); got.Name != "pi" {
		t.Error("what was remembered was changed by who asked for it")
	}
}

func TestTheLastWriteIsVoidOnceTheCacheGoesBack(t *testing.T) {
	for name, test := range map[string]struct {
		before, after *corev1.ConfigMap
		back          bool
		want          string
	}{
		"it goes on":                     {object("1", "16"), object("1", "17"), false, "18"},
		"it goes back":                   {object("1", "17"), object("1", "12"), true, "12"},
		"another of its name has come":   {object("2", "17"), object("1", "12"), false, "18"},
		"it shows the same once more":    {object("1", "17"), object("1", "17"), false, "18"},
		"nobody can tell what came when": {object("1", "x"), object("1", "12"), false, "18"},
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
