package live

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Past is what is left of an application: the object and the Pods as they were when an attempt ended.
type Past struct {
	Resource string
	Object   *unstructured.Unstructured
	Attempt  int64
	Pods     []corev1.Pod
	// PodsHidden reports whether the user may not read the Pods.
	PodsHidden bool
	// Earlier are transitions before those that the record of the object has, in order.
	Earlier []v1alpha1.Transition
	// Usage is what attempts used, and Total what all of them used; empty and nil if only the record says it.
	Usage map[int64]v1alpha1.Usage
	Total *v1alpha1.Usage
}

// Settings returns the settings that rows depend on.
func (l *Live) Settings() Settings { return l.options.Settings() }

// Details returns the application as the details of one that is there. What was still to be done then, such as the delivery of events, is unknown.
func (p *Past) Details(settings Settings, now time.Time) (*Details, error) {
	read, err := overview.Read(p.Object)
	if err != nil {
		return nil, err
	}
	row := *newObject(p.Object, p.Resource, settings, now).row
	row.Unacknowledged, row.Deleting, row.Held = 0, false, nil
	if p.Total != nil {
		row.Usage = usageOf(p.Total, settings.Prices)
	}
	f := &found{row: &row, read: p.withEarlier(read), now: now}
	if of, ok := f.read.OfAttempt(p.Attempt); ok {
		f.pods = of.PodsOf(p.Pods)
	}
	for _, executor := range f.pods.Executors {
		f.spans = append(f.spans, readPod(executor).span(row.Ended))
	}
	d := &Details{
		Row: &row, Reasons: f.reasons(), Conditions: f.conditions(), Pods: f.podList(), PodsHidden: p.PodsHidden, Executors: countOverTime(f.spans, &row, now),
	}
	d.Attempts, d.Earlier = attemptsOf(f.read, now, settings.Prices)
	for i := range d.Attempts {
		a := &d.Attempts[i]
		if used, ok := p.Usage[a.Attempt]; ok {
			a.Usage = usageOf(&used, settings.Prices)
		}
		for at := range a.Transitions {
			if a.Transitions[at].Delivery == DeliveryPending {
				a.Transitions[at].Delivery = DeliveryUnknown
			}
		}
	}
	return d, nil
}

// withEarlier returns an object whose record has the earlier transitions, too.
func (p *Past) withEarlier(read *overview.Object) *overview.Object {
	if read.Record == nil || len(read.Record.Transitions) == 0 || len(p.Earlier) == 0 {
		return read
	}
	first := read.Record.Transitions[0].Sequence
	earlier := slices.DeleteFunc(slices.Clone(p.Earlier), func(t v1alpha1.Transition) bool { return t.Sequence >= first })
	all, record := *read, *read.Record
	record.Transitions = append(earlier, record.Transitions...)
	all.Record = &record
	return &all
}
