package upload

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

const (
	// grace is how long the program may take to end after an interrupt: it removes the parts that it has sent.
	grace = 15 * time.Second
	// maxLine bounds a line that the program prints.
	maxLine = 1 << 20
	// maxLog bounds the part of its log that a message has.
	maxLog = 512
)

// Announce prints what Send would upload.
func (p *Plan) Announce(o *cli.Options) {
	for _, file := range p.files {
		fmt.Fprintf(o.ErrOut, "%s is not uploaded (dry run), %s: %s\n", filepath.Base(file.Path), bytes(p.size[file.Path]), p.url(file))
	}
}

// Send uploads the files that are not stored yet, and prints its progress to the stream for errors. After a success, another call does nothing.
func (p *Plan) Send(ctx context.Context, o *cli.Options) error {
	if p.sent {
		return nil
	}
	shown := newProgress(p, o)
	failed := p.transfer(ctx, o, shown)
	shown.end()
	switch {
	case ctx.Err() != nil:
		o.Warn(fmt.Sprintf("nothing was created, and %d of %d files are in %s: the next run does not send them again", len(shown.done), len(p.files), p.place.shown))
		return ctx.Err()
	case shown.failure != "":
		return fmt.Errorf("%s: %s", p.place.shown, shown.failure)
	case failed != nil:
		return failed
	}
	p.sent = true
	return nil
}

// transfer sends the files to a claim, or has the program send them to all other places.
func (p *Plan) transfer(ctx context.Context, o *cli.Options, shown *progress) error {
	if p.place.claim == "" {
		return p.runProgram(ctx, shown)
	}
	cluster, err := o.Cluster()
	if err != nil {
		return err
	}
	client, err := o.Kubernetes()
	if err != nil {
		return err
	}
	return p.sendToClaim(ctx, client, runIn(cluster, client), shown)
}

// runProgram runs the program, and shows what it does.
func (p *Plan) runProgram(ctx context.Context, shown *progress) error {
	path, err := FindProgram("--upload-to")
	if err != nil {
		return err
	}
	args := []string{p.place.to}
	for _, file := range p.files {
		args = append(args, file.Argument())
	}
	command := exec.CommandContext(ctx, path, args...) //nolint:gosec // the program of this name beside this one, or in PATH
	command.Cancel = func() error { return interrupt(command.Process) }
	command.WaitDelay = grace
	log := &clippedLog{}
	command.Stderr = log
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return fmt.Errorf("%s cannot be run: %w", path, err)
	}
	read := p.follow(output, shown)
	ended := command.Wait()
	switch {
	case ended != nil || read != nil:
		return fmt.Errorf("%s has failed (%w): %s", path, cmp.Or(read, ended), cmp.Or(log.String(), "it has printed no reason"))
	case len(shown.done) < len(p.files):
		return fmt.Errorf("%s has uploaded %d of %d files: install that of the same version as kubectl-spark (%s)", path, len(shown.done), len(p.files), install)
	}
	return nil
}

// Remind says, after a later step failed, that files are stored.
func (p *Plan) Remind(o *cli.Options) {
	if p != nil && p.sent {
		o.Warn(fmt.Sprintf("%d of %d files are in %s: the next run does not send them again", len(p.files), len(p.files), p.place.shown))
	}
}

const install = "make install-cli does it, and the archives of a release have both"

// FindProgram returns the path of the program: the one beside this one, or the one in PATH. flag is what needs it.
func FindProgram(flag string) (string, error) {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), upload.Program)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(upload.Program)
	if err != nil {
		return "", fmt.Errorf("%s needs %s, which is neither beside kubectl-spark nor in PATH: install it (%s)", flag, upload.Program, install)
	}
	return path, nil
}

// interrupt asks a process to end. Windows has no such signal.
func interrupt(process *os.Process) error {
	if err := process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return process.Kill()
	}
	return nil
}

// follow reads the events of the program.
func (p *Plan) follow(output io.Reader, shown *progress) error {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var event upload.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			_, _ = io.Copy(io.Discard, output) // so that it can end
			return fmt.Errorf("it printed %q", text.Clip(lines.Text(), maxLog))
		}
		shown.show(event)
	}
	return lines.Err()
}

// clippedLog holds the beginning of a log.
type clippedLog struct{ strings.Builder }

func (b *clippedLog) Write(log []byte) (int, error) {
	b.WriteString(string(log[:min(len(log), max(0, maxLog-b.Len()))]))
	return len(log), nil
}

func (b *clippedLog) String() string { return strings.TrimSpace(b.Builder.String()) }
