package config

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Scope selects the objects that this installation serves. It ignores all others, which another installation may serve.
type Scope struct {
	// namespaces is sorted. The single element * means all namespaces.
	namespaces []string
	// namespaceSelector selects further namespaces by their labels. Nil selects none.
	namespaceSelector labels.Selector
	selector          labels.Selector
	// onlyListed reports whether the controller may read nothing but the listed namespaces.
	onlyListed bool
}

// The values of access.
const (
	accessCluster    = "cluster"
	accessNamespaces = "namespaces"
)

// NamespaceLabels returns the labels of a namespace. ok reports whether the namespace exists.
type NamespaceLabels func(namespace string) (namespaceLabels labels.Set, ok bool)

// NewScope reads config-scope.
func NewScope(configMap *corev1.ConfigMap) (*Scope, error) {
	scope := &Scope{selector: labels.Everything()}
	err := Keys{
		"watched-namespaces": func(key, value string) (err error) {
			scope.namespaces, err = namespaceNames(key, value)
			return err
		},
		"namespace-selector": func(key, value string) (err error) {
			if strings.TrimSpace(value) != "" {
				scope.namespaceSelector, err = selector(key, value, "spark=enabled,stage!=test")
			}
			return err
		},
		"label-selector": func(key, value string) (err error) {
			scope.selector, err = selector(key, value, "team=a,stage!=test")
			return err
		},
		"access": func(key, value string) error {
			scope.onlyListed = value == accessNamespaces
			return OneOf(accessCluster, accessNamespaces)(key, value)
		},
	}.Read(ScopeName, configMap)
	if err == nil {
		err = scope.checkAccess()
	}
	return scope, err
}

// checkAccess returns an error if the scope has namespaces that the controller may not read.
func (s *Scope) checkAccess() error {
	var problem error
	switch {
	case !s.onlyListed:
		return nil
	case s.namespaceSelector != nil:
		problem = InvalidValue("namespace-selector", s.NamespaceSelector(), "remove it, since access is namespaces and the labels of "+
			"namespaces cannot be read; or write cluster into access")
	case s.all():
		problem = InvalidValue("watched-namespaces", strings.Join(s.namespaces, ", "), "list the namespaces, since access is namespaces; "+
			"or write cluster into access")
	default:
		return nil
	}
	return fmt.Errorf("%s: %w", ScopeName, problem)
}

func selector(key, value, example string) (labels.Selector, error) {
	selector, err := labels.Parse(value)
	if err != nil {
		return nil, InvalidValue(key, value, fmt.Sprintf("write a label selector such as %s (%v)", example, err))
	}
	return selector, nil
}

// allNamespaces selects all namespaces. An empty list also does, if there is no namespace selector.
const allNamespaces = "*"

func namespaceNames(key, value string) ([]string, error) {
	const remedy = "write names of namespaces, separated by commas, or * for all"
	switch text := strings.TrimSpace(value); text {
	case "":
		return nil, nil
	case allNamespaces:
		return []string{allNamespaces}, nil
	}
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return nil, InvalidValue(key, value, fmt.Sprintf("%s (%q is not a valid name)", remedy, name))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Serves reports whether this installation serves an object. It calls namespaces only if that depends on the namespace's labels.
func (s *Scope) Serves(object metav1.Object, namespaces NamespaceLabels) bool {
	return s.selector.Matches(labels.Set(object.GetLabels())) && s.servesNamespace(object.GetNamespace(), namespaces)
}

// Selects reports whether the installation serves applications with these labels, whatever their namespace is.
func (s *Scope) Selects(its labels.Set) bool { return s.selector.Matches(its) }

// ServesNamespace reports whether this installation serves objects in a namespace, whatever their own labels are.
func (s *Scope) ServesNamespace(name string, namespaceLabels labels.Set) bool {
	return s.servesNamespace(name, func(string) (labels.Set, bool) { return namespaceLabels, true })
}

func (s *Scope) servesNamespace(name string, namespaces NamespaceLabels) bool {
	if _, listed := slices.BinarySearch(s.namespaces, name); listed || s.all() {
		return true
	}
	if !s.UsesNamespaceLabels() {
		return false
	}
	namespaceLabels, ok := namespaces(name)
	return ok && s.SelectsNamespace(namespaceLabels)
}

func (s *Scope) all() bool {
	return slices.Contains(s.namespaces, allNamespaces) || len(s.namespaces) == 0 && s.namespaceSelector == nil
}

// ListedNamespaces returns the listed namespaces, if the scope is a list and selects no further namespaces by labels.
func (s *Scope) ListedNamespaces() (names []string, ok bool) {
	return s.namespaces, !s.all() && s.namespaceSelector == nil
}

// UsesNamespaceLabels reports whether the scope depends on the labels of namespaces.
func (s *Scope) UsesNamespaceLabels() bool { return s.namespaceSelector != nil && !s.all() }

// SelectsNamespace reports whether the namespace selector matches the labels.
func (s *Scope) SelectsNamespace(namespaceLabels labels.Set) bool {
	return s.UsesNamespaceLabels() && s.namespaceSelector.Matches(namespaceLabels)
}

// Namespaces returns the listed namespaces as text, and [*] for all.
func (s *Scope) Namespaces() string {
	if s.all() {
		return "[" + allNamespaces + "]"
	}
	return "[" + strings.Join(s.namespaces, ", ") + "]"
}

// OnlyNamespaces returns the namespaces outside of which the controller may read nothing, and nil if it may read all.
func (s *Scope) OnlyNamespaces() []string {
	if !s.onlyListed {
		return nil
	}
	return s.namespaces
}

// NamespaceSelector returns the namespace selector as text, and "" if there is none.
func (s *Scope) NamespaceSelector() string {
	if s.namespaceSelector == nil {
		return ""
	}
	return s.namespaceSelector.String()
}

// Selector returns the label selector as text, and "" if it selects everything.
func (s *Scope) Selector() string { return s.selector.String() }
