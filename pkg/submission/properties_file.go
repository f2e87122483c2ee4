package submission

import (
	"strings"
	"time"
)

const propertiesFile = "spark.properties"

// javaDate is the format of Java's Date.toString, in UTC.
const javaDate = "Mon Jan 02 15:04:05 UTC 2006"

// propertiesText returns properties as java.util.Properties.store writes them to a character stream, sorted by key.
func propertiesText(configMap string, written time.Time, properties map[string]string) string {
	size := 0
	for key, value := range properties {
		size += len(key) + len(value) + len("=\n")
	}
	var text strings.Builder
	text.Grow(size + 256) // for the header and for escapes
	text.WriteString("#Java properties built from Kubernetes config map with name: " + configMap + "\n")
	text.WriteString("#" + written.UTC().Format(javaDate) + "\n")
	for _, key := range sortedKeys(properties) {
		text.WriteString(escapeKey(key))
		text.WriteByte('=')
		text.WriteString(escapeValue(properties[key]))
		text.WriteByte('\n')
	}
	return text.String()
}

var (
	specials = []string{
		`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\f", `\f`, "=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`,
	}
	valueEscapes = strings.NewReplacer(specials...)
	keyEscapes   = strings.NewReplacer(append(specials, " ", `\ `)...)
)

func escapeKey(key string) string {
	return keyEscapes.Replace(key)
}

// escapeValue escapes a blank only if it is the first character: later blanks are not read as the separator.
func escapeValue(value string) string {
	if strings.HasPrefix(value, " ") {
		return `\` + valueEscapes.Replace(value)
	}
	return valueEscapes.Replace(value)
}
