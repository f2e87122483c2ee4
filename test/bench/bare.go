package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// bare is a client that makes the recorded writes for each application of a workload, as fast as the API server
// takes them, and decides nothing. Like a controller it follows watches, and does first what arrived first.
type bare struct {
	*recording
	workload *workload
	host     string
	client   *http.Client

	mutex  sync.Mutex
	ready  *sync.Cond
	tasks  []task
	over   bool
	copies map[string]*replica
}

type task struct {
	copied *replica
	step   step
}

// replica is an application that gets the recorded writes.
type replica struct {
	name string

	mutex                   sync.Mutex
	uid, version, driverUID string
}

// newBare has a workload served by a number of workers, until the context ends.
func (w *env) newBare(ctx context.Context, k kind, recorded *recording, workers int) (*workload, error) {
	config, err := w.controllerConfig(ctx)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	b := &bare{recording: recorded, host: config.Host, client: client, copies: map[string]*replica{}}
	b.ready = sync.NewCond(&b.mutex)
	if b.workload, err = w.newWorkload(ctx, k, ends, b); err != nil {
		return nil, err
	}
	for range workers {
		go b.work(ctx)
	}
	context.AfterFunc(ctx, func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.over = true
		b.ready.Broadcast()
	})
	return b.workload, nil
}

func (b *bare) created(app dialect.Application) {
	copied := b.replica(app.GetName())
	copied.mutex.Lock()
	copied.uid, copied.version = string(app.GetUID()), app.GetResourceVersion()
	copied.mutex.Unlock()
	b.add(task{copied, launches})
}

func (b *bare) driverRuns(name string)  { b.add(task{b.replica(name), starts}) }
func (b *bare) driverEnded(name string) { b.add(task{b.replica(name), releases}) }

func (b *bare) deleted(app dialect.Application) {
	copied := b.replica(app.GetName())
	copied.mutex.Lock()
	copied.version = app.GetResourceVersion()
	copied.mutex.Unlock()
	b.add(task{copied, departs})
}

func (b *bare) replica(name string) *replica {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	copied := b.copies[name]
	if copied == nil {
		copied = &replica{name: name}
		b.copies[name] = copied
	}
	return copied
}

func (b *bare) add(t task) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.tasks = append(b.tasks, t)
	b.ready.Signal()
}

func (b *bare) next() (task, bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for len(b.tasks) == 0 && !b.over {
		b.ready.Wait()
	}
	if b.over {
		return task{}, false
	}
	first := b.tasks[0]
	b.tasks = b.tasks[1:]
	return first, true
}

func (b *bare) work(ctx context.Context) {
	for {
		t, more := b.next()
		if !more {
			return
		}
		if err := b.do(ctx, t); err != nil && ctx.Err() == nil {
			b.workload.fail(fmt.Errorf("the %s of %s: %w", t.step, t.copied.name, err))
			return
		}
	}
}

// do makes the writes of a step. Those of one application come one after the other.
func (b *bare) do(ctx context.Context, t task) error {
	t.copied.mutex.Lock()
	defer t.copied.mutex.Unlock()
	for _, write := range b.steps[t.step] {
		answer, err := b.send(ctx, t.copied, write)
		if err != nil {
			return err
		}
		switch {
		case strings.Contains(write.path, "/sparkapplications/"):
			t.copied.version = string(versionOf.FindSubmatch(answer)[1])
		case write.method == http.MethodPost && strings.HasSuffix(write.path, "/pods"):
			if t.copied.driverUID, err = uidOf(answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// hashOf is as long as the part of a ConfigMap's name that makes it unique.
func hashOf(name string) string {
	digest := sha256.Sum256([]byte(name))
	return hex.EncodeToString(digest[:8])
}

// versionOf finds the resourceVersion of an application in JSON. It is the first: what comes before it has none.
var versionOf = regexp.MustCompile(`"resourceVersion":"(\d*)"`)

func uidOf(pod []byte) (string, error) {
	var driver corev1.Pod
	_, _, err := scheme.Codecs.UniversalDeserializer().Decode(pod, nil, &driver)
	return string(driver.UID), err
}

// send makes a recorded write for another application. What is replaced is as long as what it replaces, so that it may
// stand in Protobuf.
func (b *bare) send(ctx context.Context, copied *replica, write request) ([]byte, error) {
	others := []string{
		b.namespace, b.workload.namespace, b.name, copied.name, b.uid, copied.uid, b.driverUID, copied.driverUID,
		string(held), string(b.workload.plan),
	}
	if b.hash != "" {
		others = append(others, b.hash, hashOf(copied.name))
	}
	own := strings.NewReplacer(others...)
	body := []byte(own.Replace(string(write.body)))
	if strings.Contains(write.path, "/sparkapplications/") {
		body = versionOf.ReplaceAll(body, []byte(`"resourceVersion":"`+copied.version+`"`))
	}
	url := b.host + own.Replace(write.path)
	if write.query != "" {
		url += "?" + write.query
	}
	asked, err := http.NewRequestWithContext(ctx, write.method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Accept", "Content-Type", "User-Agent"} {
		asked.Header.Set(name, write.header.Get(name))
	}
	answer, err := b.client.Do(asked)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s: %.300s", write.kind(), answer.Status, content)
	}
	return content, err
}
