package outbox_test

import (
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/outbox"
)

// A record holds at most 8 KiB of unknown fields. Those of old transitions are dropped first.
func TestPruneBoundsUnknownFields(t *testing.T) {
	field := v1alpha1.UnknownFields(`{"newer":"` + strings.Repeat("x", 1000) + `"}`)
	record := recordOf(10, 10)
	for i := range record.Transitions {
		record.Transitions[i].Unknown = field
		record.Transitions[i].End = &v1alpha1.AttemptEnd{Unknown: field}
		record.Transitions[i].Usage = &v1alpha1.Usage{Unknown: field, Driver: &v1alpha1.PodUsage{Unknown: field}}
	}
	record.Unknown, record.Attempt.Unknown = field, field
	record.Attempt.Spec = &v1alpha1.AttemptSpec{Unknown: field}
	record.Previous = &v1alpha1.Attempt{Unknown: field}
	record.Usage = &v1alpha1.ApplicationUsage{Attempts: []v1alpha1.AttemptUsage{{Unknown: field}}}
	record.Launch, record.Verdict = &v1alpha1.Launch{Unknown: field}, &v1alpha1.Verdict{Unknown: field}
	Prune(record)
	if record.Unknown == "" || record.Attempt.Unknown == "" || record.Launch.Unknown == "" || record.Attempt.Spec.Unknown == "" {
		t.Error("the record's own fields were dropped first")
	}
	if record.Transitions[0].Unknown != "" || record.Transitions[0].End.Unknown != "" {
		t.Error("fields of old transitions were not dropped")
	}
	if size := Size(record); size > 12<<10 {
		t.Errorf("the record takes %d bytes", size)
	}
	again := record.DeepCopy()
	Prune(again)
	if again.Transitions[9].Unknown != record.Transitions[9].Unknown || Size(again) != Size(record) {
		t.Error("a field within the limit was dropped")
	}
}

func TestPruneBoundsUnknownFieldsOfAClaim(t *testing.T) {
	large := v1alpha1.UnknownFields(`{"newer":"` + strings.Repeat("x", 9000) + `"}`)
	record := recordOf(1, 1)
	record.Quota = &v1alpha1.QuotaClaim{Unknown: `{"newer":1}`, Pods: []v1alpha1.QuotaPods{{Unknown: large}, {Unknown: `{"newer":2}`}}}
	Prune(record)
	if claim := record.Quota; claim.Pods[0].Unknown != "" || claim.Pods[1].Unknown == "" || claim.Unknown == "" {
		t.Errorf("the claim holds %d bytes", Size(record))
	}
	record.Quota.Unknown = large
	if Prune(record); record.Quota.Unknown != "" {
		t.Error("it holds any number of fields of its own")
	}
}
