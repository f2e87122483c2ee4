package submission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Build refuses first what the API server would refuse later: before anything is created, and with the name of the property.

// maxConfigMap is how many bytes a config map may hold, a limit of the API server.
const maxConfigMap = 1 << 20

// expect refuses a value for the reasons that the API server would give, if there are any.
func (c *conf) expect(field, value, problem string, reasons []string) {
	if len(reasons) > 0 {
		c.refuse(field, value, problem, finding.Correct(reasons))
	}
}

// checkLabel checks a label or a selector that a property under a prefix sets.
func (c *conf) checkLabel(prefix, key, value string) {
	c.expect(prefix+key, value, "is under a key that no label can have", validation.IsQualifiedName(key))
	c.checkLabelValue(prefix+key, value)
}

func (c *conf) checkLabelValue(field, value string) {
	c.expect(field, value, "is no label value", validation.IsValidLabelValue(value))
}

func (c *conf) checkAnnotation(prefix, key, value string) {
	// Kubernetes allows upper case in the keys of annotations.
	c.expect(prefix+key, value, "is under a key that no annotation can have", validation.IsQualifiedName(strings.ToLower(key)))
}

func (c *conf) checkVariable(prefix, name, value string) {
	c.expect(prefix+name, value, "is under a name that no environment variable can have", validation.IsRelaxedEnvVarName(name))
}

// checkName checks the value of a property that names an object.
func (c *conf) checkName(field, value, object string) {
	c.expect(field, value, "names no "+object, validation.IsDNS1123Subdomain(value))
}

// checkWithin checks a path within a volume. The API server refuses a path that leads out of it.
func (c *conf) checkWithin(field, path string) {
	if strings.HasPrefix(path, "/") || leadsUp(path) {
		c.refuse(field, path, "is no path within the volume", "write one without / at its beginning and without ..")
	}
}

func leadsUp(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// checkFits checks the size of a text for a config map.
func (c *conf) checkFits(field, text string) {
	if len(text) > maxConfigMap {
		c.refuse(field, "", fmt.Sprintf("is of %d bytes, and a config map holds %d", len(text), maxConfigMap),
			"put what is large into files that the driver can fetch")
	}
}
