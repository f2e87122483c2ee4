package kubeflow

import (
	"maps"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// unknown is the value of a label that an application has not.
const unknown = "Unknown"

// labels are those of the metrics.
type labels struct {
	// keys are those of the objects' labels, and names what they are called in Prometheus.
	keys, names []string
}

func newLabels(keys []string) labels {
	l := labels{keys: keys}
	for _, key := range keys {
		l.names = append(l.names, valid(key))
	}
	return l
}

// ofApplication are the values of an application.
func (l labels) ofApplication(app *v1beta2.SparkApplication) []string {
	return l.values(app.Namespace, app.Labels)
}

// ofExecutors are the values of an application's executors: its labels are on their Pods, below those that the spec gives
// them.
func (l labels) ofExecutors(app *v1beta2.SparkApplication) []string {
	if len(app.Spec.Executor.Labels) == 0 {
		return l.ofApplication(app)
	}
	both := maps.Clone(app.Spec.Executor.Labels)
	for key, value := range app.Labels {
		if _, given := both[key]; !given {
			both[key] = value
		}
	}
	return l.values(app.Namespace, both)
}

// values are an object's, in the order of the names.
func (l labels) values(namespace string, object map[string]string) []string {
	values := make([]string, len(l.names))
	for i, name := range l.names {
		value, found := object[l.keys[i]]
		if !found {
			value, found = alike(object, name)
		}
		switch {
		case found:
			values[i] = value
		case name == "namespace":
			values[i] = namespace
		default:
			values[i] = unknown
		}
	}
	return values
}

// alike is the value of the label whose key has the name in Prometheus; of several, the first in the alphabet.
func alike(object map[string]string, name string) (value string, found bool) {
	first := ""
	for key, its := range object {
		if valid(key) == name && (!found || key < first) {
			first, value, found = key, its, true
		}
	}
	return value, found
}

// joined is a key of values. Labels of Kubernetes hold no such byte.
func joined(values []string) string { return strings.Join(values, "\xff") }
