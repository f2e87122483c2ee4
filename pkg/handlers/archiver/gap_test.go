package archiver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// sent stores the event log of the attempt, in files of one line each. Executor 1, which has a Pod, 2, which the record counted for 7 s, and 3, which no
// controller saw, are in it.
func (e *env) sent(lines ...string) {
	e.t.Helper()
	store, err := archive.Open(e.t.Context(), "file://"+e.folder)
	if err != nil {
		e.t.Fatal(err)
	}
	defer store.Close()
	description := archive.Application{
		Namespace: pi.Namespace, NamespaceUID: "uid-of-team-a", Resource: "sparkapplications.spark.apache.org", Name: pi.Name, UID: pi.UID, Created: began,
	}
	if err := store.AnnounceEventLog(e.t.Context(), description, 1); err != nil {
		e.t.Fatal(err)
	}
	for i, line := range lines {
		name := fmt.Sprintf("events_%d_spark-1", i+1)
		if err := store.Attempt(description.ID(), 1).File(archive.EventLogFolder, name).Append(e.t.Context(), 0, []byte(line)); err != nil {
			e.t.Fatal(err)
		}
	}
}

// eventLog is a whole event log, and its end.
func eventLog() (lines []string) {
	event := func(name string, second int, more string) {
		at := began.Add(time.Duration(second) * time.Second).UnixMilli()
		lines = append(lines, fmt.Sprintf(`{"Event":"SparkListener%s","Timestamp":%d%s}`, name, at, more)+"\n")
	}
	event("ApplicationStart", 1, `,"App ID":"spark-1"`)
	event("ExecutorAdded", 12, `,"Executor ID":"1"`)
	event("ExecutorAdded", 15, `,"Executor ID":"2"`)
	event("ExecutorRemoved", 22, `,"Executor ID":"2"`)
	event("ExecutorAdded", 20, `,"Executor ID":"3"`)
	event("ApplicationEnd", 39, "")
	return lines
}

func TestAGapIsClosedFromTheEventLog(t *testing.T) {
	for name, test := range map[string]struct {
		lines                []string
		seconds, gap, closed int64
	}{
		"a whole one":          {eventLog(), 45 + 7 + 19, 0, 25},
		"none":                 {nil, 45 + 7, 25, 0},
		"one without its end":  {eventLog()[:5], 45 + 7, 25, 0},
		"one without a start":  {eventLog()[1:], 45 + 7, 25, 0},
		"one of another":       {[]string{strings.Join(append([]string{strings.Replace(eventLog()[0], "spark-1", "spark-2", 1)}, eventLog()[1:]...), "")}, 45 + 7, 25, 0},
		"one that goes before": {[]string{strings.ReplaceAll(strings.Join(eventLog(), ""), fmt.Sprint(began.Add(20*time.Second).UnixMilli()), "-9000000000000000")}, 45 + 7 + 39, 0, 25},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.used(25)
			if test.lines != nil {
				e.sent(test.lines...)
			}
			if err := e.handle(); err != nil {
				t.Fatal(err)
			}
			got := e.usage()
			if got.Attempt.Executors.Seconds != test.seconds || got.Attempt.GapSeconds != test.gap || got.ClosedGapSeconds != test.closed ||
				got.Application.GapSeconds != test.gap || got.Application.Executors.Seconds-got.Attempt.Executors.Seconds != 0 {
				t.Errorf("%+v, executors %+v, application %+v", got.Attempt, got.Attempt.Executors, got.Application.Executors)
			}
		})
	}
}

// The driver of a namespace with an archive for itself writes its event log there, by the file system of its image. Executors of another application are not counted.
func TestAGapIsClosedFromTheEventLogThatTheDriverWrote(t *testing.T) {
	for name, test := range map[string]struct {
		folder      string
		written     []string
		gap, closed int64
	}{
		"a whole one":         {"eventlog_v2_spark-1", eventLog(), 0, 25},
		"one without its end": {"eventlog_v2_spark-1", eventLog()[:5], 25, 0},
		"that of another":     {"eventlog_v2_spark-2", eventLog(), 25, 0},
		"none":                {"eventlog_v2_spark-1", nil, 25, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.settings.Archive.EventLogs.Folders = map[string]string{pi.Namespace: "s3a://logs-of-team-a/_eventlog"}
			e.used(25)
			folder := filepath.Join(e.folder, "_eventlog", test.folder)
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for i, line := range append([]string{""}, test.written...) {
				name := fmt.Sprintf("events_%d_spark-1", i)
				if i == 0 {
					name = "appstatus_spark-1"
				}
				if err := os.WriteFile(filepath.Join(folder, name), []byte(line), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.handle(); err != nil {
				t.Fatal(err)
			}
			if got := e.usage(); got.Attempt.GapSeconds != test.gap || got.ClosedGapSeconds != test.closed {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAGapWaitsForAnEventLogThatIsBeingSent(t *testing.T) {
	e := newEnv(t)
	e.clock.SetTime(began.Add(time.Minute + time.Second))
	e.used(25)
	e.sent(eventLog()[:3]...)
	e.sends(true)
	if err := e.handle(); err == nil || !strings.Contains(err.Error(), "still sends the event log") {
		t.Errorf("the handler is not asked again: %v", err)
	}
	e.sent(eventLog()...)
	e.sends(false)
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	if got := e.usage(); got.Attempt.GapSeconds != 0 || got.ClosedGapSeconds != 25 {
		t.Errorf("%+v", got)
	}
}

func TestAGapDoesNotWaitForAnEventLogForEver(t *testing.T) {
	e := newEnv(t)
	e.clock.SetTime(began.Add(2*time.Minute + time.Second)) // a minute of two is left
	e.used(25)
	e.sent(eventLog()[:3]...)
	e.sends(true)
	if err := e.handle(); err != nil {
		t.Fatal(err)
	}
	if got := e.usage(); got.Attempt.GapSeconds != 25 || got.ClosedGapSeconds != 0 {
		t.Errorf("%+v", got)
	}
}

// sends lets the sidecar of the driver run, or end.
func (e *env) sends(runs bool) {
	e.t.Helper()
	pods := e.core.CoreV1().Pods(pi.Namespace)
	pod, err := pods.Get(e.t.Context(), "pi-driver", metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	status := corev1.ContainerStatus{Name: eventlog.Container}
	if runs {
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}
	} else {
		status.State.Terminated = &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(began.Add(40 * time.Second))}
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{status}
	if _, err := pods.Update(e.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}
