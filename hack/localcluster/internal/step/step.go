// Package step runs named steps, each as soon as the ones it comes after are
// done, reports their progress with elapsed times, and makes of a failure what a
// person needs next: what failed, where its log is, what to do.
package step

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Step is one piece of work.
type Step struct {
	Name string
	// After names the steps that must be done before.
	After []string
	// Remedy is what a person can do if the step fails.
	Remedy string
	Do     func(ctx context.Context, t *Task) error
}

// Runner runs steps and prints their progress.
type Runner struct {
	out   io.Writer
	logs  string
	start time.Time
	// interval is the time between two lines about steps that take long.
	interval time.Duration
	mu       sync.Mutex
	// atWork are the tasks that have something to do.
	atWork []*Task
}

// NewRunner prints progress to out, and stores each step's log in the folder logs.
func NewRunner(out io.Writer, logs string) *Runner {
	return &Runner{out: out, logs: logs, start: time.Now(), interval: time.Minute}
}

// Say prints one line of progress.
func (r *Runner) Say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "[%6.1fs] %s\n", time.Since(r.start).Seconds(), fmt.Sprintf(format, args...))
}

// Elapsed is the time since the runner was made.
func (r *Runner) Elapsed() time.Duration { return time.Since(r.start) }

// Run runs the steps side by side, in the order that After demands. The first
// failure cancels the others and is returned as an *Error.
func (r *Runner) Run(ctx context.Context, steps ...Step) error {
	if err := check(steps); err != nil {
		return err
	}
	defer r.reportProgress()()
	done := make(map[string]chan struct{}, len(steps))
	for _, s := range steps {
		done[s.Name] = make(chan struct{})
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range steps {
		group.Go(func() error {
			for _, name := range s.After {
				select {
				case <-done[name]:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if err := r.run(ctx, s); err != nil {
				return err
			}
			close(done[s.Name])
			return nil
		})
	}
	return group.Wait()
}

// check refuses a step that waits for one that is not there, or for itself.
func check(steps []Step) error {
	var names []string
	for _, s := range steps {
		for _, name := range s.After {
			if !slices.Contains(names, name) {
				return fmt.Errorf("step %q comes after %q, which is not listed before it", s.Name, name)
			}
		}
		names = append(names, s.Name)
	}
	return nil
}

func (r *Runner) run(ctx context.Context, s Step) (err error) {
	t := &Task{name: s.Name, runner: r, begun: time.Now()}
	if err := t.open(); err != nil {
		return err
	}
	defer t.log.Close()
	err = s.Do(ctx, t)
	didWork := r.ended(t)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return err // another step failed; this one was only stopped
		}
		fmt.Fprintf(t.log, "failed: %v\n", err)
		return &Error{Step: s.Name, After: time.Since(t.begun), Log: t.LogFile(), Remedy: s.Remedy, Err: err}
	}
	if didWork {
		r.Say("%s: done in %.1fs", t.name, time.Since(t.begun).Seconds())
	}
	return nil
}

// reportProgress prints a line in each interval that names the steps at work. It returns what ends that.
func (r *Runner) reportProgress() (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(r.interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if names := r.namesAtWork(); len(names) > 0 {
					r.Say("still at work: %s", strings.Join(names, ", "))
				}
			}
		}
	}()
	return func() { close(done) }
}

func (r *Runner) namesAtWork() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, t := range r.atWork {
		names = append(names, t.name)
	}
	return names
}

// began records that a task has something to do.
func (r *Runner) began(t *Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.atWork, t) {
		r.atWork = append(r.atWork, t)
	}
}

// ended records that a task has ended, and reports whether it had something to do.
func (r *Runner) ended(t *Task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.atWork)
	r.atWork = slices.DeleteFunc(r.atWork, func(other *Task) bool { return other == t })
	return len(r.atWork) < before
}

// Task is a running step.
type Task struct {
	name   string
	runner *Runner
	log    *os.File
	begun  time.Time
}

func (t *Task) open() (err error) {
	if err := os.MkdirAll(t.runner.logs, 0o755); err != nil {
		return err
	}
	t.log, err = os.Create(filepath.Join(t.runner.logs, strings.ReplaceAll(t.name, " ", "-")+".log"))
	return err
}

// Say prints what the step is about to do.
func (t *Task) Say(format string, args ...any) {
	t.runner.began(t)
	fmt.Fprintf(t.log, format+"\n", args...)
	t.runner.Say("%s: %s", t.name, fmt.Sprintf(format, args...))
}

// Log takes the step's detailed output.
func (t *Task) Log() io.Writer { return t.log }

// LogFile is the path of the step's log.
func (t *Task) LogFile() string { return t.log.Name() }

// Command makes a command whose output goes to the step's log.
func (t *Task) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	fmt.Fprintf(t.log, "+ %s %s\n", name, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = t.log, t.log
	return cmd
}

// Run runs a command, its output in the step's log.
func (t *Task) Run(ctx context.Context, name string, args ...string) error {
	if err := t.Command(ctx, name, args...).Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

// Error is a failed step, with a message for a person.
type Error struct {
	Step   string
	After  time.Duration
	Log    string
	Remedy string
	Err    error
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed after %.1fs: %v\n", e.Step, e.After.Seconds(), e.Err)
	if lines := lastLines(e.Log, 8); len(lines) > 0 {
		fmt.Fprintf(&b, "  its log ends:\n    %s\n", strings.Join(lines, "\n    "))
	}
	fmt.Fprintf(&b, "  log:        %s\n  what to do: %s", e.Log, e.Remedy)
	return b.String()
}

func lastLines(file string, n int) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var lines []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if len(lines) > n {
			lines = lines[1:]
		}
	}
	return lines
}

// Until polls a condition until it holds, or the time is over: then the error
// says what was waited for and why it did not hold the last time.
func Until(ctx context.Context, limit time.Duration, what string, condition func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf("%s: not within %s: %w", what, limit, err)
		}
	}
}
