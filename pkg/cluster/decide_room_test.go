package cluster_test

import (
	"slices"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

var (
	waitsForRoom = &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: diagnosis.ReasonWaitingForQuota, Message: "The launch waits for room."}
	exceeds      = &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: diagnosis.ReasonQuotaWouldBeExceeded, Message: "too much of pods."}
)

func claim() *v1alpha1.QuotaClaim { return &v1alpha1.QuotaClaim{Since: outbox.RecordTime(start)} }

func TestNothingIsCreatedBeforeRoomIsConfirmed(t *testing.T) {
	for name, test := range map[string]struct {
		record *v1alpha1.Record
		room   Room
		effect Effect
		reason string
		claims bool
	}{
		"a new cluster waits":                    {nil, Room{Claim: claim(), Waiting: waitsForRoom}, NoEffect, diagnosis.ReasonWaitingForQuota, true},
		"one that waits goes on waiting":         {in(Submitted), Room{Claim: claim(), Waiting: waitsForRoom}, NoEffect, diagnosis.ReasonWaitingForQuota, true},
		"its reservation has not come back":      {in(Submitted), Room{Claim: claim()}, NoEffect, "Submitted", true},
		"its reservation is confirmed":           {in(Submitted), Room{Claim: claim(), Confirmed: true}, Ensure, "Submitted", true},
		"no quota limits it":                     {in(Submitted), Room{Confirmed: true}, Ensure, "Submitted", false},
		"it has ended, and an edit begins again": {edited(released()), Room{Claim: claim(), Waiting: waitsForRoom}, NoEffect, diagnosis.ReasonWaitingForQuota, true},
	} {
		record, decision := Decide(test.record, plain, Observation{Room: &test.room}, at(time.Minute))
		if decision.Effect != test.effect || decision.Ready.Reason != test.reason || (record.Quota != nil) != test.claims || Current(record) != Submitted {
			t.Errorf("%s: it is %s, %+v, claims %+v", name, Current(record), decision, record.Quota)
		}
	}
}

// edited is a record of another spec.
func edited(record *v1alpha1.Record) *v1alpha1.Record {
	record.Attempt.Spec = noted("another")
	return record
}

func TestAClusterForWhichThereIsNoRoomFails(t *testing.T) {
	record, _ := Decide(nil, plain, Observation{Room: &Room{Claim: claim(), Refused: exceeds}, Released: true}, start)
	if !slices.Equal(states(record), []State{Submitted, SchedulingFailure, ResourceReleased}) {
		t.Errorf("it went through %v", states(record))
	}
	if end := outbox.LastEnd(record); end == nil || end.End.Reason != exceeds.Reason || end.End.Message != exceeds.Message {
		t.Errorf("it ended by %+v", end)
	}
}

func TestAClusterIsComparedAgainAtTheTimeOfTheRetry(t *testing.T) {
	_, decision := Decide(in(Submitted), plain, Observation{Room: &Room{Claim: claim(), RetryAt: at(time.Hour)}}, at(time.Minute))
	if !decision.RequeueAt.Equal(at(time.Hour)) {
		t.Errorf("it is requeued at %s", decision.RequeueAt)
	}
	if _, decision = Decide(in(Submitted), plain, Observation{Room: &Room{Claim: claim(), Waiting: waitsForRoom}}, at(time.Hour)); !decision.RequeueAt.IsZero() {
		t.Errorf("a watch wakes it, and it is requeued at %s", decision.RequeueAt)
	}
}

func TestTheRoomOfAClusterIsReservedUntilItsPodsExist(t *testing.T) {
	runs := func(complete bool) Observation {
		return Observation{Ensured: true, Created: start, Master: well, Complete: complete}
	}
	claiming := in(Submitted)
	claiming.Quota = claim()
	for name, test := range map[string]struct {
		policy Policy
		seen   Observation
		claims bool
	}{
		"it starts":                {plain, Observation{Ensured: true, Created: start, Complete: true}, true},
		"it runs, and Pods lack":   {plain, runs(false), true},
		"it runs with all Pods":    {plain, runs(true), false},
		"the spec was edited":      {with(func(p *Policy) { p.Spec = hashed("two") }), runs(false), false},
		"it is suspended too late": {with(func(p *Policy) { p.Suspend = true }), runs(false), true},
	} {
		if record, _ := Decide(claiming, test.policy, test.seen, at(time.Minute)); (record.Quota != nil) != test.claims {
			t.Errorf("%s: it claims %+v", name, record.Quota)
		}
	}
}
