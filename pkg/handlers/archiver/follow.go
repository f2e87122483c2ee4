package archiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	// followChunk is the size at which what was read is stored, and so what a stream holds in memory.
	followChunk = 128 << 10
	// endSeen is how long the end of a stream is followed by the news that its container has ended. After that, the Pod is read.
	endSeen = 5 * time.Second
	// attemptTries is how often the attempt of a log is looked for.
	attemptTries = 6
	// lastTries is how often the rest of a log is asked for after its container's end.
	lastTries = 5
	// lastClusterTries is how often what was read of a log of a cluster is sent to a storage that fails: for about an hour. Nothing else has it when the Pod
	// is gone.
	lastClusterTries = 120
	// lastFlush bounds the storing of what was read when this process is to end.
	lastFlush = 10 * time.Second
	// streamTurn is for how long a log of a cluster is followed while others of clusters wait.
	streamTurn = time.Minute
)

var (
	// errTurnOver ends a stream that has had its turn.
	errTurnOver = errors.New("other logs wait for a stream")
	// errRestarted means that the log of another run of the container was opened.
	errRestarted = errors.New("the container was restarted")
)

// goneMissing says what is missing of a log whose Pod is gone.
const goneMissing = "the end: its Pod was gone before it was read"

// goneAtOnceMissing says what may be missing of a log that was read to the end of its stream. Pods of clusters end without a grace period, so that most are
// gone before their containers are seen to end.
const goneAtOnceMissing = "possibly the end: its Pod was deleted while the container ran"

// tooLargeMissing says what is missing of a log that is larger than it may be.
func tooLargeMissing(limit int64) string {
	return fmt.Sprintf("the end: it has more than max-log-bytes of config-archive, which is %d", limit)
}

// logKey identifies the log of a run of a container.
type logKey struct {
	pod       types.UID
	container string
	restart   int32
}

// followedLog is a log that is followed.
type followedLog struct {
	archive.LogID
	namespace string
	// podRole is the role of its Pod.
	podRole string
	started time.Time
	// driver is the uid of the driver Pod of its attempt, and cluster the name of its cluster, if it is of one.
	driver  types.UID
	cluster string
	// attempt is what the log belongs to; nil until that is known. following.mu guards it.
	attempt *followedAttempt

	// over is closed when the container has ended. later is then how often it was restarted since.
	over  chan struct{}
	later atomic.Int32
	// lost reports whether its Pod was gone before its container was seen to end. A stream may end then without an error.
	lost bool
	// done reports whether the log is not followed any more, and listed whether its Pod shows the run. following.mu guards them, and the closing.
	done, listed bool
}

func newFollowedLog(pod *sparkPod, run containerRun, driver types.UID) *followedLog {
	log := &followedLog{
		LogID:     archive.LogID{Pod: pod.Name, PodUID: pod.UID, Container: run.container, Restart: run.restart},
		namespace: pod.Namespace, podRole: pod.role, started: run.started, driver: driver, cluster: pod.cluster, over: make(chan struct{}), listed: true,
	}
	if run.ended {
		log.ended(pod.restarts[run.container]-run.restart, false)
	}
	return log
}

// ended notes that the container has ended. following.mu is held.
func (l *followedLog) ended(later int32, lost bool) {
	l.later.Store(max(l.later.Load(), later))
	if !l.isOver() {
		l.lost = lost
		close(l.over)
	}
}

func (l *followedLog) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// followedAttempt is an attempt, or a cluster, whose logs are followed.
type followedAttempt struct {
	stored *archive.Attempt
	// limit is the most that is stored of one log.
	limit int64
	// main is the name of the driver's main container; empty for a cluster.
	main string
}

// follow stores a log until its container ends. It tries again what fails, as long as that may help.
func (f *following) follow(log *followedLog) error {
	attempt, err := f.awaitAttempt(log)
	if err != nil {
		return err
	}
	if log.cluster != "" && log.isOver() {
		if _, err := attempt.stored.Followed(f.ctx, log.LogID); err == nil {
			return nil // another process has read it to its end
		}
	}
	s := &stream{following: f, log: log, attempt: attempt, slots: f.slotsOf(log)}
	if err := s.acquire(); err != nil {
		return err
	}
	defer func() { s.release() }()
	pause := newPause()
	for tries := 0; ; {
		done, err := s.read()
		switch {
		case done && err == nil:
			return nil
		case f.ctx.Err() != nil:
			return s.stop()
		case errors.Is(err, errTurnOver):
			if err := s.nextTurn(); err != nil {
				return err
			}
			continue
		case log.isOver():
			if tries++; tries >= s.maxTries(err) {
				return errors.Join(err, s.finish("the end: it could not be read"))
			}
		}
		if s.progress {
			pause, s.progress = newPause(), false
		}
		f.sleep(pause.Step(), log)
	}
}

func (f *following) slotsOf(log *followedLog) *fairshare.Limiter {
	switch {
	case log.cluster != "":
		return f.clusterSlots
	case log.podRole == archive.RoleDriver:
		return f.driverSlots
	default:
		return f.executorSlots
	}
}

func newPause() *wait.Backoff {
	return &wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: math.MaxInt32, Cap: 30 * time.Second}
}

// sleep waits. It returns earlier if the container of a log ends.
func (f *following) sleep(pause time.Duration, log *followedLog) {
	over := log.over
	if log.isOver() {
		over = nil // it is known
	}
	select {
	case <-time.After(pause):
	case <-over:
	case <-f.ctx.Done():
	}
}

// awaitAttempt returns the attempt of a log. Its record may name the driver Pod a moment later than the Pod exists.
func (f *following) awaitAttempt(log *followedLog) (attempt *followedAttempt, err error) {
	pause := newPause()
	for range attemptTries {
		if log.cluster != "" {
			attempt, err = f.clusterAttempt(f.ctx, types.NamespacedName{Namespace: log.namespace, Name: log.cluster})
		} else {
			attempt, err = f.attemptOf(f.ctx, log.namespace, log.driver)
		}
		if err == nil || f.ctx.Err() != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			log.attempt = attempt
			return attempt, err
		}
		f.sleep(pause.Step(), log)
	}
	return nil, err
}

// stream follows one log.
type stream struct {
	*following
	log     *followedLog
	attempt *followedAttempt
	w       *archive.LogWriter
	// slots bounds the streams that are open, and release leaves it. began is when the stream got its slot.
	slots   *fairshare.Limiter
	release func()
	began   time.Time
	// progress reports whether something was read since the last failure.
	progress bool
}

// read reads until the stream ends. It reports whether the log is complete, or can be followed no more.
func (s *stream) read() (done bool, err error) {
	if s.w == nil {
		w, err := s.attempt.stored.WriteLog(s.ctx, s.log.LogID, s.attempt.limit)
		if err != nil {
			return false, err
		}
		s.w, w.ChunkBytes = w, followChunk
		w.FenceFirstOfFollower()
	}
	if err := s.flush(); err != nil { // what a failure of the storage left
		return false, err
	}
	options, ok := s.options()
	if !ok {
		return true, s.finish("the end: the container was restarted before it was read")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	source, err := s.openLog(ctx, types.NamespacedName{Namespace: s.log.namespace, Name: s.log.Pod}, options)
	if err == nil && s.log.cluster != "" {
		if err = s.checkPod(ctx, options.Previous); err != nil {
			_ = source.Close() // nothing was read
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return true, s.finish(goneMissing)
	case err != nil:
		return false, err
	}
	before := s.w.Bytes()
	err = s.copy(source)
	s.progress = s.w.Bytes() > before
	switch {
	case archive.IsTruncated(err):
		return true, s.finish(tooLargeMissing(s.attempt.limit))
	case err != nil:
		return false, err
	case s.sawEnd():
		missing := ""
		if s.log.lost {
			missing = goneMissing
			if s.log.cluster != "" {
				missing = goneAtOnceMissing
			}
		}
		return true, s.finish(missing)
	}
	return false, nil // the node, or what is before it, ended the stream
}

// options returns what to ask the kubelet for. It returns false if the kubelet has the log no more.
func (s *stream) options() (*corev1.PodLogOptions, bool) {
	options := &corev1.PodLogOptions{Container: s.log.Container, Timestamps: true, Follow: true}
	later := s.log.later.Load()
	if s.log.isOver() && later > 0 {
		options.Follow, options.Previous = false, true
	}
	if since := s.w.Since(); !since.IsZero() {
		options.SinceTime = &metav1.Time{Time: since}
	}
	return options, !s.log.isOver() || later <= 1
}

// copy stores what a stream has, and does so whenever the interval is over.
func (s *stream) copy(source io.ReadCloser) error {
	ticks := time.NewTicker(s.how.flushInterval)
	defer ticks.Stop()
	reader := newFlushing(source, ticks.C, s.tick)
	defer reader.Close()
	return s.w.Copy(s.ctx, reader)
}

// tick stores what was read. It returns errTurnOver if other logs of clusters wait for a stream, and this one has had its turn.
func (s *stream) tick() error {
	if err := s.flush(); err != nil {
		return err
	}
	if s.log.cluster != "" && s.slots.Wanted() && time.Since(s.began) >= streamTurn {
		return errTurnOver
	}
	return nil
}

// acquire waits for a stream.
func (s *stream) acquire() error {
	s.release = func() {}
	release, err := s.slots.Acquire(s.ctx, s.log.namespace)
	if err != nil {
		return err
	}
	s.release, s.began = release, time.Now()
	return nil
}

// nextTurn leaves the stream to others, and waits for the next one. Meanwhile it holds nothing in memory.
func (s *stream) nextTurn() error {
	s.w = nil
	s.release()
	return s.acquire()
}

// maxTries returns how often what failed is tried after the container's end.
func (s *stream) maxTries(err error) int {
	if s.log.cluster != "" && archive.IsStorage(err) {
		return lastClusterTries
	}
	return lastTries
}

// checkPod returns an error if a log that was opened may be that of another run: the next Pod of a StatefulSet has the same name. A Pod that is still there
// was there when its log was opened, and so was its run.
func (s *stream) checkPod(ctx context.Context, previous bool) error {
	pod, err := s.core.Pods(s.log.namespace).Get(ctx, s.log.Pod, metav1.GetOptions{})
	if err == nil && pod.UID != s.log.PodUID {
		err = apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, s.log.Pod)
	}
	if err != nil {
		return err
	}
	stripped, _ := stripSparkPod(pod) // it has no error
	latest := s.log.Restart
	if previous {
		latest++
	}
	if stripped.(*sparkPod).restarts[s.log.Container] != latest {
		s.observe(stripped.(*sparkPod))
		return errRestarted
	}
	return nil
}

// flush stores what was read.
func (s *stream) flush() error { return s.flushWith(s.ctx) }

func (s *stream) flushWith(ctx context.Context) error {
	select {
	case s.flushes <- struct{}{}:
		defer func() { <-s.flushes }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.w.Flush(ctx)
}

// sawEnd reports whether the container has ended, after its stream did.
func (s *stream) sawEnd() bool {
	select {
	case <-s.log.over:
		return true
	case <-s.ctx.Done():
		return false
	case <-time.After(endSeen):
	}
	pod, err := s.core.Pods(s.log.namespace).Get(s.ctx, s.log.Pod, metav1.GetOptions{})
	if err == nil && pod.UID == s.log.PodUID {
		stripped, _ := stripSparkPod(pod) // it has no error
		s.observe(stripped.(*sparkPod))
	} else if apierrors.IsNotFound(err) || err == nil {
		s.gone(&sparkPod{ObjectMeta: metav1.ObjectMeta{UID: s.log.PodUID}})
	}
	return s.log.isOver()
}

// stop stores what was read, since this process is to end.
func (s *stream) stop() error {
	if s.w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), lastFlush)
	defer cancel()
	return s.flushWith(ctx)
}

// finish stores the rest, and describes the log: its Pod may be gone before the attempt is archived.
func (s *stream) finish(missing string) error {
	if s.w == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	log := archive.Log{LogID: s.log.LogID, Role: s.role(), Bytes: s.w.Bytes(), Followed: true, Missing: missing}
	describeTimes(&log, s.w, s.log.started)
	return s.attempt.stored.DescribeFollowed(s.ctx, log)
}

func (s *stream) role() string {
	if s.log.cluster != "" {
		return clusterRole(s.log.Container)
	}
	return roleOf(s.log.podRole == archive.RoleDriver, s.log.Container, s.attempt.main)
}

// roleOf returns the role of a container of which only the name is known.
func roleOf(ofDriver bool, container, main string) string {
	switch {
	case ofDriver && (container == main || container == submission.DefaultDriverContainer):
		return archive.RoleDriver
	case !ofDriver && container == submission.DefaultExecutorContainer:
		return archive.RoleExecutor
	default:
		return archive.RoleSidecar
	}
}

var errUnknownAttempt = errors.New("the attempt of the Pod is not known")

// attemptOf returns the attempt of a driver Pod. It reads the application once, and announces it in the archive, so that readers find it.
func (f *following) attemptOf(ctx context.Context, namespace string, driver types.UID) (*followedAttempt, error) {
	f.mu.Lock()
	known, pod := f.attempts[driver], f.drivers[driver]
	f.mu.Unlock()
	switch {
	case known != nil:
		return known, nil
	case pod == nil:
		return nil, errUnknownAttempt
	}
	group, err := schema.ParseGroupVersion(pod.owner.APIVersion)
	api := f.apis[group.Group]
	if err != nil || api == nil || pod.owner.Kind != api.Kind {
		return nil, errUnknownAttempt
	}
	app, err := api.Get(ctx, types.NamespacedName{Namespace: namespace, Name: pod.owner.Name})
	if err != nil {
		return nil, fmt.Errorf("read application %s/%s: %w", namespace, pod.owner.Name, err)
	}
	settings := f.settings()
	served, err := lookup.Serves(ctx, settings.Scope, f.served, app)
	url, record := settings.Archive.URLOf(namespace), app.GetRecord()
	if err != nil || !served || url == "" || app.GetUID() != pod.owner.UID || app.GetUndecodable() != "" || record.HasNewerFormat() ||
		record == nil || record.Launch == nil || record.Launch.DriverUID != driver {
		return nil, errors.Join(errUnknownAttempt, err)
	}
	uid, err := f.namespaces.of(ctx, app)
	if err != nil {
		return nil, err
	}
	store, err := f.stores.For(ctx, url)
	if err != nil {
		return nil, err
	}
	subject := &lookup.Subject{Application: app, API: api, Dialect: api.Dialect(settings.In(namespace))}
	description := describe(subject, uid)
	description.Attempt = record.Attempt.ID
	if err := store.Announce(ctx, description); err != nil {
		return nil, err
	}
	attempt := &followedAttempt{
		stored: store.Attempt(description.ID(), record.Attempt.ID).Unchecked(), limit: settings.Archive.MaxLogBytes, main: subject.Dialect.Policy(app).MainContainer,
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drivers[driver] != nil {
		f.attempts[driver] = attempt
	}
	return attempt, nil
}

// flushing is a reader that calls a function at each tick, also while nothing is to be read. Its caller calls it, so the function needs no lock.
type flushing struct {
	source io.ReadCloser
	ticks  <-chan time.Time
	flush  func() error
	wanted chan []byte
	got    chan readResult
	once   sync.Once
}

type readResult struct {
	count int
	err   error
}

func newFlushing(source io.ReadCloser, ticks <-chan time.Time, flush func() error) *flushing {
	f := &flushing{source: source, ticks: ticks, flush: flush, wanted: make(chan []byte), got: make(chan readResult)}
	go func() {
		for into := range f.wanted {
			count, err := source.Read(into)
			f.got <- readResult{count, err}
		}
	}()
	return f
}

// Read implements io.Reader.
func (f *flushing) Read(into []byte) (int, error) {
	f.wanted <- into
	for {
		select {
		case read := <-f.got:
			return read.count, read.err
		case <-f.ticks:
			if err := f.flush(); err != nil {
				_ = f.source.Close() // what is being read is read again
				<-f.got
				return 0, err
			}
		}
	}
}

// Close ends the reading.
func (f *flushing) Close() error {
	var err error
	f.once.Do(func() {
		close(f.wanted)
		err = f.source.Close()
	})
	return err
}
