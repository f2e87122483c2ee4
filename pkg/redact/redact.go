package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark replaces a secret value. Spark uses the same text.
const Mark = "*********(redacted)"

// sparkPattern is the default of spark.redaction.regex in Spark 3.5 and newer.
var sparkPattern = regexp.MustCompile(`(?i)secret|password|token|access[.]?key`)

// morePattern matches further keys of secrets, such as the variables of clouds.
var morePattern = regexp.MustCompile(`(?i)passwd|passphrase|(?:access|account|api|private|secret)[._-]?key`)

// Redactor redacts texts about one object. The nil Redactor knows no object, and redacts by the standard patterns.
type Redactor struct {
	// custom is the object's own pattern in spark.redaction.regex. It is nil if there is none.
	custom *pattern
	// values holds the object's secret values.
	values []string
}

// Value returns the redacted value of a key.
func Value(key, value string) string { return (*Redactor)(nil).Value(key, value) }

// Text returns the redacted text.
func Text(text string) string { return (*Redactor)(nil).Text(text) }

// Value returns the redacted value of a key.
func (r *Redactor) Value(key, value string) string {
	value = r.clip(value)
	switch {
	case value == "":
		return ""
	case isReference(key):
		return r.Text(value)
	case r.isSecret(key), mayHoldSecrets(value) && sparkPattern.MatchString(value), r.matchesCustom(value):
		return Mark
	default:
		return r.Text(value)
	}
}

// isSecret reports whether the values of a key are secret.
func (r *Redactor) isSecret(key string) bool { return isSecret(key) || r.matchesCustom(key) }

func (r *Redactor) matchesCustom(text string) bool { return r != nil && r.custom.matches(text) }

func isSecret(key string) bool {
	key = userPart(key)
	return mayHoldSecrets(key) && (sparkPattern.MatchString(key) || morePattern.MatchString(key)) // the patterns take long
}

// isReference reports whether a Spark property holds no secret itself, but names a Kubernetes Secret or a file.
func isReference(key string) bool {
	return strings.Contains(key, "spark.kubernetes.") && referencePattern.MatchString(key) || strings.HasSuffix(strings.TrimSuffix(key, "]"), "File")
}

var referencePattern = regexp.MustCompile(`(?:^|[.[])spark[.]kubernetes[.](?:(?:driver|executor)[.](?:secrets|secretKeyRef)|kerberos[.]tokenSecret)[.]`)

// referenceFields lists fields of manifests that name a Kubernetes Secret, and hold no secret value.
var referenceFields = []string{
	"secret", "secrets", "secretName", "secretType", "secretKeyRef", "secretRef", "envSecretKeyRefs", "imagePullSecrets",
	"nodePublishSecretRef", "serviceAccountToken", "automountServiceAccountToken",
}

// userPart returns the part of a key that decides whether its value is secret. For the field of a manifest, that is the user's key in a
// map, or otherwise the last part of the path. It is empty for a field in referenceFields, such as
// spec.driver.secrets[0].secretType.
func userPart(key string) string {
	field, isField := strings.CutPrefix(key, "spec.")
	if isField {
		for _, name := range freeFormFields {
			if _, chosen, found := strings.Cut(field, name+"["); found {
				return strings.TrimSuffix(chosen, "]")
			}
			if _, chosen, found := strings.Cut(field, name+"."); found {
				return chosen
			}
		}
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	last, _, _ = strings.Cut(last, "[")
	switch {
	case (isField || last != key || !namesKind(key)) && slices.Contains(referenceFields, last) && !strings.HasPrefix(key, "spark."):
		return ""
	case isField:
		return last
	default:
		return key
	}
}

// maxText bounds the text that is searched, in bytes. Longer texts are cut.
const maxText = 128 << 10

// Text returns the redacted text.
func (r *Redactor) Text(text string) string {
	text = r.clip(text)
	var custom *pattern
	if r != nil {
		custom = r.custom
		for _, value := range r.values {
			text = redactWord(text, value)
		}
	}
	if custom == nil && !mayHoldSecrets(text) {
		return text
	}
	spans := find(text, custom)
	if len(spans) == 0 {
		return text
	}
	var redacted strings.Builder
	end := 0
	for _, s := range spans {
		redacted.WriteString(text[end:s.start])
		redacted.WriteString(Mark)
		end = s.end
	}
	redacted.WriteString(text[end:])
	return redacted.String()
}

const ellipsis = "..."

// clip cuts a text to the length that can be searched in time.
func (r *Redactor) clip(text string) string {
	limit := maxText
	if r != nil {
		limit = r.custom.maxBytes()
	}
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(ellipsis)], "") + ellipsis
}

// Texts returns the redacted texts. It returns the same slice if there is nothing to redact.
func (r *Redactor) Texts(texts []string) []string {
	for i, text := range texts {
		if shown := r.Text(text); shown != text {
			changed := append([]string(nil), texts...)
			changed[i] = shown
			for j := i + 1; j < len(texts); j++ {
				changed[j] = r.Text(texts[j])
			}
			return changed
		}
	}
	return texts
}

// longValue is the least length of a value that is also redacted within a word. Such a value is not there by chance.
const longValue = 12

// redactWord redacts a value wherever it is a separate word in the text.
func redactWord(text, value string) string {
	at := strings.Index(text, value)
	if at < 0 {
		return text
	}
	var redacted strings.Builder
	for ; at >= 0; at = strings.Index(text, value) {
		end := at + len(value)
		if len(value) >= longValue || !endsInWord(text[:at]) && !beginsWithWord(text[end:]) {
			redacted.WriteString(text[:at])
			redacted.WriteString(Mark)
		} else {
			redacted.WriteString(text[:end])
		}
		text = text[end:]
	}
	redacted.WriteString(text)
	return redacted.String()
}

func endsInWord(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

func beginsWithWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) || unicode.IsDigit(first)
}

// mayHoldSecrets reports whether a text may hold a secret, or match one of the patterns. Most texts do not.
func mayHoldSecrets(text string) bool {
	for i := range len(text) {
		switch text[i] | 0x20 { // lower case; a colon stays the same
		case 's':
			if hasWord(text[i:], "secret") || hasWord(text[i:], "sig") {
				return true
			}
		case 'p':
			if hasWord(text[i:], "passw") || hasWord(text[i:], "passphrase") {
				return true
			}
		case 't':
			if hasWord(text[i:], "token") {
				return true
			}
		case 'k':
			if hasWord(text[i:], "key") {
				return true
			}
		case 'b':
			if hasWord(text[i:], "bearer") || hasWord(text[i:], "basic") {
				return true
			}
		case 'j':
			if hasWord(text[i:], "jdbc:") {
				return true
			}
		case ':':
			if authorityLength(text[i:]) > 0 {
				return true
			}
		}
	}
	return false
}

// hasWord reports whether a text begins with a word, in upper or lower case.
func hasWord(text, word string) bool {
	return len(text) >= len(word) && text[1]|0x20 == word[1] && strings.EqualFold(text[:len(word)], word)
}
