package lifecycle_test

import (
	"testing"
	"time"

	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestDecideOnAnUnknownDriver(t *testing.T) {
	const (
		lost  = "The driver's node does not report the driver's state any more."
		found = "The driver's node reports the driver's state again."
	)
	policy := plain(interrupts, func(p *Policy) { p.Timeouts.ForceTermination = 0 })
	unknown := &Driver{Started: true, Ready: true, Unknown: true}
	runDecideCases(t, map[string]decideCase{
		"a driver that runs becomes unknown": {
			record: ofSpec().Running().Obj(), policy: policy, now: start, seen: Observation{Driver: unknown},
			news: []string{"6/0 Unknown [pi-0-driver pi-0]: " + lost},
		},
		"an unknown driver stays unknown": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: policy, now: at(time.Hour), seen: Observation{Driver: unknown},
		},
		"a driver that is not seen stays unknown": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: policy, now: at(time.Hour),
		},
		"a driver that reports again returns to its state": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: policy, now: at(time.Hour), seen: Observation{Driver: readyDriver},
			news: []string{"7/0 RunningHealthy [pi-0-driver pi-0]: " + found},
		},
		"a driver that reports again has its start timeout": {
			record: ofSpec().Requested().In(Unknown).Obj(), policy: policy, now: at(time.Hour), seen: Observation{Driver: requestedDriver},
			news: []string{"4/0 DriverRequested [pi-0-driver pi-0]: " + found},
			want: Decision{RequeueAt: at(time.Hour + 5*time.Minute)},
		},
		"an unknown driver that ended has ended": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: policy, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"7/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"an unknown driver that is gone has failed": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: policy, now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{
				"7/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost",
				"8/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"a terminating driver has its grace period, and a little more": {
			record: ofSpec().Running().Obj(), policy: policy, now: at(time.Minute - time.Nanosecond), seen: Observation{Driver: terminating(start)},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Minute)},
		},
		"a driver that outlasts its grace period becomes unknown": {
			record: ofSpec().Running().Obj(), policy: policy, now: at(time.Minute), seen: Observation{Driver: terminating(start)},
			news: []string{"6/0 Unknown [pi-0-driver pi-0]: " + lost},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a terminating driver is lost at the force-termination limit": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: plain(interrupts), now: at(8 * time.Minute),
			seen: Observation{Driver: terminating(start)},
			news: []string{"7/0 Failed [pi-0-driver pi-0]: The driver Pod was deleted and does not disappear: its node, or the kubelet there, " +
				"does not answer. It is deleted by force. Behind a network partition the driver may still run, beside the next one. | ended Failed, infrastructure, NodeLost"},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
		"an API without the state does not enter it": {
			record: submitted().Running().Obj(), policy: plain(), now: start, seen: Observation{Driver: unknown},
		},
	})
}
