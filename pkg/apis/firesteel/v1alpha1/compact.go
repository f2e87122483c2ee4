package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

const (
	// longestShared is the length in bytes of a text that is worth sharing: what is longer is one application's own.
	longestShared = 128
	// mostShared is how many texts are shared. There are fewer than a hundred that statuses have in common; specs have some
	// for each team.
	mostShared = 4096
)

var texts = lru.New(mostShared)

// Shared returns a text as it is kept for all objects that have it. What is decoded is each object's own, though statuses
// say the same few things of thousands of them.
func Shared(text string) string {
	if text == "" || len(text) > longestShared {
		return text
	}
	if known, is := texts.Get(text); is {
		return known.(string)
	}
	texts.Add(text, text)
	return text
}

// CompactMeta has the metadata of an object take less memory, and drops its managed fields, which nobody reads in a cache.
// All else has to stay: the API server takes what a written object lacks away from those who manage it, even where the
// write is of the status alone.
func CompactMeta(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	meta.Namespace = Shared(meta.Namespace)
	for i, finalizer := range meta.Finalizers {
		meta.Finalizers[i] = Shared(finalizer)
	}
}

// CompactTexts returns texts by their keys, such as Spark properties, in less memory: many applications have the same.
func CompactTexts(texts map[string]string) map[string]string {
	if texts == nil {
		return nil
	}
	shared := make(map[string]string, len(texts))
	for key, value := range texts {
		shared[Shared(key)] = Shared(value)
	}
	return shared
}

// CompactConditions returns conditions in as little memory as they can be kept in.
func CompactConditions(conditions []metav1.Condition) []metav1.Condition {
	for i := range conditions {
		c := &conditions[i]
		c.Type, c.Status, c.Reason, c.Message = Shared(c.Type), metav1.ConditionStatus(Shared(string(c.Status))), Shared(c.Reason), Shared(c.Message)
	}
	return exact(conditions)
}

// Compact has a record take as little memory as it can be kept in. It may be nil.
func (r *Record) Compact() {
	if r == nil {
		return
	}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		t.State, t.Message, t.Outcome = Shared(t.State), Shared(t.Message), Shared(t.Outcome)
		if i > 0 && t.ApplicationID == r.Transitions[i-1].ApplicationID {
			t.ApplicationID = r.Transitions[i-1].ApplicationID
		}
		if i > 0 && t.DriverPod == r.Transitions[i-1].DriverPod {
			t.DriverPod = r.Transitions[i-1].DriverPod
		}
	}
	r.Transitions = exact(r.Transitions)
}

// exact is a list without room for more, which decoding leaves.
func exact[T any](list []T) []T {
	if cap(list) == len(list) {
		return list
	}
	return slices.Clone(list)
}
