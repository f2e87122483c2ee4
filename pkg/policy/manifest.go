package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Properties are the Spark properties of a manifest: its own, and below them the operator's defaults.
type Properties struct {
	Given, Defaults map[string]string
}

// operatorsDefault names the source of the defaults.
const operatorsDefault = "the operator's default "

// given returns a property that the manifest itself sets; nil if it does not, or if the key is empty.
func (p Properties) given(key string) *Value {
	if text, set := p.Given[key]; set && key != "" {
		return &Value{Field: finding.Entry("spec.sparkConf", key), Text: text}
	}
	return nil
}

// fallback returns a property of the defaults; nil if they do not set it.
func (p Properties) fallback(key string) *Value {
	if text, set := p.Defaults[key]; set {
		return &Value{Source: operatorsDefault + key, Text: text}
	}
	return nil
}

// value returns a property of the manifest or, if it does not set it, of the defaults.
func (p Properties) value(key string) *Value { return either(p.given(key), p.fallback(key)) }

// switchedOn reports whether a property may switch something on. The value may refer to another property: so only an empty value and false are off.
func (p Properties) switchedOn(key string) bool {
	v := p.value(key)
	return v != nil && !slices.Contains([]string{"", "false"}, strings.ToLower(strings.TrimSpace(v.Text)))
}

// either returns the first value that is not nil.
func either(values ...*Value) *Value {
	if at := slices.IndexFunc(values, func(v *Value) bool { return v != nil }); at >= 0 {
		return values[at]
	}
	return nil
}

// some returns the values that are not nil.
func some(values ...*Value) []Value {
	var all []Value
	for _, v := range values {
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// FieldOf is the value of a field that is a text. An empty text is none.
func FieldOf(field, text string) *Value {
	if text == "" {
		return nil
	}
	return &Value{Field: field, Text: text}
}

// NumberOf is the value of a field that is a number; nil if the field is not set.
func NumberOf[N any](field string, number *N) *Value {
	if number == nil {
		return nil
	}
	return &Value{Field: field, Text: fmt.Sprint(*number)}
}

// RoleFields are the fields of an API in the place of properties; nil for those that are not set.
type RoleFields struct {
	Memory, Overhead, Factor, Cores, Request, Limit *Value
	// OldOverhead is the property of 2017 for the overhead; empty if the API does not have it.
	OldOverhead string
}

// RoleOf returns what driver or executors ask for. Fields win over properties.
func RoleOf(role string, p Properties, f RoleFields) *Role {
	prefix, kubernetes := "spark."+role+".", "spark.kubernetes."+role+"."
	overheadKey := prefix + "memoryOverhead"
	overhead := either(f.Overhead, p.given(overheadKey), p.given(f.OldOverhead), p.fallback(overheadKey), p.value(yarnOverhead(role)))
	standard := &Value{Field: finding.Entry("spec.sparkConf", prefix+"memory"), Text: "1g"}
	memory := some(either(f.Memory, p.value(prefix+"memory"), standard), overhead)
	if overhead == nil {
		memory = append(memory, some(p.value(prefix+"minMemoryOverhead"))...)
	}
	if role == "executor" {
		memory = append(memory, some(p.value("spark.executor.pyspark.memory"), p.offHeap())...)
	}
	r := &Role{
		Memory: memory,
		Cores: some(either(f.Cores, p.value(prefix+"cores")), either(f.Request, p.value(kubernetes+"request.cores")),
			either(f.Limit, p.value(kubernetes+"limit.cores"))),
	}
	if overhead == nil {
		r.Factor = either(p.value(prefix+"memoryOverheadFactor"), f.Factor, p.value("spark.kubernetes.memoryOverheadFactor"))
	}
	return r
}

// yarnOverhead is the oldest name of the property of the overhead. Spark reads it still.
func yarnOverhead(role string) string { return "spark.yarn." + role + ".memoryOverhead" }

// offHeap is the off-heap memory of executors. A number of this property without a unit is of bytes.
func (p Properties) offHeap() *Value {
	v := p.value("spark.memory.offHeap.size")
	if v == nil || !p.switchedOn("spark.memory.offHeap.enabled") {
		return nil
	}
	if text := strings.TrimSpace(v.Text); text != "" && strings.Trim(text, "0123456789") == "" {
		v.Text = text + "b"
	}
	return v
}

// ExecutorFields are the fields of an API in the place of properties; nil for those that are not set.
type ExecutorFields struct {
	Instances, Initial, Min, Max *Value
	// Dynamic reports whether a field switches dynamic allocation on.
	Dynamic bool
	// Otherwise is the number of executors that an application has by default.
	Otherwise string
}

// ExecutorsOf returns the numbers of executors that a manifest may lead to.
func ExecutorsOf(p Properties, f ExecutorFields) []Value {
	const instances, dynamic = "spark.executor.instances", "spark.dynamicAllocation."
	number := either(f.Instances, p.value(instances))
	if !f.Dynamic && !p.switchedOn(dynamic+"enabled") {
		return some(either(number, &Value{Field: finding.Entry("spec.sparkConf", instances), Text: f.Otherwise}))
	}
	return some(number, either(f.Initial, p.value(dynamic+"initialExecutors")), either(f.Min, p.value(dynamic+"minExecutors")),
		either(f.Max, p.value(dynamic+"maxExecutors"), &Value{Field: finding.Entry("spec.sparkConf", dynamic+"maxExecutors")}))
}

// AddPropertyKeys adds the keys of the properties that the manifest itself has.
func (m *Manifest) AddPropertyKeys(p Properties) {
	for _, key := range slices.Sorted(maps.Keys(p.Given)) {
		m.Properties = append(m.Properties, Value{Field: finding.Entry("spec.sparkConf", key), Text: key})
	}
}

// AddImageProperties adds the images that the properties with the keys name.
func (m *Manifest) AddImageProperties(p Properties, keys ...string) {
	for _, key := range keys {
		m.AddImages(p.value(key))
	}
}

// AddHostPathProperties adds the properties that mount paths of the node.
func (m *Manifest) AddHostPathProperties(p Properties) {
	both := maps.Clone(p.Defaults)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, p.Given)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if slices.ContainsFunc(HostPathPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			v := *p.value(key)
			v.Text = ""
			m.HostPaths = append(m.HostPaths, v)
		}
	}
}

// AddImages adds images of fields. Empty ones are left out.
func (m *Manifest) AddImages(images ...*Value) { m.Images = append(m.Images, some(images...)...) }

// AddPod adds what a Pod spec asks for. path is that of its fields.
func (m *Manifest) AddPod(path string, spec *corev1.PodSpec) {
	m.AddContainers(path+".containers", spec.Containers)
	m.AddContainers(path+".initContainers", spec.InitContainers)
	m.AddVolumes(path+".volumes", spec.Volumes)
	m.AddHostNamespace(path+".hostNetwork", spec.HostNetwork)
	m.AddHostNamespace(path+".hostPID", spec.HostPID)
	m.AddHostNamespace(path+".hostIPC", spec.HostIPC)
}

// AddContainers adds the images of containers, and which of them are privileged.
func (m *Manifest) AddContainers(path string, containers []corev1.Container) {
	for i := range containers {
		field := fmt.Sprintf("%s[%d]", path, i)
		m.AddImages(FieldOf(field+".image", containers[i].Image))
		m.AddPrivileged(field+".securityContext.privileged", containers[i].SecurityContext)
	}
}

// AddPrivileged adds a security context if it is privileged.
func (m *Manifest) AddPrivileged(field string, given *corev1.SecurityContext) {
	if given != nil && given.Privileged != nil && *given.Privileged {
		m.Privileged = append(m.Privileged, Value{Field: field})
	}
}

// AddVolumes adds the volumes that are paths of the node.
func (m *Manifest) AddVolumes(path string, volumes []corev1.Volume) {
	for i := range volumes {
		if volumes[i].HostPath != nil {
			m.HostPaths = append(m.HostPaths, Value{Field: fmt.Sprintf("%s[%d].hostPath", path, i)})
		}
	}
}

// AddHostNamespace adds a field that shares a namespace with the node, if it is set.
func (m *Manifest) AddHostNamespace(field string, shared bool) {
	if shared {
		m.HostNamespaces = append(m.HostNamespaces, Value{Field: field})
	}
}
