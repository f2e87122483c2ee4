package spec

import (
	"cmp"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Spec is what an object asks for now.
type Spec struct {
	// Generation is the object's metadata.generation.
	Generation int64
	// Observed is the generation that the status speaks of. It stands in for the one that earlier records do not name.
	Observed int64
	// Hash is the hash by a version of the encoding; empty if there is no such version. It is nil if edits do not matter.
	Hash func(version int64) string
	// SameSince is an earlier generation since which the fields whose edit matters are known to be the same; 0 if none is
	// known. It counts if a hash says otherwise: a library or a new default of the API may have changed that.
	SameSince int64
	// Fields returns the fields whose edit matters; nil if edits do not matter.
	Fields func() any
}

// Of is the spec of an object. hashed returns the fields whose edit matters. Each hash is made once, and only if it is asked
// for.
func Of(object metav1.Object, observed int64, hashed func() any) Spec {
	by := func(hash func(any) (string, error)) func() string {
		return sync.OnceValue(func() string {
			text, _ := hash(hashed()) // what was decoded can be encoded
			return text
		})
	}
	current, asJSON := by(Hash), by(HashJSON)
	return Spec{Generation: object.GetGeneration(), Observed: observed, Fields: hashed, Hash: func(version int64) string {
		switch version {
		case HashVersion:
			return current()
		case HashVersionJSON:
			return asJSON()
		default:
			return ""
		}
	}}
}

// Same reports whether two specs of an object have the same fields whose edit matters.
func (s Spec) Same(other Spec) bool {
	return s.Fields != nil && other.Fields != nil && reflect.DeepEqual(s.Fields(), other.Fields())
}

// Change is how a spec differs from that of an attempt.
type Change string

// The changes.
const (
	// Unchanged is a spec that was not edited.
	Unchanged Change = "Unchanged"
	// Edited is a spec that was edited.
	Edited Change = "Edited"
	// Unnoted is a spec of an attempt whose record names none.
	Unnoted Change = "Unnoted"
	// Unknowable is a spec of another generation, in a record whose hash this version of Firesteel cannot make.
	Unknowable Change = "Unknowable"
)

// Since reports how the spec differs from that of a record's attempt.
func (s Spec) Since(record *v1alpha1.Record) Change {
	noted := Noted(record)
	if s.Hash == nil || noted.Hash == "" {
		return Unnoted
	}
	generation := noted.Generation
	if record.Attempt.Spec == nil {
		generation = s.Observed
	}
	if generation != 0 && generation == s.Generation {
		return Unchanged
	}
	switch s.Hash(noted.HashVersion) {
	case "":
		return Unknowable
	case noted.Hash:
		return Unchanged
	}
	if s.SameSince > 0 && s.SameSince <= generation {
		return Unchanged
	}
	return Edited
}

// Note records the spec as that of the record's attempt.
func (s Spec) Note(record *v1alpha1.Record) {
	if s.Hash == nil {
		return
	}
	noted := record.Attempt.Spec
	current := noted != nil && noted.Hash != "" && noted.HashVersion == HashVersion && noted.Generation == s.Generation
	if !current || s.Generation == 0 {
		next := &v1alpha1.AttemptSpec{Hash: s.Hash(HashVersion), HashVersion: HashVersion, Generation: s.Generation}
		if noted != nil {
			next.Unknown = noted.Unknown
		}
		record.Attempt.Spec = next
	}
	record.Attempt.SpecHash = ""
	if record.Launch != nil {
		record.Launch.SpecHash = ""
	}
}

// Noted returns the recorded spec of a record's attempt, in the form of any version.
func Noted(record *v1alpha1.Record) v1alpha1.AttemptSpec {
	switch {
	case record == nil:
		return v1alpha1.AttemptSpec{}
	case record.Attempt.Spec != nil:
		return *record.Attempt.Spec
	}
	hash := record.Attempt.SpecHash
	if record.Launch != nil {
		hash = cmp.Or(hash, record.Launch.SpecHash)
	}
	return v1alpha1.AttemptSpec{Hash: hash, HashVersion: HashVersionJSON}
}

// Unnote restores the older record's note of the spec if both notes mean the same, so that nothing has to be written.
func Unnote(record, older *v1alpha1.Record) {
	previous, current := older.Attempt.Spec, record.Attempt.Spec
	if Noted(older).Hash == "" || current == nil || older.Attempt.ID != record.Attempt.ID {
		return
	}
	if previous != nil && previous.Generation != current.Generation {
		return
	}
	record.Attempt.Spec, record.Attempt.SpecHash = previous, older.Attempt.SpecHash
	if record.Launch != nil && older.Launch != nil {
		record.Launch.SpecHash = older.Launch.SpecHash
	}
}
