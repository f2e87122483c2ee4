package process

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a program in a process group of its own. It runs until it is killed, and is killed when the test binary dies.
type Process struct {
	// Log is the file with the program's output.
	Log string

	environment []string
	cmd         *exec.Cmd
	done        chan struct{}
}

// Start runs a program with the test's own environment and additional variables. Its output goes to the file log.
func Start(log string, environment []string, program string, arguments ...string) (*Process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(program, arguments...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	p := &Process{Log: log, environment: environment, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	return p, nil
}

// Restart starts the program again, with the same arguments, environment and log. The earlier process must have ended.
func (p *Process) Restart() (*Process, error) {
	return Start(p.Log, p.environment, p.cmd.Path, p.cmd.Args[1:]...)
}

// Program is the name of the program.
func (p *Process) Program() string { return filepath.Base(p.cmd.Path) }

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Kill sends SIGKILL and waits until the process has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop sends SIGTERM.
func (p *Process) Stop() error { return p.Signal(syscall.SIGTERM) }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Tail returns the last lines of the program's output.
func (p *Process) Tail(lines int) string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(len(all)-lines, 0):], []byte("\n")))
}

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// CPU is the processor time that the process has used.
func (p *Process) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return 0, err
	}
	// The name of the program, in brackets, may have any character; utime and stime are 11 fields behind the one after it.
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", p.Pid(), text)
	}
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// Resident is the resident memory of the process, in bytes.
func (p *Process) Resident() (int, error) { return p.memory("VmRSS") }

// PeakResident is the largest resident memory that the process has had, in bytes.
func (p *Process) PeakResident() (int, error) { return p.memory("VmHWM") }

func (p *Process) memory(name string) (int, error) { return memoryOf(p.Pid(), name) }

// ResidentOf is the resident memory of any process, in bytes.
func ResidentOf(pid int) (int, error) { return memoryOf(pid, "VmRSS") }

func memoryOf(pid int, name string) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), name+":")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, fmt.Errorf("process %d has no %s", pid, name)
	}
	kib, err := strconv.Atoi(fields[0])
	return kib << 10, err
}

// FreePorts returns ports of the loopback address on which no process listens. No call in this process returns a port again: a program
// that a test starts listens only later. They are above those of the local cluster, which may boot meanwhile, below those that the
// kernel gives to outgoing connections, which would take them meanwhile, and below Kubernetes' node ports.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range lastPort - firstPort {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + int(nextPort.Add(1))%(lastPort-firstPort)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("%d ports from %d to %d are not free", n, firstPort, lastPort)
}

const firstPort, lastPort = 17000, 30000

// nextPort begins at random, so that processes that run at the same time begin at different ports.
var nextPort = func() *atomic.Uint32 {
	next := &atomic.Uint32{}
	next.Store(rand.Uint32N(lastPort - firstPort))
	return next
}()
