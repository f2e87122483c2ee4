package archiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const driverLog = "pi-driver/spark-kubernetes-driver"

// container is the log of a container that runs on a node.
type container struct {
	mu      sync.Mutex
	text    string
	ended   bool
	changed chan struct{}
	// opened is how often the log was opened, and asked the time from which it was, the last time.
	opened int
	asked  time.Time
	// cut breaks the streams that are open.
	cut chan struct{}
}

func (c *container) change(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// log writes a line for each second.
func (c *container) log(from, to int) {
	c.change(func() {
		for i := from; i < to; i++ {
			c.text += fmt.Sprintf("%s line %d\n", began.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), i)
		}
	})
}

func (c *container) end() { c.change(func() { c.ended = true }) }

func (c *container) breakStreams() {
	c.change(func() {
		close(c.cut)
		c.cut = make(chan struct{})
	})
}

// containerStream is one reading of the log.
type containerStream struct {
	*container
	ctx    context.Context //nolint:containedctx // as that of a request
	cut    <-chan struct{}
	at     int
	follow bool
	closed chan struct{}
}

func (c *container) open(ctx context.Context, options *corev1.PodLogOptions) io.ReadCloser {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &containerStream{container: c, ctx: ctx, cut: c.cut, follow: options.Follow, closed: make(chan struct{})}
	c.opened++
	if options.SinceTime != nil {
		c.asked = options.SinceTime.Time
		for _, line := range strings.SplitAfter(c.text, "\n") {
			stamp, _, _ := strings.Cut(line, " ")
			if at, err := time.Parse(time.RFC3339Nano, stamp); err != nil || !at.Before(c.asked) {
				break
			}
			s.at += len(line)
		}
	}
	return s
}

func (s *containerStream) Read(into []byte) (int, error) {
	for {
		s.mu.Lock()
		rest, ended, changed := s.text[s.at:], s.ended || !s.follow, s.changed
		s.mu.Unlock()
		if rest != "" {
			n := copy(into, rest)
			s.at += n
			return n, nil
		}
		if ended {
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-s.cut:
			return 0, errors.New("http2: stream closed")
		case <-s.closed:
			return 0, os.ErrClosed
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
}

func (s *containerStream) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

// followEnv is an env whose attempt runs.
type followEnv struct {
	*env
	follower   *Follower
	following  *following
	stop       func()
	containers map[string]*container
}

func newFollowEnv(t *testing.T, keys ...string) *followEnv {
	t.Helper()
	e := &followEnv{env: newEnv(t, append([]string{"driver-logs", "follow", "executor-logs", "follow"}, keys...)...), containers: map[string]*container{}}
	e.app.Status.Firesteel.Transitions = e.app.Status.Firesteel.Transitions[:2]
	e.update()
	a := newArchiver(e.core.CoreV1(), archive.NewStores(), func() *config.Config { return e.settings }, e.clock)
	a.openLog = func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
		key := pod.Name + "/" + options.Container
		if options.Previous {
			key += "/previous"
		}
		if c := e.containers[key]; c != nil {
			return c.open(ctx, options), nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod.Name)
	}
	e.follower = &Follower{Archiver: a, apis: applications.All(e.spark), here: func() bool { return true }}
	e.begin()
	return e
}

func (e *followEnv) update() {
	e.t.Helper()
	if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(e.t.Context(), e.app, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

// begin begins to follow, as a process that has got the lease.
func (e *followEnv) begin() {
	ctx, cancel := context.WithCancel(e.t.Context())
	e.following = newFollowing(ctx, e.follower, e.follower.present())
	e.stop = func() {
		cancel()
		e.following.streams.Wait()
	}
}

// starts adds a container that runs.
func (e *followEnv) starts(key string) *container {
	c := &container{changed: make(chan struct{}), cut: make(chan struct{})}
	e.containers[key] = c
	return c
}

// pod is a Pod of the attempt. Its only container runs or has ended, and was restarted before.
func (e *followEnv) pod(name string, uid types.UID, runs bool, restarts int32) *sparkPod {
	e.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pi.Namespace, Name: name, UID: uid, Labels: map[string]string{roleLabel: "driver"}}}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Name: pi.Name, UID: pi.UID, Controller: ptr.To(true)}}
	status := corev1.ContainerStatus{Name: "spark-kubernetes-driver", RestartCount: restarts}
	if strings.Contains(name, "exec") {
		pod.Labels[roleLabel], status.Name = "executor", submission.DefaultExecutorContainer
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "pi-driver", UID: "uid-of-driver", Controller: ptr.To(true)}}
	}
	if status.State.Terminated = (&corev1.ContainerStateTerminated{}); runs {
		status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	stripped, err := stripSparkPod(pod)
	if err != nil {
		e.t.Fatal(err)
	}
	return stripped.(*sparkPod)
}

// followsNothingOf observes a Pod, and fails if the log of its container is followed.
func (e *followEnv) followsNothingOf(t *testing.T, pod *sparkPod, c *container) {
	t.Helper()
	e.following.observe(pod)
	after(10 * time.Minute)
	if c.opened > 0 {
		t.Error("it is followed")
	}
}

func (e *followEnv) driver(runs bool) *sparkPod { return e.pod("pi-driver", "uid-of-driver", runs, 0) }

// stored returns what the archive has of a log, as its readers see it.
func (e *followEnv) stored(pod string, uid types.UID, name string, restart int32) string {
	e.t.Helper()
	reader, err := e.attempt().OpenLog(e.t.Context(), archive.LogID{Pod: pod, PodUID: uid, Container: name, Restart: restart}, archive.LogOptions{Timestamps: true, Tail: -1})
	if archive.IsNotFound(err) {
		return ""
	}
	if err != nil {
		e.t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(content)
}

func (e *followEnv) mustHave(want string) {
	e.t.Helper()
	if got := e.stored("pi-driver", "uid-of-driver", "spark-kubernetes-driver", 0); got != want {
		e.t.Errorf("the archive has %q, want %q", got, want)
	}
}

// after lets time pass in a bubble.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestALogIsStoredWhileItsContainerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFollowEnv(t, "flush-interval", "10s")
		defer func() { e.stop() }()
		c := e.starts(driverLog)
		c.log(0, 3)
		e.following.observe(e.driver(true))
		after(11 * time.Second)
		e.mustHave(lines(3))
		c.log(3, 5)
		after(10 * time.Second)
		e.mustHave(lines(5))
		c.log(5, 6)
		c.end()
		e.following.observe(e.driver(false))
		after(time.Second)
		e.mustHave(lines(6))
		if c.opened != 1 || len(e.following.logs) > 0 {
			t.Errorf("the log was opened %d times; %d are followed", c.opened, len(e.following.logs))
		}
		described, err := e.attempt().Followed(t.Context(), archive.LogID{Pod: "pi-driver", PodUID: "uid-of-driver", Container: "spark-kubernetes-driver"})
		if err != nil || described.Role != archive.RoleDriver || described.Missing != "" || described.BeginningMissing || !described.From.Equal(began) {
			t.Errorf("%+v, %v", described, err)
		}
	})
}

// Whatever breaks off, no line is lost or stored twice.
func TestAFollowedLogIsResumed(t *testing.T) {
	for name, interrupt := range map[string]func(e *followEnv, c *container){
		"after the node broke off": func(_ *followEnv, c *container) { c.breakStreams() },
		"by another process": func(e *followEnv, c *container) {
			e.stop()
			c.log(3, 4)
			e.begin()
			e.following.observe(e.driver(true))
		},
		"after the storage failed": func(e *followEnv, c *container) {
			e.withoutStorage(func() {
				c.log(3, 4)
				after(30 * time.Second)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newFollowEnv(t)
				defer func() { e.stop() }()
				c := e.starts(driverLog)
				e.following.observe(e.driver(true))
				c.log(0, 3)
				after(11 * time.Second)
				interrupt(e, c)
				c.log(strings.Count(c.text, "\n"), 7)
				after(time.Minute)
				e.mustHave(lines(7))
				c.end()
				e.following.observe(e.driver(false))
				after(time.Minute)
				e.mustHave(lines(7))
				if c.opened < 2 {
					t.Error("the log was not opened again")
				}
			})
		})
	}
}

// The log of a lost node is there until it was stored last, and the archive says that its end is missing.
func TestTheLogOfALostNodeIsArchived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFollowEnv(t)
		c := e.starts(driverLog)
		e.following.observe(e.driver(true))
		c.log(0, 5)
		after(11 * time.Second)
		delete(e.containers, driverLog)
		if err := e.core.CoreV1().Pods(pi.Namespace).Delete(t.Context(), "pi-driver", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		e.following.gone(e.driver(true))
		c.end() // the API server does not say that the node broke off
		after(10 * time.Second)
		e.stop()
		e.app.Status.Firesteel.Transitions = application().Status.Firesteel.Transitions
		e.update()
		if err := e.handle(); err != nil {
			t.Fatal(err)
		}
		log := e.manifest().Logs[0]
		if log.Role != archive.RoleDriver || log.Bytes != int64(len(lines(5))) || !log.Followed || !strings.Contains(log.Missing, "the end") {
			t.Errorf("%+v", log)
		}
		e.mustHave(lines(5))
	})
}

// The archive reads the rest of a log that was followed, and says that it was.
func TestAFollowedLogIsArchivedToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFollowEnv(t)
		c := e.starts(driverLog)
		e.following.observe(e.driver(true))
		c.log(0, 2)
		after(11 * time.Second)
		e.stop()
		e.app.Status.Firesteel.Transitions = application().Status.Firesteel.Transitions
		e.update()
		if err := e.handle(); err != nil || e.annotation() != "whole.uid-of-driver" {
			t.Fatalf("the annotation is %q: %v", e.annotation(), err)
		}
		e.mustHave(lines(3))
		for _, log := range e.manifest().Logs {
			if log.Followed != (log.Role == archive.RoleDriver) {
				t.Errorf("%+v", log)
			}
		}
	})
}

func TestTheLogBeforeARestartOfItsContainerIsFollowedToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFollowEnv(t)
		defer func() { e.stop() }()
		first := e.starts(driverLog)
		e.following.observe(e.driver(true))
		first.log(0, 2)
		after(11 * time.Second)
		first.breakStreams()
		first.log(2, 4)
		first.end()
		e.containers[driverLog+"/previous"] = first
		second := e.starts(driverLog)
		second.log(10, 12)
		e.following.observe(e.pod("pi-driver", "uid-of-driver", true, 1))
		after(11 * time.Second)
		e.mustHave(lines(4))
		if got := e.stored("pi-driver", "uid-of-driver", "spark-kubernetes-driver", 1); got != second.text {
			t.Errorf("the log after the restart is %q", got)
		}
	})
}

// What is beyond the bound waits, and executors leave streams to drivers.
func TestTheStreamsThatAreOpenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newFollowEnv(t, "open-streams", "8") // four for executors, of which a namespace leaves half
		defer func() { e.stop() }()
		executors := map[string]*container{}
		for i := range 5 {
			name := fmt.Sprint("pi-exec-", i)
			executors[name] = e.starts(name + "/" + submission.DefaultExecutorContainer)
			e.following.observe(e.pod(name, types.UID(name), true, 0))
		}
		c := e.starts(driverLog)
		e.following.observe(e.driver(true))
		opened := func() (count int) {
			for _, executor := range executors {
				count += executor.opened
			}
			return count
		}
		after(time.Minute)
		if opened() != 2 || c.opened != 1 {
			t.Errorf("%d streams of executors are open, and %d of the driver", opened(), c.opened)
		}
		for name, executor := range executors {
			if executor.opened == 1 {
				executor.end()
				e.following.observe(e.pod(name, types.UID(name), false, 0))
				break
			}
		}
		after(time.Minute)
		if opened() != 3 {
			t.Errorf("afterwards %d were opened", opened())
		}
	})
}

// Pods of others are not followed, and neither is what the settings leave out.
func TestLogsThatAreNotFollowed(t *testing.T) {
	for name, test := range map[string]struct {
		keys   []string
		change func(*followEnv, *sparkPod)
	}{
		"the setting is end":      {[]string{"driver-logs", "end"}, nil},
		"another's Pod":           {nil, func(_ *followEnv, pod *sparkPod) { pod.owner = metav1.OwnerReference{} }},
		"another's application":   {nil, func(_ *followEnv, pod *sparkPod) { pod.owner.UID = "another" }},
		"another driver":          {nil, func(_ *followEnv, pod *sparkPod) { pod.UID = "another" }},
		"no archive":              {nil, func(e *followEnv, _ *sparkPod) { e.settings = config.Default() }},
		"its container has ended": {nil, func(_ *followEnv, pod *sparkPod) { pod.runs = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newFollowEnv(t, test.keys...)
				defer func() { e.stop() }()
				c, pod := e.starts(driverLog), e.driver(true)
				if test.change != nil {
					test.change(e, pod)
				}
				e.followsNothingOf(t, pod, c)
			})
		})
	}
}

func TestAFollowerRunsOnlyIfItIsAskedTo(t *testing.T) {
	e := newFollowEnv(t)
	if present := e.follower.present(); !present.drivers || !present.executors || present.streams != 50 || present.flushInterval != 10*time.Second {
		t.Errorf("%+v", present)
	}
	e.follower.here = func() bool { return false }
	if present := e.follower.present(); present != (followSettings{}) {
		t.Errorf("with the handler elsewhere: %+v", present)
	}
	e.follower.here = func() bool { return true }
	e.settings = config.Default()
	if present := e.follower.present(); present != (followSettings{}) {
		t.Errorf("without an archive: %+v", present)
	}
}

// endless is a stream that has a number of bytes in long lines, and then nothing more until it is closed.
type endless struct {
	left   int
	second int
	line   string
	ctx    context.Context //nolint:containedctx // as that of a request
	once   sync.Once
	idle   *sync.WaitGroup
}

func (s *endless) Read(into []byte) (int, error) {
	if s.left <= 0 {
		s.once.Do(s.idle.Done)
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	if s.line == "" {
		s.second++
		s.line = fmt.Sprintf("%s %d %s\n", began.Add(time.Duration(s.second)*time.Second).Format(time.RFC3339Nano), s.second, strings.Repeat("x", 1000))
	}
	n := copy(into, s.line)
	s.line, s.left = s.line[n:], s.left-n
	return n, nil
}

func (s *endless) Close() error { return nil }

// As many logs as may be followed take little memory, whatever their size.
func TestLogsThatAreFollowedTakeLittleMemory(t *testing.T) {
	const logs, size, most = 25, 4 << 20, 512 << 10
	e := newFollowEnv(t, "executor-logs", "none", "open-streams", fmt.Sprint(2*logs))
	var idle sync.WaitGroup
	idle.Add(logs)
	e.follower.openLog = func(ctx context.Context, _ types.NamespacedName, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		return &endless{left: size, ctx: ctx, idle: &idle}, nil
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // pools keep what is not used through one collection
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	pod := e.driver(true)
	for i := range logs {
		pod.runs = append(pod.runs, containerRun{fmt.Sprint("sidecar-", i), 0, began, false})
	}
	pod.runs = pod.runs[1:]
	e.following.observe(pod)
	idle.Wait()
	if each := (heap() - before) / logs; each > most {
		t.Errorf("each log takes %d KiB", each>>10)
	}
	e.stop()
}
