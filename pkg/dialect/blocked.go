package dialect

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BlockedPatch returns a merge patch for the status of an object for which Firesteel does nothing. The condition gives the
// reason and replaces all conditions. Other fields of the status do not change.
func BlockedPatch(object metav1.Object, why metav1.Condition, now time.Time) ([]byte, error) {
	why.Message = Clipped(why.Message)
	why.ObservedGeneration, why.LastTransitionTime = object.GetGeneration(), metav1.NewTime(now)
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"status":   map[string]any{"observedGeneration": object.GetGeneration(), "conditions": []metav1.Condition{why}},
	})
}
