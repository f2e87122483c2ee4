package lifecycle_test

import (
	"testing"
	"time"

	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestDecideOnADriverThatIsLost(t *testing.T) {
	const (
		lost  = "The driver's node does not tell any more what the driver does."
		found = "The driver's node tells of the driver again."
	)
	tells := plain(interrupts, func(p *Policy) { p.Timeouts.ForceTermination = 0 })
	unknown := &Driver{Started: true, Ready: true, Unknown: true}
	runDecideCases(t, map[string]decideCase{
		"a driver that runs is lost": {
			record: ofSpec().Running().Obj(), policy: tells, now: start, seen: Observation{Driver: unknown},
			news: []string{"6/0 Unknown [pi-0-driver pi-0]: " + lost},
		},
		"a driver that is lost stays so": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: tells, now: at(time.Hour), seen: Observation{Driver: unknown},
		},
		"a driver that is not seen is not found": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: tells, now: at(time.Hour),
		},
		"a driver that is found goes on": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: tells, now: at(time.Hour), seen: Observation{Driver: readyDriver},
			news: []string{"7/0 RunningHealthy [pi-0-driver pi-0]: " + found},
		},
		"a driver that is found has its time to start": {
			record: ofSpec().Requested().In(Unknown).Obj(), policy: tells, now: at(time.Hour), seen: Observation{Driver: requestedDriver},
			news: []string{"4/0 DriverRequested [pi-0-driver pi-0]: " + found},
			want: Decision{RequeueAt: at(time.Hour + 5*time.Minute)},
		},
		"a driver that is found to have ended has ended": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: tells, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"7/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release},
		},
		"a driver that is lost and then gone has failed": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: tells, now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{
				"7/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost",
				"8/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"a driver that is deleted has its grace, and a little more": {
			record: ofSpec().Running().Obj(), policy: tells, now: at(time.Minute - time.Nanosecond), seen: Observation{Driver: terminating(start)},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Minute)},
		},
		"a driver that outlasts its grace is lost": {
			record: ofSpec().Running().Obj(), policy: tells, now: at(time.Minute), seen: Observation{Driver: terminating(start)},
			news: []string{"6/0 Unknown [pi-0-driver pi-0]: " + lost},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a driver that does not go is given up where the API says when": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: plain(interrupts), now: at(8 * time.Minute),
			seen: Observation{Driver: terminating(start)},
			news: []string{"7/0 Failed [pi-0-driver pi-0]: The driver Pod was deleted and does not go: its node, or the kubelet there, " +
				"does not answer. It is deleted by force. Behind a network partition it may live on beside the next one. | ended Failed, infrastructure, NodeLost"},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
		"an API without the state does not come into it": {
			record: submitted().Running().Obj(), policy: plain(), now: start, seen: Observation{Driver: unknown},
		},
	})
}
