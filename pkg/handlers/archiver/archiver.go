package archiver

import (
	"context"
	"errors"
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
	// maxJobs bounds the attempts that are archived at once, and maxJobsPerNamespace those of one namespace. Each takes a few MiB at most. A namespace
	// leaves as many free as it holds.
	maxJobs, maxJobsPerNamespace, freeShare = 16, 8, 1
	// maxQueued bounds the jobs that run or wait for that, and maxQueuedPerNamespace those of one namespace.
	maxQueued, maxQueuedPerNamespace = 4096, 2048
	// maxLookups bounds the applications that are read at once, before their jobs wait for a slot, and maxLookupsPerNamespace those of one namespace.
	maxLookups, maxLookupsPerNamespace = 32, 16
	// answerWithin is how long the handler waits for its job. The job goes on after that, and the handler is asked again. It is less than the timeout of
	// a Broker's delivery.
	answerWithin = 2 * time.Second
)

// Archiver archives attempts.
type Archiver struct {
	core       corev1client.CoreV1Interface
	stores     *archive.Stores
	settings   func() *config.Config
	clock      clock.PassiveClock
	namespaces *namespaceUIDs
	events     *eventReader
	// openLog opens the log of a container.
	openLog func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error)
	// queue bounds the jobs that exist, lookups those that read their application, joined those whose Kubernetes Events are read, and slots those that archive.
	queue, lookups, joined, slots *fairshare.Limiter
	// pendingMemory bounds what jobs hold that wait for a slot.
	pendingMemory *memory
	late          *late
	// answerWithin is how long the handler waits for a job.
	answerWithin time.Duration

	mu sync.Mutex
	// jobs holds the jobs that run or wait for a slot, by the uid of their application.
	jobs map[types.UID]*result
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
		core: core, stores: stores, settings: settings, clock: clock, namespaces: newNamespaceUIDs(core, clock), events: newEventReader(core), jobs: map[types.UID]*result{},
		queue: fairshare.NewShared(maxQueued, maxQueuedPerNamespace, freeShare), slots: fairshare.NewShared(maxJobs, maxJobsPerNamespace, freeShare),
		lookups: fairshare.NewShared(maxLookups, maxLookupsPerNamespace, freeShare), joined: fairshare.NewShared(maxJoined, maxJoinedPerNamespace, freeShare),
		pendingMemory: newMemory(maxPendingBytes), late: newLate(),
		answerWithin: answerWithin,
		openLog: func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return core.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
		},
	}
}

func (a *Archiver) handler(clients kube.Clients, namespaces lookup.Namespaces) events.Handler {
	apis := applications.All(clients)
	return func(ctx context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
		if err != nil {
			return err
		}
		if api, ok := apis[object.Group]; !ok || object.Resource != api.Resource || a.settings().Archive.URLOf(object.Namespace) == "" {
			return nil
		}
		return a.run(ctx, object.UID, object.Namespace, func(ctx context.Context) error {
			app, err := a.lookUp(ctx, object.Namespace, func(ctx context.Context) (*lookup.Subject, error) {
				return lookup.Existing(ctx, apis, a.settings(), namespaces, event)
			})
			if app == nil || err != nil {
				return err
			}
			due := lifecycle.ToArchive(app.GetRecord(), app.GetDeletionTimestamp())
			if due == nil {
				return nil
			}
			pending, err := a.newPending(ctx, app, *due)
			if err != nil {
				return err
			}
			return a.archiveAsked(ctx, pending)
		})
	}
}

// lookUp reads an application before its job waits for a slot: until it has one, a next attempt may have begun, or the application may be deleted.
func (a *Archiver) lookUp(ctx context.Context, namespace string, read func(context.Context) (*lookup.Subject, error)) (*lookup.Subject, error) {
	release, err := a.acquire(ctx, a.lookups, namespace)
	if err != nil {
		return nil, err
	}
	defer release()
	return read(ctx)
}

// archiveAsked archives an attempt for which the handler was asked. If that fails, the attempt is tried again later, whether the handler is asked again
// or not.
func (a *Archiver) archiveAsked(ctx context.Context, pending *pending) error {
	release, ok := a.pendingMemory.take(pending.name.Namespace, len(pending.app))
	if !ok {
		return tooMany(pending.name.Namespace)
	}
	defer release()
	err := a.archive(ctx, pending)
	if err == nil {
		a.late.remove(pending.key())
		return nil
	}
	pending.failed = err
	a.retryLater(ctx, pending)
	return err
}

// archive archives an attempt once it has a slot.
func (a *Archiver) archive(ctx context.Context, pending *pending) error {
	return guarded(ctx, func() error {
		leave, err := a.acquire(ctx, a.joined, pending.name.Namespace)
		if err != nil {
			return err
		}
		defer leave()
		happened := a.joinEvents(ctx, pending)
		return a.inSlot(ctx, pending.name.Namespace, func(ctx context.Context) error {
			work, err := a.attemptOf(pending)
			if err != nil {
				return err
			}
			work.happened = happened
			url := work.settings.URLOf(pending.name.Namespace)
			if url == "" {
				return nil
			}
			return work.archive(ctx, url)
		})
	})
}

func tooMany(namespace string) error {
	return fmt.Errorf("too many attempts of namespace %s wait for the archive", namespace)
}

// run runs the job of an application, unless it runs already, and waits for it. It returns nil if the job takes longer.
func (a *Archiver) run(ctx context.Context, uid types.UID, namespace string, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.answerWithin)
	defer cancel()
	job, err := a.start(ctx, uid, namespace, work)
	if err != nil {
		return err
	}
	select {
	case <-job.done:
		return job.err
	case <-ctx.Done():
		a.mu.Lock()
		defer a.mu.Unlock()
		job.unheard = true
		return nil
	}
}

// start starts a job, unless it runs already.
func (a *Archiver) start(ctx context.Context, uid types.UID, namespace string, work func(context.Context) error) (*result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if job := a.jobs[uid]; job != nil {
		return job, nil
	}
	leave, ok := a.queue.TryAcquire(namespace)
	if !ok {
		return nil, tooMany(namespace)
	}
	job := &result{done: make(chan struct{})}
	a.jobs[uid] = job
	go func() {
		defer leave()
		ctx := context.WithoutCancel(ctx)
		a.finish(ctx, uid, job, guarded(ctx, func() error { return work(ctx) }))
	}()
	return job, nil
}

// inSlot waits for a slot, and does work in it. In a burst of ends, all of them wait, and none is asked for again only for that.
func (a *Archiver) inSlot(ctx context.Context, namespace string, work func(context.Context) error) error {
	release, err := a.acquire(ctx, a.slots, namespace)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, a.settings().Archive.WaitIn(namespace))
	defer cancel()
	return work(ctx)
}

// acquire waits until a limiter lets a namespace go on.
func (a *Archiver) acquire(ctx context.Context, limiter *fairshare.Limiter, namespace string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, a.settings().Archive.WaitIn(namespace))
	defer cancel()
	if release, err = limiter.Acquire(ctx, namespace); err != nil {
		return nil, fmt.Errorf("other attempts are being archived: %w", err)
	}
	return release, nil
}

// errPanicked is part of the error of work that panicked.
var errPanicked = errors.New("archiving panicked")

// guarded does work that has a goroutine of its own. It turns a panic, which would end the whole process there, into an error.
func guarded(ctx context.Context, work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			logging.FromContext(ctx).Errorw("archiving panicked", "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanicked, cause)
		}
	}()
	return work()
}

// finish publishes the result of a job. An error that no caller waits for any more is logged.
func (a *Archiver) finish(ctx context.Context, uid types.UID, job *result, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.jobs, uid)
	if err != nil && job.unheard {
		logging.FromContext(ctx).Warnw("attempt not archived, which is tried again", "uid", uid, zap.Error(err))
	}
	job.err = err
	close(job.done)
}
