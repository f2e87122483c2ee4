package integration

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

// processes are those of the suite that still run.
type processes struct {
	mutex   sync.Mutex
	running []*controlplane.Process
	count   int
}

func (p *processes) stop() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, process := range p.running {
		process.Kill()
	}
	p.running = nil
}

// controller says how a controller is run.
type controller struct {
	// config is how it reaches the API server; nil for its service account's own way.
	config *rest.Config
	// sink is its K_SINK; empty for none.
	sink string
	// namespace is that of its installation; empty for firesteel-system.
	namespace string
	// replica has it take part in elections and be probed, as one that is deployed.
	replica bool
	// environment is what else it is told by variables.
	environment []string
}

// zone is where the controllers' clocks are: nothing may depend on the zone that a controller runs in.
const zone = "Asia/Kathmandu"

func (s *suite) startController(ctx context.Context, c controller) (*controlplane.Process, error) {
	c.namespace = cmp.Or(c.namespace, systemNamespace)
	if c.config == nil {
		config, err := s.controllerConfig(ctx, c.namespace)
		if err != nil {
			return nil, err
		}
		c.config = config
	}
	ports, err := controlplane.FreePorts(1)
	if err != nil {
		return nil, err
	}
	var arguments []string
	if !c.replica {
		arguments = append(arguments, "-local")
	}
	return s.startProcess("controller", c.config, append(c.environment,
		"SYSTEM_NAMESPACE="+c.namespace,
		"CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability",
		"CONFIG_LEADERELECTION_NAME=config-leader-election",
		fmt.Sprintf("PROFILING_PORT=%d", ports[0]),
		"K_SINK="+c.sink,
		"TZ="+zone,
	), arguments...)
}

func (s *suite) controllerConfig(ctx context.Context, namespace string) (*rest.Config, error) {
	secret, err := token(ctx, s.kube, namespace, "controller")
	if err != nil {
		return nil, err
	}
	return s.plane.Config(secret), nil
}

// startProcess runs one of Firesteel's programs, with a kubeconfig.
func (s *suite) startProcess(
	program string, config *rest.Config, environment []string, arguments ...string,
) (*controlplane.Process, error) {
	s.processes.mutex.Lock()
	defer s.processes.mutex.Unlock()
	s.processes.count++
	name := filepath.Join(s.dir, fmt.Sprintf("%s-%d", program, s.processes.count))
	if err := controlplane.WriteKubeconfig(name+".kubeconfig", config); err != nil {
		return nil, err
	}
	environment = append(environment, "KUBECONFIG="+name+".kubeconfig")
	process, err := controlplane.StartProcess(name+".log", environment, filepath.Join(s.programs, program), arguments...)
	if err != nil {
		return nil, err
	}
	s.processes.running = append(s.processes.running, process)
	return process, nil
}

// common is the controller that the parallel tests share. It runs while there are any.
type common struct {
	mutex   sync.Mutex
	tests   int
	process *controlplane.Process
}

// join counts a test in.
func (c *common) join(start func() (*controlplane.Process, error)) (process *controlplane.Process, err error) {
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

// leave counts a test out.
func (c *common) leave() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tests--; c.tests == 0 {
		c.process.Kill()
	}
}

// linesAbout are the last lines of a log that name something.
func linesAbout(process *controlplane.Process, name string) string {
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
