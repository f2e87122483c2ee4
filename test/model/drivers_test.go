package model

import (
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// takeLabels takes labels off drivers that were recorded, so that watches by labels show them no more, and puts some of them back, until it is
// calm. A driver that was created late is found by its labels only.
func (w *env) takeLabels() {
	random := w.random(5)
	taken := map[types.UID]map[string]string{}
	for !w.calm() {
		pause(random, 10*time.Second)
		driver := w.anyDriver(random)
		if driver == nil || !w.server.history.HasRecorded(driver.UID) {
			continue
		}
		labels := maps.Clone(driver.Labels)
		all := taken[driver.UID]
		if all == nil {
			all = maps.Clone(labels)
		}
		taken[driver.UID] = all
		switch random.IntN(6) {
		case 0, 1:
			labels = nil
		case 2:
			delete(labels, dialect.LabelLaunch)
		case 3:
			delete(labels, "spark-role")
		default:
			labels = all
		}
		w.changeDriver(driver, func(stored object) { stored.SetLabels(labels) })
	}
}

// holdPods adds a finalizer to drivers, as a controller of another kind does, and removes it after a while.
func (w *env) holdPods() {
	random := w.random(7)
	for !w.over.Load() {
		pause(random, 20*time.Second)
		if w.calm() {
			held, _ := w.server.list(pods, func(o object) bool { return len(o.GetFinalizers()) > 0 })
			for _, o := range held {
				w.changeDriver(o.(*corev1.Pod), func(stored object) { stored.SetFinalizers(nil) })
			}
			continue
		}
		if driver := w.anyDriver(random); driver != nil {
			w.changeDriver(driver, func(stored object) {
				held := len(stored.GetFinalizers()) > 0
				stored.SetFinalizers(nil)
				if !held && stored.GetDeletionTimestamp() == nil { // none may be added later
					stored.SetFinalizers([]string{"example.org/held"})
				}
			})
		}
	}
}

// anyDriver returns a driver that Firesteel made; nil if there is none.
func (w *env) anyDriver(random *rand.Rand) *corev1.Pod {
	drivers, _ := w.server.list(pods, func(o object) bool { return ownerOf(o) != "" && strings.HasSuffix(o.GetName(), "-driver") })
	if len(drivers) == 0 {
		return nil
	}
	return drivers[random.IntN(len(drivers))].(*corev1.Pod)
}

// changeDriver changes a driver, unless it is gone.
func (w *env) changeDriver(driver *corev1.Pod, change func(stored object)) {
	_, err := w.server.change(key{pods, driver.Namespace, driver.Name}, metav1.Preconditions{UID: ptr.To(driver.UID)}, func(stored object) error {
		change(stored)
		return nil
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		w.t.Error(err)
	}
}
