package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// Snapshot is what the relay needs to know about one object: its record as last persisted, and the request to a handler.
type Snapshot struct {
	Object Object
	// Record is nil for an object without a record. Such an object can only request a handler for a clock event.
	Record *v1alpha1.Record
	// Request is nil if the object waits for no handler.
	Request *PendingRequest
	// Span is the span of the reconcile that publishes the snapshot. The sends that follow are its children.
	Span trace.SpanContext
}

// PendingRequest is an event that a handler has not acted on yet: a transition of the record, or a clock event.
type PendingRequest struct {
	Handler string
	Event   cloudevents.Event
}

// Progress is the delivery of an object's events, as far as this process knows.
type Progress struct {
	// Acknowledged is the sequence up to which the sink has acknowledged or rejected all transitions.
	Acknowledged int64
	// Rejected is the number of transitions that the sink rejected.
	Rejected int64
	// Pending is the number of events, including clock events, that the sink has not acknowledged.
	Pending int
	// OverdueHandler names the handler that has not acted for RelayConfig.ReportAfter. It is empty if none is overdue.
	OverdueHandler string
	// SinkFailure is the error of a sink that has failed for RelayConfig.ReportAfter, or whose configuration is invalid. It is
	// empty otherwise. It keeps its text until the sink acknowledges an event.
	SinkFailure string
	// LastError is the error of the last send. If that succeeded, it is the error of the last request to the handler.
	LastError string
}

// RelayConfig configures a Relay. Sink and Handlers are optional. Other zero fields get a default.
type RelayConfig struct {
	// Sink receives the events. Without a sink, every transition counts as acknowledged.
	Sink Sink
	// Handlers runs handlers in this process. Without it, every handler is behind the sink.
	Handlers *Broker
	// Sends bounds the concurrent sends, and Requests the concurrent repetitions for handlers behind the sink. All relays of a
	// process share both. The default is NewLimiter. A send holds its slot until the sink answers: up to a minute if a Trigger is
	// slow or dead.
	Sends, Requests *fairshare.Limiter
	// Owned reports whether this replica leads the object and the object still exists. The relay ignores snapshots of other
	// objects, since a reconcile may end late. If Owned is nil, the relay accepts all objects. Owned is called with the relay's
	// lock held, so it must not block.
	Owned func(Object) bool
	// SendBackoff is the back-off after a failed send: by default 200 ms to 30 s.
	SendBackoff wait.Backoff
	// RequestBackoff is the back-off between two requests to a handler: by default 1 s to 30 s.
	RequestBackoff wait.Backoff
	// MaxRejections is the number of rejections after which an event is skipped: by default 5.
	MaxRejections int
	// ReportAfter is how long a sink may fail, or a handler not act, until Progress reports it: by default 2 min.
	ReportAfter time.Duration
	// OnProgress is called when an object's queue is empty, and when an event is skipped. It is also called when Progress starts to
	// report a failing sink or an overdue handler. No lock is held. OnProgress must not block.
	OnProgress func(key types.NamespacedName)
	// Jitter varies a back-off. By default it shortens the back-off by up to a quarter.
	Jitter         func(time.Duration) time.Duration
	Clock          clock.WithTicker
	Logger         *zap.SugaredLogger
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
}

// The default limits of RelayConfig.Sends and of RelayConfig.Requests, each in all and for one namespace.
const (
	maxSends             = 1024
	maxSendsPerNamespace = 64
)

// NewLimiter creates the default limiter for RelayConfig.Sends or RelayConfig.Requests.
func NewLimiter() *fairshare.Limiter { return fairshare.New(maxSends, maxSendsPerNamespace) }

func (c RelayConfig) withDefaults() RelayConfig {
	if c.Sends == nil {
		c.Sends = NewLimiter()
	}
	if c.Requests == nil {
		c.Requests = NewLimiter()
	}
	c.MaxRejections = cmp.Or(c.MaxRejections, 5)
	c.ReportAfter = cmp.Or(c.ReportAfter, 2*time.Minute)
	c.SendBackoff = cmp.Or(c.SendBackoff, doubling(200*time.Millisecond, 30*time.Second))
	c.RequestBackoff = cmp.Or(c.RequestBackoff, doubling(time.Second, 30*time.Second))
	if c.Owned == nil {
		c.Owned = func(Object) bool { return true }
	}
	if c.OnProgress == nil {
		c.OnProgress = func(types.NamespacedName) {}
	}
	if c.Jitter == nil {
		c.Jitter = shorten
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop().Sugar()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	return c
}

// doubling returns a back-off that doubles from a first delay up to a limit.
func doubling(first, limit time.Duration) wait.Backoff {
	return wait.Backoff{Duration: first, Factor: 2, Steps: math.MaxInt32, Cap: limit}
}

// shorten shortens a delay by up to a quarter, so that sends which failed together are not repeated together.
func shorten(d time.Duration) time.Duration { return d - rand.N(d/4+1) }

func (c RelayConfig) validate() error {
	if c.MaxRejections < 0 || c.ReportAfter < 0 {
		return errors.New("relay: MaxRejections and ReportAfter must not be negative")
	}
	return errors.Join(validateBackoff("SendBackoff", c.SendBackoff), validateBackoff("RequestBackoff", c.RequestBackoff))
}

func validateBackoff(field string, b wait.Backoff) error {
	if b != (wait.Backoff{}) && (b.Duration <= 0 || b.Cap < b.Duration) {
		return fmt.Errorf("relay: %s: Duration %s must be above 0 and at most Cap %s", field, b.Duration, b.Cap)
	}
	return nil
}

// Relay sends the events of many objects. It sends each object's events in order, and each event until the sink acknowledges
// it. It repeats a request to a handler until the object shows the result. An object has goroutines only while it has pending
// events or a pending request.
//
// A Relay holds nothing that a restart could lose. The records hold the truth: after a restart the relay continues with the
// first transition that its record does not count as acknowledged.
type Relay struct {
	config      RelayConfig
	instruments *instruments
	tracer      trace.Tracer
	ctx         context.Context
	stop        context.CancelFunc
	running     sync.WaitGroup

	// mu guards the fields below and the contents of the streams. It is never held during a send or a handler's call.
	mu      sync.Mutex
	stopped bool
	// settingsChanged is closed and replaced by HandlerSettingsChanged.
	settingsChanged chan struct{}
	lastWarning     time.Time
	streams         map[types.UID]*stream
}

// NewRelay creates a relay. It runs from the first call of Publish until Shutdown, or until Run returns.
func NewRelay(config RelayConfig) (*Relay, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	instruments, err := newInstruments(config.MeterProvider)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Relay{
		config:          config,
		instruments:     instruments,
		tracer:          config.TracerProvider.Tracer(scopeName),
		ctx:             ctx,
		stop:            stop,
		settingsChanged: make(chan struct{}),
		streams:         map[types.UID]*stream{},
	}, nil
}

// Run shuts the relay down when ctx ends. It returns when all goroutines of the relay have ended.
func (r *Relay) Run(ctx context.Context) {
	<-ctx.Done()
	r.Shutdown()
}

// Shutdown stops all sends. It returns when all goroutines of the relay have ended. Later snapshots are ignored.
func (r *Relay) Shutdown() {
	r.mu.Lock()
	r.stopped = true
	r.stop()
	r.forgetMatching(func(Object) bool { return true })
	r.mu.Unlock()
	r.running.Wait()
}

// HasSink reports whether events leave this process.
func (r *Relay) HasSink() bool { return r.config.Sink != nil }

// Publish accepts the current snapshot of an object and sends what is new in it. It does not block, and a snapshot without news
// costs next to nothing. Publish ignores a snapshot with a lower sequence than the last one, and one of an object that is not
// owned. When an object is not owned any more, the caller must then call Forget or ForgetMatching: they also drop what Publish
// accepted before.
func (r *Relay) Publish(snapshot Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || snapshot.Object.UID == "" || !r.config.Owned(snapshot.Object) {
		return
	}
	s := r.streamFor(snapshot)
	if s == nil {
		return
	}
	r.updateQueue(s, snapshot)
	r.updateRequest(s, snapshot)
	r.startSender(s)
}

// Progress returns the delivery of an object's events. It is zero for an object without snapshots.
func (r *Relay) Progress(uid types.UID) Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.streams[uid]
	if !ok {
		return Progress{}
	}
	return s.progress()
}

// Forget stops all sends for an object that is deleted, or that another replica leads now.
func (r *Relay) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(uid)
}

// ForgetMatching forgets every object that matches. A demoted leader must call it for the objects of its bucket.
func (r *Relay) ForgetMatching(match func(Object) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetMatching(match)
}

func (r *Relay) forgetMatching(match func(Object) bool) {
	for uid, s := range r.streams {
		if match(s.object) {
			r.forget(uid)
		}
	}
}

func (r *Relay) forget(uid types.UID) {
	s, ok := r.streams[uid]
	if !ok {
		return
	}
	delete(r.streams, uid)
	s.stop()
	r.cancelRequest(s)
	r.instruments.addPending(-len(s.queue))
	s.queue = nil
}

// start starts a goroutine that Shutdown waits for. The caller holds the lock, so that no goroutine starts after Shutdown.
func (r *Relay) start(run func()) {
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		run()
	}()
}

// sleep waits for a duration. It returns earlier if ctx ends, or if done or changed is closed.
func (r *Relay) sleep(ctx context.Context, d time.Duration, done, changed <-chan struct{}) {
	timer := r.config.Clock.NewTimer(r.config.Jitter(d))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	case <-done:
	case <-changed:
	}
}

// HandlerSettingsChanged repeats all pending requests at once, since their handlers may run elsewhere now.
func (r *Relay) HandlerSettingsChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.settingsChanged)
	r.settingsChanged = make(chan struct{})
}

// settingsChange returns a channel that is closed by the next call of HandlerSettingsChanged.
func (r *Relay) settingsChange() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settingsChanged
}
