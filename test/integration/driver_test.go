package integration

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// driver is a driver Pod on its stand-in for a node.
type driver struct {
	*corev1.Pod
	scene *scene
}

// driver waits for the driver Pod of an attempt to be on a node.
func (s *scene) driver(app string, attempt int) *driver {
	s.Helper()
	pods := s.kube.CoreV1().Pods(s.ns)
	pod := until(s, pods, fmt.Sprintf("%s-%d-driver", app, attempt), "be bound", func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
	return &driver{Pod: pod, scene: s}
}

func (d *driver) set(change func(*corev1.PodStatus)) *driver {
	d.scene.Helper()
	d.scene.must(setStatus(d.scene.Context(), d.scene.kube, d.Pod, change))
	return d
}

func (d *driver) start() *driver   { d.scene.Helper(); return d.set(started) }
func (d *driver) ready() *driver   { d.scene.Helper(); return d.set(ready) }
func (d *driver) evict() *driver   { d.scene.Helper(); return d.set(evicted) }
func (d *driver) succeed() *driver { d.scene.Helper(); return d.exit(0) }
func (d *driver) exit(code int32) *driver {
	d.scene.Helper()
	return d.set(func(status *corev1.PodStatus) { ended(status, code) })
}

// run has an attempt's driver go through all it goes through, as far as to run, at the controller's pace.
func (s *scene) run(app string, attempt int) *driver {
	s.Helper()
	s.untilState(app, "DriverRequested")
	d := s.driver(app, attempt)
	d.start()
	s.untilState(app, "DriverStarted")
	d.ready()
	s.untilState(app, "RunningHealthy")
	return d
}
