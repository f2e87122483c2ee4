package v1beta2

import "github.com/firesteel-dev/firesteel/pkg/kube/codec"

// UnmarshalJSON decodes a schedule and never fails on what a user wrote: one object that cannot be decoded must not keep a whole list
// from being served. Such an object has its metadata and its record, and Undecodable is the reason. The JSON libraries look
// for this method at the type.
func (s *ScheduledSparkApplication) UnmarshalJSON(data []byte) error {
	type plain ScheduledSparkApplication
	return codec.DecodeInto(data, (*plain)(s), &s.Undecodable, nil)
}
