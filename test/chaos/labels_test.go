package chaos

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
	"github.com/firesteel-dev/firesteel/test/harness/witness"
)

// labelTaker takes labels off drivers' Pods.
func (w *env) labelTaker(wild []*workload) actor {
	return actor{"labels taken", 300 * time.Millisecond, func(ctx context.Context, d *rng.Rand) bool {
		return w.takeLabels(ctx, d, wild[d.Below(len(wild))].namespace)
	}}
}

// takeLabels takes one label or all off a driver's Pod, and sometimes puts them back. Those that choose what kwok does with the Pod stay. A driver
// that is in no record keeps its labels: it was created late, and is found by them.
func (w *env) takeLabels(ctx context.Context, d *rng.Rand, namespace string) bool {
	pod := w.anyPod(ctx, d, namespace, func(pod *corev1.Pod) bool {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		return witness.IsDriver(pod) && !ended && pod.Labels["spark-role"] != "" && w.history.HasRecorded(pod.UID)
	})
	if pod == nil {
		return false
	}
	taken, back := map[string]any{}, map[string]any{}
	onlyRole := d.Chance(0.5)
	for key, value := range pod.Labels {
		if strings.HasPrefix(key, "chaos/") || onlyRole && key != "spark-role" {
			continue
		}
		taken[key], back[key] = nil, value
	}
	if !w.label(ctx, pod, taken) {
		return false
	}
	if d.Chance(0.5) {
		after := d.About(300 * time.Millisecond) // many drivers run for less than a second
		go func() {
			select {
			case <-time.After(after):
			case <-ctx.Done():
				return
			}
			if w.label(ctx, pod, back) {
				w.counters.count("labels put back")
			}
		}()
	}
	return true
}

// label changes labels of a Pod. It reports whether the Pod was there.
func (w *env) label(ctx context.Context, pod *corev1.Pod, labels map[string]any) bool {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "labels": labels}})
	if err != nil {
		panic(err)
	}
	_, err = w.Kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err == nil
}
