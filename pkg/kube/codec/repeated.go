package codec

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// quoted is a value in a decoder's text, which may be clipped within it.
var quoted = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)

const (
	// minRepeated is the shortest value that is distinguished from other words.
	minRepeated = 6
	// maxRepeated bounds the values, and the words of them, that are searched for.
	maxRepeated = 16
)

// redactRepeated removes those values from a decoder's text that an object's spec has more than once. A decoder repeats what was
// written in place of a time or a duration. Elsewhere in the spec, the same value may be a secret.
func redactRepeated(data []byte, said string) string {
	values := quoted.FindAllString(said, -1)
	if len(values) == 0 {
		return said
	}
	spec := specOf(data)
	count := 0
	repeated := func(word string) bool {
		if len(word) < minRepeated {
			return false
		}
		written, err := json.Marshal(word)
		if count++; err != nil || count > maxRepeated {
			return true
		}
		return bytes.Count(spec, written[1:len(written)-1]) > 1
	}
	var words []string
	for _, value := range values {
		plain := unquoted(value)
		for _, word := range append([]string{plain}, strings.Fields(plain)...) {
			if repeated(word) {
				words = append(words, word)
			}
		}
	}
	for _, value := range values {
		if plain := unquoted(value); slices.ContainsFunc(words, func(word string) bool { return strings.Contains(plain, word) }) {
			said = strings.ReplaceAll(said, value, strconv.Quote(redact.Mark))
		}
	}
	return said
}

func unquoted(value string) string {
	if plain, err := strconv.Unquote(value); err == nil {
		return plain
	}
	return strings.Trim(value, `"`)
}

// specOf is the JSON of an object's spec.
func specOf(data []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		isSpec := name.String() == "spec"
		value, err := d.ReadValue()
		if isSpec || err != nil {
			return value
		}
	}
	return nil
}
