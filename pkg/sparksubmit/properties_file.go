package sparksubmit

import (
	"fmt"
	"strings"

	"github.com/magiconair/properties"
)

// Properties reads a file of Spark properties as Java does. Blanks around a value are removed.
func Properties(file []byte) (map[string]string, error) {
	if len(file) > MaxBytes {
		return nil, fmt.Errorf("it has %d bytes, and an application can hold %d", len(file), MaxBytes)
	}
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	loaded, err := loader.LoadBytes(file)
	if err != nil {
		return nil, err
	}
	conf := loaded.Map()
	for key, value := range conf {
		conf[key] = strings.TrimFunc(value, func(r rune) bool { return r <= ' ' && r != '\r' && r != '\n' })
	}
	return conf, nil
}
