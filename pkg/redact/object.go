package redact

import (
	"encoding/json"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

const (
	// patternKey is the property by which a user says what else is secret.
	patternKey = "spark.redaction.regex"
	// maxPattern and maxProgram bound a user's pattern: its length, and how many steps it has once repetitions are written out.
	maxPattern, maxProgram = 1024, 1024
	// maxWork bounds what a user's pattern may cost, for a text or for an object: its steps by the bytes that it is matched with.
	maxWork = 4 << 20
	// maxEmbeddedBytes is how many bytes of an object's texts are looked through for what is embedded in them.
	maxEmbeddedBytes = 128 << 10
	// maxObject bounds the objects whose values are looked at, in bytes of JSON, and maxValues how many of them are.
	maxObject, maxValues = 512 << 10, 512
	// minValue is the length from which on a value is told from other words.
	minValue = 6
)

// For returns what redacts texts about an object, which is given as JSON. Only its spec is looked at.
func For(object []byte) *Redactor {
	var given struct {
		Spec any `json:"spec"`
	}
	if len(object) > maxObject || json.Unmarshal(object, &given) != nil {
		return nil
	}
	r := &Redactor{custom: customPattern(given.Spec)}
	c := &collector{Redactor: r, seen: map[string]bool{}, budget: maxEmbeddedBytes, customBudget: r.custom.maxBytes()}
	c.walk("", given.Spec)
	// A value that contains another one goes first.
	slices.SortFunc(r.values, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if r.custom == nil && len(r.values) == 0 {
		return nil
	}
	return r
}

// customPattern is the pattern that a spec's properties set, wherever it has them; nil if there is none that can be used.
func customPattern(spec any) *pattern {
	node, _ := spec.(map[string]any)
	if text, is := node[patternKey].(string); is {
		return compilePattern(text)
	}
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if own := customPattern(node[key]); own != nil {
			return own
		}
	}
	return nil
}

// pattern is one that a user wrote.
type pattern struct {
	regexp *regexp.Regexp
	steps  int
}

// maxBytes is how many bytes the pattern is matched with at most.
func (p *pattern) maxBytes() int {
	if p == nil {
		return maxText
	}
	return min(maxText, maxWork/p.steps)
}

// matches reports whether the pattern is in a text, or in as much of it as there is time for. No pattern is in none.
func (p *pattern) matches(text string) bool {
	return p != nil && p.regexp.MatchString(text[:min(len(text), p.maxBytes())])
}

func compilePattern(text string) *pattern {
	if text == "" || len(text) > maxPattern {
		return nil
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	count := countSteps(parsed)
	if count > maxProgram {
		return nil
	}
	compiledRegexp, err := regexp.Compile(text)
	if err != nil || compiledRegexp.MatchString("") { // what matches nothing at all matches everything
		return nil
	}
	return &pattern{compiledRegexp, count}
}

// countSteps is about how many steps a pattern has.
func countSteps(pattern *syntax.Regexp) int {
	sum := 1
	for _, sub := range pattern.Sub {
		sum += countSteps(sub)
	}
	if pattern.Op == syntax.OpLiteral {
		sum += len(pattern.Rune)
	}
	if pattern.Op == syntax.OpRepeat {
		sum *= max(pattern.Min, pattern.Max, 1)
	}
	return sum
}

// collector gathers the values of an object's secrets.
type collector struct {
	*Redactor
	seen map[string]bool
	// budget is how many bytes of texts may still be looked through, and customBudget with how many the own pattern may be matched.
	budget, customBudget int
}

func (c *collector) isSecret(key string) bool { return isSecret(key) || c.matchesCustom(key) }

func (c *collector) matchesCustom(text string) bool {
	if c.custom == nil || len(text) > c.customBudget {
		return false
	}
	c.customBudget -= len(text)
	return c.custom.matches(text)
}

// walk goes through all of a spec. within is the field that a node is in.
func (c *collector) walk(within string, node any) {
	switch node := node.(type) {
	case map[string]any:
		c.variable(node)
		for _, key := range slices.Sorted(maps.Keys(node)) {
			child := node[key]
			if value, is := scalar(child); is {
				c.property(within, key, value)
				continue
			}
			c.walk(key, child)
		}
	case []any:
		for i, child := range node {
			value, is := child.(string)
			if !is {
				c.walk(within, child)
				continue
			}
			c.embedded(value)
			if i+1 < len(node) && strings.HasPrefix(value, "-") && !strings.Contains(value, "=") && c.isSecret(value) {
				if next, is := node[i+1].(string); is && !strings.HasPrefix(next, "-") {
					c.add(next)
				}
			}
		}
	}
}

// scalar returns a value that is no more than one.
func scalar(node any) (string, bool) {
	switch node := node.(type) {
	case string:
		return node, true
	case float64:
		return strconv.FormatFloat(node, 'f', -1, 64), true
	default:
		return "", false
	}
}

// variable takes the value of an environment variable, or of whatever else has a name and a value.
func (c *collector) variable(node map[string]any) {
	name, named := node["name"].(string)
	value, valued := scalar(node["value"])
	if named && valued && (c.isSecret(name) || c.matchesCustom(value)) {
		c.add(value)
	}
}

// freeFormFields are the fields whose keys users choose. The keys of other fields, such as secretName, are Kubernetes' own, and their
// values are needed to understand a message.
var freeFormFields = []string{
	"sparkConf", "hadoopConf", "envVars", "data", "stringData", "labels", "annotations", "options", "volumeAttributes",
	"serviceAnnotations", "serviceLabels", "parameters",
}

// property takes the value of a key, or what is embedded in it.
func (c *collector) property(within, key, value string) {
	if slices.Contains(freeFormFields, within) && !isReference(key) && (c.isSecret(key) || c.matchesCustom(value)) && key != patternKey {
		c.add(value)
		return
	}
	c.embedded(value)
}

// embedded takes the secrets in a text, such as Java options.
func (c *collector) embedded(text string) {
	text = text[:min(len(text), c.budget)]
	custom := c.custom
	if len(text) > c.customBudget {
		custom = nil
	}
	if custom == nil && !mayHoldSecrets(text) {
		return
	}
	c.budget -= len(text)
	if custom != nil {
		c.customBudget -= len(text)
	}
	for _, s := range find(text, custom) {
		secret := text[s.start:s.end]
		c.add(secret)
		if _, password, both := strings.Cut(secret, ":"); both && endsWithAuthority(text[:s.start]) {
			c.add(password)
		}
	}
}

func (c *collector) add(value string) {
	value = strings.TrimSpace(value)
	if len(value) < minValue || len(c.values) >= maxValues || c.seen[value] || strings.Contains(Mark, value) {
		return
	}
	c.seen[value] = true
	c.values = append(c.values, value)
	encoded, _ := json.Marshal(value) // which fails for no string
	for _, quoted := range []string{strings.Trim(strconv.Quote(value), `"`), strings.Trim(string(encoded), `"`)} {
		if !slices.Contains(c.values[len(c.values)-1:], quoted) && quoted != value {
			c.values = append(c.values, quoted)
		}
	}
}
