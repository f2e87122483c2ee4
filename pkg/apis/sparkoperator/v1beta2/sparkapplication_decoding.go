package v1beta2

import "github.com/firesteel-dev/firesteel/pkg/kube/codec"

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be decoded must not keep a whole list
// from being served. Such an object has its metadata and its record, and Undecodable is the reason. The JSON libraries look
// for this method at the type.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	err := codec.DecodeInto(data, (*plain)(a), &a.Undecodable, &a.UnknownFields, "template")
	a.UnknownFields = append(a.UnknownFields, a.Spec.RestartPolicy.UnknownFields...)
	return err
}
