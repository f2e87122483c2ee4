package submission

import (
	"regexp"
	"slices"
	"strings"
)

// reference is ${key} or ${source:key} in the value of a property.
var reference = regexp.MustCompile(`\$\{(?:(\w+?):)?(\S+?)\}`)

// defaults are what references find where nobody sets the property, of those that a submission has to do with. Which of
// its other defaults Spark knows depends on what of its code has run until then; references to those stay as they are.
var defaults = map[string]string{
	driverMemoryKey:                               "1g",
	driverCoresKey:                                "1",
	executorMemoryKey:                             "1g",
	"spark.executor.cores":                        "1",
	"spark.task.cpus":                             "1",
	overheadFactorKey:                             "0.1",
	"spark.driver.memoryOverheadFactor":           "0.1",
	driverPortKey:                                 "0",
	"spark.blockManager.port":                     "0",
	driverBlockManagerPortKey:                     "${spark.blockManager.port}",
	"spark.kubernetes.container.image.pullPolicy": "IfNotPresent",
	driverImageKey:                                "${" + imageKey + "}",
	executorImageKey:                              "${" + imageKey + "}",
	ipFamiliesKey:                                 "IPv4",
	ipFamilyPolicyKey:                             "SingleStack",
}

// maxReferences bounds the references that one value can hold, its own and those of what it refers to: without a bound
// a few properties that refer to each other twice would fill the memory.
const maxReferences = 100

// expansion replaces the references in the value of one property. It mirrors Spark's ConfigReader.
type expansion struct {
	conf *conf
	key  string
	open []string // the properties whose values are being expanded, outermost first
	left int
}

// expand returns the value of key with ${spark.other} replaced by the value of that property. References to other than
// Spark properties, and to those that have no value, stay as they are, as in Spark.
func (c *conf) expand(key, value string) string {
	if !strings.Contains(value, "${") {
		return value
	}
	e := &expansion{conf: c, key: key, open: []string{key}, left: maxReferences}
	return e.replace(value)
}

func (e *expansion) replace(value string) string {
	return reference.ReplaceAllStringFunc(value, func(text string) string {
		found := reference.FindStringSubmatch(text)
		source, key := found[1], found[2]
		switch {
		case source == "env" || source == "system":
			return e.refuse(text, "refers to the environment of spark-submit, and none runs", "write the value itself")
		case source != "" || !strings.HasPrefix(key, "spark."):
			return text
		default:
			return e.follow(text, key)
		}
	})
}

func (e *expansion) follow(text, key string) string {
	value, set := e.conf.values[key]
	if !set {
		value, set = defaults[key]
	}
	switch {
	case !set:
		return text
	case slices.Contains(e.open, key):
		return e.refuse(text, "refers to itself", "write the value itself")
	case e.left == 0:
		return ""
	}
	if e.left--; e.left == 0 {
		return e.refuse(text, "holds too many references", "write the value itself")
	}
	e.open = append(e.open, key)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	return e.replace(value)
}

func (e *expansion) refuse(text, problem, remedy string) string {
	e.conf.refuse(e.key, text, problem, remedy)
	return text
}
