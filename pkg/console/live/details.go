package live

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

const (
	// maxPods bounds the Pods of the details: the driver, and the executors that are worth a line most.
	maxPods = 1000
	// maxText bounds each text of the details.
	maxText = 2048
	// maxPoints bounds the values of a curve.
	maxPoints = 500
)

// Details returns an application, and whether there is one. pods reports whether the user may list the Pods of the namespace.
func (l *Live) Details(ref Ref, pods bool) (*Details, bool) {
	found, ok := l.look(ref, overview.Application, allPods(pods))
	if !ok {
		return nil, false
	}
	d := &Details{Row: found.row, PodsHidden: !pods, Cursor: found.cursor, Reasons: []Reason{}, Attempts: []Attempt{}, Conditions: []Condition{}, Pods: []Pod{}}
	d.Executors = countOverTime(found.spans, found.row, found.now)
	read := found.read
	if read == nil {
		return d, true
	}
	d.Reasons, d.Conditions, d.Pods = found.reasons(), found.conditions(), found.podList()
	d.Attempts, d.Earlier = attemptsOf(read, found.now, l.options.Settings().Prices)
	return d, true
}

// found is an object that was looked up, with its Pods.
type found struct {
	row    *Row
	read   *overview.Object
	pods   overview.Pods
	spans  []executorSpan
	cursor uint64
	now    time.Time
}

// allPods returns what selects all Pods of an object, or none of them.
func allPods(wanted bool) func(*pod) bool { return func(*pod) bool { return wanted } }

// look looks an object up, with those of its Pods that are wanted. read is nil if the object was too large to be kept.
func (l *Live) look(ref Ref, noun overview.Kind, wanted func(*pod) bool) (*found, bool) {
	f := &found{now: l.clock.Now()}
	l.mutex.RLock()
	e := l.find(ref)
	if e == nil || e.shown.Noun != noun {
		l.mutex.RUnlock()
		return nil, false
	}
	object := e.object
	f.row, f.cursor = e.shown, l.changes.cursor(l.clock.Now())
	f.spans = slices.Clone(e.gone)
	var pods []*pod
	for _, p := range l.podsOf[e.pods] {
		if p.role == roleExecutor && (f.row.ApplicationID == "" || p.application == f.row.ApplicationID) {
			f.spans = append(f.spans, p.span(time.Time{}))
		}
		if wanted(p) {
			pods = append(pods, p)
		}
	}
	l.mutex.RUnlock()
	read, err := object.read()
	if err != nil {
		return f, true // the rest is known
	}
	f.read, f.pods = read, read.PodsOf(decode(pods))
	return f, true
}

// decode reads Pods again. Of many, those that may show a cause come first.
func decode(pods []*pod) (decoded []corev1.Pod) {
	slices.SortFunc(pods, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), b.created.Compare(a.created), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range pods[:min(len(pods), maxPods)] {
		if source, err := p.read(); err == nil { // it was encoded here
			decoded = append(decoded, *source)
		}
	}
	return decoded
}

// weight sorts Pods: drivers, then what failed or waits.
func (p *pod) weight() int {
	switch {
	case p.role == roleDriver || p.role == roleMaster:
		return 3
	case p.phase == corev1.PodFailed:
		return 2
	case p.phase == corev1.PodRunning:
		return 0
	default:
		return 1
	}
}

func (f *found) reasons() []Reason {
	all := []Reason{}
	for _, r := range f.read.Why(f.read.Facts(f.now, f.pods, nil, "")) {
		all = append(all, Reason{
			Cause: string(r.Cause), Summary: r.Summary, Evidence: r.Evidence, Remedy: r.Remedy,
			Command: r.Command(f.row.Namespace, f.row.Resource+"/"+f.row.Name), Beside: r.Beside,
		})
	}
	return all
}

func (f *found) conditions() []Condition {
	all := []Condition{}
	for _, c := range f.read.Conditions {
		all = append(all, Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: text.Clip(redact.Text(c.Message), maxText), Since: c.LastTransitionTime.UTC(),
		})
	}
	return all
}

func (f *found) podList() []Pod {
	all := []Pod{}
	redactor := f.read.Redactor()
	add := func(source *corev1.Pod, earlier bool) {
		p := podOf(source, f.read.MainContainer(source))
		p.Message, p.Earlier = text.Clip(redactor.Text(p.Message), maxText), earlier
		all = append(all, p)
	}
	for _, source := range f.pods.All() {
		add(source, false)
	}
	for _, source := range f.pods.Earlier {
		add(source, true)
	}
	return all
}

// podOf describes a Pod. main is the name of the container of a driver whose end counts.
func podOf(source *corev1.Pod, main string) Pod {
	short := readPod(source)
	p := Pod{
		Name: source.Name, UID: source.UID, Role: short.role, Number: short.number, Phase: cmp.Or(string(source.Status.Phase), string(corev1.PodPending)),
		Ready: short.ready, Reason: source.Status.Reason, Message: source.Status.Message, Node: source.Spec.NodeName, IP: source.Status.PodIP,
		Created: short.created, Started: short.started, Ended: short.ended, Requests: short.requests, Containers: []string{},
	}
	if source.DeletionTimestamp != nil {
		p.Phase = "Terminating"
	}
	for _, condition := range source.Status.Conditions {
		switch {
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue:
			p.Scheduled = condition.LastTransitionTime.UTC()
		case condition.Type == corev1.PodScheduled && p.Reason == "":
			p.Reason, p.Message = condition.Reason, condition.Message
		}
	}
	for _, container := range slices.Concat(source.Spec.InitContainers, source.Spec.Containers) {
		p.Containers = append(p.Containers, container.Name)
	}
	p.explain(source, main)
	return p
}

// explain takes what a container waits for, or how it ended: the main one's, or else the first that says something.
func (p *Pod) explain(source *corev1.Pod, main string) {
	statuses := slices.Concat(source.Status.InitContainerStatuses, source.Status.ContainerStatuses)
	slices.SortStableFunc(statuses, func(a, b corev1.ContainerStatus) int {
		switch {
		case a.Name == main && b.Name != main:
			return -1
		case a.Name != main && b.Name == main:
			return 1
		default:
			return 0
		}
	})
	for _, status := range statuses {
		p.Restarts = max(p.Restarts, status.RestartCount)
	}
	for _, status := range statuses {
		switch state := status.State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			p.Reason, p.Message = cmp.Or(p.Reason, state.Waiting.Reason), cmp.Or(p.Message, state.Waiting.Message)
			return
		case state.Terminated != nil && (state.Terminated.ExitCode != 0 || status.Name == main):
			code := state.Terminated.ExitCode
			p.ExitCode = &code
			p.Reason, p.Message = cmp.Or(p.Reason, state.Terminated.Reason), cmp.Or(p.Message, state.Terminated.Message)
			return
		}
	}
}

// attemptsOf returns the attempts of a record, and whether there were earlier ones.
func attemptsOf(read *overview.Object, now time.Time, prices Prices) (attempts []Attempt, earlier bool) {
	attempts = []Attempt{}
	record := read.Record
	if record == nil {
		return attempts, false
	}
	outcomes := overview.Phases(record)
	for i := range record.Transitions {
		t := &record.Transitions[i]
		if last := len(attempts) - 1; last < 0 || attempts[last].Attempt != t.Attempt {
			attempts = append(attempts, Attempt{Attempt: t.Attempt, Began: t.Time.UTC(), Usage: attemptUsage(record, t.Attempt, prices), Transitions: []Transition{}})
		}
		a := &attempts[len(attempts)-1]
		a.read(t, outcomes[i])
		step := transitionOf(read, t, now)
		if i+1 < len(record.Transitions) {
			step.Lasted = max(record.Transitions[i+1].Time.Sub(t.Time.Time), 0).Milliseconds()
		}
		step.Outcome = outcomes[i]
		a.Transitions = append(a.Transitions, step)
	}
	return attempts, len(attempts) > 0 && (attempts[0].Attempt > 0 || attempts[0].Transitions[0].Sequence > 1)
}

// read takes what a transition says of its attempt.
func (a *Attempt) read(t *v1alpha1.Transition, outcome Outcome) {
	a.ApplicationID, a.DriverPod = cmp.Or(t.ApplicationID, a.ApplicationID), cmp.Or(t.DriverPod, a.DriverPod)
	if a.Started.IsZero() && lifecycle.State(t.State).DriverRuns() {
		a.Started = t.Time.UTC()
	}
	if a.Ended.IsZero() {
		a.Outcome = outcome
	}
	if t.End == nil {
		return
	}
	a.Ended, a.Outcome = t.Time.UTC(), overview.Failed
	if t.End.Outcome == v1alpha1.OutcomeSucceeded {
		a.Outcome = overview.Succeeded
	}
	a.Class, a.ExitCode, a.Reason, a.Message = t.End.Class, t.End.ExitCode, t.End.Reason, text.Clip(t.End.Message, maxText)
}

func attemptUsage(record *v1alpha1.Record, attempt int64, prices Prices) *Usage {
	for i := range record.Transitions {
		if t := &record.Transitions[i]; t.Attempt == attempt && t.End != nil && t.Usage != nil {
			return usageOf(t.Usage, prices)
		}
	}
	if record.Usage == nil {
		return nil
	}
	for i := range record.Usage.Attempts {
		if a := &record.Usage.Attempts[i]; a.Attempt == attempt {
			total := usage.Add(a.Ended, a.Running)
			return usageOf(&total, prices)
		}
	}
	return nil
}

func transitionOf(read *overview.Object, t *v1alpha1.Transition, now time.Time) Transition {
	step := Transition{
		Sequence: t.Sequence, Attempt: t.Attempt, At: t.Time.UTC(), State: t.State, Message: text.Clip(messageOf(t), maxText),
		WaitedFor: diagnosis.WaitsFor(t.State), Delivery: DeliveryUnknown, Lasted: max(now.Sub(t.Time.Time), 0).Milliseconds(),
	}
	if read.Inherited {
		return step
	}
	step.Delivery = Delivered
	if t.Sequence > read.Record.Acknowledged {
		step.Delivery = DeliveryPending
	}
	if event, err := events.NewTransitionEvent(eventObject(read), *t); err == nil { // else the record was edited, and there is no event
		step.Event, step.EventType = event.ID(), event.Type()
	}
	return step
}

func eventObject(read *overview.Object) events.Object {
	resource, _ := resourceOf(schema.GroupKind{Group: read.Group(), Kind: read.Source.GetKind()})
	return events.Object{
		Group: read.Group(), Resource: resource, Kind: read.Source.GetKind(), Namespace: read.Namespace(), Name: read.Name(), UID: read.Source.GetUID(),
	}
}

// countOverTime returns how many executors there were from each instant on.
func countOverTime(spans []executorSpan, row *Row, now time.Time) []ExecutorCount {
	type step struct {
		at                     int64
		pending, running, lost int
	}
	var steps []step
	for _, s := range spans {
		end := s.ended
		begin := step{at: s.created, pending: 1}
		if s.running > 0 {
			steps = append(steps, step{at: s.running, pending: -1, running: 1})
		}
		if end > 0 {
			gone := step{at: max(end, s.running, s.created), pending: -1}
			if s.running > 0 {
				gone.pending, gone.running = 0, -1
			}
			if s.lost {
				gone.lost = 1
			}
			steps = append(steps, gone)
		}
		steps = append(steps, begin)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	points := []ExecutorCount{}
	count := Executors{Asked: row.Executors.Asked, Most: row.Executors.Most}
	for i, s := range steps {
		count.Pending, count.Running, count.Lost = count.Pending+s.pending, count.Running+s.running, count.Lost+s.lost
		if i+1 < len(steps) && steps[i+1].at == s.at {
			continue
		}
		shown := count
		shown.Pending = max(shown.Pending, 0) // clocks of nodes differ
		points = append(points, ExecutorCount{At: time.UnixMilli(s.at).UTC(), Executors: shown})
	}
	if len(points) > 0 && row.Ended.IsZero() {
		last := points[len(points)-1]
		last.At = now.UTC()
		points = append(points, last)
	}
	return thin(points)
}

// thin leaves values out if there are too many. The last one stays.
func thin(points []ExecutorCount) []ExecutorCount {
	if len(points) <= maxPoints {
		return points
	}
	kept := make([]ExecutorCount, 0, maxPoints)
	for i := range maxPoints - 1 {
		kept = append(kept, points[i*len(points)/(maxPoints-1)])
	}
	return append(kept, points[len(points)-1])
}
