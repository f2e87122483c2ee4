package events

import (
	"context"
	"errors"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// Snapshot is what the relay needs to know of one object: its record as last persisted, and what awaits a handler.
type Snapshot struct {
	Object Object
	// Record is nil for an object that has none, and only awaits a clock event's handler.
	Record  *v1alpha1.Record
	Request *PendingRequest
	// Span is the span in which the story was told. What is sent for it is traced to that span.
	Span trace.SpanContext
}

// Request is an event that a handler has yet to act on: one of the record's transitions, or a clock event.
type PendingRequest struct {
	Handler string
	Event   cloudevents.Event
}

// Progress is how far an object's story is told, as far as this process knows.
type Progress struct {
	// Acknowledged is the last transition that the sink has taken or refused for good, and with it all before.
	Acknowledged int64
	// Rejected is the number of transitions that the sink refused for good.
	Rejected int64
	// Pending is the number of events, clock events included, that the sink has not taken.
	Pending int
	// OverdueHandler names the handler that has been awaited longer than RelayConfig.ReportAfter; else it is empty.
	OverdueHandler string
	// RequestedAt is since when this process has awaited it.
	RequestedAt time.Time
	// SinkFailure is why the sink takes no event, where it has taken none for RelayConfig.ReportAfter or cannot be used at all;
	// else it is empty. It stays the same until the sink takes one.
	SinkFailure string
	// LastError is why the last try to send failed, or else the last try to reach the awaited handler.
	LastError string
}

// RelayConfig configures a Relay. Sink and Handlers may be absent, and what is zero gets a default.
type RelayConfig struct {
	// Sink takes the events. Without one every transition counts as acknowledged.
	Sink Sink
	// Handlers run in this process. Without them every handler is behind the sink.
	Handlers *Broker
	// Sends bounds the events that are sent at once, and Requests those that are sent once more to ask a handler behind the
	// sink. The relays of a process share them. Each is 1,024 slots by default, of which a namespace holds at most 64: a slot is
	// held until the sink answers, which takes up to a minute if a Trigger is slow or dead.
	Sends, Requests *fairshare.Limiter
	// Owned reports whether this replica leads an object that still exists. Nothing is published of any other object, however
	// late a reconcile ends that began before; nil owns all. It is called with the relay's lock held, and must not block.
	Owned func(Object) bool
	// SendBackoff is the back-off of an event that the sink did not take: 200 ms to 30 s.
	SendBackoff Backoff
	// RequestBackoff is the back-off of an event that a handler has not acted on: 1 s to 30 s.
	RequestBackoff Backoff
	// MaxRejections is how often an event is tried that the sink refuses for good: 5.
	MaxRejections int
	// ReportAfter is how long a handler, or the sink, is awaited in silence: 2 min.
	ReportAfter time.Duration
	// OnProgress is called when all that was told is taken, when an event was rejected, and when ReportAfter with
	// a handler or the sink ended. No lock is held; it must not block.
	OnProgress func(key types.NamespacedName)
	// Jitter varies a back-off; by default it shortens it by up to a quarter.
	Jitter         func(time.Duration) time.Duration
	Clock          clock.WithTicker
	Logger         *zap.SugaredLogger
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
}

func (c RelayConfig) withDefaults() RelayConfig {
	if c.Sends == nil {
		c.Sends = NewLimiter()
	}
	if c.Requests == nil {
		c.Requests = NewLimiter()
	}
	c.MaxRejections = orDefault(c.MaxRejections, 5)
	c.ReportAfter = orDefault(c.ReportAfter, 2*time.Minute)
	c.SendBackoff = orDefault(c.SendBackoff, Backoff{Start: 200 * time.Millisecond, Cap: 30 * time.Second})
	c.RequestBackoff = orDefault(c.RequestBackoff, Backoff{Start: time.Second, Cap: 30 * time.Second})
	if c.Owned == nil {
		c.Owned = func(Object) bool { return true }
	}
	if c.OnProgress == nil {
		c.OnProgress = func(types.NamespacedName) {}
	}
	if c.Jitter == nil {
		c.Jitter = jitter
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

// NewLimiter makes the default bound of RelayConfig.Sends and of RelayConfig.Requests.
func NewLimiter() *fairshare.Limiter { return fairshare.New(1024, 64) }

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func (c RelayConfig) validate() error {
	if c.MaxRejections < 0 || c.ReportAfter < 0 {
		return errors.New("relay: limits must not be negative")
	}
	return errors.Join(c.SendBackoff.validate(), c.RequestBackoff.validate())
}

// Relay tells the stories of many objects: each object's events in order, each event until the sink has taken
// it, and what awaits a handler until the deed is done. An object has a goroutine only while something of it is
// pending or awaited.
//
// It holds nothing that a restart must not lose: the records are the truth, and told again it goes on from what
// they say is acknowledged.
type Relay struct {
	config      RelayConfig
	instruments *instruments
	tracer      trace.Tracer
	ctx         context.Context
	stop        context.CancelFunc
	running     sync.WaitGroup

	// mu guards what follows, and the streams' contents. It is never held over a send or a call.
	mu              sync.Mutex
	stopped         bool
	settingsChanged chan struct{}
	lastWarning     time.Time
	streams         map[types.UID]*stream
}

// NewRelay makes a relay. It works from the first Tell on, until Shutdown, or the end of Run.
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

// Run shuts the relay down when ctx ends, and returns when nothing of it runs any more.
func (r *Relay) Run(ctx context.Context) {
	<-ctx.Done()
	r.Shutdown()
}

// Shutdown stops all sends, and returns when nothing of the relay runs any more. What is told from then on is
// not heard.
func (r *Relay) Shutdown() {
	r.mu.Lock()
	r.stopped = true
	r.stop()
	r.forgetMatching(func(Object) bool { return true })
	r.mu.Unlock()
	r.running.Wait()
}

// HasSink says whether events leave this process.
func (r *Relay) HasSink() bool { return r.config.Sink != nil }

// Publish hears the story of an object as it stands. It does not block, and it costs next to nothing where there is
// nothing new. A story older than the one known, by its sequence, is ignored, and so is one of an object that is not owned.
// Whoever ends the ownership calls Forget or ForgetMatching after that: what Tell took up before is then forgotten.
func (r *Relay) Publish(story Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || story.Object.UID == "" || !r.config.Owned(story.Object) {
		return
	}
	s := r.streamFor(story)
	if s == nil {
		return
	}
	r.updateQueue(s, story)
	r.updateRequest(s, story)
	r.startSender(s)
}

// Progress is how far the story of an object is told. It is zero for an object of which nothing was told.
func (r *Relay) Progress(uid types.UID) Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.streams[uid]
	if !ok {
		return Progress{}
	}
	return s.progress()
}

// Forget stops all sends of an object that is gone, or that another replica now tells of.
func (r *Relay) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(uid)
}

// ForgetMatching forgets every object that another replica now tells of: a leader's duty when it is demoted.
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

// start runs what Shutdown waits for. The lock is held, so that nothing begins after it.
func (r *Relay) start(run func()) {
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		run()
	}()
}

// wait waits for a time. It is cut short when ctx ends, or when one of the others is closed.
func (r *Relay) wait(ctx context.Context, d time.Duration, done, changed <-chan struct{}) {
	timer := r.config.Clock.NewTimer(r.config.Jitter(d))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	case <-done:
	case <-changed:
	}
}

// HandlerSettingsChanged has the settings of where handlers run act at once: whatever awaits one is asked again.
func (r *Relay) HandlerSettingsChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.settingsChanged)
	r.settingsChanged = make(chan struct{})
}

// settingsChange is closed when handlers move.
func (r *Relay) settingsChange() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settingsChanged
}
