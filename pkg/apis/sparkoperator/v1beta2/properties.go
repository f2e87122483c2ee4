package v1beta2

import "github.com/firesteel-dev/firesteel/pkg/kube/codec"

// Properties are properties by their keys. A value that is a number, true or false may be written without quotes, as
// the operator's documents have it.
type Properties map[string]string

// UnmarshalJSON decodes properties. The JSON libraries look for this method at the type.
func (p *Properties) UnmarshalJSON(data []byte) error {
	return codec.DecodeProperties(data, (*map[string]string)(p))
}
