package dialect

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetAsidePatch is a merge patch for the status of an application for which nothing is done. It says why in the
// condition Succeeded, which takes the place of all conditions, and leaves alone what else the status holds.
func SetAsidePatch(app Application, reason, message string, now time.Time) ([]byte, error) {
	condition := metav1.Condition{
		Type: ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason, Message: Clipped(message),
		ObservedGeneration: app.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.GetResourceVersion()},
		"status":   map[string]any{"conditions": []metav1.Condition{condition}},
	})
}
