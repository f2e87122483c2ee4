package submission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// reference is ${key} or ${source:key} in the value of a property.
var reference = regexp.MustCompile(`\$\{(?:(\w+?):)?(\S+?)\}`)

// defaults are the values of references to properties that are not set, for properties that matter to a submission. Which of
// its other defaults Spark knows depends on the code that has run until then. References to those are not replaced.
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

const (
	// maxReferences bounds the references of one value: its own and those of the values that it refers to. Without a bound,
	// a few properties that refer to each other twice would keep the process busy for ever.
	maxReferences = 100
	// maxExpanded bounds the bytes that references expand to, in all values of an application together. The driver's config
	// map holds no more.
	maxExpanded = maxConfigMap
)

// expanded is the text of a property, and the result of its expansion.
type expanded struct{ text, result string }

// expansion replaces the references in the value of one property. It mirrors Spark's ConfigReader.
type expansion struct {
	conf   *conf
	key    string
	open   []string // the properties whose values are being expanded, outermost first
	left   int
	result strings.Builder
}

// expand returns the value of key with ${spark.other} replaced by the value of that property. As in Spark, some references
// are not replaced: those to other than Spark properties, and those to properties without a value. Each value is expanded
// once.
func (c *conf) expand(key, value string) string {
	if !strings.Contains(value, "${") {
		return value
	}
	if known, ok := c.expanded[key]; ok && known.text == value {
		return known.result
	}
	e := &expansion{conf: c, key: key, open: []string{key}, left: maxReferences}
	result := value
	if e.write(value) {
		result = e.result.String()
	}
	if c.expanded == nil {
		c.expanded = map[string]expanded{}
	}
	c.expanded[key] = expanded{value, result}
	return result
}

// write writes a value with its references replaced. If the result would be too long, it records the problem and returns
// false.
func (e *expansion) write(value string) bool {
	for {
		at := reference.FindStringSubmatchIndex(value)
		if at == nil {
			return e.add(value)
		}
		source := ""
		if at[2] >= 0 {
			source = value[at[2]:at[3]]
		}
		if !e.add(value[:at[0]]) || !e.replace(value[at[0]:at[1]], source, value[at[4]:at[5]]) {
			return false
		}
		value = value[at[1]:]
	}
}

// add adds text to the result if there is room for it. Only text that is not in the property itself counts.
func (e *expansion) add(text string) bool {
	if len(e.open) > 1 {
		if len(text) > maxExpanded-e.conf.produced {
			e.conf.refuse(e.key, e.conf.values[e.key],
				fmt.Sprintf("refers to others whose values, with those of all other references, are of more than %d bytes", maxExpanded),
				"write the value itself, or shorten what it refers to")
			return false
		}
		e.conf.produced += len(text)
	}
	e.result.WriteString(text)
	return true
}

func (e *expansion) replace(text, source, key string) bool {
	switch {
	case source == "env" || source == "system":
		e.conf.refuse(e.key, text, "refers to the environment of spark-submit, and none runs", "write the value itself")
		return e.add(text)
	case source != "" || !strings.HasPrefix(key, "spark."):
		return e.add(text)
	default:
		return e.follow(text, key)
	}
}

func (e *expansion) follow(text, key string) bool {
	value, set := e.conf.values[key]
	if !set {
		value, set = defaults[key]
	}
	switch {
	case !set:
		return e.add(text)
	case slices.Contains(e.open, key):
		e.conf.refuse(e.key, text, "refers to itself", "write the value itself")
		return e.add(text)
	case e.left == 0:
		e.conf.refuse(e.key, text, "holds too many references", "write the value itself")
		return false
	}
	e.left--
	e.open = append(e.open, key)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	return e.write(value)
}
