package model

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"knative.dev/pkg/system"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// TestMain silences client-go, which tells of every watch that is cut. Its back-off after errors is removed: it remembers the time of
// the last error in the process. That time is far ahead of the clock of each new bubble, so an informer would sleep for years.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	klog.SetOutput(io.Discard)
	if err := errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "FATAL"),
		os.Setenv(system.NamespaceEnvKey, "firesteel-system")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// stories is the number of runs if FIRESTEEL_STORIES is not set.
const stories = 15

func TestTransitionsAreDeliveredInOrderAndOneDriverLives(t *testing.T) {
	first, last := uint64(1), uint64(stories)
	if count, err := strconv.ParseUint(os.Getenv("FIRESTEEL_STORIES"), 10, 64); err == nil {
		last = count
	}
	if seed, err := strconv.ParseUint(os.Getenv("FIRESTEEL_SEED"), 10, 64); err == nil {
		first, last = seed, seed
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprintf("FIRESTEEL_SEED=%d", seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) { newEnv(t, seed).play() })
		})
	}
}

const (
	// turbulence is how long things go wrong, and recovery how long all may take to end after that.
	turbulence = 10 * time.Minute
	recovery   = 3 * time.Hour
	// quiet is how long nothing is written before all has ended: replicas need a while to see what users did last.
	quiet = 2 * time.Minute
)

// env is one run: a server, a sink, two replicas, and the users.
type env struct {
	t      *testing.T
	seed   uint64
	server *server
	sink   *sink
	begin  time.Time
	over   atomic.Bool
	actors sync.WaitGroup
	deaths atomic.Int64
	// archive is the data of config-archive; nil for the defaults.
	archive map[string]string
}

func newEnv(t *testing.T, seed uint64) *env {
	w := &env{t: t, seed: seed, server: newServer(t), begin: time.Now()}
	if seed%2 == 0 {
		w.archive = map[string]string{"url": "file:///none", "wait": "1s", "event-logs": "sidecar", "event-logs-image": "archive"}
	}
	interrupted := w.random(6)
	w.server.interrupts = func() bool { return !w.calm() && interrupted.IntN(10) == 0 }
	w.sink = &sink{t: t, calm: w.calm, history: w.server.history, random: w.random(1)}
	return w
}

// random is one actor's luck, the same for the same seed.
func (w *env) random(actor uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, actor)) }

func (w *env) calm() bool { return time.Since(w.begin) > turbulence }

func (w *env) play() {
	for n := range uint64(2) {
		w.actors.Go(func() { w.keepReplica(n) })
	}
	w.actors.Go(w.kubelet)
	w.actors.Go(w.submit)
	w.actors.Go(w.takeLabels)
	w.actors.Go(w.holdPods)
	w.haveUsers()
	deadline := time.Now().Add(recovery)
	for !w.settled() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Second)
	}
	w.over.Store(true)
	w.actors.Wait()
	w.check()
}

// keepReplica starts a replica again whenever it dies, or is replaced as in an upgrade.
func (w *env) keepReplica(n uint64) {
	random := w.random(10 + n)
	for life := uint64(0); !w.over.Load(); life++ {
		connection := newConnection(w.server, w.calm, w.random(100+10*life+n))
		connection.archive = w.archive
		replica := startReplica(w.t, connection, w.sink, nil)
		if random.IntN(2) == 0 {
			replica.joinBurst()
		}
		replaced := false
		for !connection.isDead() && !w.over.Load() && !replaced {
			time.Sleep(time.Second)
			replaced = !w.calm() && random.IntN(120) == 0
		}
		if connection.isDead() {
			w.deaths.Add(1)
		}
		if replaced {
			replica.terminate()
		} else {
			replica.end()
		}
		time.Sleep(time.Second)
	}
}

// settled reports whether nothing more can happen.
func (w *env) settled() bool {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if log := w.server.log; len(log) > 0 && time.Since(log[len(log)-1].at) < quiet {
		return false
	}
	for _, stored := range w.server.objects {
		pod, isPod := stored.(*corev1.Pod)
		app, isApplication := stored.(dialect.Application)
		if isPod && onDeadNode(pod) && pod.DeletionTimestamp != nil {
			continue // only an application that is not at rest, or a launch that needs its name, removes it
		}
		if stored.GetDeletionTimestamp() != nil || isPod && alive(pod) || isApplication && !atRest(app) {
			return false
		}
	}
	return true
}

// atRest reports whether an application has ended for good and the sink has acknowledged its events.
func atRest(app dialect.Application) bool {
	record, policy := app.GetRecord(), invariants.PolicyOf(app)
	if record == nil || record.Acknowledged < record.Sequence {
		return false
	}
	switch lifecycle.State(outbox.Current(record).State) {
	case lifecycle.ResourceReleased:
		return policy.TTL < 0
	case lifecycle.TerminatedWithoutReleaseResources:
		return policy.TTL < 0 && policy.RetainFor < 0
	default:
		return false
	}
}

func (w *env) check() {
	history := w.server.history
	for _, violation := range slices.Concat(history.Violations(), history.Undelivered(), history.Unpersisted()) {
		w.t.Error(violation)
	}
	seen, applications, followed := len(history.Applications()), 0, w.followed()
	for k, stored := range w.server.objects {
		if app, ok := stored.(dialect.Application); ok {
			applications++
			if app.GetDeletionTimestamp() != nil || !atRest(app) {
				w.t.Errorf("%s %s/%s (%s) has not ended: deleted %v, record %+v",
					k.resource, app.GetNamespace(), app.GetName(), app.GetUID(), app.GetDeletionTimestamp(), app.GetRecord())
			}
			continue
		}
		owner, left := ownerOf(stored), k.resource != leases
		if k.resource == pods && owner == "" { // a driver of a user is deleted with the application that followed it, if any did
			owner, left = followed[stored.GetUID()], followed[stored.GetUID()] != ""
		}
		if pod, ok := stored.(*corev1.Pod); ok && onDeadNode(pod) {
			left = false
		}
		if left && !w.server.exists(owner) {
			w.t.Errorf("%s is left of %s", k, owner)
		}
	}
	w.t.Logf("%d applications, %d left, %d drivers of users followed, %d events taken, %d revisions, %d replicas died",
		seen, applications, len(followed), w.sink.taken, w.server.revision, w.deaths.Load())
	if seen == 0 || w.deaths.Load() == 0 {
		w.t.Error("nothing happened")
	}
	if w.t.Failed() {
		w.logChanges()
	}
}

// logChanges logs what was written, so that an order of events that violates an invariant can be read.
func (w *env) logChanges() {
	for _, change := range w.server.log {
		w.t.Log(change)
	}
}

// kubelet moves Pods through their lives, the way schedulers, nodes and administrators do.
func (w *env) kubelet() {
	random := w.random(3)
	for !w.over.Load() {
		pause(random, 4*time.Second)
		found, _ := w.server.list(pods, func(object) bool { return true })
		for _, o := range found {
			k := key{pods, o.GetNamespace(), o.GetName()}
			_, err := w.server.change(k, metav1.Preconditions{UID: ptr.To(o.GetUID())}, func(stored object) error {
				return w.move(stored.(*corev1.Pod), random)
			})
			if errors.Is(err, errRemove) {
				err = w.server.delete(k, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
			}
			if errors.Is(err, errTaint) {
				err = w.server.delete(k, metav1.DeleteOptions{})
			}
			if pod := o.(*corev1.Pod); isDriver(pod) && pod.Status.Phase == corev1.PodRunning && random.IntN(3) == 0 {
				w.expect(w.server.create(anExecutor(pod, random)))
			}
			if err != nil && !errors.Is(err, errUnmoved) && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				w.t.Error(err)
			}
		}
	}
}

var (
	errUnmoved = errors.New("the Pod stays as it is")
	errRemove  = errors.New("the Pod goes")
	errTaint   = errors.New("the Pod is deleted, since its node is lost")
)

func (w *env) move(pod *corev1.Pod, random *rand.Rand) error {
	ended := !alive(pod)
	luck := random.IntN(10)
	switch {
	case onDeadNode(pod) && pod.DeletionTimestamp != nil, onDeadNode(pod) && ended:
		return errUnmoved // until it is forced
	case onDeadNode(pod):
		if w.calm() || luck == 1 {
			return errTaint
		}
		return errUnmoved
	case pod.DeletionTimestamp != nil && pod.Annotations["node"] == "lost" && !w.calm():
		return errUnmoved // until it is forced, or the node returns
	case pod.DeletionTimestamp != nil && ended:
		return errRemove
	case pod.DeletionTimestamp != nil:
		end(pod, 143)
	case ended && mayBeForced(pod) && !w.calm() && random.IntN(10) == 0:
		pod.Annotations = map[string]string{"node": "dead"}
	case ended:
		return errUnmoved
	case luck == 0 && !w.calm():
		return errRemove // a user deletes it and does not wait
	case pod.Spec.NodeName == "":
		pod.Spec.NodeName = "node-1"
		if random.IntN(8) == 0 {
			pod.Annotations = map[string]string{"node": "lost"}
		}
	case pod.Annotations["node"] == "lost" && !w.calm() && luck == 1:
		return errTaint
	case pod.Annotations["node"] == "lost" && !w.calm():
		return errUnmoved
	case pod.Annotations["sidecar"] == "absent" && pod.Status.Phase == corev1.PodPending && luck > 1:
		return errUnmoved // it is there when luck is 1
	case pod.Status.Phase == corev1.PodPending && len(pod.Spec.InitContainers) > len(pod.Status.InitContainerStatuses) && random.IntN(4) == 0:
		holdUp(pod)
	case pod.Status.Phase == corev1.PodPending, pod.Status.Phase == corev1.PodUnknown:
		run(pod)
	case luck < 5, isDriver(pod) && random.IntN(4) > 0: // drivers outlive most of their executors
		return errUnmoved
	case luck < 8:
		end(pod, 0)
	case luck == 8:
		end(pod, 1)
	default:
		w.fail(pod, random.IntN(4))
	}
	return nil
}

// fail has something happen to a Pod that is not its containers' doing.
func (w *env) fail(pod *corev1.Pod, luck int) {
	switch {
	case w.calm() || luck == 0:
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	case luck == 1:
		pod.Status.Phase = corev1.PodUnknown // its node does not answer
	case mayBeForced(pod) && luck == 2:
		pod.Annotations = map[string]string{"node": "dead"}
	default:
		pod.Annotations = map[string]string{"node": "lost"}
	}
}

// onDeadNode reports whether the node of a Pod never returns.
func onDeadNode(pod *corev1.Pod) bool { return pod.Annotations["node"] == "dead" }

// mayBeForced reports whether Firesteel deletes a Pod by force: the driver of an application that sets a limit.
func mayBeForced(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.APIVersion == sparkv1.SchemeGroupVersion.String()
	})
}

func isDriver(pod *corev1.Pod) bool { return pod.Labels["spark-role"] == "driver" }

// anExecutor is one that a driver makes.
func anExecutor(driver *corev1.Pod, random *rand.Rand) (key, *corev1.Pod) {
	k := key{pods, driver.Namespace, fmt.Sprintf("%s-exec-%d", driver.Name, random.IntN(5))}
	labels := maps.Clone(driver.Labels)
	labels["spark-role"], labels[submission.LabelExecutorID] = "executor", k.name[len(k.name)-1:]
	return k, &corev1.Pod{
		TypeMeta: kinds[pods],
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.namespace, Name: k.name, Labels: labels, OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(driver)},
		},
	}
}

// holdUp has a Pod wait for the sidecar that sends its event log.
func holdUp(pod *corev1.Pod) {
	pod.Annotations = map[string]string{"sidecar": "absent"}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: eventlog.Container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}
}

func run(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "spark-kubernetes-driver", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
}

func end(pod *corev1.Pod, code int32) {
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.Conditions = nil
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  "spark-kubernetes-driver",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Done"}},
	}}
}
