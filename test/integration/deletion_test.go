package integration

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

func TestDeletionWhileTheDriverRunsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").ConfigMap("settings", "key", "value"))
	s.run("pi", 0)
	s.delete("pi")
	untilGone(s, s.apps(), "pi")
	s.untilNothingIsLeft()
	const mostConflicts = 12 // until the controller hears of the deletion, each after twice the time of the one before, from 5 ms on
	conflicts := 0
	for _, request := range s.requestsAtRest() {
		gone := request.Kind() == "get pods" && request.Code == http.StatusNotFound // it may look for its driver
		if request.Kind() == "update sparkapplications/status" && request.Code == http.StatusConflict {
			conflicts++
			if conflicts <= mostConflicts {
				continue // the deletion came first
			}
		}
		if request.Code >= 400 && !gone {
			t.Errorf("refused: %s", request)
		}
	}
	s.untilPublished(app, cutShort.states...)
	heard, _ := s.sink.Events(s.ns)
	last := heard[len(heard)-1].Attributes
	if last["sparkfinal"] != "true" || last["sparkoutcome"] != "Deleted" {
		t.Errorf("the last event says final=%q outcome=%q, want true, Deleted", last["sparkfinal"], last["sparkoutcome"])
	}
}

func TestDeletionWithEachPropagationPolicy(t *testing.T) {
	t.Parallel()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(propagation), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := s.create(App("pi"))
			s.run("pi", 0)
			s.must(s.apps().Delete(t.Context(), "pi", metav1.DeleteOptions{PropagationPolicy: &propagation}))
			untilGone(s, s.apps(), "pi")
			s.untilNothingIsLeft()
			s.untilPublished(app, cutShort.states...)
		})
	}
}

// Whatever an application of a name was about to do when it was deleted, the next one of that name is not harmed.
func TestDeletionAndCreationByTurns(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for rest := range 8 {
		s.create(App("pi"))
		<-time.After(time.Duration(rest) * 15 * time.Millisecond) // to be deleted at another step each time
		s.delete("pi")
		untilGone(s, s.apps(), "pi")
	}
	s.runThrough(restarted, "po")
	app := s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, plainRun...)
	s.untilNothingIsLeft()
}

func TestDeletionBeforeTheLaunchLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Suspended())
	s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "Suspended")
	s.delete("pi")
	untilGone(s, s.apps(), "pi")
	s.untilNothingIsLeft()
	s.untilPublished(app, "Submitted", "ResourceReleased")
}

func TestDeletionWaitsUntilTheDriverIsGone(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	s.run("pi", 0)
	s.kubelet.Pause(s.ns)
	s.delete("pi")
	s.untilTerminating("pi-0-driver")
	until(s, s.apps(), "pi", "say what it waits for", func(app *sparkv1.SparkApplication) bool {
		return app.DeletionTimestamp != nil && len(app.Status.Conditions) > 0 &&
			contains(app.Status.Conditions[0].Message, "driver Pod's deletion was accepted")
	})
	if _, err := s.apps().Create(t.Context(), App("pi").Obj(), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create while the old one is deleted: %v, want that it exists already", err)
	}
	s.kubelet.Resume(t.Context(), s.ns)
	untilGone(s, s.apps(), "pi")
	s.untilNothingIsLeft()
}

// A namesake waits for the driver of the application before it, which still holds the names of all objects.
func TestLaunchWaitsForTheDriverOfADeletedApplication(t *testing.T) {
	t.Parallel()
	for name, goAway := range map[string]func(*env){
		// The main container has ended, so the application need not wait for the Pod.
		"whose application ended": func(s *env) {
			s.run("pi", 0).set(func(status *corev1.PodStatus) {
				kubelet.Ended(status, 0)
				status.Phase = corev1.PodRunning // a sidecar takes its time
			})
			s.untilState("pi", "ResourceReleased")
			s.delete("pi")
		},
		// A user removes the finalizer, and the garbage collector deletes a driver that runs.
		"whose application was torn away": func(s *env) {
			s.run("pi", 0)
			s.delete("pi")
			_, err := s.apps().Patch(s.Context(), "pi", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				s.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			s.create(App("pi"))
			s.driver("pi", 0)
			s.kubelet.Pause(s.ns)
			goAway(s)
			untilGone(s, s.apps(), "pi")
			old := s.untilTerminating("pi-0-driver")

			app := s.create(App("pi"))
			s.untilState("pi", "Submitted")
			s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "DriverPodTerminating") // and changes when the Pod is gone
			s.kubelet.Resume(t.Context(), s.ns)
			if d := s.run("pi", 0); d.UID == old.UID {
				t.Error("the namesake took over the old driver")
			} else {
				d.succeed()
			}
			s.untilState("pi", "ResourceReleased")
			s.untilPublished(app, plainRun...)
		})
	}
}

// Objects of an earlier launch that are not garbage-collected yet are replaced.
func TestLaunchReplacesObjectsOfAnEarlierLaunch(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: s.ns, Labels: map[string]string{
			"firesteel.dev/launch-id": "an-earlier-one", "spark.operator/spark-app-name": "pi",
		}}
	}
	old := map[string]types.UID{}
	for _, leftover := range []struct {
		kind   int
		object runtime.Object
	}{
		{1, &corev1.Service{ObjectMeta: meta("pi-0-driver-svc"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}},
		{2, &corev1.ConfigMap{ObjectMeta: meta("pi-0-spark-drv-conf-map")}},
		{3, &corev1.PersistentVolumeClaim{ObjectMeta: meta("pi-0-driver-pvc-0"), Spec: claim("1Gi")}},
		{4, &networkingv1.NetworkPolicy{ObjectMeta: meta("pi-0-policy")}},
	} {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(leftover.object)
		s.must(err)
		stored, err := s.Dynamic.Resource(objectKinds[leftover.kind]).Namespace(s.ns).
			Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
		s.must(err)
		old[stored.GetName()] = stored.GetUID()
	}
	s.create(App("pi").Spark("4.2.0").OnDemandClaim())
	s.untilState("pi", "DriverRequested") // the claim goes in its time, and drivers that came before it is gone go with it
	d := s.run("pi", 0)
	if owned := s.ownedBy(d.Pod); len(owned) != len(old) {
		t.Errorf("the driver has %v, want one object for each of %v", owned, old)
	}
	d.succeed()
	s.untilState("pi", "ResourceReleased")
}

func claim(size string) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}
}

// untilTerminating waits until the deletion of a Pod was accepted.
func (s *env) untilTerminating(pod string) *corev1.Pod {
	s.Helper()
	return until(s, s.Kube.CoreV1().Pods(s.ns), pod, "terminate", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// deletionGrace is how long undelivered events hold a deletion. A test can wait for its end, and it is long enough for a test in which
// the sink accepts events late.
const deletionGrace = 20 * time.Second

func TestDeletionWaitsForUndeliveredEventsForABoundedTime(t *testing.T) {
	t.Parallel()
	t.Run("that passes", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.sink.SetAnswer(s.ns, always(http.StatusServiceUnavailable))
		s.create(App("pi"))
		s.run("pi", 0).succeed()
		released := s.untilState("pi", "ResourceReleased").Status.Firesteel
		s.delete("pi")
		untilGone(s, s.apps(), "pi")
		if waited := time.Since(released.Transitions[len(released.Transitions)-1].Time.Time); waited < deletionGrace {
			t.Errorf("it went %s after its release, want at least %s", waited, deletionGrace)
		}
	})
	t.Run("or until they are delivered", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		app := s.create(App("pi"))
		s.run("pi", 0)
		s.untilDelivered("all until the deletion", func(heard []eventlog.Entry) bool {
			return len(firstAccepted(heard, app)) == len(cutShort.states)-1
		})
		released, release := s.untilCalled()
		var refused atomic.Bool
		s.sink.SetAnswer(s.ns, func(*http.Request, eventlog.Entry) int {
			if refused.CompareAndSwap(false, true) {
				return http.StatusServiceUnavailable
			}
			<-released // where the event waits, it comes without a back-off, which could be longer than what is left of the time
			return http.StatusAccepted
		})
		s.delete("pi")
		s.untilState("pi", "ResourceReleased")
		release()
		untilGone(s, s.apps(), "pi")
		s.untilPublished(app, cutShort.states...)
	})
}

func always(status int) sink.Answer {
	return func(*http.Request, eventlog.Entry) int { return status }
}

func TestDeletionOfANamespaceDeletesItsApplications(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("one"))
	s.create(App("two").Suspended())
	s.run("one", 0)
	s.must(s.Kube.CoreV1().Namespaces().Delete(t.Context(), s.ns, metav1.DeleteOptions{}))
	untilGone(s, s.Kube.CoreV1().Namespaces(), s.ns)
}
