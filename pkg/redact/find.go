package redact

import (
	"slices"
	"strings"
	"unicode"
)

// span is the position of a secret in a text.
type span struct{ start, end int }

// finder searches a text for secrets, from its beginning to its end. The time is proportional to the length of the text. If it looks
// ahead, it continues from there, or remembers the result, or looks no farther than maxURL.
type finder struct {
	text string
	// custom is the object's own pattern. It may be nil.
	custom *pattern
	spans  []span
	// pendingValue is the start of an entry's value whose name has not been found yet. It is 0 if there is none.
	pendingValue int
	// lastRun is the last result of wordSpan.
	lastRun span
}

// find returns the positions of the secrets in a text, in order.
func find(text string, custom *pattern) []span {
	f := &finder{text: text, custom: custom}
	for i := 0; i < len(text); {
		switch {
		case text[i] == ':':
			i = f.userInfo(i)
		case text[i] == '\\':
			i += escapeLength(text[i:])
		case isWord(text[i]):
			i = f.word(i)
		default:
			i++
		}
	}
	return inOrder(f.spans)
}

// inOrder sorts spans, and joins overlapping ones.
func inOrder(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.start < joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// escapedNewline is a newline within quotes.
const escapedNewline = `\n`

// isWord reports whether a byte is part of a word, which may be a key: spark.hadoop.fs.s3a.secret.key, --db-password.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c >= 0x80
}

// redactValue adds the value that begins at p as a secret, and returns its end. It leaves a redacted value as it is.
func (f *finder) redactValue(p int, parameter bool) int {
	if start := f.afterQuote(p); strings.HasPrefix(f.text[start:], Mark) {
		return start + len(Mark)
	}
	return f.add(f.valueSpan(p, parameter))
}

// add adds a secret, and returns its end. It leaves a redacted value as it is.
func (f *finder) add(start, end int) int {
	if end <= start {
		return end
	}
	if strings.HasPrefix(f.text[start:], Mark) {
		return start + len(Mark)
	}
	f.spans = append(f.spans, span{start, end})
	return end
}

// word checks the word at i and the text after it. It returns the position where the search continues.
func (f *finder) word(i int) int {
	j := i
	for j < len(f.text) && isWord(f.text[j]) {
		j++
	}
	word := f.text[i:j]
	switch {
	case strings.EqualFold(word, "value"):
		f.pendingValue, _ = f.afterAssignment(j)
	case f.pendingValue > 0 && (strings.EqualFold(word, "name") || strings.EqualFold(word, "key")):
		f.valueBefore(i, j)
	}
	switch {
	case isSecret(word), f.inURL(i) && isSignature(word):
		return f.value(i, j, true)
	case f.custom.matches(word):
		return f.value(i, j, false)
	case strings.EqualFold(word, "bearer"), strings.EqualFold(word, "basic"):
		return f.credentials(j)
	case strings.EqualFold(word, "jdbc"):
		return f.oracle(j)
	}
	return j
}

// isSignature reports whether a parameter signs a URL. A signed URL gives access to its resource.
func isSignature(word string) bool {
	word = strings.ToLower(word)
	return word == "sig" || strings.HasSuffix(word, "signature")
}

// inURL reports whether a parameter of a URL begins at i.
func (f *finder) inURL(i int) bool {
	if i == 0 {
		return false
	}
	return strings.IndexByte("?&;", f.text[i-1]) >= 0 || strings.HasSuffix(f.text[:i], escapedAmpersand)
}

// value finds the value of the key from i to j. The value can follow =, a colon, quotes, or an option. With loosely it can also follow a
// colon and a blank.
func (f *finder) value(i, j int, loosely bool) int {
	key := f.text[i:j]
	end := j + len(f.text[j:]) - len(strings.TrimPrefix(f.text[j:], "]")) // of a key in brackets: spec.sparkConf[spark.x.token]
	p := f.afterQuote(end)
	option := strings.HasPrefix(key, "-")
	if next, found := f.namedValue(p); found {
		return f.redactValue(next, false)
	}
	blank := f.afterBlanks(p)
	rest := f.text[blank:]
	switch {
	case equalsLength(rest) > 0:
		next := f.afterBlanks(blank + equalsLength(rest))
		if strings.HasPrefix(f.text[next:], ">") {
			next = f.afterBlanks(next + 1)
		}
		return f.redactValue(next, f.ofURL(i))
	case strings.HasPrefix(rest, ":") && authorityLength(rest) == 0:
		return f.afterColon(i, blank+1, key, loosely)
	case option && (blank > p || strings.HasPrefix(rest, ",")):
		next := f.afterBlanks(blank + len(rest) - len(strings.TrimPrefix(rest, ",")))
		if _, _, isQuoted := f.quote(next); !isQuoted && strings.HasPrefix(f.text[next:], "-") {
			return j
		}
		return f.redactValue(next, false)
	case blank > p && f.beginsLine(i) && strings.HasPrefix(key, "spark."):
		return f.redactValue(blank, false) // a line of spark-defaults.conf
	case blank > p && !namesKind(key):
		next := f.afterCopula(blank)
		if _, _, isQuoted := f.quote(next); isQuoted {
			return f.redactValue(next, false)
		}
	}
	return j
}

// beginsLine reports whether a line begins at i, also within quotes.
func (f *finder) beginsLine(i int) bool {
	before := f.text[:i]
	return strings.HasSuffix(before, "\n") || strings.HasSuffix(before, escapedNewline) || strings.HasSuffix(before, `"`)
}

// namesKind reports whether the word is a kind, so that a name in quotes can follow: secret "database" not found.
func namesKind(word string) bool {
	word = strings.ToLower(strings.Trim(word, "."))
	return word == "secret" || word == "secrets"
}

// copulas lists words that can be between a key and its quoted value.
var copulas = []string{"is ", "was ", "has the value ", "value "}

func (f *finder) afterCopula(p int) int {
	for _, copula := range copulas {
		if strings.HasPrefix(f.text[p:], copula) {
			return p + len(copula)
		}
	}
	return p
}

// phrases lists Kubernetes' messages about a field. After those with a colon, the field's value follows.
var phrases = []string{
	"Invalid value: ", "Unsupported value: ", "Duplicate value: ", "Not found: ",
	"Required value", "Forbidden", "Not found", "Too long", "Too many", "Internal error", "Too few",
}

// afterColon finds the value after a key and a colon.
func (f *finder) afterColon(i, colon int, key string, loosely bool) int {
	p := f.afterBlanks(colon)
	for _, phrase := range phrases {
		if strings.HasPrefix(f.text[p:], phrase) {
			if strings.HasSuffix(phrase, ": ") {
				return f.redactValue(p+len(phrase), false)
			}
			return p
		}
	}
	if _, _, isQuoted := f.quote(p); isQuoted || f.isBlock(p) {
		return f.redactValue(p, false)
	}
	// After a slash or =, the word is not a key, but part of a path or a value: --serviceaccount=team-token:default.
	path := i > 0 && (f.text[i-1] == '/' || f.text[i-1] == '=')
	// After the field of a manifest, an error message follows.
	field := strings.HasPrefix(key, "spec.") || strings.HasPrefix(key, "metadata.") || strings.HasPrefix(key, "spark.") && p > colon
	if !loosely || path || field {
		return p
	}
	if start, end := f.wordSpan(p); namesKind(key) && isPlain(f.text[start:end]) {
		return p
	}
	return f.redactValue(p, false)
}

// isPlain reports whether a word has letters only.
func isPlain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// namedValue finds the value of an environment variable after its name: "name":"PASSWORD","value":"x".
func (f *finder) namedValue(p int) (int, bool) {
	p = f.afterBlanks(p)
	p = f.afterBlanks(p + len(f.text[p:]) - len(strings.TrimPrefix(f.text[p:], ",")))
	p = f.afterQuote(p)
	const value = "value"
	if len(f.text)-p < len(value) || !strings.EqualFold(f.text[p:p+len(value)], value) {
		return 0, false
	}
	return f.afterAssignment(p + len(value))
}

// afterAssignment returns the start of the value after the key that ends at p, and a colon or =.
func (f *finder) afterAssignment(p int) (int, bool) {
	p = f.afterBlanks(f.afterQuote(p))
	if p >= len(f.text) || f.text[p] != ':' && f.text[p] != '=' {
		return 0, false
	}
	return f.afterBlanks(p + 1), true
}

// maxName bounds the part of a name that is checked, and its distance from the end of its value.
const maxName = 256

// valueBefore adds the value of an entry whose name follows it. The key of the name is from i to j: {"value":"x","name":"PASSWORD"}.
func (f *finder) valueBefore(i, j int) {
	p, assigned := f.afterAssignment(j)
	if !assigned {
		return
	}
	start, end := f.valueSpan(p, false)
	name := f.text[start:min(end, start+maxName)]
	if isSecret(name) || f.custom.matches(name) {
		if start, end, found := f.sameEntry(i); found {
			f.add(start, end)
		}
	}
	f.pendingValue = 0
}

// sameEntry returns the position of the value before the key at i. found reports whether both belong to the same entry.
func (f *finder) sameEntry(i int) (start, end int, found bool) {
	_, _, isQuoted := f.quote(f.pendingValue)
	if start, end = f.valueSpan(f.pendingValue, false); !isQuoted && !f.isBlock(f.pendingValue) {
		start, end = f.pendingValue, f.pendingValue+lineEnd(f.text[f.pendingValue:i])
	}
	if end > i || i-end > maxName {
		return 0, 0, false
	}
	between := f.text[end:i]
	if end == i { // on one line, and without quotes
		end = start + len(strings.TrimRight(f.text[start:end], "\"'`\\, \t"))
		between = f.text[start:i]
	}
	separated := strings.ContainsAny(between, ",\n") || strings.Contains(between, escapedNewline)
	return start, end, separated && !strings.ContainsAny(between, "{}[]") && !strings.Contains(between, "- ")
}

// credentials finds the credentials after a scheme of the HTTP header Authorization. In prose, neither digits nor such long words
// follow.
func (f *finder) credentials(j int) int {
	p := f.afterBlanks(j)
	if p == j {
		return j
	}
	start, end := f.valueSpan(p, false)
	given := f.text[start:end]
	const longWord = 24
	if len(given) >= 6 && (len(given) >= longWord || strings.ContainsAny(given, "0123456789=")) {
		return f.add(start, end)
	}
	return j
}

// oracle finds the user and the password in a database URL without authority: jdbc:oracle:thin:user/password@host.
func (f *finder) oracle(j int) int {
	if !strings.HasPrefix(f.text[j:], ":oracle:") {
		return j
	}
	p := j + len(":oracle:")
	kind := strings.IndexByte(f.text[p:f.near(p)], ':')
	if kind < 0 {
		return j
	}
	start, end := f.wordSpan(p + kind + 1)
	end = min(end, f.near(start))
	if at := strings.IndexByte(f.text[start:end], '@'); at >= 0 {
		return f.add(start, start+at)
	}
	return j
}

// containers lists the URL schemes that have a container before the @, and no user.
var containers = []string{"abfs", "abfss", "wasb", "wasbs"}

// maxURL bounds the search for the beginning and the end of a URL.
const maxURL = 1024

// near returns the last possible end of a URL that begins at p.
func (f *finder) near(p int) int { return min(len(f.text), p+maxURL) }

// userInfo finds the user and the password in a URL whose scheme ends with the colon at i. It returns where the search continues.
func (f *finder) userInfo(i int) int {
	width := authorityLength(f.text[i:])
	if width == 0 {
		return i + 1
	}
	start, begin := i+width, i
	for begin > 0 && (isWord(f.text[begin-1]) || f.text[begin-1] == '+' || f.text[begin-1] == ':') {
		begin--
	}
	_, end := f.wordSpan(start)
	end = min(end, f.near(start))
	if _, width, isQuoted := f.quote(begin - 1); begin > 0 && isQuoted && width == 1 {
		near := &finder{text: f.text[:f.near(start)]}
		_, end = near.valueSpan(begin-1, false) // the URL ends with the quotes
	}
	url := f.text[start:end]
	host := url
	if slash := strings.IndexAny(url, "/?#"); slash >= 0 {
		host = strings.TrimRight(url[:slash], `\`) // the backslashes escape the slash
	}
	at := strings.LastIndexByte(host, '@')
	if _, port, given := strings.Cut(host, ":"); at < 0 && given && strings.Trim(port, "0123456789") != "" {
		at = strings.LastIndexByte(url, '@') // the password has an unescaped slash
	}
	if at < 0 || slices.Contains(containers, strings.ToLower(f.text[begin:i])) && !strings.Contains(url[:at], ":") {
		return start
	}
	return f.add(start, start+at)
}

// ofURL reports whether the key at i is a parameter of a URL. Its value then ends where the next parameter begins.
func (f *finder) ofURL(i int) bool {
	if !f.inURL(i) {
		return false
	}
	begin := i
	for begin > max(i-maxURL, 0) && !isBlank(f.text[begin-1]) && f.text[begin-1] != '"' {
		begin--
	}
	before := f.text[begin:i]
	return strings.Contains(before, "://") || strings.Contains(before, "jdbc:") || strings.Contains(before, "?")
}

// valueSpan returns the value that begins at p: the text in quotes, a block of YAML, or a word.
func (f *finder) valueSpan(p int, parameter bool) (start, end int) {
	quote, width, isQuoted := f.quote(p)
	if !isQuoted {
		if start, end, isBlock := f.block(p); isBlock {
			return start, end
		}
		start, end = f.wordSpan(p)
		if parameter {
			end = start + parameterEnd(f.text[start:end])
		}
		return start, end
	}
	start = p + width
	if width > 1 {
		if length := strings.Index(f.text[start:], f.text[p:start]); length >= 0 {
			return start, start + length
		}
		return start, len(f.text)
	}
	for end = start; end < len(f.text); end++ {
		switch {
		case f.text[end] == '\\' && quote == '"':
			end++
		case f.text[end] == quote:
			return start, end
		}
	}
	return start, len(f.text)
}

// wordSpan returns the word that begins at p. It ends at a blank, a quote or a newline.
func (f *finder) wordSpan(p int) (start, end int) {
	if f.lastRun.start <= p && p < f.lastRun.end {
		return p, f.lastRun.end
	}
	end = p
	for end < len(f.text) && !isBlank(f.text[end]) && f.text[end] != '"' && f.text[end] != '`' {
		if f.text[end] != '\\' {
			end++
			continue
		}
		_, width, isQuoted := f.quote(end)
		if isQuoted {
			break
		}
		if end += width; strings.HasPrefix(f.text[end-1:], escapedNewline) {
			end--
			break
		}
	}
	f.lastRun = span{p, end}
	return p, end
}

// quote returns the quote at p and its width. The width includes the backslashes that it has within a quoted text. If there is no quote,
// the width is that of the backslashes.
func (f *finder) quote(p int) (quote byte, width int, ok bool) {
	if p < 0 {
		return 0, 0, false
	}
	for p+width < len(f.text) && f.text[p+width] == '\\' {
		width++
	}
	if p+width < len(f.text) {
		switch quote := f.text[p+width]; quote {
		case '"', '\'', '`':
			return quote, width + 1, true
		}
	}
	return 0, width, false
}

func (f *finder) afterQuote(p int) int {
	if _, width, ok := f.quote(p); ok {
		return p + width
	}
	return p
}

func (f *finder) afterBlanks(p int) int {
	for p < len(f.text) && isBlank(f.text[p]) {
		p++
	}
	return p
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
