package step

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRunIsInOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	work := func(name string, after ...string) Step {
		return Step{Name: name, After: after, Do: func(context.Context, *Task) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
			return nil
		}}
	}
	var out bytes.Buffer
	err := NewRunner(&out, t.TempDir()).Run(t.Context(), work("a"), work("b", "a"), work("c", "b"), work("d", "c", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abcd" {
		t.Errorf("order is %s", got)
	}
}

func TestRunReportsAFailure(t *testing.T) {
	var out bytes.Buffer
	err := NewRunner(&out, t.TempDir()).Run(t.Context(),
		Step{Name: "long", Do: func(ctx context.Context, _ *Task) error {
			<-ctx.Done() // the failure of the other stops this one
			return ctx.Err()
		}},
		Step{Name: "bad step", Remedy: "feed it", Do: func(ctx context.Context, task *Task) error {
			task.Say("trying")
			return task.Run(ctx, "sh", "-c", "echo hungry; exit 3")
		}},
		Step{Name: "never", After: []string{"bad step"}, Do: func(context.Context, *Task) error {
			t.Error("a step ran although the one before failed")
			return nil
		}})
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"bad step failed after", "exit status 3", "hungry", failure.Log, "bad-step.log", "feed it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}
	if !strings.Contains(out.String(), "bad step: trying") {
		t.Errorf("progress is %q", out.String())
	}
}

func TestRunRefusesAnUnknownOrder(t *testing.T) {
	nothing := func(context.Context, *Task) error { return nil }
	err := NewRunner(new(bytes.Buffer), t.TempDir()).Run(t.Context(),
		Step{Name: "a", After: []string{"b"}, Do: nothing}, Step{Name: "b", Do: nothing})
	if err == nil || !strings.Contains(err.Error(), `"a" comes after "b"`) {
		t.Errorf("got %v", err)
	}
}

func TestQuietStepPrintsNothing(t *testing.T) {
	var out bytes.Buffer
	quiet := Step{Name: "quiet", Do: func(context.Context, *Task) error { return nil }}
	if err := NewRunner(&out, t.TempDir()).Run(t.Context(), quiet); err != nil || out.Len() > 0 {
		t.Errorf("progress is %q, error %v", out.String(), err)
	}
}

func TestLongStepsAreReportedInOneLine(t *testing.T) {
	var out bytes.Buffer
	runner := NewRunner(&out, t.TempDir())
	runner.interval = time.Millisecond
	lines := func(line string) int {
		runner.mu.Lock()
		defer runner.mu.Unlock()
		return strings.Count(out.String(), line)
	}
	bothAreReported := make(chan struct{})
	long := func(name string) Step {
		return Step{Name: name, Do: func(_ context.Context, task *Task) error {
			task.Say("building")
			<-bothAreReported
			return nil
		}}
	}
	quiet := Step{Name: "quiet", Do: func(ctx context.Context, _ *Task) error {
		defer close(bothAreReported)
		return Until(ctx, 2*time.Minute, "two lines of progress", func(context.Context) error {
			if lines("still at work: a, b\n")+lines("still at work: b, a\n") < 2 {
				return errors.New("fewer")
			}
			return nil
		})
	}}
	if err := runner.Run(t.Context(), long("a"), long("b"), quiet); err != nil {
		t.Error(err)
	}
	if lines("quiet") > 0 {
		t.Error("a step that has nothing to do is reported")
	}
	if len(runner.namesAtWork()) > 0 {
		t.Error("steps that have ended are at work")
	}
}

func TestUntilRepeatsAndNamesTheLastError(t *testing.T) {
	tries := 0
	err := Until(t.Context(), time.Minute, "third time", func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
	err = Until(t.Context(), time.Millisecond, "the sky", func(context.Context) error { return errors.New("too high") })
	if err == nil || !strings.Contains(err.Error(), "the sky: not within 1ms: too high") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = Until(ctx, time.Minute, "the sky", func(context.Context) error { return errors.New("too high") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
