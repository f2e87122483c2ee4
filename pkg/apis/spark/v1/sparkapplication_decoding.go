package v1

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
)

// UnmarshalJSON decodes an application and never fails on what a user wrote: one object that cannot be
// decoded must not keep a whole list, and with it every other application, from being served. Such an object
// has its metadata and says in Undecodable what is wrong.
func (a *SparkApplication) UnmarshalJSON(data []byte) error {
	type plain SparkApplication
	var decoded plain
	var unknown []error
	err := refuseLongExponents(data)
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

// refuseLongExponents refuses an object with a text such as 1e-9999999. To read that as a quantity takes seconds, and
// with some digits more hours, in which no other application would be read.
func refuseLongExponents(data []byte) error {
	if !mayHoldLongExponent(data) {
		return nil
	}
	var object any
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if text := longExponentIn(object); text != "" {
		return fmt.Errorf("%q has too long an exponent", text)
	}
	return nil
}

// mayHoldLongExponent is quick, since every object is read this way.
func mayHoldLongExponent(data []byte) bool {
	const digits = 6
	for rest := data; ; {
		at := bytes.IndexByte(rest, '-')
		if at < 0 {
			return false
		}
		after := rest[at+1:]
		if at > 0 && rest[at-1]|0x20 == 'e' && len(after) >= digits && onlyDigits(after[:digits]) {
			return true
		}
		rest = after
	}
}

func onlyDigits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

var longExponent = regexp.MustCompile(`^\s*[+-]?[0-9.]+[eE]-[0-9]{6,}\s*$`)

// longExponentIn returns a text with such an exponent that a value holds, if it holds any.
func longExponentIn(value any) string {
	switch value := value.(type) {
	case string:
		return longExponent.FindString(value)
	case []any:
		for _, entry := range value {
			if text := longExponentIn(entry); text != "" {
				return text
			}
		}
	case map[string]any:
		for _, entry := range value {
			if text := longExponentIn(entry); text != "" {
				return text
			}
		}
	}
	return ""
}

// ofSpec are the messages about the spec. Fields of the metadata and the status that this type does not know are a
// newer API server's or a newer Firesteel's, and nobody's error.
func ofSpec(errs []error) []string {
	var texts []string
	for _, err := range errs {
		if text := err.Error(); strings.Contains(text, `"spec.`) {
			texts = append(texts, text)
		}
	}
	return texts
}
