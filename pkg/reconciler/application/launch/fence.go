package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
)

// AnnotationFence is the annotation of an application that has the fence of its first launch. It is written in one patch with the
// finalizer, before anything is created, so that the first status write can report the driver, too. Once there is a record, the
// record has the fence, and the annotation means nothing. It is removed with the finalizer.
const AnnotationFence = "firesteel.dev/launch"

// maxFence bounds an annotation that is read as a fence.
const maxFence = 1024

// maxFences bounds the fences that are remembered. If one is forgotten, the annotation still has it.
const maxFences = 2048

// launchIDs matches the IDs of launches.
var launchIDs = regexp.MustCompile(`^[0-9a-f]{32}$`)

// fence is what the annotation holds, as JSON.
type fence struct {
	// Application is the UID of the application. A copy of the manifest is another application.
	Application types.UID `json:"application"`
	Attempt     int64     `json:"attempt"`
	// Since is when the attempt began. The launch ID and Spark's name for the driver Pod are derived from it.
	Since metav1.MicroTime `json:"since"`
	// Launch is the launch ID, DriverPod the name of its driver Pod, ApplicationID the ID that Spark gets.
	Launch        string `json:"launch"`
	DriverPod     string `json:"driverPod"`
	ApplicationID string `json:"applicationID"`
}

// Fence writes the fence of a first launch into the annotation, with the finalizer, if the application did not change since
// it was read. The view then has the stored application. Only with that application may the launch act. Fence writes nothing
// if an earlier reconcile wrote the same fence.
func (l *Launcher) Fence(ctx context.Context, v *view.Application, record *v1alpha1.Record, prepared *Prepared) error {
	app, launch := v.App, record.Launch
	text, err := json.Marshal(fence{app.GetUID(), record.Attempt.ID, record.Attempt.Since, launch.ID, launch.DriverPod, launch.ApplicationID})
	if err != nil {
		return fmt.Errorf("encode fence: %w", err)
	}
	if l.API.HasFinalizer(app) && app.GetAnnotations()[AnnotationFence] == string(text) {
		return nil
	}
	l.fencing.Add(1)
	defer l.fencing.Add(-1)
	stored, err := l.API.AddFinalizer(ctx, app, map[string]string{AnnotationFence: string(text)})
	if err != nil {
		return fmt.Errorf("fence attempt %d: %w", record.Attempt.ID, err)
	}
	logging.FromContext(ctx).Debugw("wrote fence", "attempt", record.Attempt.ID, "launch", launch.ID, "resourceVersion", stored.GetResourceVersion())
	l.fences.Add(app.GetUID(), &FirstLaunch{Launch: launch, Since: record.Attempt.Since.Time})
	prepared.resumed = false // the write proved that the application did not change since it was read
	v.App = stored
	return nil
}

// FirstLaunch is the first launch of an application that is fenced and not in a record yet.
type FirstLaunch struct {
	Launch *v1alpha1.Launch
	// Since is when its attempt began.
	Since time.Time
	// Unwritten is nil unless the launch is complete and only its status write waits.
	Unwritten *Unwritten
}

// Unwritten is a complete launch whose status write waits. It is in memory only: without it, the launch is resumed.
type Unwritten struct {
	// Record is the record to write. It must not be changed.
	Record *v1alpha1.Record
	// Generation is that of the application that was launched. If it was edited since, the record is written before anything is decided,
	// so that the edit comes after the launch for every reader of the record.
	Generation int64
	// Due is when the status is written at the latest.
	Due time.Time
}

// Fenced returns the first launch of an application without a record if it was fenced; nil otherwise. If another writer
// removed the annotation, the launcher that wrote it still remembers the launch.
func (l *Launcher) Fenced(app dialect.Application) *FirstLaunch {
	if app.GetRecord() != nil {
		return nil
	}
	written := parseFence(app)
	known, ok := l.fences.Get(app.GetUID())
	if !ok {
		return written
	}
	first := *known.(*FirstLaunch)
	if written != nil && written.Launch.ID != first.Launch.ID {
		return written // another replica fenced it anew
	}
	first.Launch = first.Launch.DeepCopy()
	return &first
}

// Postpone remembers a complete first launch until its status is written. It returns when that is due: after a time from the first call on.
// It returns false if this process did not fence the launch.
func (l *Launcher) Postpone(app dialect.Application, record *v1alpha1.Record, most time.Duration) (time.Time, bool) {
	known, ok := l.fences.Get(app.GetUID())
	if !ok || known.(*FirstLaunch).Launch.ID != record.Launch.ID {
		return time.Time{}, false
	}
	first := *known.(*FirstLaunch)
	due := l.Clock.Now().Add(most)
	if first.Unwritten != nil {
		due = first.Unwritten.Due
	}
	first.Unwritten = &Unwritten{Record: record, Generation: app.GetGeneration(), Due: due}
	l.fences.Add(app.GetUID(), &first)
	return due, true
}

// Unrecorded reports whether this process fenced the first launch of an application and did not store the record yet.
func (l *Launcher) Unrecorded(app dialect.Application) bool {
	_, ok := l.fences.Get(app.GetUID())
	return ok && app.GetRecord() == nil
}

// Recorded forgets the fence and the complete launch of an application whose record is stored: the record has them.
func (l *Launcher) Recorded(app types.UID) {
	l.fences.Remove(app)
	l.complete.Remove(app)
}

// Settled reports whether all launches that this process fenced by the annotation are in records, and no fence is being written. An older
// version of Firesteel reads records only.
func (l *Launcher) Settled() bool {
	return l.fencing.Load() == 0 && l.fences.Len() == 0 // in this order: a fence is remembered before it stops being written
}

// parseFence reads the annotation. It returns nil if there is none, or if Firesteel did not write it for this application.
// Users can write it, so its length is bounded.
func parseFence(app dialect.Application) *FirstLaunch {
	text := app.GetAnnotations()[AnnotationFence]
	var written fence
	if text == "" || len(text) > maxFence || json.Unmarshal([]byte(text), &written) != nil {
		return nil
	}
	if written.Application != app.GetUID() || written.Attempt != 0 || written.Since.IsZero() || !launchIDs.MatchString(written.Launch) ||
		len(validation.IsDNS1123Subdomain(written.DriverPod)) > 0 {
		return nil
	}
	return &FirstLaunch{
		Launch: &v1alpha1.Launch{ID: written.Launch, DriverPod: written.DriverPod, ApplicationID: written.ApplicationID},
		Since:  written.Since.Time,
	}
}

// fenceTimeout is how long a launch may create objects. It begins before the fence is written or read live, so that a response
// which reaches a paused process late extends nothing. It is the renew deadline of a leader's lease: after that, another replica
// may have taken over the application and moved on. The launch is then resumed after another live read.
const fenceTimeout = 10 * time.Second

// createWithin creates an object unless the fence is over. A process that was paused comes here before the timer of its context
// has fired.
func createWithin(ctx context.Context, client objectclient.Client) (objectclient.Object, error) {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return nil, context.DeadlineExceeded
	}
	return client.Create(ctx)
}

// handover is how long after an attempt's driver was recorded another replica may still create objects of that attempt. That
// replica read the application before the record had the driver, and its fence was valid for fenceTimeout. The rest is for a
// status write that is slow or yields to first launches, and for clocks that differ.
const handover = fenceTimeout + 5*time.Second

// CreatesOverAt returns when no create of the last launched attempt can be under way any more; zero if none can be. If the driver
// is gone, its name is free: a late create would run it beside the next one. The creates of an attempt that only this replica
// launched ended with their reconcile, unless their result is unknown.
func (l *Launcher) CreatesOverAt(app dialect.Application, record *v1alpha1.Record) time.Time {
	if record == nil {
		return time.Time{}
	}
	last := lastLaunched(record)
	if last == nil {
		return time.Time{}
	}
	if attempt, ok := l.own.Get(app.GetUID()); ok && attempt == last.Attempt {
		return time.Time{}
	}
	return last.Time.Add(handover)
}

// lastLaunched returns the first transition after the launch of the last attempt that was launched: it has the driver, or the
// reason why there is none. It is nil if there was no launch.
func lastLaunched(record *v1alpha1.Record) *v1alpha1.Transition {
	var first *v1alpha1.Transition
	for i := len(record.Transitions) - 1; i >= 0; i-- {
		t := &record.Transitions[i]
		switch {
		case lifecycle.State(t.State).Initializing():
		case first != nil && t.Attempt != first.Attempt:
			return first
		default:
			first = t
		}
	}
	return first
}

// WithoutCreateRetries stops the clients made from a configuration from retrying a create when the server is too busy.
// Seconds may pass between the retries, so a driver of an attempt that ended long ago could be created. The reconciler
// retries instead, after a new read.
func WithoutCreateRetries(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noCreateRetry{next} })
}

type noCreateRetry struct{ next http.RoundTripper }

// RoundTrip removes the header that makes the client wait and retry.
func (o noCreateRetry) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if err == nil && request.Method == http.MethodPost {
		response.Header.Del("Retry-After")
	}
	return response, err
}
