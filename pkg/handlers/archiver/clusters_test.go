package archiver

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

const masterLog, workerLog = "lab-master-0/master", "lab-worker-0/worker"

// lab is a cluster whose Pods run.
func lab() *sparkv1.SparkCluster {
	c := &sparkv1.SparkCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: pi.Namespace, Name: "lab", UID: "uid-of-lab", CreationTimestamp: metav1.NewTime(began), Labels: map[string]string{"team": "a"},
	}}
	c.Spec.SparkConf = map[string]string{"spark.hadoop.fs.s3a.secret.key": "hunter2-secret"}
	c.Status.Firesteel = &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{
		{Sequence: 1, State: string(cluster.RunningHealthy), Time: metav1.NewMicroTime(began)},
	}}
	return c
}

// released is the cluster when it is gone.
func released() *sparkv1.SparkCluster {
	c := lab()
	c.Status.Firesteel.Transitions = append(c.Status.Firesteel.Transitions, v1alpha1.Transition{
		Sequence: 2, State: string(cluster.ResourceReleased), Time: metav1.NewMicroTime(began.Add(time.Hour)), Message: "It was deleted.",
	})
	return c
}

// newClusterEnv is a followEnv with the cluster. Its applications are not followed unless keys say so.
func newClusterEnv(t *testing.T, keys ...string) *followEnv {
	t.Helper()
	e := newFollowEnv(t, append([]string{"driver-logs", "none", "executor-logs", "none", "cluster-logs", "follow"}, keys...)...)
	e.following.observeCluster(lab())
	return e
}

// member is a Pod of the cluster with the states of its container. It is also what the API server has.
func (e *followEnv) member(name string, uid types.UID, status corev1.ContainerStatus) *sparkPod {
	e.t.Helper()
	role := resources.Master
	if strings.Contains(name, "worker") {
		role = resources.Worker
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pi.Namespace, Name: name, UID: uid, CreationTimestamp: metav1.NewTime(began), Labels: map[string]string{resources.LabelRole: role, resources.LabelCluster: "lab"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "lab-" + role, UID: "s", Controller: ptr.To(true)}},
	}}
	status.Name = role
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	pods := e.core.CoreV1().Pods(pi.Namespace)
	if _, err := pods.Update(e.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		if _, err := pods.Create(e.t.Context(), pod, metav1.CreateOptions{}); err != nil {
			e.t.Fatal(err)
		}
	}
	stripped, err := stripSparkPod(pod)
	if err != nil {
		e.t.Fatal(err)
	}
	return stripped.(*sparkPod)
}

func running(restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}}}
}

func terminated() corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: "containerd://x", StartedAt: metav1.NewTime(began)}}
}

// removed deletes a Pod as the API server does: at once.
func (e *followEnv) removed(pod *sparkPod) {
	e.t.Helper()
	if err := e.core.CoreV1().Pods(pi.Namespace).Delete(e.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		e.t.Fatal(err)
	}
	e.following.gone(pod)
}

// cluster returns what the archive has of the cluster.
func (e *followEnv) cluster() (*archive.Archive, archive.ID) {
	e.t.Helper()
	store, err := e.follower.stores.For(e.t.Context(), e.settings.Archive.URLOf(pi.Namespace))
	if err != nil {
		e.t.Fatal(err)
	}
	return store, archive.ID{
		Namespace: archive.Namespace{Name: pi.Namespace, UID: "uid-of-team-a"}, Resource: "sparkclusters.spark.apache.org", Name: "lab", UID: "uid-of-lab",
	}
}

// has checks what readers see of a log of the cluster; empty for nothing.
func (e *followEnv) has(want, pod string, uid types.UID, restart int32) {
	e.t.Helper()
	store, id := e.cluster()
	container := strings.Split(pod, "-")[1]
	log := archive.LogID{Pod: pod, PodUID: uid, Container: container, Restart: restart}
	reader, err := store.Attempt(id, 0).OpenLog(e.t.Context(), log, archive.LogOptions{Timestamps: true, Tail: -1})
	var got []byte
	if err == nil {
		got, err = io.ReadAll(reader)
	}
	if err != nil && !archive.IsNotFound(err) || string(got) != want {
		e.t.Errorf("of %s, restart %d, the archive has %q, want %q; %v", pod, restart, got, want, err)
	}
}

// The logs of a cluster are stored while it runs. When it is gone, its object and a manifest are there, too.
func TestTheLogsOfAClusterOutliveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		m, w := e.starts(masterLog), e.starts(workerLog)
		master, worker := e.member("lab-master-0", "m0", running(0)), e.member("lab-worker-0", "w0", running(0))
		e.following.observe(master)
		e.following.observe(worker)
		m.log(0, 3)
		w.log(0, 2)
		after(11 * time.Second)
		e.has(lines(3), "lab-master-0", "m0", 0)
		e.has(lines(2), "lab-worker-0", "w0", 0)
		store, id := e.cluster()
		if app, err := store.Application(t.Context(), id); err != nil || app.Ended != nil || app.Kind != "SparkCluster" || app.Labels["team"] != "a" {
			t.Errorf("the running cluster is %+v; %v", app, err)
		}

		// Its Pods end without a grace period: the streams outlast them.
		e.removed(master)
		e.removed(worker)
		e.following.clusterGone(released())
		m.log(3, 4)
		m.end()
		w.end()
		after(time.Minute)
		e.has(lines(4), "lab-master-0", "m0", 0)
		manifest, err := store.Attempt(id, 0).Manifest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, log := range manifest.Logs {
			listed = append(listed, fmt.Sprint(log.Role, " ", log.Pod, " ", log.Bytes, " ", log.Missing))
		}
		if want := []string{
			fmt.Sprint("master lab-master-0 ", len(lines(4)), " ", goneAtOnceMissing), fmt.Sprint("worker lab-worker-0 ", len(lines(2)), " ", goneAtOnceMissing),
		}; !slices.Equal(listed, want) {
			t.Errorf("listed are %q, want %q", listed, want)
		}
		if manifest.State != "ResourceReleased" || manifest.Message != "It was deleted." || !manifest.Ended.Equal(began.Add(time.Hour)) || len(manifest.Missing) > 0 {
			t.Errorf("%+v", manifest)
		}
		if app, err := store.Application(t.Context(), id); err != nil || app.Ended == nil || app.State != "ResourceReleased" {
			t.Errorf("the cluster that is gone is %+v; %v", app, err)
		}
		object, err := store.Attempt(id, 0).Get(t.Context(), 1<<20, "objects", "cluster.json.gz")
		if err != nil || !strings.Contains(string(object), `"name":"lab"`) || strings.Contains(string(object), "hunter2") {
			t.Errorf("the object is %s; %v", object, err)
		}
		if len(e.following.logs) > 0 || len(e.following.clusters) > 0 {
			t.Errorf("%d logs and %d clusters are left", len(e.following.logs), len(e.following.clusters))
		}
	})
}

// What was read is sent to a storage that fails until it takes it, also when nothing else has it any more.
func TestTheLogsOfAClusterOutliveAStorageThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		c := e.starts(masterLog)
		master := e.member("lab-master-0", "m0", running(0))
		e.following.observe(master)
		c.log(0, 3)
		after(11 * time.Second)
		e.withoutStorage(func() {
			c.log(3, 5)
			after(9 * time.Second) // it is read, and not stored
			delete(e.containers, masterLog)
			e.removed(master)
			e.following.clusterGone(released())
			c.end()
			after(30 * time.Minute)
		})
		after(5 * time.Minute)
		e.has(lines(5), "lab-master-0", "m0", 0)
		store, id := e.cluster()
		if manifest, err := store.Attempt(id, 0).Manifest(t.Context()); err != nil || len(manifest.Logs) != 1 || manifest.Logs[0].Bytes != int64(len(lines(5))) {
			t.Errorf("%+v; %v", manifest, err)
		}
	})
}

// A worker whose container was restarted has two logs. Each is read once, also the one that ended before it was seen to run.
func TestTheLogsOfAWorkerAreFollowedAcrossRestarts(t *testing.T) {
	for name, seen := range map[string]bool{"that were seen": true, "while no process followed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newClusterEnv(t)
				defer func() { e.stop() }()
				first := e.starts(workerLog)
				first.log(0, 2)
				if seen {
					e.following.observe(e.member("lab-worker-0", "w0", running(0)))
					after(11 * time.Second)
				}
				first.log(2, 4)
				first.end()
				e.containers[workerLog+"/previous"] = first
				second := e.starts(workerLog)
				second.log(10, 12)
				status := running(1)
				status.LastTerminationState = terminated()
				pod := e.member("lab-worker-0", "w0", status)
				for range 3 { // a Pod is seen more than once
					e.following.observe(pod)
					after(11 * time.Second)
				}
				e.has(lines(4), "lab-worker-0", "w0", 0)
				e.has(second.text, "lab-worker-0", "w0", 1)
				if first.opened > 1 || second.opened > 1 {
					t.Errorf("the logs were opened %d and %d times", first.opened, second.opened)
				}
				before := first.opened
				e.stop() // another process does not read what was read to its end
				e.begin()
				e.following.observeCluster(lab())
				e.following.observe(pod)
				after(11 * time.Second)
				if first.opened != before {
					t.Error("the log before the restart was read again")
				}
				e.removed(pod)
				second.end()
				after(time.Minute)
				if len(e.following.logs) > 0 {
					t.Errorf("%d logs are left", len(e.following.logs))
				}
			})
		})
	}
}

// The kubelet shows the run that ended last in the last state while the next one waits.
func TestTheLogOfAContainerThatWaitsForItsRestartIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		c := e.starts(workerLog)
		c.log(0, 2)
		c.end()
		status := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}, LastTerminationState: terminated()}
		e.following.observe(e.member("lab-worker-0", "w0", status))
		after(11 * time.Second)
		e.has(lines(2), "lab-worker-0", "w0", 0)
	})
}

// The next Pod of a StatefulSet has the same name. Its log is never taken for that of the Pod before.
func TestTheLogOfTheNextPodIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t)
		defer func() { e.stop() }()
		first := e.starts(workerLog)
		first.log(0, 2)
		before := e.member("lab-worker-0", "w0", running(0))
		e.following.observe(before)
		after(11 * time.Second)
		second := e.starts(workerLog)
		second.log(10, 12)
		next := e.member("lab-worker-0", "w1", running(0))
		first.breakStreams() // the Pod is gone before the follower hears of it
		after(11 * time.Second)
		e.has(lines(2), "lab-worker-0", "w0", 0)
		e.following.gone(before)
		e.following.observe(next)
		after(11 * time.Second)
		e.has(lines(2), "lab-worker-0", "w0", 0)
		e.has(second.text, "lab-worker-0", "w1", 0)
	})
}

// Clusters leave streams to applications. Of the logs of clusters, those beyond their share take turns.
func TestLogsOfClustersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newClusterEnv(t, "driver-logs", "follow", "open-streams", "8") // two for clusters, of which a namespace leaves half
		defer func() { e.stop() }()
		workers := map[string]*container{}
		for i := range 3 {
			name := fmt.Sprint("lab-worker-", i)
			workers[name] = e.starts(name + "/worker")
			workers[name].log(0, i+1)
			e.following.observe(e.member(name, types.UID(name), running(0)))
		}
		c := e.starts(driverLog)
		e.following.observe(e.driver(true))
		after(15 * time.Second)
		opened := 0
		for _, worker := range workers {
			opened += worker.opened
		}
		if opened != 1 || c.opened != 1 {
			t.Errorf("%d streams of workers are open, and %d of the driver", opened, c.opened)
		}
		after(5 * time.Minute)
		for i := range 3 {
			name := fmt.Sprint("lab-worker-", i)
			e.has(lines(i+1), name, types.UID(name), 0)
			workers[name].log(i+1, i+2)
		}
		after(5 * time.Minute)
		for i := range 3 {
			name := fmt.Sprint("lab-worker-", i)
			e.has(lines(i+2), name, types.UID(name), 0)
		}
	})
}

func TestLogsOfClustersThatAreNotFollowed(t *testing.T) {
	for name, test := range map[string]struct {
		keys   []string
		change func(*followEnv, *sparkPod)
	}{
		"the setting is none": {[]string{"cluster-logs", "none"}, nil},
		"no archive":          {nil, func(e *followEnv, _ *sparkPod) { e.settings = config.Default() }},
		"another cluster":     {nil, func(_ *followEnv, pod *sparkPod) { pod.cluster = "other" }},
		"another's Pod":       {nil, func(_ *followEnv, pod *sparkPod) { pod.cluster = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newClusterEnv(t, test.keys...)
				defer func() { e.stop() }()
				c, pod := e.starts(masterLog), e.member("lab-master-0", "m0", running(0))
				if test.change != nil {
					test.change(e, pod)
				}
				e.followsNothingOf(t, pod, c)
			})
		})
	}
}

func TestPodsOfClustersAreThoseOfItsStatefulSets(t *testing.T) {
	for name, test := range map[string]struct {
		role, label, kind, owner, want string
	}{
		"a master":                     {"master", "lab", "StatefulSet", "lab-master", "lab"},
		"a worker":                     {"worker", "lab", "StatefulSet", "lab-worker", "lab"},
		"with the label of another":    {"worker", "other", "StatefulSet", "lab-worker", ""},
		"with another role":            {"executor", "lab", "StatefulSet", "lab-worker", ""},
		"without a label":              {"worker", "", "StatefulSet", "-worker", ""},
		"of another kind":              {"worker", "lab", "ReplicaSet", "lab-worker", ""},
		"of the master, with a worker": {"worker", "lab", "StatefulSet", "lab-master", ""},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{resources.LabelRole: test.role, resources.LabelCluster: test.label}}}
		if got := clusterOf(pod, metav1.OwnerReference{Kind: test.kind, Name: test.owner}); got != test.want {
			t.Errorf("%s is of the cluster %q, want %q", name, got, test.want)
		}
	}
}

func TestStreamsAreShared(t *testing.T) {
	for name, test := range map[string]struct {
		settings                     followSettings
		drivers, executors, clusters int
	}{
		"drivers alone":          {followSettings{drivers: true, streams: 50}, 50, 50, 50},
		"drivers and executors":  {followSettings{drivers: true, executors: true, streams: 50}, 25, 25, 50},
		"clusters alone":         {followSettings{clusters: true, streams: 50}, 50, 50, 50},
		"executors and clusters": {followSettings{executors: true, clusters: true, streams: 50}, 38, 38, 12},
		"all":                    {followSettings{drivers: true, executors: true, clusters: true, streams: 50}, 19, 19, 12},
		"all, of one":            {followSettings{drivers: true, executors: true, clusters: true, streams: 1}, 1, 1, 1},
	} {
		if drivers, executors, clusters := test.settings.shares(); drivers != test.drivers || executors != test.executors || clusters != test.clusters {
			t.Errorf("%s: %d, %d and %d", name, drivers, executors, clusters)
		}
	}
}
