package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Variable is a variable of a policy.
type Variable struct{ Name, Expression string }

// The variables of a policy are the fields of a Manifest: each is a list of entries with field and value. Three further variables are about the spec:
// spec is the spec of the application or cluster, path its path in the object, and conf its Spark properties.

// labelsVariable is the variable of the labels of an object.
func labelsVariable() Variable {
	return Variable{"labels", orEmpty("object.metadata.?labels", "{}")}
}

// specVariables are the variables about the spec, which is at scheduled in a schedule.
func specVariables(scheduled ...string) []Variable {
	path, spec := wholeSpec(scheduled)
	return []Variable{{"path", path}, {"spec", spec}, {"conf", orEmpty("variables.spec.?sparkConf", "{}")}}
}

// wholeSpec returns expressions for the path and the value of the spec.
func wholeSpec(scheduled []string) (path, spec string) {
	if len(scheduled) == 0 {
		return "'spec'", "object.spec"
	}
	return "object.kind == 'ScheduledSparkApplication' ? 'spec." + strings.Join(scheduled, ".") + "' : 'spec'",
		"object.kind == 'ScheduledSparkApplication' ? " + orEmpty("object.spec.?"+strings.Join(scheduled, ".?"), "{}") + " : object.spec"
}

// The bounds of a manifest for policies with loops. The API server aborts an expression that costs too much. For a large manifest, that would take
// many seconds.
const (
	maxProperties    = 2000
	maxPropertyBytes = 128 << 10
	maxContainers    = 100
	maxVolumes       = 500
	maxEntries       = 500
	maxEntryBytes    = 32 << 10
)

// boundedSpecVariables are the variables about the spec for expressions with loops. If the manifest is too large, spec and conf are empty, and the
// variable excess has texts about what is too large.
func (a *api) boundedSpecVariables() []Variable {
	path, whole := wholeSpec(a.scheduled)
	const properties = "variables.wholeConf"
	bounds := []string{
		exceeds("size("+properties+")", maxProperties, at("sparkConf"), "properties"),
		exceeds(fmt.Sprintf("size(%[1]s) > %[2]d ? 0 : ([0] + %[1]s.map(k, size(string(k)))).sum()", properties, maxProperties), maxPropertyBytes,
			at("sparkConf"), "characters in the keys of its properties"),
	}
	for _, of := range []struct {
		most  int
		what  string
		lists []string
	}{{maxContainers, "containers", a.containers}, {maxVolumes, "volumes", a.volumes}} {
		if len(of.lists) == 0 {
			continue
		}
		var sizes []string
		for _, list := range of.lists {
			sizes = append(sizes, "size("+orEmpty("variables.whole.?"+strings.ReplaceAll(list, ".", ".?"), "[]")+")")
		}
		bounds = append(bounds, exceeds(strings.Join(sizes, " + "), of.most, "variables.path", of.what))
	}
	if len(a.lists) > 0 {
		var entries, characters []string
		for _, key := range a.lists {
			text := orText(fmt.Sprintf("%s[?'%s']", properties, key))
			entries, characters = append(entries, "size("+text+".split(','))"), append(characters, "size("+text+")")
		}
		bounds = append(bounds,
			exceeds(strings.Join(entries, " + "), maxEntries, at("sparkConf"), "labels and annotations in lists"),
			exceeds(strings.Join(characters, " + "), maxEntryBytes, at("sparkConf"), "characters in lists of labels and annotations"))
	}
	return []Variable{
		{"path", path}, {"whole", whole}, {"wholeConf", orEmpty("variables.whole.?sparkConf", "{}")},
		{"excess", "[" + strings.Join(bounds, ", ") + "].filter(t, t != '')"},
		{"spec", "size(variables.excess) > 0 ? {} : variables.whole"}, {"conf", "size(variables.excess) > 0 ? {} : variables.wholeConf"},
	}
}

// exceeds is a text about a field that has more of something than a policy reads. It is empty if it has not.
func exceeds(number string, most int, field, what string) string {
	return fmt.Sprintf("[%s].map(n, n > %d ? %s + ' has ' + string(n) + %s : '')[0]", number, most, field,
		celText(fmt.Sprintf(" %s, and policies read at most %d: write fewer", what, most)))
}

// excess is the validation of manifests that are too large. It is the first one, whose message users get.
func excess() Validation { return Validation{"size(variables.excess) == 0", "variables.excess[0]"} }

// orEmpty is the value of an optional expression. If it is absent or null, it is the expression empty.
func orEmpty(optional, empty string) string {
	return fmt.Sprintf("optional.ofNonZeroValue(%s.orValue(null)).orValue(%s)", optional, empty)
}

// textOf is a value as a text. In parts of an object without a schema, it may be null or of another type.
func textOf(value string) string {
	return fmt.Sprintf("(%[1]s == null ? '' : %[1]s == true ? 'true' : %[1]s == false ? 'false' : string(%[1]s))", "dyn("+value+")")
}

// orText is the value of an optional expression as a text, which is empty if there is none.
func orText(optional string) string {
	return fmt.Sprintf("[%s.orValue(null)].map(t, %s)[0]", optional, textOf("t"))
}

// at is the path of a field in the object.
func at(field string) string { return "variables.path + '." + field + "'" }

// atProperty is the path of a Spark property in the object. key is an expression.
func atProperty(key string) string { return "variables.path + '.sparkConf[' + " + key + " + ']'" }

// optionalField is the optional value of a field of the spec.
func optionalField(field string) string {
	return "variables.spec.?" + strings.ReplaceAll(field, ".", ".?")
}

// property is the optional entry of a Spark property.
func property(key string) string {
	return fmt.Sprintf("variables.conf[?'%s'].optMap(v, {'field': %s, 'value': %s})", key, at("sparkConf["+key+"]"), textOf("v"))
}

// text is the optional entry of a field that is a text. An empty text is none.
func text(field string) string {
	return fmt.Sprintf("optional.ofNonZeroValue(%s.orValue('')).optMap(v, {'field': %s, 'value': %s})",
		optionalField(field), at(field), textOf("v"))
}

// number is the optional entry of a field that is a number.
func number(field string) string {
	return fmt.Sprintf("(%[1]s.orValue(null) == null ? optional.none() : %[1]s).optMap(v, {'field': %[2]s, 'value': string(v)})",
		optionalField(field), at(field))
}

// fixed is an optional entry that is always there.
func fixed(field, value string) string {
	return fmt.Sprintf("optional.of({'field': %s, 'value': '%s'})", at(field), value)
}

// first is a list of the first entry that is there.
func first(optionals ...string) string {
	expression := optionals[0]
	for _, other := range optionals[1:] {
		expression += ".or(" + other + ")"
	}
	return "[?" + expression + "]"
}

// all joins lists.
func all(lists ...string) string { return strings.Join(lists, " + ") }

// switchedOn reports whether a property may switch something on, as Properties do.
func switchedOn(key string) string {
	return fmt.Sprintf("!(%s.trim().lowerAscii() in ['', 'false'])", orText("variables.conf[?'"+key+"']"))
}

// roleNames are what an API calls the values of a role.
type roleNames struct {
	role string
	// The optional entries of each, beside properties.
	memory, overhead, factor, cores, request, limit []string
}

// variables are those of a role.
func (r roleNames) variables() []Variable {
	prefix := "spark." + r.role + "."
	overhead := slices.Concat(r.overhead, []string{property(prefix + "memoryOverhead"), property(yarnOverhead(r.role))})
	memory := []string{
		first(slices.Concat(r.memory, []string{property(prefix + "memory"), fixed("sparkConf["+prefix+"memory]", "1g")})...),
		first(overhead...), fmt.Sprintf("(size(%s) > 0 ? [] : %s)", first(overhead...), first(property(prefix+"minMemoryOverhead"))),
	}
	if r.role == "executor" {
		offHeap := first(property("spark.memory.offHeap.size"))
		// A number of this property without a unit is of bytes.
		inBytes := ".map(v, {'field': v.field, 'value': " + celParsed("v.value") + " && v.value.trim().matches('^[0-9]+$') ? v.value.trim() + 'b' : v.value})"
		memory = append(memory, first(property("spark.executor.pyspark.memory")),
			fmt.Sprintf("(%s ? %s%s : [])", switchedOn("spark.memory.offHeap.enabled"), offHeap, inBytes))
	}
	factor := first(slices.Concat([]string{property(prefix + "memoryOverheadFactor")}, r.factor, []string{property("spark.kubernetes.memoryOverheadFactor")})...)
	kubernetes := "spark.kubernetes." + r.role + "."
	return []Variable{
		{r.role + "Memory", all(memory...)},
		{r.role + "Factor", fmt.Sprintf("size(%s) > 0 ? [] : %s", first(overhead...), factor)},
		{r.role + "Cores", all(
			first(slices.Concat(r.cores, []string{property(prefix + "cores")})...),
			first(slices.Concat(r.request, []string{property(kubernetes + "request.cores")})...),
			first(slices.Concat(r.limit, []string{property(kubernetes + "limit.cores")})...),
		)},
	}
}

// executors is the variable of that name. fields are optional entries beside the properties, by the last part of those; dynamic is a
// further expression for dynamic allocation, and otherwise the number of executors that an application has by default.
func executors(fields map[string]string, dynamic, otherwise string) []Variable {
	entry := func(name, key string) []string {
		if fields[name] != "" {
			return []string{fields[name], property(key)}
		}
		return []string{property(key)}
	}
	instances := entry("instances", "spark.executor.instances")
	on := switchedOn("spark.dynamicAllocation.enabled")
	if dynamic != "" {
		on = dynamic + " || " + on
	}
	lists := []string{first(instances...)}
	for _, name := range []string{"initialExecutors", "minExecutors"} {
		lists = append(lists, first(entry(name, "spark.dynamicAllocation."+name)...))
	}
	const most = "spark.dynamicAllocation.maxExecutors"
	lists = append(lists, first(append(entry("maxExecutors", most), fixed("sparkConf["+most+"]", ""))...))
	return []Variable{
		{"dynamic", on},
		{"executors", fmt.Sprintf("variables.dynamic ? %s : %s", all(lists...), first(append(instances, fixed("sparkConf[spark.executor.instances]", otherwise))...))},
	}
}

// pod is a Pod spec, or containers of the API's own, in a manifest.
type pod struct {
	// field is its path in the spec.
	field string
	// spec is an expression for it.
	spec string
}

// podAt is a Pod spec in a template, by its path.
func podAt(field string) pod {
	return pod{field: field, spec: orEmpty(optionalField(field), "{}")}
}

// podVariables are what Pods, other fields and properties have of images, paths and rights of the node. Each Pod is a variable of its own.
func podVariables(pods map[string]pod, images, hostPaths, privileged []string) []Variable {
	var variables []Variable
	var hostNamespaces []string
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		p := pods[name]
		variables = append(variables, Variable{name, p.spec})
		spec := "variables." + name
		for _, list := range []string{"containers", "initContainers"} {
			containers := orEmpty(spec+".?"+list, "[]")
			field := at(p.field+"."+list) + named("c")
			images = append(images, imagesIn(containers, field))
			privileged = append(privileged, privilegedIn(containers, field))
		}
		hostPaths = append(hostPaths, volumesOf(spec+".?volumes", p.field+".volumes"))
		for _, field := range []string{"hostNetwork", "hostPID", "hostIPC"} {
			hostNamespaces = append(hostNamespaces, isTrue(spec+".?"+field, p.field+"."+field))
		}
	}
	for _, of := range []struct {
		name  string
		lists []string
	}{{"images", images}, {"hostPaths", hostPaths}, {"hostNamespaces", hostNamespaces}, {"privileged", privileged}} {
		if len(of.lists) > 0 { // otherwise the API has nothing of the kind
			variables = append(variables, Variable{of.name, all(of.lists...)})
		}
	}
	return variables
}

// named is the name of an entry of a list, as the end of a path.
func named(entry string) string { return " + '[' + " + celClip(orText(entry+".?name")) + " + ']" }

// volumesOf is the list of the volumes of a list that are paths of the node.
func volumesOf(optional, field string) string {
	return fmt.Sprintf("%s.filter(v, v != null && v.?hostPath.orValue(null) != null).map(v, {'field': %s.hostPath', 'value': ''})",
		orEmpty(optional, "[]"), at(field)+named("v"))
}

// isTrue is a list of a field that is true.
func isTrue(optional, field string) string {
	return fmt.Sprintf("(%s.orValue(false) == true ? [{'field': %s, 'value': ''}] : [])", optional, at(field))
}

// hostPathProperties is the list of the properties that mount paths of the node.
func hostPathProperties() string {
	var prefixes []string
	for _, prefix := range HostPathPrefixes {
		prefixes = append(prefixes, "k.startsWith('"+prefix+"')")
	}
	return fmt.Sprintf("variables.conf.filter(k, %s).map(k, {'field': %s, 'value': ''})", strings.Join(prefixes, " || "), atProperty("k"))
}

// imageProperties is the list of the images that properties name.
func imageProperties(keys ...string) []string {
	var lists []string
	for _, key := range slices.Concat(ImageKeys, keys) {
		lists = append(lists, first(property(key)))
	}
	return lists
}

// textLists are lists of a field each.
func textLists(fields ...string) []string {
	var lists []string
	for _, field := range fields {
		lists = append(lists, first(text(field)))
	}
	return lists
}

// ImageKeys are the properties that name images.
var ImageKeys = []string{
	"spark.kubernetes.container.image", "spark.kubernetes.driver.container.image", "spark.kubernetes.executor.container.image",
}

// HostPathPrefixes begin the properties that mount paths of the node.
var HostPathPrefixes = []string{"spark.kubernetes.driver.volumes.hostPath.", ExecutorHostPathPrefix}

// ExecutorHostPathPrefix begins the properties that mount paths of the node into executors, without their template.
const ExecutorHostPathPrefix = "spark.kubernetes.executor.volumes.hostPath."

// propertyKeys is the variable of the keys of all properties.
func propertyKeys() Variable {
	return Variable{"properties", "variables.conf.map(k, {'field': " + atProperty("k") + ", 'value': string(k)})"}
}
