package base

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// cachedRedactors is the number of objects whose redactor is cached. To make a redactor costs as much as to encode the object, and
// each reconcile of an object with warnings needs one. A cached redactor holds the secret values only, and most objects have none.
const cachedRedactors = 16384

// Redactors holds the redactor of each object of a controller, which hides the secret values of the object in texts. The zero value
// caches nothing.
type Redactors struct{ cache *lru.Cache }

type cachedRedactor struct {
	generation int64
	redactor   *redact.Redactor
}

// NewRedactors returns redactors with a cache.
func NewRedactors() Redactors { return Redactors{lru.New(cachedRedactors)} }

// For returns the redactor of an object. It is meant for texts that are rare: most objects never have one.
func (s Redactors) For(object metav1.Object) *redact.Redactor {
	if s.cache == nil {
		return redactorOf(object)
	}
	if last, known := s.cache.Get(object.GetUID()); known && last.(cachedRedactor).generation == object.GetGeneration() {
		return last.(cachedRedactor).redactor
	}
	entry := cachedRedactor{object.GetGeneration(), redactorOf(object)}
	s.cache.Add(object.GetUID(), entry)
	return entry.redactor
}

func redactorOf(object metav1.Object) *redact.Redactor {
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return redact.For(text)
}

// Cause returns a copy of a cause without the secrets of an object, nil for nil.
func (s Redactors) Cause(object metav1.Object, cause *lifecycle.Cause) *lifecycle.Cause {
	if cause == nil {
		return nil
	}
	redacted, redactor := *cause, s.For(object)
	redacted.Message, redacted.Detail = redactor.Text(cause.Message), redactor.Text(cause.Detail)
	return &redacted
}

// Texts returns sentences without the secrets of an object.
func (s Redactors) Texts(object metav1.Object, sentences []string) []string {
	if len(sentences) == 0 {
		return sentences
	}
	return s.For(object).Texts(sentences)
}

// Error returns an error of the same kind whose text is redacted.
func (s Redactors) Error(object metav1.Object, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := s.For(object).Text(text); shown != text {
		return &redactedError{error: err, text: shown}
	}
	return err
}

type redactedError struct {
	error
	text string
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Unwrap() error { return e.error }
