package podvalidation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Pod returns what the API server refuses about the spec of a Pod, or about a part of one. path is that of the spec.
func Pod(path string, spec *corev1.PodSpec) finding.List {
	c := &checker{}
	at := func(name string) string { return path + "." + name }
	choice(c, at("dnsPolicy"), spec.DNSPolicy, corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)
	choice(c, at("preemptionPolicy"), ptr.Deref(spec.PreemptionPolicy, ""), corev1.PreemptNever, corev1.PreemptLowerPriority)
	c.dns(at("dnsConfig"), spec)
	c.nodeSelector(at("nodeSelector"), spec.NodeSelector)
	c.tolerations(at("tolerations"), spec.Tolerations)
	c.affinity(at("affinity"), spec.Affinity)
	c.spread(at("topologySpreadConstraints"), spec.TopologySpreadConstraints)
	c.hostAliases(at("hostAliases"), spec.HostAliases)
	c.add(PodSecurity(at("securityContext"), spec.SecurityContext)...)
	for i, container := range spec.InitContainers {
		c.add(Container(fmt.Sprintf("%s[%d]", at("initContainers"), i), &container)...)
	}
	for i, container := range spec.Containers {
		c.add(Container(fmt.Sprintf("%s[%d]", at("containers"), i), &container)...)
	}
	c.add(Volumes(at("volumes"), spec.Volumes)...)
	c.namesOfContainers(path, spec)
	c.namesOfVolumes(at("volumes"), spec.Volumes)
	return c.found
}

// StatefulSet returns what the API server refuses about the Pods of a StatefulSet that nothing completes. path is that of their spec. claims are
// the names of the volumes that the StatefulSet defines beside those of the spec.
func StatefulSet(path string, spec *corev1.PodSpec, claims ...string) finding.List {
	given, names := *spec, VolumeNames(spec)
	given.Volumes = slices.Clone(spec.Volumes)
	claimed := map[string]bool{}
	for _, claim := range claims {
		claimed[claim], names[claim] = true, true
	}
	for i := range given.Volumes {
		if claimed[given.Volumes[i].Name] {
			given.Volumes[i].VolumeSource = corev1.VolumeSource{} // the claim replaces it
		}
	}
	c := &checker{found: Pod(path, &given)}
	c.complete(path, spec)
	c.defined(path, spec, names)
	choice(c, path+".restartPolicy", spec.RestartPolicy, corev1.RestartPolicyAlways)
	if spec.ActiveDeadlineSeconds != nil {
		c.refuse(path+".activeDeadlineSeconds", *spec.ActiveDeadlineSeconds, "cannot be set for the Pods of a StatefulSet", "leave it out")
	}
	return c.found
}

// checker gathers findings.
type checker struct{ found finding.List }

func (c *checker) add(found ...finding.Finding) { c.found.Add(found...) }

func (c *checker) refuse(path string, value any, message, remedy string) {
	c.found.Refuse(path, value, message, remedy)
}

// reasons refuses a value for the reasons that the API server gives.
func (c *checker) reasons(path, value, message string, reasons []string) {
	if len(reasons) > 0 {
		c.refuse(path, value, message, finding.Correct(reasons))
	}
}

func (c *checker) missing(path string) { c.refuse(path, nil, finding.Missing, "set it") }

// choice refuses a value that is none of the choices. An empty one stands for the default.
func choice[T ~string](c *checker, path string, given T, choices ...T) {
	if given == "" || slices.Contains(choices, given) {
		return
	}
	names := make([]string, len(choices))
	for i, name := range choices {
		names[i] = string(name)
	}
	remedy := "write " + names[0]
	if len(names) > 1 {
		remedy = "write one of " + strings.Join(names, ", ")
	}
	c.refuse(path, string(given), "is no value of the field", remedy)
}

// labelKey refuses a text that is no key of a label.
func (c *checker) labelKey(path, key string) {
	if key == "" {
		c.missing(path)
		return
	}
	c.reasons(path, key, "is no key of a label", validation.IsQualifiedName(key))
}

func (c *checker) labelValue(path, value string) {
	c.reasons(path, value, "is no label value", validation.IsValidLabelValue(value))
}

func (c *checker) nodeSelector(path string, selector map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		c.reasons(finding.Entry(path, key), selector[key], "is under a key that no label can have", validation.IsQualifiedName(key))
		c.labelValue(finding.Entry(path, key), selector[key])
	}
}

// tolerations leaves out the operators Lt and Gt, which only some versions of Kubernetes have.
func (c *checker) tolerations(path string, tolerations []corev1.Toleration) {
	const exists, less, greater = corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt
	for i, t := range tolerations {
		at := fmt.Sprintf("%s[%d].", path, i)
		switch {
		case t.Key != "":
			c.labelKey(at+"key", t.Key)
		case t.Operator != exists:
			c.refuse(at+"operator", string(t.Operator), "needs a key", "write the key of the taint, or the operator Exists, which tolerates all taints")
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			c.labelValue(at+"value", t.Value)
		case exists:
			if t.Value != "" {
				c.refuse(at+"value", t.Value, "cannot go with the operator Exists", "leave it out, or write the operator Equal")
			}
		case less, greater:
		default:
			choice(c, at+"operator", t.Operator, corev1.TolerationOpEqual, exists)
		}
		choice(c, at+"effect", t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			c.refuse(at+"tolerationSeconds", *t.TolerationSeconds, "needs the effect NoExecute", "write that effect, or leave the seconds out")
		}
	}
}

func (c *checker) affinity(path string, affinity *corev1.Affinity) {
	if affinity == nil {
		return
	}
	if node := affinity.NodeAffinity; node != nil {
		if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			at := path + ".nodeAffinity." + requiredTerms + ".nodeSelectorTerms"
			if len(required.NodeSelectorTerms) == 0 {
				c.missing(at)
			}
			for i, term := range required.NodeSelectorTerms {
				c.nodeTerm(fmt.Sprintf("%s[%d]", at, i), term, true)
			}
		}
		for i, preferred := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			at := fmt.Sprintf("%s.nodeAffinity.%s[%d]", path, preferredTerms, i)
			c.weight(at, preferred.Weight)
			c.nodeTerm(at+".preference", preferred.Preference, false)
		}
	}
	if pods := affinity.PodAffinity; pods != nil {
		c.podTerms(path+".podAffinity", pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		c.podTerms(path+".podAntiAffinity", pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (c *checker) weight(path string, weight int32) {
	if weight < 1 || weight > 100 {
		c.refuse(path+".weight", weight, "is no weight", "write a number from 1 to 100")
	}
}

// nodeTerm checks a term that selects nodes. Only required terms have their values checked.
func (c *checker) nodeTerm(path string, term corev1.NodeSelectorTerm, required bool) {
	for i, e := range term.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d].", path, i)
		c.labelKey(at+"key", e.Key)
		c.operator(at, e.Operator, len(e.Values))
		for j, value := range e.Values {
			if required {
				c.labelValue(fmt.Sprintf("%svalues[%d]", at, j), value)
			}
		}
	}
}

// operator checks an operator, and how many values go with it.
func (c *checker) operator(at string, operator corev1.NodeSelectorOperator, values int) {
	switch operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if values == 0 {
			c.missing(at + "values")
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if values > 0 {
			c.refuse(at+"values", nil, "cannot go with the operator "+string(operator), "leave them out, or write the operator In")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if values != 1 {
			c.refuse(at+"values", nil, "are not one value, which the operator "+string(operator)+" needs", "write one")
		}
	case "":
		c.missing(at + "operator")
	default:
		choice(c, at+"operator", operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	}
}

func (c *checker) podTerms(path string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i, term := range required {
		c.podTerm(fmt.Sprintf("%s.%s[%d].", path, requiredTerms, i), term)
	}
	for i, weighted := range preferred {
		at := fmt.Sprintf("%s.%s[%d]", path, preferredTerms, i)
		c.weight(at, weighted.Weight)
		c.podTerm(at+".podAffinityTerm.", weighted.PodAffinityTerm)
	}
}

func (c *checker) podTerm(at string, term corev1.PodAffinityTerm) {
	c.labelKey(at+"topologyKey", term.TopologyKey)
	c.labelSelector(at+"labelSelector", term.LabelSelector)
	c.labelSelector(at+"namespaceSelector", term.NamespaceSelector)
	for i, name := range term.Namespaces {
		c.reasons(fmt.Sprintf("%snamespaces[%d]", at, i), name, "is no name of a namespace", validation.IsDNS1123Label(name))
	}
}

// labelSelector checks a selector by the API server's own code.
func (c *checker) labelSelector(path string, selector *metav1.LabelSelector) {
	for _, err := range metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath(path)) {
		if err.Type == field.ErrorTypeRequired {
			c.missing(err.Field)
			continue
		}
		value, _ := err.BadValue.(string)
		c.reasons(err.Field, value, "is refused", []string{err.Detail})
	}
}

func (c *checker) spread(path string, constraints []corev1.TopologySpreadConstraint) {
	for i, constraint := range constraints {
		at := fmt.Sprintf("%s[%d].", path, i)
		if constraint.MaxSkew < 1 {
			c.refuse(at+"maxSkew", constraint.MaxSkew, "is no number from 1 on", "write one")
		}
		if constraint.TopologyKey == "" {
			c.missing(at + "topologyKey")
		}
		if constraint.WhenUnsatisfiable == "" {
			c.missing(at + "whenUnsatisfiable")
		}
		choice(c, at+"whenUnsatisfiable", constraint.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		choice(c, at+"nodeAffinityPolicy", ptr.Deref(constraint.NodeAffinityPolicy, ""), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		choice(c, at+"nodeTaintsPolicy", ptr.Deref(constraint.NodeTaintsPolicy, ""), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		c.labelSelector(at+"labelSelector", constraint.LabelSelector)
	}
}

func (c *checker) hostAliases(path string, aliases []corev1.HostAlias) {
	for i, alias := range aliases {
		at := fmt.Sprintf("%s[%d].", path, i)
		c.address(at+"ip", alias.IP)
		for j, name := range alias.Hostnames {
			c.reasons(fmt.Sprintf("%shostnames[%d]", at, j), name, "is no name of a host", validation.IsDNS1123Subdomain(name))
		}
	}
}

// address refuses a text that is no IP address.
func (c *checker) address(path, address string) {
	if len(validation.IsValidIPForLegacyField(field.NewPath(path), address, false, nil)) > 0 {
		c.refuse(path, address, "is no IP address", "write one such as 10.0.0.10")
	}
}

func (c *checker) dns(path string, spec *corev1.PodSpec) {
	config := spec.DNSConfig
	if spec.DNSPolicy == corev1.DNSNone && (config == nil || len(config.Nameservers) == 0) {
		c.refuse(path+".nameservers", nil, finding.Missing, "set it, or write another dnsPolicy than None")
	}
	if config == nil {
		return
	}
	for i, server := range config.Nameservers {
		c.address(fmt.Sprintf("%s.nameservers[%d]", path, i), server)
	}
	for i, option := range config.Options {
		if option.Name == "" {
			c.missing(fmt.Sprintf("%s.options[%d].name", path, i))
		}
	}
}
