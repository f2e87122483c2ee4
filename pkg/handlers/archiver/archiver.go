package archiver

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsArchive)

const (
	// maxJobs bounds the attempts that are archived at once, and maxJobsPerNamespace those of one namespace. Each takes a few MiB at most.
	maxJobs             = 16
	maxJobsPerNamespace = 8
	// answerWithin is how long the handler waits for its job. The job goes on after that, and the handler is asked again. It is less than the timeout of
	// a Broker's delivery.
	answerWithin = 2 * time.Second
)

// Archiver archives attempts.
type Archiver struct {
	core     corev1client.CoreV1Interface
	stores   *archive.Stores
	settings func() *config.Config
	clock    clock.PassiveClock
	// openLog opens the log of a container.
	openLog func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error)
	slots   *fairshare.Limiter

	mu sync.Mutex
	// running holds the jobs that run.
	running map[job]*result
}

// job identifies the archiving of an attempt.
type job struct {
	uid     types.UID
	attempt int64
}

// result is the result of a job. done is closed when err is known.
type result struct {
	done chan struct{}
	err  error
	// unheard reports whether the handler answered before the end of the job. Archiver.mu guards it.
	unheard bool
}

// NewHandler creates the handler. It uses only the event's source, and decides from the application and the Pods that it reads. So a duplicate, late or
// forged event archives nothing anew.
func NewHandler(
	clients kube.Clients, core corev1client.CoreV1Interface, stores *archive.Stores, settings func() *config.Config, namespaces lookup.Namespaces,
	clock clock.PassiveClock,
) events.Handler {
	return newArchiver(core, stores, settings, clock).handler(clients, namespaces)
}

func newArchiver(
	core corev1client.CoreV1Interface, stores *archive.Stores, settings func() *config.Config, clock clock.PassiveClock,
) *Archiver {
	return &Archiver{
		core: core, stores: stores, settings: settings, clock: clock, slots: fairshare.New(maxJobs, maxJobsPerNamespace), running: map[job]*result{},
		openLog: func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return core.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
		},
	}
}

func (a *Archiver) handler(clients kube.Clients, namespaces lookup.Namespaces) events.Handler {
	apis := applications.All(clients)
	return func(ctx context.Context, event cloudevents.Event) error {
		settings := a.settings()
		app, err := lookup.Existing(ctx, apis, settings, namespaces, event)
		if app == nil || err != nil {
			return err
		}
		url, ended := settings.Archive.URLOf(app.GetNamespace()), lifecycle.ToArchive(app.GetRecord())
		if url == "" || ended == nil {
			return nil
		}
		work := &attempt{Archiver: a, app: app, record: app.GetRecord(), ended: *ended, settings: settings.Archive}
		return a.run(ctx, job{app.GetUID(), ended.Attempt}, app.GetNamespace(), func(ctx context.Context) error {
			return work.archive(ctx, url)
		})
	}
}

// run runs a job, unless it runs already, and waits for it. It returns nil if the job takes longer.
func (a *Archiver) run(ctx context.Context, key job, namespace string, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	running, err := a.start(ctx, key, namespace, work)
	if err != nil {
		return err
	}
	select {
	case <-running.done:
		return running.err
	case <-ctx.Done():
		a.mu.Lock()
		defer a.mu.Unlock()
		running.unheard = true
		return nil
	}
}

// start starts a job if there is a slot for it, unless the job runs already.
func (a *Archiver) start(ctx context.Context, key job, namespace string, work func(context.Context) error) (*result, error) {
	if running := a.runningJob(key); running != nil {
		return running, nil
	}
	release, err := a.slots.Acquire(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("other attempts are being archived: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if running := a.running[key]; running != nil {
		release()
		return running, nil
	}
	running := &result{done: make(chan struct{})}
	a.running[key] = running
	go func() {
		defer release()
		ctx := context.WithoutCancel(ctx)
		a.finish(ctx, key, running, guarded(ctx, func() error {
			ctx, cancel := context.WithTimeout(ctx, a.settings().Archive.WaitIn(namespace))
			defer cancel()
			return work(ctx)
		}))
	}()
	return running, nil
}

// guarded does work that has a goroutine of its own. It turns a panic, which would end the whole process there, into an error.
func guarded(ctx context.Context, work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			logging.FromContext(ctx).Errorw("archiving panicked", "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("archiving panicked: %v", cause)
		}
	}()
	return work()
}

func (a *Archiver) runningJob(key job) *result {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running[key]
}

// finish publishes the result of a job. An error that no caller waits for any more is logged.
func (a *Archiver) finish(ctx context.Context, key job, running *result, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, key)
	if err != nil && running.unheard {
		logging.FromContext(ctx).Warnw("attempt not archived, which is tried again", "uid", key.uid, "attempt", key.attempt, zap.Error(err))
	}
	running.err = err
	close(running.done)
}
