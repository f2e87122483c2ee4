package status_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

type executorStates = map[string]v1beta2.ExecutorState

var (
	pending   = dialect.Executor{Phase: corev1.PodPending}
	runs      = dialect.Executor{Phase: corev1.PodRunning}
	completed = dialect.Executor{Phase: corev1.PodSucceeded}
	broken    = dialect.Executor{Phase: corev1.PodFailed}
	unseen    = dialect.Executor{Phase: corev1.PodUnknown}
	vanished  = dialect.Executor{Phase: corev1.PodRunning, Gone: true}
)

func TestExecutorsHaveTheStatesOfTheirPods(t *testing.T) {
	running := submitted().Running()
	for name, tt := range map[string]struct {
		record *v1alpha1.Record
		before executorStates
		seen   map[string]dialect.Executor
		want   executorStates
	}{
		"while the driver runs": {
			running.Obj(), nil,
			map[string]dialect.Executor{"e-1": pending, "e-2": runs, "e-3": completed, "e-4": broken, "e-5": unseen, "e-6": vanished},
			executorStates{"e-1": "PENDING", "e-2": "RUNNING", "e-3": "COMPLETED", "e-4": "FAILED", "e-5": "UNKNOWN", "e-6": "UNKNOWN"},
		},
		"and stay where they are known no more": {
			running.Obj(), executorStates{"e-1": "RUNNING", "e-2": "FAILED", "e-3": "COMPLETED"}, map[string]dialect.Executor{"e-4": runs},
			executorStates{"e-1": "UNKNOWN", "e-2": "FAILED", "e-3": "COMPLETED", "e-4": "RUNNING"},
		},
		"what has ended stays as it ended": {
			running.Obj(), executorStates{"e-1": "FAILED"}, map[string]dialect.Executor{"e-1": runs}, executorStates{"e-1": "FAILED"},
		},
		"nothing is known": {
			running.Obj(), executorStates{"e-1": "RUNNING"}, nil, executorStates{"e-1": "RUNNING"},
		},
		"the driver succeeded": {
			submitted().Running().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{}).Obj(), executorStates{"e-1": "RUNNING", "e-2": "FAILED", "e-3": "UNKNOWN"},
			map[string]dialect.Executor{"e-1": runs, "e-4": broken, "e-5": pending},
			executorStates{"e-1": "COMPLETED", "e-2": "FAILED", "e-3": "COMPLETED", "e-4": "FAILED", "e-5": "COMPLETED"},
		},
		"the driver failed": {
			submitted().Running().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{}).Obj(), executorStates{"e-1": "RUNNING", "e-2": "COMPLETED"}, nil,
			executorStates{"e-1": "FAILED", "e-2": "COMPLETED"},
		},
		"another run is to begin": {
			submitted().Running().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{}).Restarting().Launched("second").Obj(),
			executorStates{"e-1": "FAILED"}, map[string]dialect.Executor{"e-1": broken}, nil,
		},
		"it is suspended": {
			submitted().Running().In(lifecycle.Suspending, "").In(lifecycle.Suspended, "").Obj(), executorStates{"e-1": "RUNNING"},
			map[string]dialect.Executor{"e-1": runs}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			written := v1beta2.SparkApplicationStatus{ExecutorState: tt.before}
			status.Project(&written, tt.record, status.Executors{Seen: tt.seen})
			if diff := cmp.Diff(tt.want, written.ExecutorState); diff != "" {
				t.Errorf("executors (-want +got):\n%s", diff)
			}
		})
	}
}

// Those that are over go first, the oldest before the others, then the youngest that live.
func TestExecutorsAreTrackedUpToANumber(t *testing.T) {
	seen := map[string]dialect.Executor{
		"pi-exec-1": completed, "pi-exec-2": vanished, "pi-exec-9": runs, "pi-exec-10": runs, "pi-exec-11": broken, "driverless": runs,
	}
	for tracked, want := range map[int][]string{
		0: {"pi-exec-1", "pi-exec-2", "pi-exec-9", "pi-exec-10", "pi-exec-11", "driverless"},
		6: {"pi-exec-1", "pi-exec-2", "pi-exec-9", "pi-exec-10", "pi-exec-11", "driverless"},
		5: {"pi-exec-2", "pi-exec-9", "pi-exec-10", "pi-exec-11", "driverless"},
		3: {"pi-exec-9", "pi-exec-10", "driverless"},
		2: {"pi-exec-9", "driverless"},
	} {
		var written v1beta2.SparkApplicationStatus
		status.Project(&written, submitted().Running().Obj(), status.Executors{Seen: seen, Tracked: tracked})
		for range 2 { // what was dropped does not come and go
			status.Project(&written, submitted().Running().Obj(), status.Executors{Seen: seen, Tracked: tracked})
			if len(written.ExecutorState) != len(want) {
				t.Errorf("of at most %d are shown %v", tracked, written.ExecutorState)
			}
			for _, name := range want {
				if written.ExecutorState[name] == "" {
					t.Errorf("of at most %d are shown %v, and not %s", tracked, written.ExecutorState, name)
				}
			}
		}
	}
}

func BenchmarkAThousandExecutors(b *testing.B) {
	seen := map[string]dialect.Executor{}
	for i := range 1000 {
		seen[fmt.Sprintf("pi-0b9a1c2d3e4f5a6b-exec-%d", i)] = runs
	}
	var written v1beta2.SparkApplicationStatus
	record := submitted().Running().Obj()
	for b.Loop() {
		status.Project(&written, record, status.Executors{Seen: seen, Tracked: 1000})
	}
}
