package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark stands in place of a secret value. It is Spark's.
const Mark = "*********(redacted)"

// sparkPattern is the default of spark.redaction.regex. It is the same in Spark 3.5 and newer.
var sparkPattern = regexp.MustCompile(`(?i)secret|password|token|access[.]?key`)

// morePattern are keys that Spark does not know of: the variables of clouds, and what else programs call a password.
var morePattern = regexp.MustCompile(`(?i)passwd|passphrase|(?:access|account|api|private|secret)[._-]?key`)

// Redactor redacts what is said of one object. The nil Redactor knows of no object, and redacts by the standard pattern.
type Redactor struct {
	// custom is the object's own pattern, spark.redaction.regex; nil if it has none.
	custom *pattern
	// values are the values of the object's secrets.
	values []string
}

// Value returns the value of a key as it may be shown.
func Value(key, value string) string { return (*Redactor)(nil).Value(key, value) }

// Text returns a text as it may be shown.
func Text(text string) string { return (*Redactor)(nil).Text(text) }

// Value returns the value of a key as it may be shown.
func (r *Redactor) Value(key, value string) string {
	value = r.clip(value)
	switch {
	case value == "":
		return ""
	case isReference(key):
		return r.Text(value)
	case r.isSecret(key), sparkPattern.MatchString(value), r.matchesCustom(value):
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
	return sparkPattern.MatchString(key) || morePattern.MatchString(key)
}

// isReference reports whether the value of a Spark property is no secret, but where one is, or where a file is.
func isReference(key string) bool {
	return referencePattern.MatchString(key) || strings.HasSuffix(key, "File")
}

var referencePattern = regexp.MustCompile(`(?:^|[.])spark[.]kubernetes[.](?:(?:driver|executor)[.](?:secrets|secretKeyRef)|kerberos[.]tokenSecret)[.]`)

// referenceFields are fields of manifests that say where a secret is, and hold none.
var referenceFields = []string{
	"secret", "secrets", "secretName", "secretType", "secretKeyRef", "secretRef", "envSecretKeyRefs", "imagePullSecrets",
	"nodePublishSecretRef", "serviceAccountToken", "automountServiceAccountToken",
}

// userPart is what of a key its user chose. Of the field of a manifest, such as spec.driver.secrets[0].secretType, that is the
// key in a map, or else nothing: its last part tells what it holds.
func userPart(key string) string {
	field, isField := strings.CutPrefix(key, "spec.")
	if isField {
		for _, name := range freeFormFields {
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

// maxText bounds the texts that are looked through, in bytes. People read less.
const maxText = 128 << 10

// Text returns a text as it may be shown.
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

// clip is as much of a text as there is time to look through.
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

// Texts returns texts as they may be shown. It returns the same slice if there is nothing to redact.
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

// longValue is the length from which on a value is redacted even within a word: it is not there by chance.
const longValue = 12

// redactWord redacts a value wherever a text has it as a word of its own.
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

// mayHoldSecrets reports whether there may be a secret in a text. Most texts have none.
func mayHoldSecrets(text string) bool {
	for i := range len(text) {
		switch text[i] | 0x20 { // a small letter; a colon stays one
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

// hasWord reports whether a text begins with a word, in whatever letters.
func hasWord(text, word string) bool {
	return len(text) >= len(word) && text[1]|0x20 == word[1] && strings.EqualFold(text[:len(word)], word)
}
