package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Process is a program that runs until it is killed, in a process group of its own. It dies with the test.
type Process struct {
	// Log is the file that holds what the program writes.
	Log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// StartProcess runs a program with the test's environment and more. Its output goes to a file named log.
func StartProcess(log string, environment []string, program string, arguments ...string) (*Process, error) {
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
	p := &Process{Log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	return p, nil
}

// startAgain runs the program once more, as it was run.
func (p *Process) startAgain() (*Process, error) {
	return StartProcess(p.Log, environment, p.cmd.Path, p.cmd.Args[1:]...)
}

// Pid is the program's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill is kill -9. It returns when the program is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop asks the program to end.
func (p *Process) Stop() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Tail is the end of what the program wrote.
func (p *Process) Tail(lines int) string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(len(all)-lines, 0):], []byte("\n")))
}
