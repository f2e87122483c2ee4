package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestAdoptMarksEnds(t *testing.T) {
	always, never := plain(restarts(RestartAlways)), plain()
	exhausted := plain(restarts(RestartAlways), func(p *Policy) { p.Restart.MaxAttempts = 0 })
	for name, test := range map[string]struct {
		record *recordBuilder
		policy Policy
		want   []string
	}{
		"an attempt that may be followed by another": {
			submitted().In(Failed), always, []string{"1/0 Submitted", "2/0 Failed | ended Failed, application, restartable"},
		},
		"an attempt that the policy does not cover": {
			submitted().In(Failed), never, []string{"1/0 Submitted", "2/0 Failed | ended Failed, application"},
		},
		"an attempt after which a limit denies a restart": {
			submitted().In(Succeeded), exhausted, []string{"1/0 Submitted", "2/0 Succeeded | ended Succeeded"},
		},
		"an attempt that was followed by another, whatever the policy": {
			submitted().In(SchedulingFailure).Restarting(), never,
			[]string{"1/0 Submitted", "2/0 SchedulingFailure | ended Failed, scheduling, restartable", "3/1 ScheduledToRestart"},
		},
		"the application": {
			submitted().In(DriverReadyTimedOut).In(TerminatedWithoutReleaseResources).In(ResourceReleased), always,
			[]string{
				"1/0 Submitted", "2/0 DriverReadyTimedOut | ended Failed, timeout",
				"3/0 TerminatedWithoutReleaseResources | final Failed", "4/0 ResourceReleased",
			},
		},
		"a deleted application": {
			submitted().In(ResourceReleased), always, []string{"1/0 Submitted", "2/0 ResourceReleased | final Deleted"},
		},
		"a cause from the driver's last status": {
			submitted().In(Failed).With(lastStatus(driverPod().Phase(corev1.PodFailed).Container("main", exited(137, "OOMKilled")))), never,
			[]string{"1/0 Submitted", "2/0 Failed | ended Failed, application, OOMKilled, exit 137"},
		},
		"no cause from a driver status that contradicts the state": {
			submitted().In(DriverStartTimedOut).With(lastStatus(driverPod().Phase(corev1.PodFailed).Container("main", exited(1, "Error")))), never,
			[]string{"1/0 Submitted", "2/0 DriverStartTimedOut | ended Failed, timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			record := test.record.Obj()
			Adopt(record, test.policy)
			if diff := cmp.Diff(test.want, describe(record.Transitions)); diff != "" {
				t.Errorf("transitions (-want +got):\n%s", diff)
			}
			if last := int64(len(test.want)); record.Sequence != last || record.Acknowledged != last {
				t.Errorf("sequence %d, acknowledged %d, want %d", record.Sequence, record.Acknowledged, last)
			}
		})
	}
}

func lastStatus(pod *podBuilder) func(*v1alpha1.Record) {
	return func(r *v1alpha1.Record) { r.Transitions[len(r.Transitions)-1].DriverStatus = &pod.Obj().Status }
}

func TestAdoptedApplicationsGoOn(t *testing.T) {
	backoff := restarts(RestartAlways)
	hour := func(p *Policy) { p.Restart.Backoff = time.Hour }
	adopted := func(b *recordBuilder, policy Policy) *v1alpha1.Record {
		record := b.Obj()
		Adopt(record, policy)
		return record
	}
	runDecideCases(t, map[string]decideCase{
		"a restart waits for its back-off": {
			record: adopted(submitted().In(Failed).Restarting(), plain(backoff, hour)), policy: plain(backoff, hour), now: at(time.Minute),
			want: Decision{RequeueAt: at(time.Hour)},
		},
		"a restart whose back-off is over is launched": {
			record: adopted(submitted().In(Failed).Restarting(), plain(backoff, hour)), policy: plain(backoff, hour), now: at(time.Hour),
			want: Decision{Effect: Launch},
		},
		"a driver that was gone at the adoption is lost": {
			record: adopted(submitted().Running().With(func(r *v1alpha1.Record) { r.Launch.Released = true }), plain()), policy: plain(), now: at(0),
			news: []string{
				"6/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"an end that may be followed by another attempt awaits a verdict": {
			record: adopted(submitted().Running().In(Failed), plain(backoff)), policy: plain(backoff), now: at(time.Hour),
			want: Decision{Awaits: AwaitsVerdict},
		},
	})
}
