package lifecycle_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestExecutionsAndSubmissions(t *testing.T) {
	tests := map[string]struct {
		record                  *v1alpha1.Record
		executions, submissions int64
	}{
		"never reconciled":                    {nil, 0, 0},
		"an application waits":                {submitted().Obj(), 0, 0},
		"a launch is under way":               {submitted().Fenced().Obj(), 0, 1},
		"a driver is requested":               {submitted().Requested().Obj(), 1, 1},
		"a driver ended":                      {submitted().Running().Ended(Failed).Obj(), 1, 1},
		"a submission failed":                 {submitted().Ended(SchedulingFailure).Obj(), 0, 1},
		"a submission failed with a driver":   {submitted().Requested().Ended(SchedulingFailure).Obj(), 0, 1},
		"an attempt was suspended":            {submitted().Running().In(Suspended).Obj(), 1, 1},
		"earlier attempts and this one count": {submitted().With(earlier).Requested().Obj(), 4, 3},
		"earlier attempts count":              {submitted().With(earlier).Obj(), 3, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Executions(test.record); got != test.executions {
				t.Errorf("%d executions, want %d", got, test.executions)
			}
			if got := Submissions(test.record); got != test.submissions {
				t.Errorf("%d submissions, want %d", got, test.submissions)
			}
		})
	}
}

func earlier(r *v1alpha1.Record) { r.Attempt.Executions, r.Attempt.SchedulingFailureRestarts = 3, 2 }

func TestPreviousEnd(t *testing.T) {
	for name, record := range map[string]*v1alpha1.Record{
		"never reconciled": nil, "a first attempt": submitted().Running().Ended(Failed).Obj(),
	} {
		if end := PreviousEnd(record); end != nil {
			t.Errorf("%s: the previous end is %v", name, end)
		}
	}
	if end := PreviousEnd(submitted().Running().EndedRestartable(DriverEvicted).Restarting().Obj()); end == nil ||
		end.State != string(DriverEvicted) {
		t.Errorf("the previous end is %v", end)
	}
}
