package submission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// conf are Spark properties, read as Spark's typed configuration entries read them. A value that cannot be read becomes a
// problem, and the reader gets the default. So one Build reports everything that has to be fixed.
type conf struct {
	values map[string]string
	// older maps the newer name of a property to the older name under which it was given.
	older    map[string]string
	problems finding.List
	// known are the problems. more is how many problems there are beyond those that are named.
	known map[finding.Finding]bool
	more  int
	// expanded are the values that held references, by property. produced is how many bytes the references expanded to.
	expanded map[string]expanded
	produced int
}

// format is one of the forms in which Spark reads a property. problem and remedy are the message and the remedy of a finding.
type format[T any] struct {
	parse           func(string) (T, bool)
	problem, remedy string
}

// pair is one property under a prefix; name is what follows the prefix.
type pair struct{ name, value string }

// maxProblems is how many problems are named. No user reads more at once.
const maxProblems = 32

// refuse records a problem once: a property that two steps read is still one problem.
func (c *conf) refuse(field, value, problem, remedy string) {
	if expansion, ok := c.expanded[field]; ok && expansion.result == value {
		value = expansion.text // references may insert a secret, whatever the field
	}
	found := finding.Finding{Severity: finding.Error, Field: cmp.Or(c.older[field], field), Message: problem, Remedy: remedy}
	if value != "" {
		found.Value = value
	}
	switch {
	case c.known[found]:
		return
	case len(c.problems) == maxProblems:
		c.more++
		return
	case c.known == nil:
		c.known = map[finding.Finding]bool{}
	}
	c.known[found] = true
	c.problems.Add(found)
}

// err returns the problems, joined.
func (c *conf) err() error {
	problems := slices.Clone(c.problems)
	if c.more > 0 {
		problems.Add(finding.Finding{Severity: finding.Error, Text: fmt.Sprintf("and there are more such problems, at %d places", c.more)})
	}
	return problems.Err()
}

// lookup returns the first of keys that is set, with the references in its value replaced.
func (c *conf) lookup(keys ...string) (key, value string, set bool) {
	for _, key := range keys {
		if raw, set := c.values[key]; set {
			return key, c.expand(key, raw), true
		}
	}
	return "", "", false
}

// read returns the first of keys that is set, parsed. It returns fallback if none is set or the value is invalid. It reads
// as Spark's typed entries do, which ignore blanks around a value.
func read[T any](c *conf, fallback T, form format[T], keys ...string) T {
	key, value, set := c.lookup(keys...)
	if !set {
		return fallback
	}
	return parse(c, fallback, form, key, trimmed(value))
}

// readPlain reads one key as SparkSubmit and a few of the steps do: blanks and references are errors.
func readPlain[T any](c *conf, fallback T, form format[T], key string) T {
	value, set := c.values[key]
	if !set {
		return fallback
	}
	return parse(c, fallback, form, key, value)
}

func parse[T any](c *conf, fallback T, form format[T], key, value string) T {
	parsed, ok := form.parse(value)
	if !ok {
		c.refuse(key, value, form.problem, form.remedy)
		return fallback
	}
	return parsed
}

func (c *conf) set(key string) bool {
	_, set := c.values[key]
	return set
}

func (c *conf) text(fallback string, keys ...string) string {
	_, value, set := c.lookup(keys...)
	if !set {
		return fallback
	}
	return value
}

func (c *conf) boolean(fallback bool, keys ...string) bool {
	return read(c, fallback, booleans, keys...)
}

func (c *conf) list(key string) []string {
	_, value, _ := c.lookup(key)
	return splitList(value)
}

// oneOf reads a property that must have one of the values, the first of which is the default.
func (c *conf) oneOf(key string, values ...string) string {
	value := c.text(values[0], key)
	if !slices.Contains(values, value) {
		c.refuse(key, value, "is not one of its values", "write one of "+strings.Join(values, " | "))
	}
	return value
}

// withPrefix returns the properties under a prefix by name. Their values are as written: Spark expands references only in
// single entries, never in maps.
func (c *conf) withPrefix(prefix string) []pair {
	var pairs []pair
	for key, value := range c.values {
		if name, found := strings.CutPrefix(key, prefix); found {
			pairs = append(pairs, pair{name, value})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	return pairs
}

// bothOrNeither refuses one of two properties without the other and reports whether both are set.
func (c *conf) bothOrNeither(first, second string) bool {
	if c.set(first) == c.set(second) {
		return c.set(first)
	}
	given, missing := first, second
	if c.set(second) {
		given, missing = second, first
	}
	c.refuse(given, c.values[given], fmt.Sprintf("needs %s as well", missing), "set both or neither")
	return false
}

// trimmed returns text as Java trims it: without any characters up to the blank at both ends, not only white space.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
}

// splitList splits at commas, trims, and drops what is empty.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = trimmed(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func sortedKeys[V any](values map[string]V) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
