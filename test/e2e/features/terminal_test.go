package features

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// terminal is a terminal of tmux with a shell, whose prompt begins with the exit code of the last command.
type terminal struct{ socket string }

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	folder := t.TempDir()
	term := &terminal{socket: filepath.Join(folder, "tmux")}
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("PS1", "[$?] $ ")
	t.Setenv("TMUX", "")
	term.tmux(t, "-f", os.DevNull, "new-session", "-d", "-x", "150", "-y", "50", "bash", "--norc", "--noprofile")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", term.screen(t))
		}
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "tmux", "-S", term.socket, "kill-server").Run()
	})
	return term
}

func (term *terminal) tmux(t *testing.T, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(context.WithoutCancel(t.Context()), "tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// screen returns what is shown, with the sequences that colour it.
func (term *terminal) screen(t *testing.T) string {
	t.Helper()
	return term.tmux(t, "capture-pane", "-p", "-e", "-J", "-S", "-")
}

// types clears the terminal and enters a command.
func (term *terminal) types(t *testing.T, command string) {
	t.Helper()
	term.tmux(t, "send-keys", "-R", ";", "clear-history")
	term.tmux(t, "send-keys", "-l", command)
	term.tmux(t, "send-keys", "Enter")
}

// shows waits until the terminal shows all of these texts, and returns what it shows.
func (term *terminal) shows(t *testing.T, texts ...string) (screen string) {
	t.Helper()
	missing := ""
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, cluster.RunTime, true, func(context.Context) (bool, error) {
		screen, missing = term.screen(t), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("the terminal does not show %q: %v", missing, err)
	}
	return screen
}

// interrupt presses Ctrl-C, and waits for the prompt with an exit code.
func (term *terminal) interrupt(t *testing.T, code string, texts ...string) {
	t.Helper()
	term.tmux(t, "send-keys", "C-c")
	term.shows(t, append(texts, "\n["+code+"] $")...)
}

// The colours of states and of what matters less.
const green, red, grey = "\x1b[32m", "\x1b[31m", "\x1b[90m"

// Commands that go on are ended by Ctrl-C. What they began is whole, and the application runs until somebody stops it.
func TestCommandLineInATerminalGoesOnUntilCtrlC(t *testing.T) {
	u := newUser(t)
	term := newTerminal(t)
	in := " -n " + u.Namespace + " "
	term.types(t, "kubectl spark submit"+in+"--wait "+strings.Join(pi("waited", "100000", "SparkPi"), " "))
	term.shows(t, "/waited created")
	term.interrupt(t, "130", "waited goes on: kubectl spark get waited -n "+u.Namespace+" shows it", "kubectl spark wait waited -n "+u.Namespace+" waits for its end")
	u.says(t, 0, nil, "wait", "waited", "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	u.says(t, 0, []string{"stopped"}, "stop", "waited")

	term.types(t, "kubectl spark submit"+in+"--watch "+strings.Join(pi("long", "100000", "SparkPi"), " "))
	term.shows(t, green+"RunningHealthy")
	term.interrupt(t, "130", "long goes on: kubectl spark get long -n "+u.Namespace+" shows it")

	term.types(t, "kubectl spark wait"+in+"long --timeout 1h")
	u.says(t, 0, []string{"RunningHealthy"}, "list")
	term.interrupt(t, "130")

	term.types(t, "kubectl spark logs"+in+"long -f")
	term.shows(t, grey+"Log of Pod long-", "INFO TaskSetManager")
	term.interrupt(t, "130")

	term.types(t, "kubectl spark ui"+in+"long")
	term.shows(t, "until Ctrl-C")
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(term.screen(t))
	term.interrupt(t, "0")
	if connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err == nil {
		_ = connection.Close()
		t.Errorf("the port %s is still open", address)
	}

	term.types(t, "kubectl spark list"+in+"-w")
	term.shows(t, green+"RunningHealthy")
	u.says(t, 0, []string{"stopped"}, "stop", "long")
	term.shows(t, red+"ResourceReleased")
	term.interrupt(t, "0")
}
