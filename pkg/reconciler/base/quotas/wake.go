package quotas

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/quota"
)

const (
	// wakeDelay is how long after a change those are woken for which there is room. Changes come in groups: a quota changes with each Pod.
	wakeDelay = 20 * time.Millisecond
	// reportInterval is how often the status of a held application shows another place in the queue.
	reportInterval = time.Minute
	// shortAfter is after how long it is reported that the quotas have no room for missing executors. A quota counts a Pod for a moment after
	// its end.
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

// wake enqueues the waiting applications for which there is room, those whose place in the queue is to be shown or that wait for another
// kind of reason, and those whose executors the quotas refuse, or do not refuse any more.
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

// setShort records whether the quotas have room for the missing executors of an application. It enqueues the application when they have had
// none for shortAfter, and when they have again. It returns when to call it again; zero for not at all.
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

// wakeAt calls wake for a namespace at an instant, unless that is zero or an earlier one is set. The mutex is held.
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

// shown returns the text that the status of a held application shows: the given one, or the last one if that is not old and gives the same
// kind of reason. So a status is written no more than once in reportInterval while the queue moves.
func (t *Tracker) shown(app types.UID, text string, decision quota.Decision) string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if shown, known := t.reports[app]; known && shown.kind == decision.Kind() && t.clock.Since(shown.at) < reportInterval {
		return shown.text
	}
	t.reports[app] = report{text, decision.Kind(), decision.Place, t.clock.Now()}
	return text
}
