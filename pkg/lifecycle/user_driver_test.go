package lifecycle_test

import (
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// byUser makes the driver of the record's launch one that the user started.
func byUser(r *v1alpha1.Record) { r.Launch.ByUser = true }

// impatient sets a policy that would stop and repeat any other driver.
func impatient(p *Policy) {
	p.ActiveDeadline, p.Timeouts.DriverStart, p.Timeouts.ExecutorStart = time.Second, time.Second, time.Second
	p.Executors, p.ReportNoExecutorsAfter, p.Retain, p.ReleasesTimedOut = Executors{Init: 2, Min: 2}, time.Second, RetainNever, true
	p.Restart = Restart{Policy: RestartAlways, MaxAttempts: Unlimited}
}

func TestDecideOnADriverOfTheUser(t *testing.T) {
	retained := "Application is terminated without releasing resources as configured."
	failed := ended(Failed, Cause{Class: ClassApplication, Message: "It failed."})
	runDecideCases(t, map[string]decideCase{
		"that was found is requested": {
			record: submitted().With(func(r *v1alpha1.Record) {
				r.Launch = &v1alpha1.Launch{ID: "launch-0", DriverPod: "mine", ApplicationID: "spark-1", ByUser: true}
			}).Obj(),
			policy: plain(impatient), seen: Observation{Launched: "driver-0"}, now: start,
			news: []string{"2/0 DriverRequested [mine spark-1]: Requested driver from resource scheduler."},
		},
		"may take any time to start": {
			record: submitted().Requested().With(byUser).Obj(), policy: plain(impatient), seen: Observation{Driver: requestedDriver}, now: at(time.Hour),
		},
		"may run for any time, with any number of executors": {
			record: submitted().Running().With(byUser).Obj(), policy: plain(impatient), seen: Observation{Driver: readyDriver, NoExecutorSeen: true}, now: at(time.Hour),
		},
		"that failed is neither repeated nor deleted": {
			record: submitted().Running().With(byUser).Obj(), policy: plain(impatient), seen: Observation{Driver: failed}, now: at(time.Hour),
			news: []string{"6/0 Failed [pi-0-driver pi-0]: It failed. | ended Failed, application",
				"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + retained + " | final Failed"},
		},
		"that somebody deletes is not lost while its Pod exists": {
			record: submitted().Running().With(byUser).Obj(), policy: plain(impatient), seen: Observation{Driver: terminating(at(time.Minute))}, now: at(1000 * time.Hour),
			want: Decision{Held: HeldDriverTerminating},
		},
		"is not deleted by force with the application": {
			record: submitted().Running().With(byUser).Obj(), policy: plain(impatient, func(p *Policy) { p.Timeouts.Deletion = 0 }),
			seen: Observation{Driver: terminating(at(time.Minute)), Deleted: at(time.Minute)}, now: at(1000 * time.Hour),
			want: Decision{Held: HeldDriverTerminating},
		},
		"is deleted with the application": {
			record: submitted().Running().With(byUser).Obj(), policy: plain(impatient), seen: Observation{Driver: readyDriver, Deleted: at(time.Hour)}, now: at(time.Hour),
			want: Decision{Effect: Release},
		},
		"that has ended is deleted with the application": {
			record: submitted().Running().Ended(Failed).Retained().With(byUser).Obj(), policy: plain(impatient),
			seen: Observation{Driver: failed, Deleted: at(time.Hour)}, now: at(time.Hour),
			want: Decision{Effect: Release},
		},
		"is not stopped by an edit": {
			record: ofSpec().With(of("old")).Running().With(byUser).Obj(), policy: plain(interrupts), seen: Observation{Driver: readyDriver}, now: at(time.Hour),
		},
		"that has ended is left by an edit": {
			record: ofSpec().With(of("old")).Running().Ended(Failed).Retained().With(byUser).Obj(), policy: plain(interrupts),
			seen: Observation{Driver: failed}, now: at(time.Hour),
			news: []string{"8/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage, "9/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
	})
}
