package schema

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// UnknownMetadata returns warnings about fields that the metadata of a manifest in JSON does not have. Decoding reports none: the metadata of an object
// in a cluster is that of its API server, which may be newer.
func UnknownMetadata(manifest []byte) finding.List {
	return unknownMetadata(manifest, finding.Warning, "is dropped")
}

func unknownMetadata(manifest []byte, severity finding.Severity, effect string) (found finding.List) {
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	reports, err := json.UnmarshalStrict(manifest, &object, json.DisallowUnknownFields)
	if err != nil {
		return nil // decoding the object reports it
	}
	var fields []string
	for _, report := range reports {
		if text := report.Error(); strings.HasPrefix(text, `unknown field "metadata.`) {
			fields = append(fields, text)
		}
	}
	slices.Sort(fields)
	found.AddUnknown(severity, effect, fields[:min(len(fields), finding.Max)], &object)
	return found
}
