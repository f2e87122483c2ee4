package invariants

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants/clientview"
)

// Case is what was seen of one application.
type Case struct {
	UID types.UID
	// Object is how events name it.
	Object events.Object
	// Labels are the application's.
	Labels map[string]string

	record *v1alpha1.Record
	// retains says that what an application leaves at its end is kept.
	retains bool
	// shown is an application of the Kubeflow kind as it was last seen.
	shown *v1beta2.SparkApplication
	steps map[int64]*step
	// seen is the last revision of the object that was seen.
	seen string
	// gone is the revision at which the object was gone, and doomed says that its deletion was seen before.
	gone   string
	doomed bool
	// released is the revision at which its resources were said to be released; empty if they are not.
	released string
	// outcome is the application's true end.
	outcome string

	// drivers are all driver Pods that there ever were.
	drivers map[types.UID]*driver

	taken int64 // the last transition that the sink took
	// undone are the events of transitions that a restore of the API server undid, and lost says that it undid the
	// application.
	undone  map[[sha256.Size]byte]bool
	lost    bool
	charges []string
}

// driver is a driver Pod, with the revisions at which it came to be and was seen to live no more.
type driver struct{ name, from, to string }

// step is one transition, as it was persisted and as the sink heard it.
type step struct {
	transition *v1alpha1.Transition
	heard      string // all of the event, until it is compared with the transition
	digest     [sha256.Size]byte
	known      bool // the digest is
}

func (c *Case) charge(format string, arguments ...any) {
	name := c.Object.Key().String()
	c.charges = append(c.charges, fmt.Sprintf("%s (%s): ", name, c.UID)+fmt.Sprintf(format, arguments...))
}

// Ended says that nothing more happens to the application, but its deletion, and where its kind has that, an edit.
func (c *Case) Ended() bool {
	switch lifecycle.CurrentState(c.record) {
	case lifecycle.ResourceReleased:
		return true
	case lifecycle.TerminatedWithoutReleaseResources:
		return c.retains
	default:
		return false
	}
}

// Outcome is its true end; empty before.
func (c *Case) Outcome() string { return c.outcome }

// Gone says that the object exists no more.
func (c *Case) Gone() bool { return c.gone != "" || c.lost }

// Transitions are all that were ever persisted, in order.
func (c *Case) Transitions() []v1alpha1.Transition {
	var all []v1alpha1.Transition
	for _, sequence := range slices.Sorted(maps.Keys(c.steps)) {
		if t := c.steps[sequence].transition; t != nil {
			all = append(all, *t)
		}
	}
	return all
}

// Ends are the states in which its attempts ended.
func (c *Case) Ends() []string {
	var ends []string
	for _, t := range c.Transitions() {
		if t.End != nil {
			ends = append(ends, t.State)
		}
	}
	return ends
}

// Drivers counts the driver Pods that were ever made, by their names.
func (c *Case) Drivers() map[string]int {
	count := map[string]int{}
	for _, d := range c.drivers {
		count[d.name]++
	}
	return count
}

// Alive are the names of the driver Pods that live.
func (c *Case) Alive() []string {
	var alive []string
	for _, d := range c.drivers {
		if d.to == "" {
			alive = append(alive, d.name)
		}
	}
	slices.Sort(alive)
	return alive
}

func (c *Case) see(what watch.EventType, app dialect.Application, permitted bool) {
	api, policy := APIOf(app), PolicyOf(app)
	c.seen = app.GetResourceVersion()
	c.Object = events.Object{
		Group: api.Group, Resource: api.Resource, Kind: api.Kind,
		Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
	}
	c.Labels, c.retains = app.GetLabels(), policy.RetainFor < 0
	record := app.GetRecord()
	switch {
	case record == nil && c.record != nil:
		c.charge("the record was lost")
	case record != nil:
		c.seeRecord(record)
	}
	c.seeRelease(app.GetResourceVersion())
	if app, is := app.(*v1beta2.SparkApplication); is && record != nil {
		for _, wrong := range clientview.Wrong(c.shown, app) {
			c.charge("%s", wrong)
		}
		c.shown = app.DeepCopy()
	}
	if at := app.GetDeletionTimestamp(); at != nil && !c.doomed {
		c.doomed = true
		// The timestamp lacks the fraction of its second.
		if !permitted && !expired(app, at.Add(time.Second)) {
			c.charge("it was deleted at %s, and that was not due", at)
		}
	}
	if what == watch.Deleted {
		c.gone = app.GetResourceVersion()
		for _, d := range c.drivers {
			c.outlived(d)
		}
	}
}

// seeRelease notes the first revision that reports the application's resources as released.
func (c *Case) seeRelease(revision string) {
	switch {
	case lifecycle.CurrentState(c.record) != lifecycle.ResourceReleased:
		c.released = ""
	case c.released == "":
		c.released = revision
		for _, d := range c.drivers {
			c.outlived(d)
		}
	}
}

// APIOf is the API of an application.
func APIOf(app dialect.Application) *applications.API {
	if _, is := app.(*v1beta2.SparkApplication); is {
		return applications.Kubeflow(nil)
	}
	return applications.Apache(nil)
}

// PolicyOf is what an application's spec says about its life.
func PolicyOf(app dialect.Application) lifecycle.Policy {
	return APIOf(app).Dialect(config.Default()).Policy(app)
}

// expired says that the time to live was over at an instant.
func expired(app dialect.Application, at time.Time) bool {
	due, has := lifecycle.ExpiresAt(app.GetRecord(), PolicyOf(app))
	return has && due.Before(at)
}

// outlived charges a driver that lived on when its object was gone or its resources released. One that a dead
// controller's late request made afterwards belongs to nobody, and goes by itself.
func (c *Case) outlived(d *driver) {
	if d.to == "" {
		return
	}
	if c.gone != "" && later(d.to, c.gone) && later(c.gone, d.from) {
		c.charge("the object went at revision %s, and its driver %s lived until %s", c.gone, d.name, d.to)
	}
	if c.released != "" && later(d.to, c.released) && later(c.released, d.from) {
		c.charge("resources were released at revision %s, and driver %s lived until %s", c.released, d.name, d.to)
	}
}

func (c *Case) seeRecord(record *v1alpha1.Record) {
	before := c.record
	c.record = record.DeepCopy()
	if before != nil && (record.Sequence < before.Sequence || record.Acknowledged < before.Acknowledged) {
		c.charge("the record went back from %d/%d to %d/%d",
			before.Acknowledged, before.Sequence, record.Acknowledged, record.Sequence)
	}
	for _, t := range record.Transitions {
		t.DriverStatus = nil
		c.seeTransition(t)
	}
	for sequence := int64(1); sequence <= record.Sequence; sequence++ {
		if s := c.steps[sequence]; s == nil || s.transition == nil {
			c.charge("transition %d was never persisted, but %d was", sequence, record.Sequence)
			c.steps[sequence] = &step{transition: &v1alpha1.Transition{Sequence: sequence}}
		}
	}
}

func (c *Case) seeTransition(t v1alpha1.Transition) {
	s := c.stepOf(t.Sequence)
	if s.transition != nil {
		if !equality.Semantic.DeepEqual(*s.transition, t) {
			c.charge("transition %d was rewritten from\n%+v to\n%+v", t.Sequence, *s.transition, t)
		}
		return
	}
	s.transition = t.DeepCopy()
	c.compare(s)
	c.settle(t)
	if last := c.stepOf(t.Sequence - 1).transition; last != nil && !follows(*last, t) {
		c.charge("%s of attempt %d follows %s of attempt %d", t.State, t.Attempt, last.State, last.Attempt)
	}
}

// settle takes note of the outcome that a transition brings.
func (c *Case) settle(t v1alpha1.Transition) {
	if t.State == string(lifecycle.Invalidating) {
		c.outcome = "" // it comes to another end
	}
	if t.Final() && c.outcome != "" {
		c.charge("it came to its end twice: %s, and %s by transition %d", c.outcome, t.Outcome, t.Sequence)
	}
	c.outcome = cmp.Or(c.outcome, t.Outcome)
}

func (c *Case) stepOf(sequence int64) *step {
	if c.steps[sequence] == nil {
		c.steps[sequence] = &step{}
	}
	return c.steps[sequence]
}

// rank is where in an attempt a state comes. Those of one rank come and go.
func rank(state string) int {
	s := lifecycle.State(state)
	switch {
	case s.Initializing():
		return 0
	case s == lifecycle.DriverRequested:
		return 1
	case s == lifecycle.DriverStarted:
		return 2
	case s == lifecycle.DriverReady:
		return 3
	case s.Running(), s.Starting(), s == lifecycle.Unknown:
		return 4
	case s == lifecycle.Suspending:
		return 5
	case s == lifecycle.Suspended:
		return 6
	case s.AttemptEnded():
		return 7
	case s == lifecycle.TerminatedWithoutReleaseResources:
		return 8
	case s == lifecycle.Invalidating:
		return 9
	default:
		return 10
	}
}

const comeAndGo = 4

// follows says whether a transition may come after another.
func follows(last, next v1alpha1.Transition) bool {
	switch {
	case next.Attempt == last.Attempt+1:
		ended := last.End != nil || last.State == string(lifecycle.Invalidating)
		return ended && next.State == string(lifecycle.ScheduledToRestart) ||
			last.State == string(lifecycle.Suspended) && next.State == string(lifecycle.Resuming)
	case next.Attempt != last.Attempt:
		return false
	case next.State == string(lifecycle.Invalidating):
		return last.State != next.State // an edit matters in each state, after the end too
	case rank(next.State) == rank(last.State):
		return rank(next.State) == comeAndGo && next.State != last.State
	default:
		return rank(next.State) > rank(last.State)
	}
}

func (c *Case) seePod(what watch.EventType, pod *corev1.Pod) {
	d, known := c.drivers[pod.UID]
	if !known {
		d = &driver{name: pod.Name, from: pod.ResourceVersion}
		c.drivers[pod.UID] = d
		if alive := c.Alive(); len(alive) > 1 {
			c.charge("at revision %s more than one driver lives: %v", pod.ResourceVersion, alive)
		}
	}
	dead := what == watch.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if dead && d.to == "" {
		d.to = pod.ResourceVersion
		c.outlived(d)
	}
}

func later(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

func (c *Case) hear(entry eventlog.Entry) {
	sequence := entry.Sequence()
	if sequence == 0 {
		return // a clock event: its handler judges it
	}
	digest := sha256.Sum256([]byte(entry.Bytes()))
	if c.undone[digest] {
		return
	}
	s := c.stepOf(sequence)
	switch {
	case !s.known:
		s.known, s.digest, s.heard = true, digest, entry.Bytes()
		c.compare(s)
	case s.digest != digest:
		c.charge("event %s came in two ways, the second time as\n%s", entry.Attributes["id"], entry.Bytes())
	}
	if !entry.Taken || sequence <= c.taken {
		return
	}
	if sequence != c.taken+1 {
		c.charge("the sink took transition %d after %d", sequence, c.taken)
	}
	c.taken = sequence
}

// compare checks the event against the transition, once both are known.
func (c *Case) compare(s *step) {
	if s.transition == nil || s.heard == "" {
		return
	}
	heard := s.heard
	s.heard = ""
	want, err := told(c.Object, *s.transition)
	if err != nil {
		c.charge("transition %d makes no event: %v", s.transition.Sequence, err)
		return
	}
	if heard != want {
		c.charge("the event of transition %d is\n%s\nwant\n%s", s.transition.Sequence, heard, want)
	}
}

// told is the event of a transition as the sink hears it.
func told(object events.Object, transition v1alpha1.Transition) (string, error) {
	event, err := events.NewTransitionEvent(object, transition)
	if err != nil {
		return "", err
	}
	request, err := cloudevents.NewHTTPRequestFromEvent(context.Background(), "http://sink", event)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return "", err
	}
	entry := eventlog.Entry{Attributes: eventlog.Attributes(request.Header), Body: string(body)}
	return entry.Bytes(), nil
}

// undelivered are the transitions that the sink has not taken.
func (c *Case) undelivered() []string {
	var missing []string
	if c.lost {
		return nil
	}
	for _, t := range c.Transitions() {
		if t.Sequence > c.taken {
			missing = append(missing, fmt.Sprintf("%s (%s): the sink did not take transition %d, %s of attempt %d",
				c.Object.Key(), c.UID, t.Sequence, t.State, t.Attempt))
		}
	}
	return missing
}

// Imagined are the events that tell of what was never persisted.
func (c *Case) Imagined() []string {
	var imagined []string
	for _, sequence := range slices.Sorted(maps.Keys(c.steps)) {
		if s := c.steps[sequence]; s.transition == nil && s.known {
			imagined = append(imagined, fmt.Sprintf("%s: the sink heard of transition %d, which was never persisted:\n%s",
				c.UID, sequence, s.heard))
		}
	}
	return imagined
}
