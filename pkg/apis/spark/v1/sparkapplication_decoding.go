package v1

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be
// decoded must not keep a whole list, and with it every other application, from being served. Such an object
// has its metadata and says in Undecodable what is wrong.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	var decoded plain
	var unknown []error
	err := quantity.Check(data)
	if err == nil {
		unknown, err = json.UnmarshalStrict(data, &decoded)
	}
	if err == nil {
		*a = SparkApplication(decoded)
		a.UnknownFields = ofSpec(unknown)
		return nil
	}
	var bare struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if metaErr := json.UnmarshalCaseSensitivePreserveInts(data, &bare); metaErr != nil {
		return fmt.Errorf("decode metadata: %w", metaErr)
	}
	*a = SparkApplication{TypeMeta: bare.TypeMeta, ObjectMeta: bare.ObjectMeta, Undecodable: err.Error()}
	return nil
}

// ofSpec are the messages about the spec. Fields of the metadata and the status that this type does not know are a
// newer API server's or a newer Firesteel's, and nobody's error. Neither are those by which a template says that it is a
// Pod: files of templates, which spark-submit reads, begin with them.
func ofSpec(errs []error) []string {
	var texts []string
	for _, err := range errs {
		text := err.Error()
		saysPod := strings.HasSuffix(text, `.podTemplateSpec.apiVersion"`) || strings.HasSuffix(text, `.podTemplateSpec.kind"`)
		if strings.Contains(text, `"spec.`) && !saysPod {
			texts = append(texts, text)
		}
	}
	return texts
}
