package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// A forced deletion waits for the Pod's own grace period: until it is over, the kubelet may let the driver run.
func TestForcedDeletionWaitsForTheGracePeriodOfTheDriver(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(s *env, d *driver){
		"when a user deletes its Pod": func(s *env, d *driver) {
			s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, metav1.DeleteOptions{}))
		},
		"when an attempt failed and its sidecar lives on": func(_ *env, d *driver) {
			d.set(func(status *corev1.PodStatus) { status.ContainerStatuses[0].RestartCount = 1 })
		},
		"when the application is deleted": func(s *env, _ *driver) { s.delete("pi") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			grace := int64(6)
			s.create(App("pi").Driver(corev1.PodSpec{TerminationGracePeriodSeconds: &grace}).
				Restart(sparkv1.RestartOnFailure, 1, 0).ForceGoneWithin(time.Millisecond))
			d := s.run("pi", 0)
			s.kubelet.Pause(s.ns)
			stop(s, d)
			going := s.untilTerminating(d.Name)
			if *going.DeletionGracePeriodSeconds != grace {
				t.Fatalf("the grace period is %d s", *going.DeletionGracePeriodSeconds)
			}
			untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
			if early := time.Until(going.DeletionTimestamp.Time); early > 0 {
				t.Errorf("it was deleted by force %s before its grace period was over", early)
			}
			if drivers := s.driverHistory.driversOf(s.ns, "pi"); len(drivers) > 2 {
				t.Errorf("it had the drivers %v", drivers)
			}
		})
	}
}

// The API server stores grace period zero before it removes a Pod. If it is interrupted in between, the Pod stays until another
// delete request.
func TestDeletionOfADriverThatWasInterruptedIsRepeated(t *testing.T) {
	t.Parallel()
	app := App("pi").Restart(sparkv1.RestartOnFailure, 1, 0).ForceGoneWithin(time.Millisecond)
	for name, begin := range map[string]func(s *env){
		"while it runs": func(s *env) {
			s.create(app)
			s.run("pi", 0)
			s.kubelet.Pause(s.ns)
		},
		"while it waits for a node": func(s *env) {
			s.kubelet.Pause(s.ns)
			s.create(app)
			s.untilState("pi", "DriverRequested")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			begin(s)
			s.must(s.Plane.InterruptDeletion(t.Context(), s.ns, "pi-0-driver"))
			untilGone(s, s.Kube.CoreV1().Pods(s.ns), "pi-0-driver")
			s.kubelet.Resume(t.Context(), s.ns)
			s.run("pi", 1).succeed()
			s.untilState("pi", "ResourceReleased")
		})
	}
}
