package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestCountRuns(t *testing.T) {
	run := func(name string, age time.Duration, state schedule.RunState) schedule.Run {
		return schedule.Run{Name: name, Created: hour(9).Add(-age), State: state}
	}
	gone := run("gone", time.Hour, schedule.RunSucceeded)
	gone.Deleting = true
	leaving := run("leaving", 0, schedule.RunActive)
	leaving.Deleting = true
	unrecorded := run("unrecorded", 0, schedule.RunActive)
	unrecorded.Instant = hour(9)
	runs := []schedule.Run{
		unrecorded,
		run("s1", 1*time.Hour, schedule.RunSucceeded), run("s3", 3*time.Hour, schedule.RunSucceeded), run("s2", 2*time.Hour, schedule.RunSucceeded),
		run("f1", 4*time.Hour, schedule.RunFailed), run("f2", 5*time.Hour, schedule.RunFailed),
		run("a2", 0, schedule.RunActive), run("a1", 9*time.Hour, schedule.RunActive), gone, leaving,
	}
	for name, test := range map[string]struct {
		successful, failed int
		kept, keptFailed   []string
		surplus            []string
	}{
		"one of each":   {1, 1, []string{"s1"}, []string{"f1"}, []string{"f2", "s2", "s3"}},
		"none":          {0, 0, nil, nil, []string{"f1", "f2", "s1", "s2", "s3"}},
		"the newest":    {2, 0, []string{"s1", "s2"}, nil, []string{"f1", "f2", "s3"}},
		"all there are": {9, 9, []string{"s1", "s2", "s3"}, []string{"f1", "f2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			status, record := &v1alpha1.ScheduleStatus{}, &v1alpha1.ScheduleRecord{}
			schedule.Count(status, record, schedule.Policy{KeepSuccessful: test.successful, KeepFailed: test.failed}, runs,
				[]v1alpha1.RunReference{{Name: "a3"}})
			got := [][]string{status.PastSuccessfulRunNames, status.PastFailedRunNames, names(record.Surplus), names(record.Active)}
			want := [][]string{test.kept, test.keptFailed, test.surplus, {"a1", "a2", "a3", "leaving"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kept, kept failed, surplus, active (-want +got):\n%s", diff)
			}
		})
	}
}

func names(runs []v1alpha1.RunReference) []string {
	var names []string
	for _, run := range runs {
		names = append(names, run.Name)
	}
	return names
}
