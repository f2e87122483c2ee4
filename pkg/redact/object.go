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
	// patternKey is the Spark property with the user's own pattern for secrets.
	patternKey = "spark.redaction.regex"
	// maxPattern bounds the length of a user's pattern, and maxProgram its number of steps with all repetitions written out.
	maxPattern, maxProgram = 1024, 1024
	// maxWork bounds the cost of a user's pattern for one text or one object: its steps, multiplied by the matched bytes.
	maxWork = 4 << 20
	// maxEmbeddedBytes bounds the texts of one object that are searched for embedded secrets.
	maxEmbeddedBytes = 128 << 10
	// maxObject bounds the objects that are searched, in bytes of JSON, and maxValues the secret values of one object.
	maxObject, maxValues = 512 << 10, 512
	// minValue is the least length of a secret value. Shorter values could be ordinary words.
	minValue = 6
)

// For returns a Redactor for texts about an object. The object is given as JSON, and only its spec is used.
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
	// A value that contains another one must be redacted first.
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

// customPattern returns the pattern in a spec's properties, wherever they are. It returns nil if there is no valid one.
func customPattern(spec any) *pattern {
	node, _ := spec.(map[string]any)
	if text, ok := node[patternKey].(string); ok {
		return compilePattern(text)
	}
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if own := customPattern(node[key]); own != nil {
			return own
		}
	}
	return nil
}

// pattern is a pattern that a user wrote.
type pattern struct {
	regexp *regexp.Regexp
	steps  int
}

// maxBytes returns how many bytes may be matched with the pattern.
func (p *pattern) maxBytes() int {
	if p == nil {
		return maxText
	}
	return min(maxText, maxWork/p.steps)
}

// matches reports whether the pattern matches the text, up to maxBytes. The nil pattern matches nothing.
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
	if err != nil || compiledRegexp.MatchString("") { // a pattern that matches the empty text matches everywhere
		return nil
	}
	return &pattern{compiledRegexp, count}
}

// countSteps estimates the number of steps of a pattern.
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

// collector collects the secret values of an object.
type collector struct {
	*Redactor
	seen map[string]bool
	// budget is how many more bytes may be searched for embedded secrets. customBudget is how many more bytes may be matched with the
	// custom pattern.
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

// walk visits all values of a spec. within is the name of the field that holds the node.
func (c *collector) walk(within string, node any) {
	switch node := node.(type) {
	case map[string]any:
		c.variable(node)
		for _, key := range slices.Sorted(maps.Keys(node)) {
			child := node[key]
			if value, ok := scalar(child); ok {
				c.property(within, key, value)
				continue
			}
			c.walk(key, child)
		}
	case []any:
		for i, child := range node {
			value, ok := child.(string)
			if !ok {
				c.walk(within, child)
				continue
			}
			c.embedded(value)
			if i+1 < len(node) && strings.HasPrefix(value, "-") && !strings.Contains(value, "=") && c.isSecret(value) {
				if next, ok := node[i+1].(string); ok && !strings.HasPrefix(next, "-") {
					c.add(next)
				}
			}
		}
	}
}

// scalar returns a string or a number as text.
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

// variable adds the secret value of an environment variable, or of another object with the fields name and value.
func (c *collector) variable(node map[string]any) {
	name, named := node["name"].(string)
	value, valued := scalar(node["value"])
	if named && valued && (c.isSecret(name) || c.matchesCustom(value)) {
		c.add(value)
	}
}

// freeFormFields lists the fields whose keys are chosen by users. The keys of other fields, such as secretName, are Kubernetes' own. Their
// values are needed to understand a message.
var freeFormFields = []string{
	"sparkConf", "hadoopConf", "envVars", "data", "stringData", "labels", "annotations", "options", "volumeAttributes",
	"serviceAnnotations", "serviceLabels", "parameters",
}

// property adds the secret value of a key, or the secrets that are embedded in it.
func (c *collector) property(within, key, value string) {
	if slices.Contains(freeFormFields, within) && !isReference(key) && (c.isSecret(key) || c.matchesCustom(value)) && key != patternKey {
		c.add(value)
		return
	}
	c.embedded(value)
}

// embedded adds the secrets in a text, such as Java options.
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
	encoded, _ := json.Marshal(value) // a string never fails
	for _, quoted := range []string{strings.Trim(strconv.Quote(value), `"`), strings.Trim(string(encoded), `"`)} {
		if !slices.Contains(c.values[len(c.values)-1:], quoted) && quoted != value {
			c.values = append(c.values, quoted)
		}
	}
}
