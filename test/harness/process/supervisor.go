package process

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Spec describes a program that a [Supervisor] keeps running.
type Spec struct {
	Name string
	// Start starts the nth incarnation, counted from 1.
	Start func(incarnation int, log string) (*Process, error)
	// MemoryLimit bounds its resident memory, in bytes; 0 for no limit.
	MemoryLimit int
}

// Supervisor starts its programs again when they end, as a kubelet does. What is wrong with them is a violation.
type Supervisor struct {
	dir string
	// delay returns how long to wait before a program is started again.
	delay func() time.Duration
	// onKill is called with the name of each program that is killed.
	onKill func(name string)
	// calm reports whether no program is expected to fail.
	calm func() bool

	mutex   sync.Mutex
	running map[string]*supervised
	// incarnations counts the starts of each program.
	incarnations map[string]int
	peak         map[string]int
	violations   []string
}

// supervised is a program that runs.
type supervised struct {
	Spec
	cancel  context.CancelFunc
	gone    chan struct{}
	process *Process
	// graceful reports whether the process is stopped, not killed, when the program is removed.
	graceful bool
	// killed is the last process that Kill killed.
	killed *Process
	// failures counts the processes that ended by themselves while it was calm.
	failures int
}

// maxFailures bounds how often a program may end by itself while it is calm. It may have been starting when the calm began.
const maxFailures = 5

// NewSupervisor makes a supervisor without programs. Logs go to the folder dir.
func NewSupervisor(dir string, delay func() time.Duration, onKill func(name string), calm func() bool) *Supervisor {
	return &Supervisor{
		dir: dir, delay: delay, onKill: onKill, calm: calm,
		running: map[string]*supervised{}, incarnations: map[string]int{}, peak: map[string]int{},
	}
}

// Add starts a program and keeps it running until it is removed.
func (s *Supervisor) Add(ctx context.Context, spec Spec) error {
	process, err := s.startNext(spec)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &supervised{Spec: spec, cancel: cancel, gone: make(chan struct{}), process: process}
	s.mutex.Lock()
	s.running[spec.Name] = p
	s.mutex.Unlock()
	go s.keepRunning(ctx, p)
	return nil
}

// Remove ends a program and does not start it again. If graceful, it is stopped, else it is killed.
func (s *Supervisor) Remove(name string, graceful bool) {
	s.mutex.Lock()
	p := s.running[name]
	delete(s.running, name)
	if p != nil {
		p.graceful = graceful
	}
	s.mutex.Unlock()
	if p != nil {
		p.cancel()
		<-p.gone
	}
}

// RemoveAll kills all programs.
func (s *Supervisor) RemoveAll() {
	for _, name := range s.Names("") {
		s.Remove(name, false)
	}
}

// Names returns the names of the running programs that begin with a prefix, sorted.
func (s *Supervisor) Names(prefix string) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.running)), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// Kill sends SIGKILL to a program, which is then started again. It reports whether the program was there.
func (s *Supervisor) Kill(name string) bool {
	s.mutex.Lock()
	p := s.running[name]
	var process *Process
	if p != nil {
		process = p.process
		p.killed = process
	}
	s.mutex.Unlock()
	if process == nil {
		return false
	}
	s.onKill(name)
	process.Kill()
	return true
}

// Violate reports a violation.
func (s *Supervisor) Violate(text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.violations = append(s.violations, text)
}

// Violations returns what was wrong with the programs until now.
func (s *Supervisor) Violations() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.violations)
}

// PeakMemory describes the highest resident memory of each program.
func (s *Supervisor) PeakMemory() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var text []string
	for _, name := range slices.Sorted(maps.Keys(s.peak)) {
		text = append(text, fmt.Sprintf("%s %d MiB", name, s.peak[name]>>20))
	}
	return strings.Join(text, ", ")
}

// stopTimeout is longer than a program may take to stop: the controller finishes its work for up to 30 s.
const stopTimeout = time.Minute

// end ends the process of a program that is removed.
func (s *Supervisor) end(p *supervised) {
	defer s.checkOutput(p.process)
	defer p.process.Kill()
	if !p.graceful {
		return
	}
	_ = p.process.Stop()
	select {
	case <-p.process.Done():
	case <-time.After(stopTimeout):
		s.Violate(fmt.Sprintf("%s does not end within %s of SIGTERM", p.process.Log, stopTimeout))
	}
}

// keepRunning starts a program again whenever it ends.
func (s *Supervisor) keepRunning(ctx context.Context, p *supervised) {
	defer close(p.gone)
	for {
		select {
		case <-ctx.Done():
			s.end(p)
			return
		case <-p.process.Done():
			s.checkOutput(p.process)
			s.checkFailures(p)
		case <-time.After(500 * time.Millisecond):
			s.checkMemory(p)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.delay()):
		}
		process, err := s.startNext(p.Spec)
		if err != nil {
			s.Violate(err.Error())
			return
		}
		s.mutex.Lock()
		p.process = process
		s.mutex.Unlock()
	}
}

func (s *Supervisor) startNext(spec Spec) (*Process, error) {
	s.mutex.Lock()
	s.incarnations[spec.Name]++
	incarnation := s.incarnations[spec.Name]
	s.mutex.Unlock()
	return spec.Start(incarnation, filepath.Join(s.dir, fmt.Sprintf("%s-%d.log", spec.Name, incarnation)))
}

// checkFailures requires that a program does not end again and again although it is not killed and nothing fails.
func (s *Supervisor) checkFailures(p *supervised) {
	s.mutex.Lock()
	killed := p.killed == p.process
	s.mutex.Unlock()
	if killed || !s.calm() {
		return
	}
	if p.failures++; p.failures == maxFailures {
		s.Violate(fmt.Sprintf("%s ended by itself %d times\n%s", p.process.Log, maxFailures, p.process.Tail(5)))
	}
}

// checkOutput requires that a process did not panic.
func (s *Supervisor) checkOutput(process *Process) {
	tail := process.Tail(200)
	for _, sign := range []string{"panic:", "fatal error:", "DATA RACE"} {
		if strings.Contains(tail, sign) {
			s.Violate(fmt.Sprintf("%s ended with %s\n%s", process.Log, sign, process.Tail(60)))
		}
	}
}

// checkMemory stores the highest memory of a program and requires that it stays within the limit.
func (s *Supervisor) checkMemory(p *supervised) {
	resident, err := p.process.Resident()
	if err != nil {
		return // it just ended
	}
	s.mutex.Lock()
	s.peak[p.Name] = max(s.peak[p.Name], resident)
	s.mutex.Unlock()
	if p.MemoryLimit > 0 && resident > p.MemoryLimit {
		s.Violate(fmt.Sprintf("%s uses %d MiB of memory", p.process.Log, resident>>20))
	}
}
