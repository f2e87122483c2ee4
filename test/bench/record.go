package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// recording holds the writes for one application, as Firesteel made them.
type recording struct {
	// These differ between applications. Those of another application have the same length.
	namespace, name, uid, driverUID string
	// hash makes the name of the driver's ConfigMap unique; empty if the application's name does.
	hash string

	steps [steps][]request
}

// writes is their number.
func (r *recording) writes() (all int) {
	for _, step := range r.steps {
		all += len(step)
	}
	return all
}

// step is a part of a recording: what follows from its creation, from the start of its driver, from the end of that, and from
// its deletion.
type step int

const (
	launches step = iota
	starts
	releases
	departs
	steps
)

func (s step) String() string { return [...]string{"launch", "start", "release", "departure"}[s] }

// request is a write.
type request struct {
	method, path, query string
	header              http.Header
	body                []byte
}

// kind is what it asks for: "PUT sparkapplications/status".
func (r request) kind() string {
	_, rest, _ := strings.Cut(r.path, "/namespaces/")
	parts := strings.Split(rest, "/")[1:]
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return r.method + " " + resource
}

// recorder stands between a controller and the API server, and keeps its writes, but those of Kubernetes Events: they come
// beside it, and are the first to be dropped if there is much to do.
type recorder struct {
	server *httptest.Server
	mutex  sync.Mutex
	writes []request
}

func newRecorder(config *rest.Config) (*recorder, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: config.TLSClientConfig})
	if err != nil {
		return nil, err
	}
	r := &recorder{}
	forward := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Header.Set("Authorization", "Bearer "+config.BearerToken) // clients don't send one without TLS
		},
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, incoming *http.Request) {
		if incoming.Method != http.MethodGet && !strings.Contains(incoming.URL.Path, "/events") {
			body, err := io.ReadAll(incoming.Body)
			if err != nil {
				return
			}
			incoming.Body = io.NopCloser(bytes.NewReader(body))
			r.keep(request{method: incoming.Method, path: incoming.URL.Path, query: incoming.URL.RawQuery, header: incoming.Header.Clone(), body: body})
		}
		forward.ServeHTTP(w, incoming)
	}))
	return r, nil
}

func (r *recorder) close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

func (r *recorder) keep(write request) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.writes = append(r.writes, write)
}

// about are the writes about an application until now.
func (r *recorder) about(namespace, name string) []request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var writes []request
	for _, write := range r.writes {
		inNamespace := strings.Contains(write.path, "/namespaces/"+namespace+"/")
		if inNamespace && (strings.Contains(write.path, name) || bytes.Contains(write.body, []byte(name))) {
			writes = append(writes, write)
		}
	}
	return writes
}

// runTime is how long a driver runs, and what is written meanwhile follows from its start. It ends before the news of its
// executors are gathered: among many others an application seldom has a write of its own for them.
const runTime = 500 * time.Millisecond

// quietTime is how long nothing is written where nothing is left to do: executors' news are gathered for a second.
const quietTime = 1500 * time.Millisecond

// record has a controller run an application, and records its writes.
func (w *env) record(ctx context.Context, k kind) (*recording, error) {
	config, err := w.controllerConfig(ctx)
	if err != nil {
		return nil, err
	}
	tape, err := newRecorder(config)
	if err != nil {
		return nil, err
	}
	defer tape.close()
	c, err := w.startController(ctx, setup{through: &rest.Config{Host: tape.server.URL}})
	if err != nil {
		return nil, err
	}
	defer c.Kill()
	workload, err := w.newWorkload(ctx, k, held, nil)
	if err != nil {
		return nil, err
	}
	defer workload.close()
	// A controller's first application has one write more: it shows that the API server stores records.
	var recorded *recording
	for _, name := range namesFrom(999_998, 2) {
		recorded = &recording{namespace: workload.namespace, name: name}
		if err := recorded.take(ctx, workload, tape); err != nil {
			return nil, fmt.Errorf("record the writes for an application: %w\n%s", err, c.Tail(20))
		}
	}
	return recorded, nil
}

func (r *recording) take(ctx context.Context, workload *workload, tape *recorder) error {
	names := []string{r.name}
	var ran time.Time
	requested := workload.await(r.name, lifecycle.DriverRequested)
	var driver *corev1.Pod
	taken := 0
	for i, do := range [steps]func() error{
		launches: func() error {
			if err := workload.create(ctx, names); err != nil {
				return err
			}
			if _, err := receive(ctx, "the status of the launch", requested); err != nil {
				return err
			}
			var err error
			driver, err = workload.driver(ctx, r.name)
			return err
		},
		starts: func() error {
			ran = time.Now()
			if err := workload.setPhase(ctx, driver, corev1.PodRunning); err != nil {
				return err
			}
			return workload.until(ctx, r.name, running)
		},
		releases: func() error {
			if err := workload.setPhase(ctx, driver, corev1.PodSucceeded); err != nil {
				return err
			}
			return workload.until(ctx, r.name, finished)
		},
		departs: func() error {
			if err := workload.remove(ctx, names); err != nil {
				return err
			}
			return workload.until(ctx, r.name, gone)
		},
	} {
		if err := do(); err != nil {
			return err
		}
		over := tape.quiet(r)
		if step(i) == starts {
			over = func() bool { return time.Since(ran) >= runTime }
		}
		if err := until(ctx, fmt.Sprintf("the %s of %s to be over", step(i), r.name), func() (bool, error) { return over(), nil }); err != nil {
			return err
		}
		writes := tape.about(r.namespace, r.name)
		r.steps[i], taken = writes[taken:], len(writes)
	}
	r.driverUID, r.uid = string(driver.UID), string(driver.OwnerReferences[0].UID)
	for _, write := range r.steps[launches] {
		if found := hashed.FindSubmatch(write.body); found != nil {
			r.hash = string(found[1])
		}
	}
	return nil
}

// hashed is the name of the driver's ConfigMap where the application's is no part of it.
var hashed = regexp.MustCompile(`spark-drv-([0-9a-f]{16})-conf-map`)

// quiet reports whether no more is written about the application of a recording.
func (r *recorder) quiet(recorded *recording) func() bool {
	count, since := 0, time.Now()
	return func() bool {
		if now := len(r.about(recorded.namespace, recorded.name)); now != count {
			count, since = now, time.Now()
		}
		return time.Since(since) > quietTime
	}
}

// driver is the driver Pod of an application.
func (c *workload) driver(ctx context.Context, name string) (*corev1.Pod, error) {
	pods, err := c.Kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "spark-role=driver"})
	if err != nil {
		return nil, err
	}
	for _, pod := range pods.Items {
		if applicationName(&pod) == name {
			return &pod, nil
		}
	}
	return nil, fmt.Errorf("%s has no driver", name)
}

// setPhase moves a driver that is held, with one write: it runs and is ready, or it has succeeded.
func (c *workload) setPhase(ctx context.Context, driver *corev1.Pod, phase corev1.PodPhase) error {
	now := metav1.Now()
	container := corev1.ContainerStatus{Name: driver.Spec.Containers[0].Name, Image: driver.Spec.Containers[0].Image}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	if phase == corev1.PodRunning {
		container.Ready, ready.Status = true, corev1.ConditionTrue
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	} else {
		container.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": phase, "conditions": []corev1.PodCondition{ready}, "containerStatuses": []corev1.ContainerStatus{container},
	}})
	if err != nil {
		return err
	}
	_, err = c.Kube.CoreV1().Pods(c.namespace).Patch(ctx, driver.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
