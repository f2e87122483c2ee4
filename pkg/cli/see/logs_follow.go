package see

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// How often a request is made again that failed: after firstPause, and twice that each time up to lastPause.
const (
	firstPause = time.Second
	lastPause  = 15 * time.Second
	// maxFailures bounds how often the log of what has ended is asked for in vain.
	maxFailures = 5
)

// backoff is the pause before the next request.
type backoff struct{ pause time.Duration }

// next returns the pause, which grows with each call.
func (b *backoff) next() time.Duration {
	b.pause = min(max(2*b.pause, firstPause), lastPause)
	return b.pause
}

func (b *backoff) reset() { b.pause = 0 }

// followAll prints logs until the application is over. An API server that does not answer for a while is waited for.
func (r *logReader) followAll(ctx context.Context, o *overview.Object) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed := r.changes(ctx, r.found, o)
	ends := make(chan struct{}, 1)
	var group sync.WaitGroup
	var pause backoff
	var again <-chan time.Time
	said := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-ends:
		case <-again:
		}
		now, pods, err := r.state(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !target.Transient(err):
			return err
		case err != nil:
			if pause.pause == 0 {
				r.Warn(fmt.Sprintf("%s cannot be read: %v. It is tried again", r.name, err))
			}
			again = time.After(pause.next())
			continue
		case now == nil:
			group.Wait()
			return fmt.Errorf("%s was deleted", r.name)
		}
		pause.reset()
		waiting, err := r.begin(ctx, now, pods, &group, ends)
		if err != nil {
			return err
		}
		if waiting && said != now.StateName() {
			said = now.StateName()
			fmt.Fprintln(r.ErrOut, r.Color(r.ErrOut, cli.Dim, fmt.Sprintf("Waiting for a log of %s, which is %s.", r.name, said)))
		}
		if now.Ended() && r.idle() {
			group.Wait()
			return r.outcome(now)
		}
	}
}

// state reads the application and its Pods. The application is nil if it is gone.
func (r *logReader) state(ctx context.Context) (*overview.Object, overview.Pods, error) {
	now, err := r.again(ctx, r.found)
	if err != nil || now == nil {
		return nil, overview.Pods{}, err
	}
	pods, err := r.pods(ctx, now)
	return now, pods, err
}

// begin begins to print the logs that are asked for and were not begun. It reports whether there is none.
func (r *logReader) begin(ctx context.Context, o *overview.Object, pods overview.Pods, group *sync.WaitGroup, ends chan struct{}) (waiting bool, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.ended = o.Ended()
	waiting = true
	for _, s := range r.sources(o, pods) {
		if err := s.check(); err != nil {
			return false, err
		}
		if !running(s.pod, s.container) {
			continue
		}
		waiting = false
		if r.reading[s.pod.UID] || r.done[s.pod.UID] {
			continue
		}
		if s.prefix == "" {
			attempt := ""
			if o.Kind == overview.Application {
				attempt = fmt.Sprintf(", attempt %d", o.Attempt)
			}
			fmt.Fprintln(r.ErrOut, r.Color(r.ErrOut, cli.Dim, fmt.Sprintf("Log of Pod %s%s:", s.pod.Name, attempt)))
		}
		r.reading[s.pod.UID] = true
		group.Go(func() {
			err := r.follow(ctx, s)
			r.lock.Lock()
			r.reading[s.pod.UID], r.done[s.pod.UID] = false, true
			if r.failed == nil {
				r.failed = err
			}
			r.lock.Unlock()
			select {
			case ends <- struct{}{}:
			default:
			}
		})
	}
	return waiting, r.failed
}

// follow prints one log until its container has ended. After a request that failed, or a connection that was cut, it goes on with the next line.
func (r *logReader) follow(ctx context.Context, s source) error {
	var at position
	var pause backoff
	failures := 0
	for over := overIn(s); ; {
		before := at.lines
		err := r.read(ctx, s, &at, !over)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && over, apierrors.IsNotFound(err):
			return r.finish(s, at.rest)
		case err != nil && !target.Transient(err) && !apierrors.IsBadRequest(err): // a container that is being started is a bad request
			return fmt.Errorf("the log of Pod %s cannot be read: %w", s.pod.Name, err)
		case err == nil || at.lines > before:
			failures = 0
			pause.reset()
		default:
			failures++
		}
		if failures == 1 {
			r.Warn(fmt.Sprintf("the log of Pod %s cannot be read: %v. It is tried again", s.pod.Name, err))
		}
		if failures >= maxFailures && (over || r.hasEnded()) {
			r.Warn(fmt.Sprintf("the log of Pod %s was asked for %d times in vain: what is missing of it is lost", s.pod.Name, failures))
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause.next()):
		}
		if !over {
			var replaced bool
			if over, replaced = r.isOver(ctx, s); replaced { // what is served now is the log of another Pod
				return r.finish(s, at.rest)
			}
		}
	}
}

// finish prints a last line without an end.
func (r *logReader) finish(s source, rest string) error {
	if rest == "" {
		return nil
	}
	return r.write(s, rest)
}

func (r *logReader) hasEnded() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.ended
}

// isOver reports whether the container of a source has ended by now, or is gone, and whether another Pod has the name of its Pod.
func (r *logReader) isOver(ctx context.Context, s source) (over, replaced bool) {
	pod, err := r.Kube.CoreV1().Pods(s.pod.Namespace).Get(ctx, s.pod.Name, metav1.GetOptions{})
	if err != nil {
		return apierrors.IsNotFound(err), false
	}
	return overIn(source{pod: pod, container: s.container}), pod.UID != s.pod.UID
}

// read prints a log from a position on, until the connection ends.
func (r *logReader) read(ctx context.Context, s source, at *position, follow bool) error {
	options := r.options(s)
	options.Follow, options.Timestamps = follow, true
	at.resume(options)
	stream, err := r.open(ctx, s, options)
	if err != nil {
		return err
	}
	defer stream.Close()
	at.opened = true
	return lines(stream, func(line string) error {
		text, fresh := at.take(line)
		if !fresh {
			return nil
		}
		if !r.timestamps {
			line = text
		}
		if !strings.HasSuffix(line, "\n") { // it may be the half of a line
			at.rest = line
			return nil
		}
		return r.write(s, line)
	})
}

// position is how far a log was printed. A request can ask for lines from a second on: those that are printed already are known by their times.
type position struct {
	// opened reports whether a request succeeded: the user's wishes for the beginning are met then. resumed reports whether another one followed.
	opened, resumed bool
	// limited reports whether the user wishes only a part of what there is, and start is the time of the oldest line of it.
	limited bool
	start   time.Time
	// lines is how many lines were printed.
	lines int
	// rest is a last line without an end.
	rest string
	// newest is the time of the newest line, and printed are the lines by their times, from slack before that on.
	newest  time.Time
	printed map[string]int
	// skip are the lines that come again.
	skip map[string]int
}

// slack is by how much lines may be out of order: the two streams of a container are read by turns.
const slack = time.Second

// resume asks for the lines that follow.
func (p *position) resume(options *corev1.PodLogOptions) {
	p.rest, p.skip = "", maps.Clone(p.printed)
	tail := options.TailLines
	switch {
	case !p.opened:
		p.limited = tail != nil || options.SinceSeconds != nil
		return
	case p.newest.IsZero() && tail != nil && *tail == 0: // without a line it is not known where to go on
		return
	}
	p.resumed, options.TailLines = true, nil
	if !p.newest.IsZero() {
		from := metav1.NewTime(p.from())
		options.SinceTime, options.SinceSeconds = &from, nil
	}
}

// from is the second from which on lines are asked for again.
func (p *position) from() time.Time { return p.newest.Truncate(time.Second).Add(-slack) }

// take divides a line into its time and its text, and reports whether it was not printed yet. A line without an end is not counted.
func (p *position) take(line string) (text string, fresh bool) {
	stamp, text, found := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !found || err != nil {
		return line, true
	}
	if p.skip[stamp] > 0 {
		p.skip[stamp]--
		return text, false
	}
	if p.resumed && at.Before(p.start) {
		return text, false
	}
	if !strings.HasSuffix(line, "\n") {
		return text, true
	}
	if p.limited && !p.resumed && (p.start.IsZero() || at.Before(p.start)) {
		p.start = at
	}
	p.lines++
	if p.printed == nil {
		p.printed = map[string]int{}
	}
	p.printed[stamp]++
	if at.After(p.newest) {
		before := p.from()
		if p.newest = at; p.from().After(before) {
			p.forget()
		}
	}
	return text, true
}

// forget removes what no request brings again.
func (p *position) forget() {
	from := p.from()
	maps.DeleteFunc(p.printed, func(stamp string, _ int) bool {
		at, err := time.Parse(time.RFC3339Nano, stamp)
		return err != nil || at.Before(from)
	})
}

// overIn reports whether the container of a source has ended.
func overIn(s source) bool {
	for _, status := range s.pod.Status.ContainerStatuses {
		if status.Name == s.container {
			return status.State.Terminated != nil
		}
	}
	return s.pod.Status.Phase == corev1.PodSucceeded || s.pod.Status.Phase == corev1.PodFailed
}

// idle reports whether no log is being read.
func (r *logReader) idle() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, reading := range r.reading {
		if reading {
			return false
		}
	}
	return true
}

// outcome returns the error of an application that failed.
func (r *logReader) outcome(o *overview.Object) error {
	if o.Phase == overview.Failed {
		return cli.ApplicationFailed("%s failed (%s): %s says why", r.name, o.State, r.Suggest("why", r.name))
	}
	return nil
}
