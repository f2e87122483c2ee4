package v1beta2

import "github.com/firesteel-dev/firesteel/pkg/decoding"

// UnmarshalJSON decodes a schedule and never fails on what a user wrote: one object that cannot be decoded must not
// keep a whole list, and with it every other schedule, from being served. Such an object has its metadata and says in
// Undecodable what is wrong.
func (s *ScheduledSparkApplication) UnmarshalJSON(data []byte) error {
	type plain ScheduledSparkApplication
	decoded, found, err := decoding.Decode[plain](data)
	if err != nil {
		return err
	}
	*s = ScheduledSparkApplication(decoded)
	s.Undecodable = found.Undecodable
	return nil
}
