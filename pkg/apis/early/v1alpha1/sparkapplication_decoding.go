package v1alpha1

import (
	"encoding/json"
	"fmt"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be decoded must not keep a whole
// list from being served. Such an object has its metadata and its record, and Undecodable is the reason. The JSON libraries look
// for this method at the type.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	return codec.DecodeInto(data, (*plain)(a), &a.Undecodable, &a.UnknownFields)
}

// UnmarshalJSON decodes a number of cores, which may be written with or without quotes. The JSON libraries look for this method at
// the type.
func (c *Cores) UnmarshalJSON(data []byte) error {
	var written json.Number // a number keeps its digits, and a text may be any
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(c))
	}
	if err := json.Unmarshal(data, &written); err != nil {
		return fmt.Errorf("cores %s: write a number such as 1, or a quantity such as \"100m\"", text.Clip(string(data), 64))
	}
	*c = Cores(written)
	return nil
}
