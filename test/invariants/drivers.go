package invariants

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// Drivers are the driver Pods that one application ever had.
type Drivers struct {
	pods map[types.UID]*driver
	// order is that in which they were first seen.
	order []types.UID
}

// driver is a driver Pod. It lived from one revision to another; to is empty while it lives.
type driver struct {
	name, from, to string
	// stopping is when its deletion was accepted; zero if it was not.
	stopping time.Time
}

// OneLiveDriver checks the names of an application's live drivers: "No attempt starts until the previous one's driver is proven
// gone" (section 3, one live driver).
func OneLiveDriver(revision string, alive []string) error {
	if len(alive) > 1 {
		return fmt.Errorf("at revision %s more than one driver lives: %v", revision, alive)
	}
	return nil
}

// NoDriverAfterObject checks a driver that lived until a revision against the revision at which its application was gone:
// "Deletion stops the driver first, then waits a bounded time" (section 4).
func NoDriverAfterObject(name, lived, gone string) error {
	if later(lived, gone) {
		return fmt.Errorf("the object was gone at revision %s, and its driver %s lived until %s", gone, name, lived)
	}
	return nil
}

// NoDriverAfterRelease checks a driver that lived until a revision against the revision at which its application was
// ResourceReleased: a state that is reported is true (section 4, 1).
func NoDriverAfterRelease(name, lived, released string) error {
	if later(lived, released) {
		return fmt.Errorf("resources were released at revision %s, and driver %s lived until %s", released, name, lived)
	}
	return nil
}

// Saw stores a revision of a driver Pod. It returns an error if more than one driver lives then.
func (d *Drivers) Saw(what watch.EventType, pod *corev1.Pod) error {
	if d.pods == nil {
		d.pods = map[types.UID]*driver{}
	}
	seen, known := d.pods[pod.UID]
	if !known {
		seen = &driver{name: pod.Name, from: pod.ResourceVersion}
		d.pods[pod.UID] = seen
		d.order = append(d.order, pod.UID)
	}
	if at := pod.DeletionTimestamp; at != nil && seen.stopping.IsZero() {
		seen.stopping = at.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	dead := what == watch.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	appeared := !known
	if !dead && what == watch.Added && seen.to != "" { // a watch by label reports a Pod so whose label returns
		seen.to, appeared = "", true
	}
	var violation error
	if appeared {
		violation = OneLiveDriver(pod.ResourceVersion, d.Alive())
	}
	if dead && seen.to == "" {
		seen.to = pod.ResourceVersion
	}
	return violation
}

// UIDs are those of all driver Pods, in the order in which they were first seen.
func (d *Drivers) UIDs() []types.UID { return slices.Clone(d.order) }

// Count counts the driver Pods by their names.
func (d *Drivers) Count() map[string]int {
	count := map[string]int{}
	for _, pod := range d.pods {
		count[pod.name]++
	}
	return count
}

// Alive are the names of the driver Pods that live, sorted.
func (d *Drivers) Alive() []string {
	var alive []string
	for _, pod := range d.pods {
		if pod.to == "" {
			alive = append(alive, pod.name)
		}
	}
	slices.Sort(alive)
	return alive
}

// undo removes the driver Pods that were made after a revision, and the ends of others that came after it.
func (d *Drivers) undo(revision string) {
	maps.DeleteFunc(d.pods, func(_ types.UID, pod *driver) bool { return later(pod.from, revision) })
	d.order = slices.DeleteFunc(d.order, func(uid types.UID) bool { return d.pods[uid] == nil })
	for _, pod := range d.pods {
		if pod.to != "" && later(pod.to, revision) {
			pod.to = ""
		}
		pod.stopping = time.Time{} // the next revision shows whether it is
	}
}

func later(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
