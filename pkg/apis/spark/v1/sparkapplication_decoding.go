package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
)

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be
// decoded must not keep a whole list, and with it every other application, from being served. Such an object
// has its metadata and says in Undecodable what is wrong.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	var decoded plain
	unknown, err := json.UnmarshalStrict(data, &decoded)
	if err == nil {
		*a = SparkApplication(decoded)
		a.UnknownFields = messages(unknown)
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

func messages(errs []error) []string {
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}
