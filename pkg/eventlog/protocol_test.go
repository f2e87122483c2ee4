package eventlog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

func TestOnlyNamesOfARollingEventLogAreValid(t *testing.T) {
	for _, name := range []string{"events_1_spark-0a", "events_123456789_a_b", "appstatus_spark-0a", "appstatus_spark-0a.inprogress"} {
		if err := eventlog.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../events_1_a", "events_1_../a", "events_1_a/b", "events_1_a\\b", "events_0_a", "events_01_a", "events_1234567890_a", "events__a", "events_1_",
		"events_1_a.zstd", "events_1_a.compact", "events_1_a.inprogress", "appstatus_", "appstatus_a.inprogress.inprogress", "manifest.json", "events_1_a\n", "events_1_a%2f",
		"events_1_ä", "events_1_" + strings.Repeat("a", 201), strings.Repeat("x", 1<<20),
	} {
		if err := eventlog.CheckName(name); err == nil || len(err.Error()) > 2000 {
			t.Errorf("%.80q is valid, or its error is too long", name)
		}
	}
}

func TestTheStatusOfAnEndedApplicationIsSentLast(t *testing.T) {
	files := []string{"appstatus_a", "events_10_a", "events_2_a", "appstatus_a.inprogress", "events_1_a"}
	slices.SortFunc(files, eventlog.Compare)
	if want := []string{"appstatus_a.inprogress", "events_1_a", "events_2_a", "events_10_a", "appstatus_a"}; !slices.Equal(files, want) {
		t.Errorf("the order is %v, want %v", files, want)
	}
}
