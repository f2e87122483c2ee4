package launch

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestExecutorsStayUntilTheirLogsAreArchived(t *testing.T) {
	for name, test := range map[string]struct {
		given, want string
		warns       bool
	}{
		"by default":                {"", "false", false},
		"as the user wants, too":    {"false", "false", false},
		"unless the user wants not": {"true", "true", true},
	} {
		t.Run(name, func(t *testing.T) {
			given := map[string]string{}
			if test.given != "" {
				given[keepExecutorsKey] = test.given
			}
			plan := submission.Plan{Properties: given}
			warnings := keepExecutors(&plan)
			if got := plan.Properties[keepExecutorsKey]; got != test.want || len(warnings) > 0 != test.warns {
				t.Errorf("the property is %q, want %q; warnings %v", got, test.want, warnings)
			}
			if given[keepExecutorsKey] != test.given {
				t.Error("the properties that were given are changed")
			}
		})
	}
	plan := submission.Plan{}
	if keepExecutors(&plan); plan.Properties[keepExecutorsKey] != "false" {
		t.Error("a plan without properties has none")
	}
}
