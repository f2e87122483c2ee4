// Package intern makes equal strings share their memory.
package intern

import "k8s.io/utils/lru"

const (
	// maxLength is the length in bytes of the longest text that is shared. Longer texts usually belong to one object.
	maxLength = 128
	// maxTexts is how many texts are shared: those that were used last. Statuses have fewer than a hundred in common, and
	// specs some for each team.
	maxTexts = 4096
)

var texts = lru.New(maxTexts)

// Text returns the copy of a text that all callers share. A decoder allocates a new copy for each object, although thousands
// of objects have the same text.
func Text(text string) string {
	if text == "" || len(text) > maxLength {
		return text
	}
	if known, ok := texts.Get(text); ok {
		return known.(string)
	}
	texts.Add(text, text)
	return text
}

// Set replaces each text by the shared copy.
func Set[T ~string](all ...*T) {
	for _, text := range all {
		*text = T(Text(string(*text)))
	}
}

// Map returns a map with shared keys and values; nil for nil.
func Map(texts map[string]string) map[string]string {
	if texts == nil {
		return nil
	}
	shared := make(map[string]string, len(texts))
	for key, value := range texts {
		shared[Text(key)] = Text(value)
	}
	return shared
}
