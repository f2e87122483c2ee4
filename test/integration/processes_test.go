package integration

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// processes are those of the suite that still run.
type processes struct {
	mutex   sync.Mutex
	running []*process.Process
	count   atomic.Int64
}

func (p *processes) add(started *process.Process) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.running = append(p.running, started)
}

func (p *processes) stop() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, running := range p.running {
		running.Kill()
	}
	p.running = nil
}

// controller defines how a controller is run.
type controller struct {
	// config is how it reaches the API server; nil for its service account's own way.
	config *rest.Config
	// sink is its K_SINK; empty for none.
	sink string
	// namespace is that of its installation; empty for firesteel-system.
	namespace string
	// replica has it take part in elections and be probed, as one that is deployed.
	replica bool
	// environment holds further environment variables.
	environment []string
	// programs is the folder with the program; empty for the suite's.
	programs string
}

// zone is where the controllers' clocks are: nothing may depend on the zone that a controller runs in.
const zone = "Asia/Kathmandu"

func (s *suite) startController(ctx context.Context, c controller) (*process.Process, firesteel.ControllerPorts, error) {
	if c.config == nil {
		config, err := s.ConfigOf(ctx, cmp.Or(c.namespace, firesteel.SystemNamespace), "controller")
		if err != nil {
			return nil, firesteel.ControllerPorts{}, err
		}
		c.config = config
	}
	name, kubeconfig, err := s.nextProcess("controller", c.config)
	if err != nil {
		return nil, firesteel.ControllerPorts{}, err
	}
	started, ports, err := firesteel.Controller{
		Program: filepath.Join(cmp.Or(c.programs, s.programs), "controller"), Kubeconfig: kubeconfig,
		Namespace: c.namespace, Sink: c.sink, Replica: c.replica, Environment: append(c.environment, "TZ="+zone),
	}.Start(name + ".log")
	if err == nil {
		s.processes.add(started)
	}
	return started, ports, err
}

// nextProcess returns the name of the files of another process, and writes a kubeconfig for it.
func (s *suite) nextProcess(program string, config *rest.Config) (name, kubeconfig string, err error) {
	name = filepath.Join(s.dir, fmt.Sprintf("%s-%d", program, s.processes.count.Add(1)))
	kubeconfig = name + ".kubeconfig"
	return name, kubeconfig, controlplane.WriteKubeconfig(kubeconfig, config)
}

// startProcess runs one of Firesteel's programs, with a kubeconfig.
func (s *suite) startProcess(program string, config *rest.Config, environment []string, arguments ...string) (*process.Process, error) {
	name, kubeconfig, err := s.nextProcess(program, config)
	if err != nil {
		return nil, err
	}
	started, err := process.Start(name+".log", append(environment, "KUBECONFIG="+kubeconfig), filepath.Join(s.programs, program), arguments...)
	if err == nil {
		s.processes.add(started)
	}
	return started, err
}

// common is the controller that the parallel tests share. It runs while there are any.
type common struct {
	mutex   sync.Mutex
	tests   int
	process *process.Process
}

// acquire counts a test that uses the controller.
func (c *common) acquire(start func() (*process.Process, error)) (process *process.Process, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tests == 0 {
		if c.process, err = start(); err != nil {
			return nil, err
		}
	}
	c.tests++
	return c.process, nil
}

// release counts a test that is done with the controller.
func (c *common) release() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tests--; c.tests == 0 {
		c.process.Kill()
	}
}

// linesAbout are the last lines of a log that name something.
func linesAbout(process *process.Process, name string) string {
	text, err := os.ReadFile(process.Log)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		about := strings.Contains(line, name) && !strings.Contains(line, "Reconcile succeeded")
		if about || strings.Contains(line, "panic") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(len(lines)-20, 0):], "")
}
