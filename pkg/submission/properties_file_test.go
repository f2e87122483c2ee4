package submission

import (
	"strings"
	"testing"
	"time"
)

func TestValuesAreEscapedAsJavaDoes(t *testing.T) {
	for value, want := range map[string]string{
		"k8s://https://h:443":  `k8s\://https\://h\:443`,
		"a=b#c!d":              `a\=b\#c\!d`,
		" lead  two":           `\ lead  two`,
		"  two":                `\  two`,
		`C:\x`:                 `C\:\\x`,
		"é":                    "é",
		"a\tb\nc\rd\fe":        `a\tb\nc\rd\fe`,
		"":                     "",
		"trailing ":            "trailing ",
		"-Dx='y z' -Dlist=a,b": `-Dx\='y z' -Dlist\=a,b`,
	} {
		if got := escapeValue(value); got != want {
			t.Errorf("escapeValue(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestEveryBlankOfAKeyIsEscaped(t *testing.T) {
	wantEqual(t, "key", escapeKey(" a b:c"), `\ a\ b\:c`)
}

func TestTheFileNamesItsConfigMapAndDateAndSortsItsLines(t *testing.T) {
	text := propertiesText("map", time.UnixMilli(1763711999871), map[string]string{"b": "2", "a": ""})
	wantEqual(t, "text", text, "#Java properties built from Kubernetes config map with name: map\n"+
		"#Fri Nov 21 07:59:59 UTC 2025\na=\nb=2\n")
}

// FuzzPropertiesRoundTrip checks that the driver reads what was written, whatever it is.
func FuzzPropertiesRoundTrip(f *testing.F) {
	for _, seed := range []string{"a", " a b ", "a=b:c", `\u0041\`, "#!\t\n\r\f", "é\u2028x", ""} {
		f.Add("spark."+seed, seed)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		text := propertiesText("map", time.Unix(0, 0), map[string]string{key: value, "spark.other": "kept"})
		read := loadProperties(t, text)
		if got, set := read[key]; key != "spark.other" && (!set || got != value) {
			t.Errorf("%q=%q was read as %q", key, value, read)
		}
		if len(read) > 2 {
			t.Errorf("one property became several: %q", read)
		}
	})
}

// loadProperties reads text as java.util.Properties.load does.
func loadProperties(t *testing.T, text string) map[string]string {
	t.Helper()
	properties := map[string]string{}
	for _, line := range logicalLines(text) {
		key, value := splitLine(line)
		properties[unescape(t, key)] = unescape(t, value)
	}
	return properties
}

// logicalLines returns the lines that hold a property, with continued ones joined.
func logicalLines(text string) []string {
	var lines []string
	continued := false
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " \t\f")
		if !continued && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		if continued {
			line = lines[len(lines)-1] + line
			lines = lines[:len(lines)-1]
		}
		trailing := len(line) - len(strings.TrimRight(line, `\`))
		if continued = trailing%2 == 1; continued {
			line = line[:len(line)-1]
		}
		lines = append(lines, line)
	}
	return lines
}

// splitLine splits at the first separator that is not escaped.
func splitLine(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if strings.ContainsRune("=: \t\f", rune(line[i])) {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return line[:end], rest
}

func unescape(t *testing.T, text string) string {
	t.Helper()
	var result strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			result.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 't':
			result.WriteByte('\t')
		case 'n':
			result.WriteByte('\n')
		case 'r':
			result.WriteByte('\r')
		case 'f':
			result.WriteByte('\f')
		case 'u':
			t.Fatalf("the writer never makes unicode escapes: %q", text)
		default:
			result.WriteByte(text[i])
		}
	}
	return result.String()
}
