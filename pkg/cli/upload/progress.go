package upload

import (
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

// progress prints what the program does: a line for each file that is stored, and a bar on a terminal.
type progress struct {
	*cli.Options
	plan     *Plan
	urls     map[string]string // by path
	total    int64
	sent     map[string]int64 // by path
	done     sets.Set[string]
	terminal bool
	// failure is the message about the first file that could not be stored.
	failure string
}

func newProgress(p *Plan, o *cli.Options) *progress {
	shown := &progress{
		Options: o, plan: p, urls: map[string]string{}, sent: map[string]int64{}, done: sets.Set[string]{}, terminal: cli.Terminal(o.ErrOut),
	}
	for _, file := range p.files {
		shown.urls[file.Path] = p.url(file)
		shown.total += p.size[file.Path]
	}
	return shown
}

func (p *progress) show(event upload.Event) {
	url, known := p.urls[event.Path]
	if !known && event.Step != upload.Failed {
		return
	}
	name, size := filepath.Base(event.Path), p.plan.size[event.Path]
	switch event.Step {
	case upload.Sending:
		p.sent[event.Path] = event.Sent
	case upload.Present:
		p.complete(event.Path, fmt.Sprintf("%s is there already: %s", name, url))
	case upload.Uploaded:
		p.complete(event.Path, fmt.Sprintf("%s uploaded, %s: %s", name, bytes(size), url))
	case upload.Failed:
		if p.failure == "" && !event.Interrupted {
			p.failure = event.Message
		}
	}
	p.bar()
}

// complete prints a line about a file that is stored.
func (p *progress) complete(path, line string) {
	p.sent[path] = p.plan.size[path]
	p.done.Insert(path)
	p.clear()
	fmt.Fprintln(p.ErrOut, line)
}

// bar prints the progress in one line, over the line that it printed before.
func (p *progress) bar() {
	if !p.terminal || len(p.done) == len(p.plan.files) {
		return
	}
	sent := int64(0)
	for _, of := range p.sent {
		sent += of
	}
	percent := 100
	if p.total > 0 {
		percent = int(100 * float64(sent) / float64(p.total))
	}
	p.clear()
	fmt.Fprintf(p.ErrOut, "uploading: %d of %d files, %s of %s, %d%%", len(p.done), len(p.plan.files), bytes(sent), bytes(p.total), percent)
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.ErrOut, "\r\x1b[K")
	}
}

func (p *progress) end() { p.clear() }

// bytes prints a size.
func bytes(size int64) string {
	const unit = 1024
	if size < unit {
		return fmt.Sprintf("%d bytes", size)
	}
	value, suffix := float64(size)/unit, 0
	for value >= unit && suffix < 3 {
		value /= unit
		suffix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[suffix])
}
