package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	// listedEach is how many applications are listed for each that other parts have: 10,000.
	listedEach = 10
	// When the first line of a long list is there, in milliseconds, and what the process may use for all of it and for the changes that follow, in MiB.
	firstLineGoal, listMemoryGoal = 1000, 100
)

// measureList lists many applications, which no controller sees, and follows their changes.
func (b *bench) measureList(ctx context.Context, program string) (err error) {
	namespace, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	names := namesFrom(0, b.count*listedEach)
	defer func() {
		err = errors.Join(err, each(ctx, names, clients, func(ctx context.Context, name string) error { // one request for all takes too long
			err := b.Spark.SparkV1().SparkApplications(namespace).Delete(ctx, name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) { // it could not be stored
				return nil
			}
			return err
		}))
	}()
	if err := each(ctx, names, clients, func(ctx context.Context, name string) error { return b.store(ctx, namespace, name, endedStates...) }); err != nil {
		return err
	}
	b.logf("%d applications stored", len(names))
	of := fmt.Sprintf("%d applications", len(names))
	for range b.batches {
		if err := b.listOnce(ctx, program, of, len(names)); err != nil {
			return err
		}
	}
	return b.listOn(ctx, program, of, namespace, names)
}

// listing is a process that lists.
type listing struct {
	command *exec.Cmd
	lines   *bufio.Scanner
	errors  strings.Builder
	began   time.Time
}

func (b *bench) startListing(ctx context.Context, program string, arguments ...string) (*listing, error) {
	l := &listing{command: exec.CommandContext(ctx, program, append([]string{"list", "-A", "--kubeconfig", b.Plane.Kubeconfig()}, arguments...)...)}
	out, err := l.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.lines, l.command.Stderr, l.began = bufio.NewScanner(out), &l.errors, time.Now()
	return l, l.command.Start()
}

// read reads lines that contain a text, and returns when the first and the last of them came.
func (l *listing) read(text string, count int) (first, last time.Duration, err error) {
	for seen := 0; seen < count; {
		if !l.lines.Scan() {
			return 0, 0, fmt.Errorf("the list has %d lines of %d with %q: %w\n%s", seen, count, text, l.lines.Err(), l.errors.String())
		}
		if !strings.Contains(l.lines.Text(), text) {
			continue
		}
		if seen++; seen == 1 {
			first = time.Since(l.began)
		}
	}
	return first, time.Since(l.began), nil
}

// listOnce measures a list of all.
func (b *bench) listOnce(ctx context.Context, program, of string, count int) error {
	l, err := b.startListing(ctx, program)
	if err != nil {
		return err
	}
	first, last, err := l.read("life-", count)
	if err != nil {
		return errors.Join(err, l.command.Process.Kill(), l.command.Wait())
	}
	if err := l.command.Wait(); err != nil {
		return fmt.Errorf("list: %w\n%s", err, l.errors.String())
	}
	line := b.Add(partCommandLine, of, "list: first line", "ms", milliseconds(first))
	if b.count <= 1000 {
		line.Below(firstLineGoal)
	}
	b.Add(partCommandLine, of, "list: last line", "ms", milliseconds(last))
	state := l.command.ProcessState
	b.Add(partCommandLine, of, "list: CPU", "ms", milliseconds(state.UserTime()+state.SystemTime()))
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		b.Add(partCommandLine, of, "list: resident at most", "MiB", float64(usage.Maxrss)/1024).Below(listMemoryGoal)
	}
	return nil
}

// listOn measures the memory of a list that goes on: after the list, and after a change of each application.
func (b *bench) listOn(ctx context.Context, program, of, namespace string, names []string) error {
	l, err := b.startListing(ctx, program, "-w")
	if err != nil {
		return err
	}
	err = b.follow(ctx, l, of, namespace, names)
	return errors.Join(err, l.command.Process.Signal(os.Interrupt), l.command.Wait())
}

func (b *bench) follow(ctx context.Context, l *listing, of, namespace string, names []string) error {
	if _, _, err := l.read("life-", len(names)); err != nil {
		return err
	}
	resident := func(when string) error {
		bytes, err := process.ResidentOf(l.command.Process.Pid)
		if err == nil {
			b.Add(partCommandLine, of, "list -w: resident "+when, "MiB", float64(bytes)/(1<<20)).Below(listMemoryGoal)
		}
		return err
	}
	if err := resident("after the list"); err != nil {
		return err
	}
	changed := make(chan error, 1)
	go func() {
		changed <- each(ctx, names, clients, func(ctx context.Context, name string) error {
			_, err := b.Spark.SparkV1().SparkApplications(namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"yes"}}}`), metav1.PatchOptions{})
			return err
		})
	}()
	_, _, err := l.read("life-", len(names))
	return errors.Join(err, <-changed, resident("after as many changes"))
}
