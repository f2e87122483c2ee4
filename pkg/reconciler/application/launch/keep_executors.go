package launch

import (
	"maps"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const keepExecutorsKey = "spark.kubernetes.executor.deleteOnTermination"

// KeptByUser reports whether the application itself sets if the Pods of executors stay after their end.
func KeptByUser(plan submission.Plan) bool {
	_, given := plan.Properties[keepExecutorsKey]
	return given
}

// keepExecutors lets the Pods of executors that ended stay, so that their logs can be archived. The garbage collector deletes them with the driver Pod,
// which owns them. If the user has them deleted, that stays, with a warning.
func keepExecutors(plan *submission.Plan) finding.List {
	given, ok := plan.Properties[keepExecutorsKey]
	if !ok {
		plan.Properties = maps.Clone(plan.Properties)
		if plan.Properties == nil {
			plan.Properties = map[string]string{}
		}
		plan.Properties[keepExecutorsKey] = "false"
		return nil
	}
	if strings.EqualFold(strings.TrimSpace(given), "false") {
		return nil
	}
	return finding.List{{
		Severity: finding.Warning, Property: keepExecutorsKey, Field: keepExecutorsKey, Value: given,
		Message: "lets Spark delete executors before their logs are archived", Remedy: "remove it, or write false, if you want their logs",
	}}
}
