package model

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// takeLabels takes labels off drivers, so that watches by labels show them no more, and puts some of them back, until it is calm.
func (w *env) takeLabels() {
	random := w.random(5)
	taken := map[types.UID]map[string]string{}
	for !w.calm() {
		pause(random, 10*time.Second)
		drivers, _ := w.server.list(pods, func(o object) bool { return ownerOf(o) != "" && strings.HasSuffix(o.GetName(), "-driver") })
		if len(drivers) == 0 {
			continue
		}
		driver := drivers[random.IntN(len(drivers))].(*corev1.Pod)
		k, labels := key{pods, driver.Namespace, driver.Name}, maps.Clone(driver.Labels)
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
		_, err := w.server.change(k, metav1.Preconditions{UID: ptr.To(driver.UID)}, func(stored object) error {
			stored.SetLabels(labels)
			return nil
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			w.t.Error(err)
		}
	}
}
