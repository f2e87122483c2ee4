package integration

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// driver is a driver Pod on its stand-in for a node.
type driver struct {
	*corev1.Pod
	env *env
}

// driver waits for the driver Pod of an attempt to be on a node.
func (s *env) driver(app string, attempt int) *driver {
	s.Helper()
	pods := s.Kube.CoreV1().Pods(s.ns)
	pod := until(s, pods, fmt.Sprintf("%s-%d-driver", app, attempt), "be bound", func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
	return &driver{Pod: pod, env: s}
}

func (d *driver) set(change func(*corev1.PodStatus)) *driver {
	d.env.Helper()
	d.env.must(kubelet.SetStatus(d.env.Context(), d.env.Kube, d.Pod, change))
	return d
}

func (d *driver) start() *driver   { d.env.Helper(); return d.set(kubelet.Started) }
func (d *driver) ready() *driver   { d.env.Helper(); return d.set(kubelet.Ready) }
func (d *driver) evict() *driver   { d.env.Helper(); return d.set(kubelet.Evicted) }
func (d *driver) succeed() *driver { d.env.Helper(); return d.exit(0) }
func (d *driver) exit(code int32) *driver {
	d.env.Helper()
	return d.set(func(status *corev1.PodStatus) { kubelet.Ended(status, code) })
}

// executor makes an executor of the driver, as the driver would.
func (d *driver) executor(id int) *driver {
	d.env.Helper()
	return d.env.executor(d.Labels["spark-app-selector"], id, submission.OwnedBy(d.Pod))
}

// executor makes an executor of an application id.
func (s *env) executor(application string, id int, owner metav1.OwnerReference) *driver {
	s.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("%s-%s-exec-%d", application, strings.ToLower(owner.Kind), id),
			Labels: map[string]string{"spark-role": "executor", "spark-app-selector": application, apache.LabelOperator: apache.OperatorName},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark"}}},
	}
	pod.OwnerReferences = []metav1.OwnerReference{owner}
	made, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
	return &driver{Pod: made, env: s}
}

// run lets an attempt's driver start and become ready, at the controller's pace.
func (s *env) run(app string, attempt int) *driver {
	s.Helper()
	s.untilState(app, "DriverRequested")
	d := s.driver(app, attempt)
	d.start()
	s.untilState(app, "DriverStarted")
	d.ready()
	s.untilState(app, "RunningHealthy")
	return d
}

// runUnto has an attempt's driver be ready, and waits for the state that it is in then.
func (s *env) runUnto(state, app string, attempt int) *driver {
	s.Helper()
	d := s.driver(app, attempt).start().ready()
	s.untilState(app, state)
	return d
}
