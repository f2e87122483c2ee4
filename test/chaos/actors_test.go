package chaos

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
	"github.com/firesteel-dev/firesteel/test/harness/witness"
)

// actor injects one kind of fault, again and again.
type actor struct {
	name string
	// every is how long it mostly waits in between.
	every time.Duration
	// act reports whether it found something to do it to.
	act func(ctx context.Context, d *rng.Rand) bool
}

// perform runs an actor until the context ends.
func (w *env) perform(ctx context.Context, a actor) error {
	d := rng.New(w.seed, a.name)
	for {
		select {
		case <-time.After(d.About(a.every)):
		case <-ctx.Done():
			return nil
		}
		if w.act(ctx, a, d) {
			w.counters.count(a.name)
		}
	}
}

func (w *env) act(ctx context.Context, a actor, d *rng.Rand) bool {
	w.acting.RLock()
	defer w.acting.RUnlock()
	return ctx.Err() == nil && a.act(ctx, d)
}

// actors are those whose victims are applications, and the handlers. wild are the namespaces of those that may be
// interfered with, and tight is one that has a quota.
func (w *env) actors(wild []*workload, tight *workload) []actor {
	anywhere := func(d *rng.Rand) *workload { return wild[d.Below(len(wild))] }
	return []actor{
		{"pod vanished", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			return w.deleteAnyPod(ctx, d, anywhere(d).namespace, witness.IsDriver, new(int64))
		}},
		{"pod deleted", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			return w.deleteAnyPod(ctx, d, anywhere(d).namespace, witness.IsDriver, nil)
		}},
		{"executor vanished", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			return w.deleteAnyPod(ctx, d, anywhere(d).namespace, isExecutor, new(int64))
		}},
		{"application deleted", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			p := anywhere(d)
			app := p.any(d)
			return app != nil && p.remove(ctx, app)
		}},
		{"application replaced", time.Second, func(ctx context.Context, d *rng.Rand) bool { return anywhere(d).replace(ctx, d) }},
		{"application edited", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			p := anywhere(d)
			app := p.any(d)
			return app != nil && p.edit(ctx, app, map[string]any{arguments(app): []string{fmt.Sprint(d.Below(1000))}})
		}},
		{"application suspended", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			p := anywhere(d)
			app := p.any(d)
			return app != nil && p.edit(ctx, app, map[string]any{"suspend": d.Chance(0.5)})
		}},
		{"application stopped", time.Second, func(ctx context.Context, d *rng.Rand) bool {
			p := anywhere(d)
			app := p.any(d)
			return app != nil && p.stop(ctx, app)
		}},
		{"quota toggled", 2 * time.Second, func(ctx context.Context, d *rng.Rand) bool { return tight.toggleQuota(ctx, d) }},
		{"handlers moved", 3 * time.Second, w.moveHandlers},
		{"event repeated", 100 * time.Millisecond, w.repeatEvent},
		{"event forged", 100 * time.Millisecond, w.forgeEvent},
	}
}

// deleteAnyPod deletes one of some Pods. It reports whether there was one.
func (w *env) deleteAnyPod(ctx context.Context, d *rng.Rand, namespace string, sort func(*corev1.Pod) bool, grace *int64) bool {
	pod := w.anyPod(ctx, d, namespace, sort)
	return pod != nil && w.deletePod(ctx, pod, grace) == nil
}

// deletePod deletes a Pod; grace is in seconds, nil for the Pod's own.
func (w *env) deletePod(ctx context.Context, pod *corev1.Pod, grace *int64) error {
	return w.Kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: grace, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// anyPod returns one of the Pods that match; nil if there is none.
func (w *env) anyPod(ctx context.Context, d *rng.Rand, namespace string, sort func(*corev1.Pod) bool) *corev1.Pod {
	list, err := w.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil
	}
	pods := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !sort(&pod) })
	if len(pods) == 0 {
		return nil
	}
	return &pods[d.Below(len(pods))]
}

// replace deletes an application, and creates another with its name as soon as the name is free.
func (p *workload) replace(ctx context.Context, d *rng.Rand) bool {
	app := p.any(d)
	if app == nil || !p.remove(ctx, app) {
		return false
	}
	name, choice := app.GetName(), kinds
	if early, ok := strings.CutPrefix(name, earlyPrefix); ok {
		name, choice = early, earlyKinds // one of another API would keep a new one of this API, whose driver has the same name, from its driver
	}
	another := newApplication(d, p.namespace, name, rng.Pick(d, choice, func(k kind) float64 { return k.weight }))
	for ctx.Err() == nil {
		if p.create(ctx, another) == nil {
			return true
		}
		p.pause(ctx)
	}
	return false
}

// pause lets an actor wait for a moment, in which the API server may be restored.
func (w *env) pause(ctx context.Context) {
	w.acting.RUnlock()
	defer w.acting.RLock()
	select {
	case <-time.After(poll):
	case <-ctx.Done():
	}
}

func (p *workload) toggleQuota(ctx context.Context, d *rng.Rand) bool {
	const name = "quota"
	quotas := p.Kube.CoreV1().ResourceQuotas(p.namespace)
	if quotas.Delete(ctx, name, metav1.DeleteOptions{}) == nil {
		return true
	}
	scarce := []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceServices, corev1.ResourceConfigMaps}[d.Below(3)]
	_, err := quotas.Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{scarce: resource.MustParse(fmt.Sprint(d.Below(3)))}},
	}, metav1.CreateOptions{})
	return err == nil
}

// moveHandlers chooses at random where each handler runs.
func (w *env) moveHandlers(ctx context.Context, d *rng.Rand) bool {
	places := []string{"in-process", "external"}
	return w.Configure(ctx, "config-handlers", map[string]string{"restart": places[d.Below(2)], "ttl": places[d.Below(2)]}) == nil
}

// memory holds the last events that reached the sink.
type memory struct {
	mutex  sync.Mutex
	events []eventlog.Entry
	next   int
}

const remembered = 500

func (m *memory) remember(entry eventlog.Entry) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.events) < remembered {
		m.events = append(m.events, entry)
		return
	}
	m.events[m.next] = entry
	m.next = (m.next + 1) % remembered
}

// any returns one of them.
func (m *memory) any(d *rng.Rand) (eventlog.Entry, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.events) == 0 {
		return eventlog.Entry{}, false
	}
	return m.events[d.Below(len(m.events))], true
}

// repeatEvent sends an event to the handlers again, possibly after later ones.
func (w *env) repeatEvent(ctx context.Context, d *rng.Rand) bool {
	entry, found := w.lately.any(d)
	return found && w.tellHandlers(ctx, entry)
}

// forgeEvent sends a forged event to the handlers.
func (w *env) forgeEvent(ctx context.Context, d *rng.Rand) bool {
	entry, found := w.lately.any(d)
	if !found {
		return false
	}
	forged := entry
	forged.Attributes = map[string]string{}
	for key, value := range entry.Attributes {
		forged.Attributes[key] = value
	}
	lies := []func(){
		func() { forged.Attributes["source"] = otherUID(entry.Attributes["source"]) },
		func() { forged.Attributes["sparkattempt"], forged.Attributes["sparkrestartallowed"] = "7", "true" },
		func() {
			forged.Attributes["sparkstate"], forged.Attributes["type"] = "Failed", "dev.firesteel.application.failed.v1"
		},
		func() { forged.Attributes["type"] = "dev.firesteel.application.expired.v1" },
		func() { forged.Attributes["source"], forged.Attributes["subject"] = "/nobody", "nobody/nothing" },
		func() { forged.Body = strings.Replace(forged.Body, `"attempt":`, `"attempt":1`, 1) },
		func() { forged.Body = forged.Body[:len(forged.Body)/2] },
		func() { delete(forged.Attributes, "specversion") },
	}
	for range 1 + d.Below(2) {
		lies[d.Below(len(lies))]()
	}
	return w.tellHandlers(ctx, forged)
}

func otherUID(source string) string {
	at := strings.LastIndex(source, "/") + 1
	return source[:at] + string(types.UID("00000000-0000-4000-8000-000000000000"))
}

// hearing is how long a handler may take to answer. While an actor waits for that, the API server cannot be restored.
const hearing = 10 * time.Second

// tellHandlers returns true if a handler got the event, with any result.
func (w *env) tellHandlers(ctx context.Context, entry eventlog.Entry) bool {
	ctx, cancel := context.WithTimeout(ctx, hearing)
	defer cancel()
	heard := false
	for _, url := range []string{w.restartURL, w.ttlURL} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(entry.Body)))
		if err != nil {
			panic(err)
		}
		request.Header.Set("Content-Type", entry.Attributes["content-type"])
		for key, value := range entry.Attributes {
			if key != "content-type" {
				request.Header.Set("Ce-"+key, value)
			}
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			heard = true
			_ = answer.Body.Close()
		}
	}
	return heard
}
