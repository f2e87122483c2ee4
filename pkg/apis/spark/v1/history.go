package v1

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// History returns a stateTransitionHistory: the states of one attempt. Its keys count all transitions of the object, from "0".
func History[State any](record *v1alpha1.Record, attempt int64, state func(v1alpha1.Transition) State) map[string]State {
	states := map[string]State{}
	for _, transition := range record.Transitions {
		if transition.Attempt == attempt {
			states[strconv.FormatInt(transition.Sequence-1, 10)] = state(transition)
		}
	}
	return states
}

// ParseHistoryKey returns the sequence of the transition that a key of a stateTransitionHistory stands for.
func ParseHistoryKey(key string) (sequence int64, err error) {
	number, err := strconv.ParseInt(key, 10, 62)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("stateTransitionHistory has the key %.64q, which is no number", key)
	}
	return number + 1, nil
}

// FormatStateTime formats a time as the Apache operator writes it into a state.
func FormatStateTime(t metav1.MicroTime) string { return t.UTC().Format(time.RFC3339Nano) }

// ParseStateTime parses the time of a state.
func ParseStateTime(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) }
