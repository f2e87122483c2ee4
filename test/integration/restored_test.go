package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// ownPlane is a scene with a control plane of its own.
func ownPlane(t *testing.T) *scene {
	t.Helper()
	s := &scene{TB: t, suite: &suite{dir: t.TempDir()}, ns: "restored"}
	s.must(os.Symlink(filepath.Join(shared.dir, "controller"), filepath.Join(s.dir, "controller")))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		s.suite.stop()
	})
	var err error
	s.plane, err = newPlane(ctx, filepath.Join(s.dir, "plane"), installed...)
	s.must(err)
	s.must(s.connect(ctx))
	_, err = s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}, metav1.CreateOptions{})
	s.must(err)
	until(s, s.kube.CoreV1().ServiceAccounts(s.ns), "default", "exist", func(*corev1.ServiceAccount) bool { return true })
	return s
}

// The API server is restored from an older backup, and uses resource versions again. What Firesteel wrote last, and what its
// informers have, is of a time that never was. It goes on from what there is.
func TestTheControllerGoesOnWhenTheAPIServerWasRestored(t *testing.T) {
	s := ownPlane(t)
	process := s.ownController(controller{sink: s.sink.url()})
	s.untilReady(process)
	s.create(App("pi"))
	s.create(App("waits").Suspended())
	running := s.run("pi", 0)
	s.untilCondition("waits", "Succeeded", metav1.ConditionUnknown, "Suspended")
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	hours := s.schedules(variant.Apache, "hours", hourly(), func(spec map[string]any) { spec["suspend"] = true })
	hours.until("be looked at", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.Firesteel != nil })
	backup := filepath.Join(s.dir, "backup")
	s.must(s.plane.Backup(t.Context(), backup))

	s.edit("waits", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = false })
	s.run("waits", 0)
	image := func(name string) {
		s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.kubernetes.container.image", name) })
		s.untilSet("c-worker", "have the image", func(set *appsv1.StatefulSet) bool {
			return set.Spec.Template.Spec.Containers[0].Image == name
		})
	}
	image("later")
	for i := range 20 { // resource versions that come again later
		s.edit("pi", func(app *sparkv1.SparkApplication) { app.Labels = map[string]string{"edit": fmt.Sprint(i)} })
	}
	s.must(s.plane.Restore(t.Context(), backup, false, func(string) error { return nil }))

	if _, err := s.kube.CoreV1().Pods(s.ns).Get(t.Context(), "waits-0-driver", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the driver that came after the backup is there: %v", err)
	}
	running.succeed()
	s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	s.edit("waits", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = false })
	s.untilState("waits", "DriverRequested")
	(&driver{Pod: s.pod("waits-0-driver"), scene: s}).start().ready()
	s.untilState("waits", "RunningHealthy")
	image("again")
	hours.patch(`{"suspend": false, "schedule": "@every 3s"}`)
	hours.untilStarted("")
	select {
	case <-process.Done():
		t.Error("the controller ended")
	default:
	}
}
