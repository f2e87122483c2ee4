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
	// namespaces are sorted; none means all.
	namespaces []string
	selector   labels.Selector
}

// NewScope reads config-scope.
func NewScope(configMap *corev1.ConfigMap) (*Scope, error) {
	scope := &Scope{selector: labels.Everything()}
	err := keys{
		"watched-namespaces": func(key, value string) (err error) {
			scope.namespaces, err = namespaces(key, value)
			return err
		},
		"label-selector": func(key, value string) error {
			selector, err := labels.Parse(value)
			if err != nil {
				return refuse(key, value, fmt.Sprintf("write a label selector such as team=a,stage!=test (%v)", err))
			}
			scope.selector = selector
			return nil
		},
	}.read(ScopeName, configMap)
	return scope, err
}

// everywhere stands for all namespaces, as nothing does.
const everywhere = "*"

func namespaces(key, value string) ([]string, error) {
	const remedy = "write names of namespaces, separated by commas, or * for all"
	if text := strings.TrimSpace(value); text == "" || text == everywhere {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return nil, refuse(key, value, fmt.Sprintf("%s (%q is no name of a namespace)", remedy, name))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Serves says whether this installation serves an object.
func (s *Scope) Serves(object metav1.Object) bool {
	if _, listed := slices.BinarySearch(s.namespaces, object.GetNamespace()); len(s.namespaces) > 0 && !listed {
		return false
	}
	return s.selector.Matches(labels.Set(object.GetLabels()))
}

// Namespaces are those that are watched, as one text: [*] for all.
func (s *Scope) Namespaces() string {
	if len(s.namespaces) == 0 {
		return "[" + everywhere + "]"
	}
	return "[" + strings.Join(s.namespaces, ", ") + "]"
}

// Selector is the label selector, as one text; empty for everything.
func (s *Scope) Selector() string { return s.selector.String() }
