package setup

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// knownSecrets bounds for how many objects the redactor is remembered. To make one costs as much as to encode the object.
const knownSecrets = 1024

// Secrets knows what redacts the texts about each object of a controller. The zero value remembers nothing.
type Secrets struct{ known *lru.Cache }

type secretsOf struct {
	generation int64
	redactor   *redact.Redactor
}

// NewSecrets knows of none yet.
func NewSecrets() Secrets { return Secrets{lru.New(knownSecrets)} }

// Of returns what redacts the texts about an object. It is for texts that are rare: most objects never have one.
func (s Secrets) Of(object metav1.Object) *redact.Redactor {
	if s.known == nil {
		return redactorOf(object)
	}
	if last, known := s.known.Get(object.GetUID()); known && last.(secretsOf).generation == object.GetGeneration() {
		return last.(secretsOf).redactor
	}
	made := secretsOf{object.GetGeneration(), redactorOf(object)}
	s.known.Add(object.GetUID(), made)
	return made.redactor
}

func redactorOf(object metav1.Object) *redact.Redactor {
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return redact.For(text)
}

// Shown is an error as it may be shown: of the same kind, with a text that is redacted.
func (s Secrets) Shown(object metav1.Object, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := s.Of(object).Text(text); shown != text {
		return &shownError{error: err, text: shown}
	}
	return err
}

type shownError struct {
	error
	text string
}

func (e *shownError) Error() string { return e.text }

func (e *shownError) Unwrap() error { return e.error }
