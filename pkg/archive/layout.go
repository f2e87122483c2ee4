package archive

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	applicationFile = "application.json"
	manifestFile    = "manifest.json"
	// UsageFile is the object of an attempt with its Usage.
	UsageFile   = "usage.json"
	indexFolder = "_index"
	ownFolder   = "_firesteel"
	logsFolder  = "logs"
	// followedFile is the description of a log that was followed to its end, beside its chunks.
	followedFile = "followed.json"
	chunkSuffix  = ".gz"
	// compressed ends the names of single objects that are compressed.
	compressed = ".gz"
)

// Escape returns a name as one element of a key. What is not a letter of ASCII, a digit, "-", "." or "_" is written as %XX, and so are "." and "..",
// and a "_" at the beginning: names of the archive itself begin with it.
func Escape(name string) string {
	var escaped strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' && name != "." && name != ".." || c == '_' && i > 0
		if plain {
			escaped.WriteByte(c)
		} else {
			fmt.Fprintf(&escaped, "%%%02X", c)
		}
	}
	if name == "" {
		return "%"
	}
	return escaped.String()
}

// Unescape is the inverse of Escape. It returns false for what Escape never returns.
func Unescape(element string) (string, bool) {
	if element == "%" {
		return "", true
	}
	var name strings.Builder
	for i := 0; i < len(element); i++ {
		if element[i] != '%' {
			name.WriteByte(element[i])
			continue
		}
		if i+2 >= len(element) {
			return "", false
		}
		code, err := strconv.ParseUint(element[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		name.WriteByte(byte(code))
		i += 2
	}
	return name.String(), Escape(name.String()) == element
}

func join(elements ...string) string {
	escaped := make([]string, len(elements))
	for i, element := range elements {
		escaped[i] = Escape(element)
	}
	return strings.Join(escaped, "/")
}

// split is the inverse of join.
func split(key string) ([]string, bool) {
	elements := strings.Split(key, "/")
	for i, element := range elements {
		name, ok := Unescape(element)
		if !ok {
			return nil, false
		}
		elements[i] = name
	}
	return elements, true
}

// folder returns the folder of an application, with a "/" at the end.
func (id ID) folder() string {
	return join(id.Namespace.Name, id.Resource, id.Name, string(id.UID)) + "/"
}

// indexKey returns the key of an application's entry in the index of its namespace. A plain listing has the newest application first.
func (id ID) indexKey(created time.Time) string {
	return indexPrefix(id.Namespace) + inverted(created) + "/" + join(id.Resource, id.Name, string(id.UID)) + ".json"
}

func indexPrefix(namespace Namespace) string {
	return Escape(namespace.Name) + "/" + indexFolder + "/" + Escape(string(namespace.UID)) + "/"
}

const invertedDigits = 10

// inverted returns a text that sorts the later the earlier a time is, to the second.
func inverted(at time.Time) string {
	return fmt.Sprintf("%0*d", invertedDigits, math.MaxUint32-max(min(at.Unix(), math.MaxUint32), 0))
}

// createdAt returns the time that inverted was given, in whole seconds.
func createdAt(text string) (time.Time, bool) {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) != invertedDigits {
		return time.Time{}, false
	}
	return time.Unix(math.MaxUint32-value, 0), true
}
