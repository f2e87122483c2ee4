package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// ownPlane is an env with a control plane of its own.
func ownPlane(t *testing.T) *env {
	t.Helper()
	controlPlanes.reserve(t)
	s := &env{TB: t, suite: &suite{dir: t.TempDir(), programs: controlPlanes.programs}, ns: "alone"}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		s.suite.stop()
	})
	s.must(s.suite.start(ctx))
	_, err := s.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}, metav1.CreateOptions{})
	s.must(err)
	until(s, s.Kube.CoreV1().ServiceAccounts(s.ns), "default", "exist", func(*corev1.ServiceAccount) bool { return true })
	return s
}

// The API server is restored from an older backup, and uses resource versions again. What Firesteel wrote last, and what its
// informers have, is of a time that never was. It goes on from what there is.
func TestRestoreOfTheAPIServerWhileTheControllerRuns(t *testing.T) {
	t.Parallel()
	s := ownPlane(t)
	process := s.ownController(controller{sink: s.sink.URL()})
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
	s.must(s.Plane.Backup(t.Context(), backup))

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
	s.must(s.Plane.Restore(t.Context(), backup, false, func(string) error { return nil }))

	if _, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), "waits-0-driver", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the driver that came after the backup is there: %v", err)
	}
	running.succeed()
	s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	s.edit("waits", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = false })
	s.untilState("waits", "DriverRequested")
	(&driver{Pod: s.pod("waits-0-driver"), env: s}).start().ready()
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

// At the time of the backup the application had not been reconciled. Its record is not given back: the driver that it names was never
// made, as far as the API server knows.
func TestRestoreOfAnApplicationWithoutRecordStartsItAgain(t *testing.T) {
	t.Parallel()
	s := ownPlane(t)
	s.create(App("runs"))
	s.create(App("ended"))
	backup := filepath.Join(s.dir, "backup")
	s.must(s.Plane.Backup(t.Context(), backup))
	process := s.ownController(controller{sink: s.sink.URL()})
	s.untilReady(process)
	before := s.run("runs", 0)
	s.run("ended", 0).succeed()
	s.untilState("ended", "ResourceReleased")
	s.must(s.Plane.Restore(t.Context(), backup, false, func(string) error { return nil }))

	for _, name := range []string{"runs", "ended"} {
		s.untilState(name, "DriverRequested")
		again := &driver{Pod: s.pod(name + "-0-driver"), env: s}
		if again.UID == before.UID {
			t.Errorf("%s has the driver of a time that never was", name)
		}
		again.start().ready()
		s.untilState(name, "RunningHealthy")
		again.succeed()
		s.untilCondition(name, "Succeeded", metav1.ConditionTrue, "Succeeded")
	}
	select {
	case <-process.Done():
		t.Error("the controller ended")
	default:
	}
}

// No controller sees these edits. What a record says of the spec of its attempt is all that there is to tell them by.
func TestEditWhileTheControllerIsDown(t *testing.T) {
	t.Parallel()
	const name = "spark-pi"
	s := ownPlane(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.untilReady(process)
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.runPi().succeed()
	s.untilShown(name, v1beta2.CompletedState)
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	away := func(during func()) {
		t.Helper()
		process.Kill()
		during()
		process = s.ownController(controller{sink: s.sink.URL()})
		s.untilReady(process)
	}
	edit := s.patched
	noting := func(version int64) string {
		return fmt.Sprintf(`{"op":"add","path":"/attempt/spec","value":{"hash":"of another","hashVersion":%d,"generation":1}}`, version)
	}
	earlier := func() {
		t.Helper()
		app, err := s.kubeflowApps().Get(t.Context(), name, metav1.GetOptions{})
		s.must(err)
		app.Spec.TimeToLiveSeconds = nil
		hash, err := spec.HashJSON(app.Spec)
		s.must(err)
		s.patchRecord(kubeflowApplications, name, `{"op":"remove","path":"/attempt/spec"}`, `{"op":"add","path":"/attempt/specHash","value":"`+hash+`"}`)
	}
	stays := func(what string) {
		t.Helper()
		app := until(s, s.kubeflowApps(), name, "note the spec", func(app *v1beta2.SparkApplication) bool {
			return spec.Noted(app.Status.Firesteel).Generation == app.Generation
		})
		if noted := spec.Noted(app.Status.Firesteel); app.Status.AppState.State != v1beta2.CompletedState || app.Status.ExecutionAttempts != 1 ||
			noted.HashVersion != spec.HashVersion || app.Status.Firesteel.Attempt.SpecHash != "" {
			t.Fatalf("%s: it is not left as it was:\n%s", what, described(app))
		}
	}
	away(func() {
		earlier()
		edit(kubeflowApplications, name, `{"spec":{"timeToLiveSeconds":1800}}`)
	})
	stays("an edit of what does not matter, of an earlier version's record")
	away(func() { edit(kubeflowApplications, name, `{"spec":{"timeToLiveSeconds":1900}}`) })
	stays("an edit of what does not matter")
	if adopted := s.kubeEvents("SpecAdopted"); len(adopted) != 0 {
		t.Errorf("edits that the hash shows are reported as unknown: %v", adopted)
	}
	away(func() {
		s.patchRecord(kubeflowApplications, name, noting(99))
		edit(kubeflowApplications, name, `{"spec":{"arguments":["6"]}}`)
		s.patchRecord(sparkClusters, "c", noting(99))
		edit(sparkClusters, "c", `{"spec":{"sparkConf":{"spark.a":"b"}}}`)
	})
	stays("an edit that the hash cannot show")
	for object, generation := range map[string]int64{name: s.generation(name), "c": 2} {
		event := s.untilKubeEvent(object, corev1.EventTypeWarning, "SpecAdopted")
		for _, part := range []string{fmt.Sprintf("metadata.generation is %d", generation), "edit spec again"} {
			if !strings.Contains(event.Message, part) {
				t.Errorf("the Event on %s does not say %q: %s", object, part, event.Message)
			}
		}
	}
	away(func() {
		earlier()
		edit(kubeflowApplications, name, `{"spec":{"arguments":["7"]}}`)
	})
	until(s, s.kubeflowApps(), name, "run anew", func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == v1beta2.SubmittedState && spec.Noted(app.Status.Firesteel).Generation == app.Generation
	})
}

// kubeEvents are the Kubernetes Events of a reason.
func (s *env) kubeEvents(reason string) []corev1.Event {
	s.Helper()
	events, err := s.Kube.CoreV1().Events(s.ns).List(s.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	s.must(err)
	return events.Items
}
