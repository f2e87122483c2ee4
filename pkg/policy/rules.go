package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// ConfigMap is the ConfigMap whose keys are those of the table.
const ConfigMap = "config-admission"

// The keys of the table.
const (
	KeyDenied         = "denied-spark-properties"
	KeyExecutors      = "max-executors"
	KeyWorkers        = "max-workers"
	KeyDriverMemory   = "max-driver-memory"
	KeyExecutorMemory = "max-executor-memory"
	KeyDriverCores    = "max-driver-cores"
	KeyExecutorCores  = "max-executor-cores"
	KeyLabels         = "required-labels"
	KeyRegistries     = "allowed-registries"
	KeyTimeToLive     = "time-to-live"
	KeyHostPath       = "host-path"
	KeyHostNamespaces = "host-namespaces"
	KeyPrivileged     = "privileged"
)

// The values of the keys that are switches.
const (
	required = "required"
	optional = "optional"
	denied   = "denied"
	allowed  = "allowed"
)

// Rules are the rules that are on, by their keys, with the values of config-admission. The zero value allows everything. Set checks values.
type Rules map[string]string

// Value is a value in a manifest.
type Value struct {
	// Field is its path. If a setting of the operator has the value, Field is empty, and Source names the setting.
	Field, Source string
	Text          string
}

// Manifest is what the rules read of an application, a cluster or the template of a schedule.
type Manifest struct {
	// Labels are the object's own.
	Labels map[string]string
	// Properties are the keys of the Spark properties that the manifest sets. A property with an old name has a second entry, with today's name.
	Properties []Value
	// Images are all images that the manifest names.
	Images []Value
	// HostPaths, HostNamespaces and Privileged are the fields that ask for a path of the node, a namespace of the node, and a privileged
	// container.
	HostPaths, HostNamespaces, Privileged []Value
	// Driver and Executor are nil for a kind that has none.
	Driver, Executor *Role
	// Executors are the numbers of executors that the manifest may lead to. One without a text is unbounded.
	Executors []Value
	// Workers are the numbers of workers of a cluster.
	Workers []Value
	// TimeToLive is the field of the time to live, whose text is empty if none is set. It is nil if the API has no such field.
	TimeToLive *Value
}

// Role is what driver or executors ask for.
type Role struct {
	// Memory are the sizes that add up to the memory of the Pod, the heap first.
	Memory []Value
	// Factor is the part of the heap that is added as overhead, if the manifest names a factor and no overhead.
	Factor *Value
	// Cores are the numbers of cores, each of which is bounded.
	Cores []Value
}

// Rule is a row of the table.
type Rule struct {
	Key string
	// Bounds is what the rule bounds, for the reference.
	Bounds string
	// Remedy is what to write as the value of the key, for the message about an invalid value.
	Remedy string
	// Example is a value, for the reference.
	Example string
	// Reason is the reason of the findings.
	Reason string
	// ofPods reports whether the rule is about Pods. Such a rule also checks pod templates at URLs.
	ofPods bool
	// listed reports whether the value of the key is a list.
	listed bool
	// valid reports whether a value of the key is valid.
	valid func(text string) bool
	// off reports whether a valid value switches the rule off; an empty value always does.
	off func(text string) bool
	// check returns what breaks the rule, and cel the same as a list in CEL.
	check func(r *Rule, value string, m *Manifest) finding.List
	cel   func() celRule
}

// Table are the admin's rules.
var Table = []Rule{
	deniedRule,
	countRule{
		key: KeyExecutors, bounds: "the executors of an application: their number, and with dynamic allocation the most of them",
		example: "100", reason: "TooManyExecutors", values: func(m *Manifest) []Value { return m.Executors }, variable: "executors",
	}.rule(),
	countRule{
		key: KeyWorkers, bounds: "the workers of a SparkCluster",
		example: "20", reason: "TooManyWorkers", values: func(m *Manifest) []Value { return m.Workers }, variable: "workers",
	}.rule(),
	memoryRule(KeyDriverMemory, "the memory of a driver, with the overhead that the manifest names", func(m *Manifest) *Role { return m.Driver }, "driver"),
	memoryRule(KeyExecutorMemory, "the memory of an executor, with the overhead that the manifest names, off-heap memory and memory of Python",
		func(m *Manifest) *Role { return m.Executor }, "executor"),
	coresRule(KeyDriverCores, "the cores of a driver, their request and their limit", func(m *Manifest) *Role { return m.Driver }, "driverCores"),
	coresRule(KeyExecutorCores, "the cores of an executor, their request and their limit", func(m *Manifest) *Role { return m.Executor }, "executorCores"),
	labelsRule,
	registriesRule,
	timeToLiveRule,
	switchRule{
		key: KeyHostPath, on: denied, off: allowed, bounds: "volumes that are paths of the node", ofPods: true,
		reason: "HostPathDenied", problem: "is a path of the node", remedy: "mount another kind of volume",
		values: func(m *Manifest) []Value { return m.HostPaths }, variable: "hostPaths", breaks: "true",
	}.rule(),
	switchRule{
		key: KeyHostNamespaces, on: denied, off: allowed, bounds: "hostNetwork, hostPID and hostIPC of Pods", ofPods: true,
		reason: "HostNamespaceDenied", problem: "shares a namespace with the node", remedy: "leave it out",
		values: func(m *Manifest) []Value { return m.HostNamespaces }, variable: "hostNamespaces", breaks: "true",
	}.rule(),
	switchRule{
		key: KeyPrivileged, on: denied, off: allowed, bounds: "privileged containers", ofPods: true,
		reason: "PrivilegedDenied", problem: "gives a container all rights on the node", remedy: "leave it out",
		values: func(m *Manifest) []Value { return m.Privileged }, variable: "privileged", breaks: "true",
	}.rule(),
}

// Set sets the value of a rule's key, and reports whether the value is valid. An empty value switches the rule off, and so does a value such as
// allowed.
func (r Rules) Set(rule *Rule, text string) bool {
	text = strings.TrimSpace(text)
	delete(r, rule.Key)
	if text == "" {
		return true
	}
	if !rule.valid(text) {
		return false
	}
	if rule.off == nil || !rule.off(text) {
		r[rule.Key] = text
	}
	return true
}

// Check returns a finding for each value of a manifest that breaks a rule.
func (r Rules) Check(m *Manifest) finding.List {
	return r.check(m, func(*Rule) bool { return true })
}

// CheckPod does the same for a pod template at a URL, which no policy can read.
func (r Rules) CheckPod(spec *corev1.PodSpec) finding.List {
	m := &Manifest{}
	m.AddPod("spec", spec)
	return r.check(m, func(rule *Rule) bool { return rule.ofPods })
}

// check does the same for the rules that a function selects.
func (r Rules) check(m *Manifest, counts func(rule *Rule) bool) finding.List {
	var found finding.List
	for i := range Table {
		rule := &Table[i]
		if value, on := r[rule.Key]; on && counts(rule) {
			found.Add(rule.check(rule, value, m)...)
		}
	}
	return found
}

// Denies reports whether manifests may not set a property.
func (r Rules) Denies(key string) bool { return Listed(SplitList(r[KeyDenied]), key) }

// SplitList splits a list at commas and white space.
func SplitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

// Listed reports whether a list of keys has a key. A key that ends with a star stands for all keys with that prefix.
func Listed(keys []string, key string) bool {
	return slices.ContainsFunc(keys, func(listed string) bool {
		prefix, open := strings.CutSuffix(listed, "*")
		return listed == key || open && strings.HasPrefix(key, prefix)
	})
}

// ValidKeys returns the first entry of a list that is no key of a Spark property; empty if all are.
func ValidKeys(keys []string) (invalid string) {
	if at := slices.IndexFunc(keys, func(key string) bool { return !validKey().MatchString(key) }); at >= 0 {
		return keys[at]
	}
	return ""
}

var validKey = lazy.Regexp(keyPattern)

// found makes a finding about a value.
func (r *Rule) found(v Value, problem, remedy string) finding.Finding {
	f := finding.Finding{Severity: finding.Error, Reason: r.Reason, Field: v.Field, Source: v.Source, Message: problem, Remedy: remedy}
	if v.Text != "" {
		f.Value = v.Text
	}
	return f
}

// each returns a finding for each value that breaks a rule. problem may have %s for the value of the key.
func (r *Rule) each(values []Value, value, problem, remedy string, breaks func(v Value) bool) finding.List {
	problem, remedy = strings.ReplaceAll(problem, "%s", value), strings.ReplaceAll(remedy, "%s", value)
	var found finding.List
	for _, v := range values {
		if breaks(v) {
			found.Add(r.found(v, problem, remedy))
		}
	}
	return found
}

const (
	deniedProblem = "is denied by denied-spark-properties of config-admission"
	deniedRemedy  = "remove it"
)

var deniedRule = Rule{
	Key: KeyDenied, Bounds: "Spark properties of applications of `spark.apache.org` and `spark-operator.k8s.io`, and of clusters; those of `sparkoperator.k8s.io` have `denied-spark-properties` of `config-kubeflow`",
	Remedy:  "write keys of Spark properties, separated by commas; a key may end with *",
	Example: "spark.kubernetes.driver.master, spark.kubernetes.authenticate.*",
	Reason:  "DeniedProperty", listed: true,
	valid: func(text string) bool { return ValidKeys(SplitList(text)) == "" },
	check: func(r *Rule, value string, m *Manifest) finding.List {
		keys := SplitList(value)
		var found finding.List
		for _, v := range m.Properties {
			if Listed(keys, v.Text) && !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Field == v.Field }) {
				found.Add(r.found(Value{Field: v.Field, Source: v.Source}, deniedProblem, deniedRemedy))
			}
		}
		return found
	},
	cel: func() celRule {
		return celRule{
			variable: "properties",
			valid:    celList(KeyDenied) + ".all(e, e.matches('" + keyPattern + "'))",
			helpers:  []Variable{prefixesOf(KeyDenied, celList(KeyDenied))},
			breaks:   celListed("v.value", celList(KeyDenied), KeyDenied),
			problem:  deniedProblem, remedy: deniedRemedy, nameless: true,
		}
	},
}

const (
	numberProblem = "is not at most %s, as " // and the key
	numberRemedy  = "write a number up to it"
)

var wholeNumber = lazy.Regexp(wholeNumberPattern)

// countRule is a rule whose key has a whole number, the most that each value may be.
type countRule struct {
	key, bounds, example, reason string
	// values are those of a manifest, and variable is their name in CEL.
	values   func(m *Manifest) []Value
	variable string
}

func (c countRule) rule() Rule {
	problem := numberProblem + c.key + " of " + ConfigMap + " demands"
	return Rule{
		Key: c.key, Bounds: c.bounds, Remedy: "write a number such as " + c.example, Example: c.example, Reason: c.reason,
		valid: func(text string) bool { return wholeNumber().MatchString(text) },
		check: func(r *Rule, value string, m *Manifest) finding.List {
			most, _ := strconv.ParseInt(value, 10, 64)
			return r.each(c.values(m), value, problem, numberRemedy, func(v Value) bool {
				text := strings.TrimSpace(v.Text)
				number, err := strconv.ParseInt(text, 10, 64)
				return !parsed(v.Text) || !wholeNumber().MatchString(text) || err != nil || number > most
			})
		},
		cel: func() celRule {
			return celRule{
				variable: c.variable,
				valid:    fmt.Sprintf("%s.matches('%s')", celSetting(c.key), wholeNumberPattern),
				breaks:   fmt.Sprintf("!(%s) || !v.value.trim().matches('%s') || int(v.value.trim()) > int(%s)", celParsed("v.value"), wholeNumberPattern, celSetting(c.key)),
				problem:  problem, remedy: numberRemedy,
			}
		},
	}
}

func coresRule(key, bounds string, of func(m *Manifest) *Role, variable string) Rule {
	problem := numberProblem + key + " of " + ConfigMap + " demands"
	return Rule{
		Key: key, Bounds: bounds, Remedy: "write a number of cores from 1 on, such as 4", Example: "8", Reason: "TooManyCores",
		valid: func(text string) bool { number, ok := coresOf(text); return ok && number >= 1 },
		check: func(r *Rule, value string, m *Manifest) finding.List {
			role := of(m)
			if role == nil {
				return nil
			}
			most, _ := coresOf(value)
			return r.each(role.Cores, value, problem, numberRemedy, func(v Value) bool {
				number, ok := coresOf(strings.TrimSpace(v.Text))
				return !parsed(v.Text) || !ok || number > most
			})
		},
		cel: func() celRule {
			return celRule{
				variable: variable,
				valid:    fmt.Sprintf("%s.matches('%s') && %s >= 1.0", celSetting(key), coresPattern, celCores(celSetting(key))),
				breaks:   fmt.Sprintf("!(%s) || !v.value.trim().matches('%s') || %s > %s", celParsed("v.value"), coresPattern, celCores("v.value.trim()"), celCores(celSetting(key))),
				problem:  problem, remedy: numberRemedy,
			}
		},
	}
}

const (
	sizeProblem   = "is no size, and "                // the key, and boundedBy
	boundedBy     = " of " + ConfigMap + " bounds it" //
	sizeRemedy    = "write one such as 4g"
	memoryProblem = "makes %d MiB with what is added to it, and " // the key, and allows
	allows        = " of " + ConfigMap + " allows %s"
	memoryRemedy  = "ask for less"
)

func memoryRule(key, bounds string, of func(m *Manifest) *Role, role string) Rule {
	return Rule{
		Key: key, Bounds: bounds, Remedy: "write a size such as 16g", Example: "16g", Reason: "TooMuchMemory",
		valid: func(text string) bool { bytes, ok := sizeOf(text); return ok && bytes > 0 },
		check: func(r *Rule, value string, m *Manifest) finding.List {
			asked := of(m)
			if asked == nil || len(asked.Memory) == 0 {
				return nil
			}
			found := r.each(asked.Memory, value, sizeProblem+key+boundedBy, sizeRemedy, func(v Value) bool { _, ok := sizeOf(v.Text); return !parsed(v.Text) || !ok })
			found.Add(r.each(some(asked.Factor), value, "is no factor, and "+key+boundedBy, "write one such as 0.1",
				func(v Value) bool { return !parsed(v.Text) || !factor().MatchString(strings.TrimSpace(v.Text)) })...)
			if len(found) > 0 {
				return found
			}
			most, _ := sizeOf(value)
			if total := asked.bytes(); total > most {
				return finding.List{r.found(asked.Memory[0], fmt.Sprintf(memoryProblem, int64(min(total, 999_999_999_999*mebibyte)/mebibyte))+key+fmt.Sprintf(allows, value), memoryRemedy)}
			}
			return nil
		},
		cel: func() celRule {
			return celRule{
				expression: celMemory(key, role), variable: role + "Memory",
				valid: fmt.Sprintf("%s.matches('%s') && %s > 0.0", celSetting(key), sizePattern, celSize(celSetting(key))),
			}
		},
	}
}

// bytes returns the memory of a Pod of the role. All its texts are valid.
func (r *Role) bytes() float64 {
	total, heap := 0.0, 0.0
	for i, part := range r.Memory {
		bytes, _ := sizeOf(part.Text)
		total += bytes
		if i == 0 {
			heap = bytes
		}
	}
	if r.Factor != nil {
		factor, _ := strconv.ParseFloat(strings.TrimSpace(r.Factor.Text), 64)
		total += factor * heap
	}
	return total
}

const (
	labelProblem = "is missing, and required-labels of config-admission has it"
	labelRemedy  = "set it"
)

var labelsRule = Rule{
	Key: KeyLabels, Bounds: "labels that each application, cluster and schedule must have",
	Remedy: "write keys of labels, separated by commas", Example: "team, cost-center", Reason: "LabelMissing", listed: true,
	valid: func(text string) bool {
		return !slices.ContainsFunc(SplitList(text), func(key string) bool { return len(validation.IsQualifiedName(key)) > 0 })
	},
	check: func(r *Rule, value string, m *Manifest) finding.List {
		var found finding.List
		for _, key := range SplitList(value) {
			if m.Labels[key] == "" {
				found.Add(r.found(Value{Field: finding.Entry("metadata.labels", key)}, labelProblem, labelRemedy))
			}
		}
		return found
	},
	cel: func() celRule {
		return celRule{
			valid: celList(KeyLabels) + ".all(e, e.matches('" + labelPattern + "') && e.indexOf('/') <= 253)",
			expression: celList(KeyLabels) + ".filter(l, " + orText("variables.templateLabels[?l].or(variables.labels[?l])") + " == '')" +
				".map(l, {'field': 'metadata.labels[' + l + ']', 'value': '', 'problem': " + celText(labelProblem) + ", 'remedy': " + celText(labelRemedy) + "})",
			variable: "labels",
		}
	},
}

const (
	registryProblem = "is from none of the allowed-registries of config-admission"
	registryRemedy  = "name an image of one of them: %s"
)

var registriesRule = Rule{
	Key: KeyRegistries, Bounds: "images that a manifest names: of driver and executors, init containers and sidecars, in fields, properties and templates",
	Remedy:  "write registries, or repositories in them, separated by commas; each begins with the host of the registry",
	Example: "registry.example.com, docker.io/apache", Reason: "RegistryNotAllowed", ofPods: true, listed: true,
	valid: func(text string) bool {
		return !slices.ContainsFunc(SplitList(text), func(entry string) bool { return !hasRegistry(strings.TrimSuffix(entry, "/") + "/") })
	},
	check: func(r *Rule, value string, m *Manifest) finding.List {
		entries := SplitList(value)
		return r.each(m.Images, strings.Join(entries, ", "), registryProblem, registryRemedy, func(v Value) bool { return !fromRegistry(v.Text, entries) })
	},
	cel: func() celRule {
		return celRule{
			variable: "images", helpers: registryHelpers(), breaks: "!(" + celFromRegistry("v.value") + ")", problem: registryProblem, remedy: registryRemedy,
			valid:   celList(KeyRegistries) + ".all(e, (e + '/').matches('" + registryPattern + "'))",
			setting: celList(KeyRegistries) + ".join(', ')",
		}
	},
}

var timeToLiveRule = switchRule{
	key: KeyTimeToLive, on: required, off: optional, bounds: "applications without a time to live: `timeToLiveSeconds`, `ttlAfterStopMillis`",
	reason: "TimeToLiveMissing", problem: "is not set", remedy: "write how long the application stays after its end",
	values: func(m *Manifest) []Value {
		if m.TimeToLive == nil || m.TimeToLive.Text != "" {
			return nil
		}
		return []Value{*m.TimeToLive}
	},
	variable: "timeToLive", breaks: "v.value == ''",
}.rule()

// switchRule is a rule whose key has one of two values: on or off.
type switchRule struct {
	key, on, off            string
	bounds                  string
	reason, problem, remedy string
	ofPods                  bool
	// values are those of a manifest, each of which is refused if the rule is on. In CEL, those are the entries of the variable for which breaks is true.
	values           func(m *Manifest) []Value
	variable, breaks string
}

func (s switchRule) rule() Rule {
	problem := s.problem + ", and " + ConfigMap + " has " + s.key + ": " + s.on
	return Rule{
		Key: s.key, Bounds: s.bounds, Remedy: "write " + s.on + " or " + s.off, Example: s.on, Reason: s.reason, ofPods: s.ofPods,
		valid: func(text string) bool { return text == s.on || text == s.off },
		off:   func(text string) bool { return text == s.off },
		check: func(r *Rule, value string, m *Manifest) finding.List {
			return r.each(s.values(m), value, problem, s.remedy, func(Value) bool { return true })
		},
		cel: func() celRule {
			return celRule{on: s.on, valid: celOneOf(s.key, s.on, s.off), variable: s.variable, breaks: s.breaks, problem: problem, remedy: s.remedy}
		},
	}
}
