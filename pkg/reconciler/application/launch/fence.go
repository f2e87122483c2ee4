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

// launchIDs is what an id of a launch looks like.
var launchIDs = regexp.MustCompile(`^[0-9a-f]{32}$`)

// fence is what the annotation holds, as JSON.
type fence struct {
	// Application is the UID of the application. A copy of the manifest is another application.
	Application types.UID `json:"application"`
	Attempt     int64     `json:"attempt"`
	// Since is when the attempt began: the id of the launch and Spark's name for the driver Pod are made of it.
	Since metav1.MicroTime `json:"since"`
	// Launch is the id of the launch, DriverPod the name of its driver Pod, ApplicationID the id that Spark gets.
	Launch        string `json:"launch"`
	DriverPod     string `json:"driverPod"`
	ApplicationID string `json:"applicationID"`
}

// Fence writes the fence of a first launch into the annotation, with the finalizer, if the application is as it was read. The view then
// has the stored application, and only with that may the launch act. It writes nothing if an earlier reconcile wrote the same fence.
func (l *Launcher) Fence(ctx context.Context, v *view.Application, record *v1alpha1.Record, prepared *Prepared) error {
	app, launch := v.App, record.Launch
	text, err := json.Marshal(fence{app.GetUID(), record.Attempt.ID, record.Attempt.Since, launch.ID, launch.DriverPod, launch.ApplicationID})
	if err != nil {
		return fmt.Errorf("encode fence: %w", err)
	}
	if l.API.HasFinalizer(app) && app.GetAnnotations()[AnnotationFence] == string(text) {
		return nil
	}
	stored, err := l.API.AddFinalizer(ctx, app, map[string]string{AnnotationFence: string(text)})
	if err != nil {
		return fmt.Errorf("fence attempt %d: %w", record.Attempt.ID, err)
	}
	logging.FromContext(ctx).Debugw("wrote fence", "attempt", record.Attempt.ID, "launch", launch.ID, "resourceVersion", stored.GetResourceVersion())
	l.fences.Add(app.GetUID(), &FirstLaunch{Launch: launch, Since: record.Attempt.Since.Time})
	prepared.resumed = false // the write proved that the application is as it was read
	v.App = stored
	return nil
}

// FirstLaunch is the first launch of an application, which is fenced and not in a record yet.
type FirstLaunch struct {
	Launch *v1alpha1.Launch
	// Since is when its attempt began.
	Since time.Time
}

// Fenced returns the first launch of an application without a record if it was fenced; nil otherwise. Another writer may have removed
// the annotation: then the launcher that wrote it remembers the launch.
func (l *Launcher) Fenced(app dialect.Application) *FirstLaunch {
	if app.GetRecord() != nil {
		return nil
	}
	if first := parseFence(app); first != nil {
		return first
	}
	if known, ok := l.fences.Get(app.GetUID()); ok {
		first := known.(*FirstLaunch)
		return &FirstLaunch{Launch: first.Launch.DeepCopy(), Since: first.Since}
	}
	return nil
}

// Recorded forgets the fence of an application that has a record: the record has it.
func (l *Launcher) Recorded(app types.UID) { l.fences.Remove(app) }

// parseFence reads the annotation; nil if there is none, or one that Firesteel did not write for this application. Users can write it,
// so it is bounded.
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

// fenceTimeout is how long after its fence was written, or read live, a launch may create. Beyond it another replica may
// have taken the application over and moved on: it is the renew deadline of a leader's lease. The launch is resumed
// then, with another look.
const fenceTimeout = 10 * time.Second

// WithoutCreateRetries keeps the clients made from a configuration from trying a create again by themselves when the
// server is too busy: seconds may pass between the tries, and a driver of an attempt that is long over be created.
// The reconciler tries again itself, once it has looked.
func WithoutCreateRetries(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noCreateRetry{next} })
}

type noCreateRetry struct{ next http.RoundTripper }

// RoundTrip drops the header that has the client wait and try again.
func (o noCreateRetry) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if err == nil && request.Method == http.MethodPost {
		response.Header.Del("Retry-After")
	}
	return response, err
}
