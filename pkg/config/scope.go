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

// Scope says which applications this installation serves. What another one serves it leaves alone.
type Scope struct {
	// namespaces are sorted; everywhere alone means all.
	namespaces []string
	// namespaceSelector selects namespaces besides those that are listed; nil selects none.
	namespaceSelector labels.Selector
	selector          labels.Selector
}

// NamespaceLabels tells the labels of a namespace, and whether they are known.
type NamespaceLabels func(namespace string) (its labels.Set, known bool)

// NewScope reads config-scope.
func NewScope(configMap *corev1.ConfigMap) (*Scope, error) {
	scope := &Scope{selector: labels.Everything()}
	err := Keys{
		"watched-namespaces": func(key, value string) (err error) {
			scope.namespaces, err = namespaces(key, value)
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
	}.Read(ScopeName, configMap)
	return scope, err
}

func selector(key, value, example string) (labels.Selector, error) {
	selector, err := labels.Parse(value)
	if err != nil {
		return nil, InvalidValue(key, value, fmt.Sprintf("write a label selector such as %s (%v)", example, err))
	}
	return selector, nil
}

// allNamespaces stands for all namespaces, as nothing does where no namespaces are selected.
const allNamespaces = "*"

func namespaces(key, value string) ([]string, error) {
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
			return nil, InvalidValue(key, value, fmt.Sprintf("%s (%q is no name of a namespace)", remedy, name))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Serves says whether this installation serves an object. Namespaces are asked for their labels only where that depends
// on them.
func (s *Scope) Serves(object metav1.Object, namespaces NamespaceLabels) bool {
	return s.selector.Matches(labels.Set(object.GetLabels())) && s.servesNamespace(object.GetNamespace(), namespaces)
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

// UsesNamespaceLabels says whether it depends on the labels of namespaces what is served.
func (s *Scope) UsesNamespaceLabels() bool { return s.namespaceSelector != nil && !s.all() }

// SelectsNamespace says whether a namespace with these labels is one of those that are selected by them.
func (s *Scope) SelectsNamespace(namespaceLabels labels.Set) bool {
	return s.UsesNamespaceLabels() && s.namespaceSelector.Matches(namespaceLabels)
}

// Namespaces are those that are listed, as one text: [*] for all.
func (s *Scope) Namespaces() string {
	if s.all() {
		return "[" + allNamespaces + "]"
	}
	return "[" + strings.Join(s.namespaces, ", ") + "]"
}

// NamespaceSelector is the selector of namespaces, as one text; empty for none.
func (s *Scope) NamespaceSelector() string {
	if s.namespaceSelector == nil {
		return ""
	}
	return s.namespaceSelector.String()
}

// Selector is the label selector, as one text; empty for everything.
func (s *Scope) Selector() string { return s.selector.String() }
