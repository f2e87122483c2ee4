// Package process starts background processes that outlive their parent, records
// them, and later stops exactly those: a record holds the process's start time
// and the boot it ran in, so a process id that the kernel gave to another process
// since is never signalled.
package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Record identifies one started process for good.
type Record struct {
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	Started uint64    `json:"started"` // clock ticks after boot, from /proc/PID/stat
	Boot    string    `json:"boot"`    // the kernel's boot id
	Since   time.Time `json:"since"`
	Log     string    `json:"log"`
	Command []string  `json:"command"`
}

// Table is a folder of records.
type Table struct {
	// Dir holds one file for each process.
	Dir string
	// Logs holds the processes' output.
	Logs string
}

// Start runs the command in a session of its own, its output in a log file, and
// records it under the name.
func (t Table) Start(name string, cmd *exec.Cmd) (Record, error) {
	log, err := t.openLog(name)
	if err != nil {
		return Record{}, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return Record{}, fmt.Errorf("starting %s: %w", name, err)
	}
	record := Record{Name: name, PID: cmd.Process.Pid, Since: time.Now(), Log: log.Name(), Command: cmd.Args}
	if err := t.save(&record); err != nil {
		return Record{}, errors.Join(fmt.Errorf("recording %s: %w", name, err), cmd.Process.Kill(), cmd.Wait())
	}
	go func() { _ = cmd.Wait() }() // no zombie while this process lives
	return record, nil
}

func (t Table) openLog(name string) (*os.File, error) {
	if err := errors.Join(os.MkdirAll(t.Logs, 0o755), os.MkdirAll(t.Dir, 0o755)); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(t.Logs, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

func (t Table) save(r *Record) error {
	var err error
	if r.Boot, err = bootID(); err != nil {
		return err
	}
	stat, err := readStat(r.PID)
	if err != nil {
		return err
	}
	r.Started = stat.started
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(t.file(r.Name), append(data, '\n'), 0o644)
}

func (t Table) file(name string) string { return filepath.Join(t.Dir, name+".json") }

// Records lists what was started, oldest first.
func (t Table) Records() ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(t.Dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("process record %s: %w", file, err)
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b Record) int { return a.Since.Compare(b.Since) })
	return records, nil
}

// Stop ends the recorded process, first by SIGTERM, and removes its record. It is
// no error if the process has ended already.
func (t Table) Stop(name string, grace time.Duration) error {
	data, err := os.ReadFile(t.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("process record %s: %w", t.file(name), err)
	}
	if err := r.stop(grace); err != nil {
		return fmt.Errorf("stopping %s (pid %d): %w", r.Name, r.PID, err)
	}
	return os.Remove(t.file(name))
}

// Alive reports whether exactly that process still runs.
func (r Record) Alive() bool {
	boot, err := bootID()
	if err != nil || boot != r.Boot {
		return false
	}
	stat, err := readStat(r.PID)
	return err == nil && stat.started == r.Started && !stat.ended()
}

func (r Record) stop(grace time.Duration) error {
	// The descriptor pins the process: once Alive confirmed that it is the
	// recorded one, a signal sent through it can reach no other.
	fd, err := unix.PidfdOpen(r.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !r.Alive() {
		return nil
	}
	return terminate(fd, grace)
}

// terminate asks the process to end, and kills it when it has not by then.
func terminate(pidfd int, grace time.Duration) error {
	if err := signal(pidfd, unix.SIGTERM); err != nil {
		return err
	}
	if ended, err := waitEnd(pidfd, grace); ended || err != nil {
		return err
	}
	if err := signal(pidfd, unix.SIGKILL); err != nil {
		return err
	}
	ended, err := waitEnd(pidfd, 10*time.Second)
	if err == nil && !ended {
		err = errors.New("it does not die although killed")
	}
	return err
}

func signal(pidfd int, sig unix.Signal) error {
	if err := unix.PidfdSendSignal(pidfd, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// waitEnd waits until the process has ended, or the time is over.
func waitEnd(pidfd int, limit time.Duration) (bool, error) {
	deadline := time.Now().Add(limit)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return n > 0, err
	}
}

// Kill ends processes found by other means than a record (in a cgroup that the
// cluster made, say) and waits until they are gone.
func Kill(pids []int) error {
	var errs []error
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := signal(fd, unix.SIGKILL); err != nil {
			errs = append(errs, fmt.Errorf("killing pid %d: %w", pid, err))
		} else if ended, err := waitEnd(fd, 10*time.Second); err != nil || !ended {
			errs = append(errs, fmt.Errorf("pid %d does not die although killed: %w", pid, err))
		}
		unix.Close(fd)
	}
	return errors.Join(errs...)
}

// Matching lists the processes whose argument list the function accepts.
func Matching(accept func(args []string) bool) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		args := strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && accept(args) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

type stat struct {
	state   byte
	started uint64
}

// ended reports whether a process only waits for its parent to notice its end.
func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' }

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat reads the state and the start time, fields 3 and 22 of proc(5)'s
// stat. The name in field 2 may hold spaces and parentheses itself.
func parseStat(data []byte) (stat, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("unexpected process status %q", data)
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("unexpected process status %q", data)
	}
	started, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return stat{state: fields[0][0], started: started}, err
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// Running returns nil while the process recorded under the name runs. Otherwise
// the error names its log.
func (t Table) Running(name string) error {
	records, err := t.Records()
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Name == name && r.Alive() {
			return nil
		}
	}
	return fmt.Errorf("%s has ended; its log is %s", name, filepath.Join(t.Logs, name+".log"))
}
