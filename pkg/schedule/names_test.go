package schedule_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestRunNames(t *testing.T) {
	instant := time.Unix(1772366400, 0)
	long := strings.Repeat("nightly-", 10)
	for name, want := range map[string]string{
		"pi":                                "pi-1772366400",
		strings.Repeat("x", 41):             strings.Repeat("x", 41) + "-1772366400",
		"with.dots":                         "with-dots-fdace7ed-1772366400",
		"with-dots":                         "with-dots-1772366400",
		"2pi":                               "s2pi-5a1162df-1772366400",
		long + "one":                        "",
		long + "two":                        "",
		strings.Repeat("a.", 126):           "",
		"a" + strings.Repeat("-", 60) + "z": "",
	} {
		got := schedule.RunName(name, instant)
		if want != "" && got != want {
			t.Errorf("the run of %s is %s, want %s", name, got, want)
		}
		if again := schedule.RunName(name, instant); again != got {
			t.Errorf("the run of %s is %s, and then %s", name, got, again)
		}
		if problems := validation.IsDNS1035Label(got + "-999-driver"); len(problems) > 0 {
			t.Errorf("the driver of %s cannot have its name: %v", got, problems)
		}
		if problems := validation.IsValidLabelValue(schedule.LabelValue(name)); len(problems) > 0 {
			t.Errorf("the label of %s is refused: %v", name, problems)
		}
	}
	if schedule.RunName(long+"one", instant) == schedule.RunName(long+"two", instant) {
		t.Error("two schedules have a run of the same name")
	}
}
