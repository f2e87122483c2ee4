package codec

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	quickjson "github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Findings are the problems of an object that was decoded.
type Findings struct {
	// Undecodable is the reason why only the metadata and the record were decoded; empty if everything was.
	Undecodable string
	// UnknownFields are messages about fields of the object's spec that its type does not have.
	UnknownFields []string
}

// DecodeInto decodes an object and stores the findings. unknownFields may be nil. It changes nothing if not even the metadata can
// be decoded, which is an error.
func DecodeInto[Plain any](data []byte, into *Plain, undecodable *string, unknownFields *[]string, templates ...string) error {
	decoded, found, err := Decode[Plain](data, templates...)
	if err != nil {
		return err
	}
	*into, *undecodable = decoded, found.Undecodable
	if unknownFields != nil {
		*unknownFields = found.UnknownFields
	}
	return nil
}

// Decode decodes an object into its type, or rather into one that has the same fields and no UnmarshalJSON of its own.
// It fails where not even the metadata can be decoded. templates are the names of the fields that hold pod templates.
func Decode[Plain any](data []byte, templates ...string) (Plain, Findings, error) {
	object, unknown, err := decodeStrict[Plain](data)
	if err == nil {
		return object, Findings{UnknownFields: unknownInSpec(unknown, templates)}, nil
	}
	bare, metaErr := onlyMetadata[Plain](data)
	if metaErr != nil {
		return bare, Findings{}, fmt.Errorf("decode metadata: %s", redact.Text(text.Clip(metaErr.Error(), maxRead)))
	}
	if recorded, ok := withRecord[Plain](data); ok {
		bare = recorded
	}
	return bare, Findings{Undecodable: reasonOf(data, err)}, nil
}

// reasonOf returns why an object cannot be decoded, without what may be a secret. Objects of all kinds wait for it, so it looks for
// secrets in the reason alone.
func reasonOf(data []byte, err error) string {
	reason := embedded.ReplaceAllString(text.Clip(err.Error(), maxRead), ".")
	return text.Clip(redact.Text(redactRepeated(data, reason)), maxReason)
}

// maxReason bounds the bytes of a reason: decoders quote what they cannot read, however long it is.
const maxReason = 512

// maxRead bounds the bytes of a decoder's text that are searched.
const maxRead = 1024

// embedded matches the name of an embedded type, which a decoder puts into a field's path and a manifest does not have. Fields of
// manifests begin with a small letter.
var embedded = regexp.MustCompile(`[.][A-Z]\w*[.]`)

// decodeStrict decodes an object as the API server does, and reports all that is wrong with it.
func decodeStrict[Plain any](data []byte) (object Plain, unknown []error, err error) {
	if object, ok := decodeFast[Plain](data); ok {
		return object, nil, nil
	}
	if err := quantity.Check(data, reflect.TypeFor[Plain]()); err != nil {
		return object, nil, err
	}
	if err := CheckWeight(data, reflect.TypeFor[Plain]()); err != nil {
		return object, nil, err
	}
	unknown, err = json.UnmarshalStrict(data, &object)
	return object, unknown, quantity.Locate(err, data, reflect.TypeFor[Plain]())
}

// decodeFast decodes an object without faults in half the time that Kubernetes' decoder takes. It refuses whatever that decoder
// refuses and some more, such as a name that an object has twice. It does not report what it found.
func decodeFast[Plain any](data []byte) (object Plain, ok bool) {
	if CheckWeight(data, reflect.TypeFor[Plain]()) != nil || quantity.CheckUnrepeated(data, reflect.TypeFor[Plain]()) != nil {
		return object, false
	}
	err := quickjson.Unmarshal(data, &object, quickjson.RejectUnknownMembers(true))
	return object, err == nil
}

// metadata is what every object has.
type metadata struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

func onlyMetadata[Plain any](data []byte) (object Plain, err error) {
	var bare metadata
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &bare); err != nil {
		return object, err
	}
	encoded, err := stdjson.Marshal(bare)
	if err != nil {
		return object, err
	}
	return object, json.UnmarshalCaseSensitivePreserveInts(encoded, &object)
}

// withRecord decodes the metadata and status.firesteel of an object. That record is Firesteel's own: it says what runs, and which
// version wrote it, whatever a user made of the rest.
func withRecord[Plain any](data []byte) (object Plain, ok bool) {
	var recorded struct {
		metadata `json:",inline"`
		Status   struct {
			Firesteel stdjson.RawMessage `json:"firesteel,omitempty"`
		} `json:"status"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &recorded); err != nil || len(recorded.Status.Firesteel) == 0 {
		return object, false
	}
	encoded, err := stdjson.Marshal(recorded)
	if err != nil {
		return object, false
	}
	object, _, err = decodeStrict[Plain](encoded)
	return object, err == nil
}

// unknownInSpec are the messages about the spec. Fields of the metadata and the status that a type does not know are a
// newer API server's or a newer Firesteel's, and no error. Neither are those by which a template says that it is a
// Pod: files of templates, which spark-submit reads, begin with them.
func unknownInSpec(errs []error, templates []string) []string {
	var texts []string
	for _, err := range errs {
		if message := err.Error(); strings.Contains(message, `"spec.`) && !isPodHeader(message, templates) {
			texts = append(texts, text.Clip(message, maxReason))
		}
	}
	return texts
}

func isPodHeader(text string, templates []string) bool {
	for _, template := range templates {
		if strings.HasSuffix(text, "."+template+`.apiVersion"`) || strings.HasSuffix(text, "."+template+`.kind"`) {
			return true
		}
	}
	return false
}
