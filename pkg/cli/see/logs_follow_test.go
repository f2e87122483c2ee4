package see

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

// logLine is a line of a container's log at some milliseconds.
func logLine(millis int, text string) string {
	return now.Add(time.Duration(millis)*time.Millisecond).Format(time.RFC3339Nano) + " " + text
}

func TestALogOfWhichThereIsOnlyTheEndDoesNotGoOnWithLinesBeforeIt(t *testing.T) {
	log := []string{logLine(0, "a\n"), logLine(100, "b\n"), logLine(200, "c\n"), logLine(300, "d\n")}
	for tail, want := range []string{"", "c", "bc"} {
		var p position
		got := ""
		take := func(lines []string) {
			p.opened = true
			for _, line := range lines {
				if text, fresh := p.take(line); fresh {
					got += strings.TrimSpace(text)
				}
			}
		}
		options := &corev1.PodLogOptions{TailLines: ptr.To(int64(tail))}
		p.resume(options)
		take(log[3-tail : 3])
		options.TailLines = ptr.To(int64(tail))
		p.resume(options)
		if tail == 0 {
			if options.TailLines == nil {
				t.Error("all of the log is asked for")
			}
			continue
		}
		take(log)
		if got != want+"d" {
			t.Errorf("with --tail %d it prints %q, want %q", tail, got, want+"d")
		}
	}
}

func TestALogGoesOnWithTheNextLineWhateverIsServedAgain(t *testing.T) {
	log := []string{
		logLine(0, "a\n"), logLine(0, "a\n"), logLine(0, "b\n"), logLine(900, "c\n"), logLine(850, "late\n"), logLine(1200, "d\n"), logLine(1200, "d\n"), logLine(5000, "e\n"),
	}
	for cut := range log {
		var p position
		var got strings.Builder
		read := func(options *corev1.PodLogOptions, lines []string) {
			p.opened = true
			for _, line := range lines {
				stamp, _, _ := strings.Cut(line, " ")
				if at, err := time.Parse(time.RFC3339Nano, stamp); err != nil || options.SinceTime != nil && at.Before(options.SinceTime.Time) {
					continue
				}
				if text, fresh := p.take(line); fresh && strings.HasSuffix(text, "\n") {
					got.WriteString(text)
				}
			}
		}
		options := &corev1.PodLogOptions{TailLines: ptr.To(int64(9))}
		p.resume(options)
		read(options, append(log[:cut:cut], strings.TrimSuffix(log[cut], "\n"))) // cut in the middle of a line
		p.resume(options)
		read(options, log)
		if got.String() != "a\na\nb\nc\nlate\nd\nd\ne\n" || options.TailLines != nil {
			t.Errorf("cut in line %d it prints %q", cut, got.String())
		}
	}
}

func TestALogRemembersOnlyLinesThatMayComeAgain(t *testing.T) {
	var p position
	for i := range 10_000 {
		p.take(logLine(i*100, "x\n"))
	}
	if most := 30; len(p.printed) > most {
		t.Errorf("it remembers %d lines", len(p.printed))
	}
}

func TestPausesBetweenRequestsAreBounded(t *testing.T) {
	var b backoff
	var all []time.Duration
	for range 6 {
		all = append(all, b.next()/time.Second)
	}
	if got := fmt.Sprint(all); got != "[1ns 2ns 4ns 8ns 15ns 15ns]" {
		t.Errorf("they are %s", got)
	}
	b.reset()
	if b.next() != time.Second {
		t.Error("a request that succeeded does not begin anew")
	}
}

// breakingKubelet serves the log of a driver: the connection breaks in the middle of a line, then the server fails, and then it serves all from
// the second that is asked for.
type breakingKubelet struct {
	lock     sync.Mutex
	requests []string
}

func (k *breakingKubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.lock.Lock()
	k.requests = append(k.requests, r.URL.RawQuery)
	count := len(k.requests)
	k.lock.Unlock()
	first := logLine(0, "one\n") + logLine(100, "two\n")
	switch count {
	case 1:
		w.Header().Set("Content-Length", "1000") // the connection ends before
		fmt.Fprint(w, first+logLine(200, "thr"))
	case 2:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		fmt.Fprint(w, first+logLine(200, "three\n")+logLine(300, "end"))
	}
}

// logsOf reads logs from a server, and all else from fakes.
func (e *env) logsOf(t *testing.T, server http.Handler) *cluster {
	t.Helper()
	serving := httptest.NewServer(server)
	t.Cleanup(serving.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: serving.URL})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: logClient{e.kube, client}, Namespace: "reports"}}
}

type logClient struct {
	kubernetes.Interface
	logs kubernetes.Interface
}

func (c logClient) CoreV1() typedcorev1.CoreV1Interface { return logCore{c.Interface.CoreV1(), c.logs} }

type logCore struct {
	typedcorev1.CoreV1Interface
	logs kubernetes.Interface
}

func (c logCore) Pods(namespace string) typedcorev1.PodInterface {
	return logPods{c.CoreV1Interface.Pods(namespace), c.logs.CoreV1().Pods(namespace)}
}

type logPods struct {
	typedcorev1.PodInterface
	logs typedcorev1.PodInterface
}

func (p logPods) GetLogs(name string, options *corev1.PodLogOptions) *rest.Request {
	return p.logs.GetLogs(name, options)
}

func TestLogsOutlastAConnectionThatBreaks(t *testing.T) {
	t.Parallel() // it waits between requests
	e := newEnv(t, []string{failed}, driverPod("etl-1-driver", "d1", "etl-1", killed))
	kubelet := &breakingKubelet{}
	if code := e.runWith(t.Context(), "logs etl -f", e.logsOf(t, kubelet)); code != 3 {
		t.Errorf("exit code %d, want 3: %s", code, e.errOut.String())
	}
	if got := e.out.String(); got != "one\ntwo\nthree\nend" {
		t.Errorf("it prints %q", got)
	}
	if len(kubelet.requests) != 3 || !strings.Contains(kubelet.requests[2], "sinceTime=2026-01-01T11%3A59%3A59Z") {
		t.Errorf("the requests are %q", kubelet.requests)
	}
	if !strings.Contains(e.errOut.String(), "Warning: the log of Pod etl-1-driver cannot be read: ") {
		t.Errorf("it says %s", e.errOut.String())
	}
}

// The next Pod of a StatefulSet has the same name. Its log is printed once, after that of the Pod before. It ends when the cluster is deleted.
func TestLogsOfAClusterGoOnWithTheNextPod(t *testing.T) {
	t.Parallel() // it waits between requests
	e := newEnv(t, []string{cluster1}, daemonPod("master", "0"))
	replaced := make(chan struct{})
	var requests atomic.Int64
	c := e.logsOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > 1 {
			fmt.Fprint(w, logLine(200, "of the next\n"))
			return
		}
		fmt.Fprint(w, logLine(0, "of the first\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-replaced:
		case <-r.Context().Done():
		}
	}))
	code := make(chan int)
	go func() { code <- e.runWith(t.Context(), "logs cluster/shared -f", c) }()
	eventually(t, "the first log is printed", func() bool { return e.out.String() == "of the first\n" && watchedPods(e) })
	pods, next := e.kube.CoreV1().Pods("reports"), daemonPod("master", "0")
	next.UID = "next"
	if err := pods.Delete(t.Context(), next.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(t.Context(), next, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	close(replaced)
	eventually(t, "the next log is printed", func() bool { return strings.Contains(e.out.String(), "of the next\n") })
	next.Status = corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "master", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}}
	if _, err := pods.Update(t.Context(), next, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	clusters := e.dynamic.Resource(actions.Kinds[3].WithVersion("v1")).Namespace("reports")
	if err := clusters.Delete(t.Context(), "shared", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 1 || !strings.Contains(e.errOut.String(), "cluster/shared was deleted") || strings.Contains(e.errOut.String(), "attempt") {
		t.Errorf("exit code %d: %s", got, e.errOut.String())
	}
	if got := e.out.String(); got != "of the first\nof the next\n" {
		t.Errorf("it prints %q", got)
	}
}

func TestLogsOutlastAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel() // it waits between requests
	e := newEnv(t, []string{failed}, driverPod("etl-1-driver", "d1", "etl-1", killed))
	failures := 2
	e.kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		failures--
		return failures >= 0, nil, errors.New("connection refused")
	})
	if code := e.run(t.Context(), "logs etl -f"); code != 3 || e.out.String() != "fake logs" || strings.Count(e.errOut.String(), "Warning") != 1 {
		t.Errorf("exit code %d, %q: %s", code, e.out.String(), e.errOut.String())
	}
}

func TestLogsEndAtOnceWithoutTheRightToReadThem(t *testing.T) {
	e := newEnv(t, []string{failed}, driverPod("etl-1-driver", "d1", "etl-1", killed))
	c := e.logsOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"pods \"etl-1-driver\" is forbidden","code":403}`)
	}))
	if code := e.runWith(t.Context(), "logs etl -f", c); code != 1 || !strings.Contains(e.errOut.String(), "the log of Pod etl-1-driver cannot be read: ") || !strings.Contains(e.errOut.String(), "ask for the right") {
		t.Errorf("exit code %d: %s", code, e.errOut.String())
	}
}

func TestALogOfAnUnknownContainerIsRefusedWithThoseThatThereAre(t *testing.T) {
	for _, line := range []string{"logs etl -c sidecar", "logs etl -c sidecar -f"} {
		e := newEnv(t, []string{failed}, driverPod("etl-1-driver", "d1", "etl-1", killed))
		const want = `error: the Pod etl-1-driver has no container "sidecar": write -c with one of spark-kubernetes-driver`
		if code := e.run(t.Context(), line); code != 1 || !strings.Contains(e.errOut.String(), want) {
			t.Errorf("%s: exit code %d: %s", line, code, e.errOut.String())
		}
	}
}

func TestLogWaitsForAPodForAWhile(t *testing.T) {
	begun := strings.Replace(failed, "TerminatedWithoutReleaseResources", "DriverReady", 1)
	begun, _, _ = strings.Cut(begun, "    - {sequence: 5")
	e := newEnv(t, []string{begun})
	v := &verbs{Options: e.options, connect: func() (*cluster, error) {
		return &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, Namespace: "reports"}}, nil
	}}
	done := make(chan error)
	go func() {
		done <- (&logsOptions{verbs: v, tail: -1, patience: time.Minute}).run(t.Context(), "etl", false)
	}()
	eventually(t, "its Pods are watched", func() bool { return watchedPods(e) })
	if _, err := e.kube.CoreV1().Pods("reports").Create(t.Context(), driverPod("etl-1-driver", "d1", "etl-1", ready), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || e.out.String() != "fake logs" {
		t.Errorf("%v, %q", err, e.out.String())
	}
	e = newEnv(t, []string{begun})
	v.Options, v.connect = e.options, func() (*cluster, error) {
		return &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, Namespace: "reports"}}, nil
	}
	if err := (&logsOptions{verbs: v, tail: -1, patience: time.Millisecond}).run(t.Context(), "etl", false); err == nil || !strings.Contains(err.Error(), "is gone, and its log with it") {
		t.Errorf("at the end of the patience the error is %v", err)
	}
}

func watchedPods(e *env) bool {
	return watches(&e.kube.Fake, corev1.SchemeGroupVersion.WithResource("pods"))
}

func TestEventsOfANamespaceAreThoseOfAllItsObjects(t *testing.T) {
	full(t).golden(t, "events-namespace", "events")
	full(t).golden(t, "events-all", "events -A")
	for line, want := range map[string]string{
		"events etl -A":  "-A is for the objects of all namespaces, and etl is one: leave one of them out",
		"events etl two": "one object is expected, and etl, two are given",
	} {
		e := full(t)
		if code := e.run(t.Context(), line); code != 2 || !strings.Contains(e.errOut.String(), want) {
			t.Errorf("%s: exit code %d: %s", line, code, e.errOut.String())
		}
	}
}

func TestEventsOfANamespaceGoOn(t *testing.T) {
	e := full(t)
	done := make(chan int)
	go func() { done <- e.run(t.Context(), "events -f") }()
	resource := actions.Kinds[0].WithVersion("v1")
	eventually(t, "the first lines are printed, and changes are watched", func() bool {
		return strings.Contains(e.out.String(), "FailedScheduling") && watches(&e.kube.Fake, corev1.SchemeGroupVersion.WithResource("events")) && watches(&e.dynamic.Fake, resource)
	})
	for _, name := range []string{"theirs", "daily-exec-3"} {
		event := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: name, UID: apitypes.UID(name)}, Reason: "Killing", Message: "Stopping " + name,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: name},
		}
		if _, err := e.kube.CoreV1().Events("reports").Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	changed := fakeclient.Decode(t, strings.Replace(failed, "outcome: Failed}\n", "outcome: Failed}\n    - {sequence: 7, time: \"2026-01-01T11:57:00.000000Z\", attempt: 1, state: ResourceReleased}\n", 1))
	for range 2 { // the second time nothing is new
		if _, err := e.dynamic.Resource(resource).Namespace("reports").Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "an Event of a Pod that is new and a transition are printed", func() bool {
		return strings.Contains(e.out.String(), "Stopping daily-exec-3") && strings.Contains(e.out.String(), "ResourceReleased")
	})
	if strings.Count(e.out.String(), "ResourceReleased") != 1 || strings.Contains(e.out.String(), "theirs") {
		t.Errorf("it prints\n%s", e.out.String())
	}
}
