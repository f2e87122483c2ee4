package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

func table(t *testing.T) Table {
	dir := t.TempDir()
	return Table{Dir: filepath.Join(dir, "processes"), Logs: filepath.Join(dir, "logs")}
}

func TestStartRecordsAndStopEnds(t *testing.T) {
	processes := table(t)
	record, err := processes.Start("sleeper", exec.Command("sh", "-c", "echo hello; exec sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	if err := processes.Running("sleeper"); err != nil {
		t.Error(err)
	}
	if err := processes.Stop("sleeper", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if record.Alive() {
		t.Error("the process is alive although stopped")
	}
	if err := processes.Running("sleeper"); err == nil {
		t.Error("the process is said to run although stopped")
	}
	if records, err := processes.Records(); err != nil || len(records) != 0 {
		t.Errorf("records after stop: %v, %v", records, err)
	}
}

func TestStopKillsAProcessThatIgnoresTheSignal(t *testing.T) {
	processes := table(t)
	cmd := exec.Command("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done")
	if _, err := processes.Start("stubborn", cmd); err != nil {
		t.Fatal(err)
	}
	waitForLog(t, filepath.Join(processes.Logs, "stubborn.log"))
	if err := processes.Stop("stubborn", 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

func waitForLog(t *testing.T, file string) {
	t.Helper()
	err := step.Until(t.Context(), 2*time.Minute, "output in "+file, func(context.Context) error {
		if data, err := os.ReadFile(file); err != nil || len(data) > 0 {
			return err
		}
		return errors.New("it is empty")
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStopSparesARecycledPID(t *testing.T) {
	processes := table(t)
	record, err := processes.Start("other", exec.Command("sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	recycled := record
	recycled.Started-- // as if another process had had the id before
	if recycled.Alive() {
		t.Error("a process with another start time is taken for the recorded one")
	}
	if err := recycled.stop(time.Second); err != nil {
		t.Error(err)
	}
	if !record.Alive() {
		t.Error("the process that got a recycled id was stopped")
	}
	rebooted := record
	rebooted.Boot = "another boot"
	if rebooted.Alive() {
		t.Error("a process of this boot is taken for one of an earlier boot")
	}
	if err := processes.Stop("other", time.Second); err != nil {
		t.Error(err)
	}
}

func TestStopWithoutRecord(t *testing.T) {
	if err := table(t).Stop("never-started", time.Second); err != nil {
		t.Error(err)
	}
}

func TestRecordsAreInOrderOfStart(t *testing.T) {
	processes := table(t)
	for _, name := range []string{"b", "a", "c"} {
		if _, err := processes.Start(name, exec.Command("sleep", "1000")); err != nil {
			t.Fatal(err)
		}
	}
	records, err := processes.Records()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Name)
		if err := processes.Stop(r.Name, time.Second); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(names, []string{"b", "a", "c"}) {
		t.Errorf("records are in the order %v", names)
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n"
	got, err := parseStat([]byte(line))
	if err != nil || got.state != 'S' || got.started != 987654 || got.ended() {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S 1 2"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestKillAndMatching(t *testing.T) {
	processes := table(t)
	marked := []string{"sleep", fmt.Sprintf("1000.%d", os.Getpid())} // none of another run of this test
	record, err := processes.Start("marked", exec.Command(marked[0], marked[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	pids, err := Matching(func(args []string) bool { return slices.Equal(args, marked) })
	if err != nil || !slices.Contains(pids, record.PID) {
		t.Fatalf("found %v, %v", pids, err)
	}
	if err := Kill(append(pids, 1<<22)); err != nil { // the second cannot exist
		t.Error(err)
	}
	if record.Alive() {
		t.Error("the process is alive although killed")
	}
}
