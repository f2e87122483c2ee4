package v1alpha1

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// UnknownFields are the fields of an object that its type does not have, as a JSON object; empty if there are none. A newer
// version of Firesteel wrote them, and they are written again as they are.
//
// They live as long as what they are part of. Those of a record, of its attempt and of the attempt's spec live as long as the
// record: the next attempt takes them over. Those of a launch live until another launch begins, those of a verdict until the
// verdict is dropped, those of the usage of an attempt until it is the third last, and those of a transition, a past attempt or a run until that is dropped.
type UnknownFields string

// TakeUnknown has an attempt take over the unknown fields of the one before.
func (a *Attempt) TakeUnknown(previous Attempt) {
	a.Unknown = previous.Unknown
	if previous.Spec != nil && previous.Spec.Unknown != "" {
		a.Spec = &AttemptSpec{Unknown: previous.Spec.Unknown}
	}
}

// BoundUnknown drops unknown fields, the first ones first, until the rest takes no more than a number of bytes.
func BoundUnknown(held []*UnknownFields, limit int) {
	size := 0
	for _, unknown := range held {
		size += len(*unknown)
	}
	for _, unknown := range held {
		if size <= limit {
			return
		}
		size -= len(*unknown)
		*unknown = ""
	}
}

// The JSON libraries look for the methods below at the types. pkg/kube/codec does the work.

// UnmarshalJSON decodes the known fields and keeps the others.
func (a *Attempt) UnmarshalJSON(data []byte) error {
	type plain Attempt
	return codec.Split(data, (*plain)(a), &a.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (a *Attempt) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Attempt
	return codec.SplitFrom(from, (*plain)(a), &a.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (a Attempt) MarshalJSON() ([]byte, error) {
	type plain Attempt
	return codec.Join(plain(a), a.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (a *AttemptSpec) UnmarshalJSON(data []byte) error {
	type plain AttemptSpec
	return codec.Split(data, (*plain)(a), &a.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (a *AttemptSpec) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain AttemptSpec
	return codec.SplitFrom(from, (*plain)(a), &a.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (a AttemptSpec) MarshalJSON() ([]byte, error) {
	type plain AttemptSpec
	return codec.Join(plain(a), a.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (l *Launch) UnmarshalJSON(data []byte) error {
	type plain Launch
	return codec.Split(data, (*plain)(l), &l.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (l *Launch) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Launch
	return codec.SplitFrom(from, (*plain)(l), &l.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (l Launch) MarshalJSON() ([]byte, error) {
	type plain Launch
	return codec.Join(plain(l), l.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (q *QuotaClaim) UnmarshalJSON(data []byte) error {
	type plain QuotaClaim
	return codec.Split(data, (*plain)(q), &q.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (q *QuotaClaim) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain QuotaClaim
	return codec.SplitFrom(from, (*plain)(q), &q.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (q QuotaClaim) MarshalJSON() ([]byte, error) {
	type plain QuotaClaim
	return codec.Join(plain(q), q.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (q *QuotaPods) UnmarshalJSON(data []byte) error {
	type plain QuotaPods
	return codec.Split(data, (*plain)(q), &q.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (q *QuotaPods) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain QuotaPods
	return codec.SplitFrom(from, (*plain)(q), &q.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (q QuotaPods) MarshalJSON() ([]byte, error) {
	type plain QuotaPods
	return codec.Join(plain(q), q.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (t *Transition) UnmarshalJSON(data []byte) error {
	type plain Transition
	return codec.Split(data, (*plain)(t), &t.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (t *Transition) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Transition
	return codec.SplitFrom(from, (*plain)(t), &t.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (t Transition) MarshalJSON() ([]byte, error) {
	type plain Transition
	return codec.Join(plain(t), t.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (a *AttemptEnd) UnmarshalJSON(data []byte) error {
	type plain AttemptEnd
	return codec.Split(data, (*plain)(a), &a.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (a *AttemptEnd) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain AttemptEnd
	return codec.SplitFrom(from, (*plain)(a), &a.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (a AttemptEnd) MarshalJSON() ([]byte, error) {
	type plain AttemptEnd
	return codec.Join(plain(a), a.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	type plain Verdict
	return codec.Split(data, (*plain)(v), &v.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (v *Verdict) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Verdict
	return codec.SplitFrom(from, (*plain)(v), &v.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type plain Verdict
	return codec.Join(plain(v), v.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (u *ApplicationUsage) UnmarshalJSON(data []byte) error {
	type plain ApplicationUsage
	return codec.Split(data, (*plain)(u), &u.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (u *ApplicationUsage) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain ApplicationUsage
	return codec.SplitFrom(from, (*plain)(u), &u.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (u ApplicationUsage) MarshalJSON() ([]byte, error) {
	type plain ApplicationUsage
	return codec.Join(plain(u), u.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (u *AttemptUsage) UnmarshalJSON(data []byte) error {
	type plain AttemptUsage
	return codec.Split(data, (*plain)(u), &u.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (u *AttemptUsage) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain AttemptUsage
	return codec.SplitFrom(from, (*plain)(u), &u.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (u AttemptUsage) MarshalJSON() ([]byte, error) {
	type plain AttemptUsage
	return codec.Join(plain(u), u.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (u *Usage) UnmarshalJSON(data []byte) error {
	type plain Usage
	return codec.Split(data, (*plain)(u), &u.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (u *Usage) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Usage
	return codec.SplitFrom(from, (*plain)(u), &u.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	return codec.Join(plain(u), u.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (u *PodUsage) UnmarshalJSON(data []byte) error {
	type plain PodUsage
	return codec.Split(data, (*plain)(u), &u.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (u *PodUsage) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain PodUsage
	return codec.SplitFrom(from, (*plain)(u), &u.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (u PodUsage) MarshalJSON() ([]byte, error) {
	type plain PodUsage
	return codec.Join(plain(u), u.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (b *BegunRun) UnmarshalJSON(data []byte) error {
	type plain BegunRun
	return codec.Split(data, (*plain)(b), &b.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (b *BegunRun) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain BegunRun
	return codec.SplitFrom(from, (*plain)(b), &b.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (b BegunRun) MarshalJSON() ([]byte, error) {
	type plain BegunRun
	return codec.Join(plain(b), b.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (h *HeldRun) UnmarshalJSON(data []byte) error {
	type plain HeldRun
	return codec.Split(data, (*plain)(h), &h.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (h *HeldRun) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain HeldRun
	return codec.SplitFrom(from, (*plain)(h), &h.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (h HeldRun) MarshalJSON() ([]byte, error) {
	type plain HeldRun
	return codec.Join(plain(h), h.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (s *ScheduledRun) UnmarshalJSON(data []byte) error {
	type plain ScheduledRun
	return codec.Split(data, (*plain)(s), &s.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (s *ScheduledRun) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain ScheduledRun
	return codec.SplitFrom(from, (*plain)(s), &s.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (s ScheduledRun) MarshalJSON() ([]byte, error) {
	type plain ScheduledRun
	return codec.Join(plain(s), s.Unknown)
}

// UnmarshalJSON decodes the known fields and keeps the others.
func (r *RunReference) UnmarshalJSON(data []byte) error {
	type plain RunReference
	return codec.Split(data, (*plain)(r), &r.Unknown)
}

// UnmarshalJSONFrom is UnmarshalJSON for the decoder of an object that has this one.
func (r *RunReference) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain RunReference
	return codec.SplitFrom(from, (*plain)(r), &r.Unknown)
}

// MarshalJSON encodes the known and the unknown fields.
func (r RunReference) MarshalJSON() ([]byte, error) {
	type plain RunReference
	return codec.Join(plain(r), r.Unknown)
}
