package quotas

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/quota"
)

const (
	// wakeDelay is the time between a change and the wake. Changes come in groups: a quota changes with each Pod.
	wakeDelay = 20 * time.Millisecond
	// reportInterval is the shortest time after which the status of a held application shows another place in the queue.
	reportInterval = time.Minute
	// shortAfter is the time after which an application reports that the quotas have no room for its missing executors. A quota counts a Pod for a
	// moment after its end.
	shortAfter = 2 * time.Second
)

// wakeSoon wakes the applications of a namespace for which there is room, after wakeDelay. The mutex is held.
func (t *Tracker) wakeSoon(namespace string) {
	if t.due[namespace] || len(t.apps[namespace]) == 0 || len(t.quotas[namespace]) == 0 {
		return
	}
	t.due[namespace] = true
	t.clock.AfterFunc(wakeDelay, func() { t.wake(namespace) })
}

// wake enqueues applications of a namespace:
//
//   - those that wait, and for which there is room;
//   - those whose status must show another place in the queue, or another kind of reason;
//   - those whose executors the quotas have begun to refuse, or have ceased to refuse.
func (t *Tracker) wake(namespace string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.due, namespace)
	now, queue, apps := t.clock.Now(), t.queue(namespace), t.apps[namespace]
	for _, uid := range queue.Ready() {
		apps[uid].source.Enqueue(apps[uid].key)
	}
	var next time.Time
	for uid, app := range apps {
		decision := queue.DecisionOf(uid)
		shown, known := t.reports[uid]
		switch due := shown.at.Add(reportInterval); {
		case !known || !app.waits || decision.Fits || !t.refusedUntil(uid).IsZero():
		case shown.kind != decision.Kind():
			app.source.Enqueue(app.key)
		case shown.place == decision.Place:
		case !now.Before(due):
			app.source.Enqueue(app.key)
		case next.IsZero() || due.Before(next):
			next = due
		}
	}
	for _, reserved := range queue.Reserved {
		due := apps[reserved.UID].setShort(len(queue.ExecutorsLack(reserved)) > 0, now)
		if next.IsZero() || !due.IsZero() && due.Before(next) {
			next = due
		}
	}
	t.wakeAt(namespace, next)
}

// setShort records whether the quotas lack room for the missing executors of an application. It enqueues the application if that has lasted for
// shortAfter, and if there is room again. It returns when to call it again; zero if not at all.
func (a *application) setShort(short bool, now time.Time) time.Time {
	switch {
	case !short:
		a.shortSince = time.Time{}
	case a.shortSince.IsZero():
		a.shortSince = now
	}
	due := a.shortSince.Add(shortAfter)
	if short && now.Before(due) {
		return due
	}
	if a.short != short {
		a.short = short
		a.source.Enqueue(a.key)
	}
	return time.Time{}
}

// wakeAt calls wake for a namespace at a time, unless the time is zero or an earlier one is set. The mutex is held.
func (t *Tracker) wakeAt(namespace string, at time.Time) {
	if earlier, set := t.wakes[namespace]; at.IsZero() || set && !at.Before(earlier) {
		return
	}
	t.wakes[namespace] = at
	t.clock.AfterFunc(at.Sub(t.clock.Now()), func() {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		if t.wakes[namespace] == at {
			delete(t.wakes, namespace)
		}
		t.wakeSoon(namespace)
	})
}

// report is what the status of a held application shows.
type report struct {
	text  string
	kind  quota.Kind
	place int
	at    time.Time
}

// shown returns the text for the status of a held application. If the last text is younger than reportInterval and has the same kind of reason, it
// returns that one. So while the queue moves, a status is written at most once in reportInterval.
func (t *Tracker) shown(app types.UID, text string, decision quota.Decision) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if shown, known := t.reports[app]; known && shown.kind == decision.Kind() && t.clock.Since(shown.at) < reportInterval {
		return shown.text
	}
	t.reports[app] = report{text, decision.Kind(), decision.Place, t.clock.Now()}
	return text
}
