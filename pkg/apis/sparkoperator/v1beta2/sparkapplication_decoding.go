package v1beta2

import "github.com/firesteel-dev/firesteel/pkg/decoding"

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be
// decoded must not keep a whole list, and with it every other application, from being served. Such an object
// has its metadata and says in Undecodable what is wrong.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	decoded, found, err := decoding.Decode[plain](data, "template")
	if err != nil {
		return err
	}
	*a = SparkApplication(decoded)
	a.Undecodable, a.UnknownFields = found.Undecodable, found.UnknownFields
	return nil
}
