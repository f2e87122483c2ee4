package kubeflow

import (
	"maps"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

// unknown is the value of a label that an application does not have.
const unknown = "Unknown"

// labels are the labels of the metrics.
type labels struct {
	// keys are the keys of the objects' labels, and names their names in Prometheus.
	keys, names []string
}

func newLabels(keys []string) labels {
	l := labels{keys: keys}
	for _, key := range keys {
		l.names = append(l.names, settings.Valid(key))
	}
	return l
}

// ofApplication returns the values of an application.
func (l labels) ofApplication(app *v1beta2.SparkApplication) []string {
	return l.values(app.Namespace, app.Labels)
}

// ofExecutors returns the values of an application's executors. Their Pods have the application's labels, and the spec's
// labels override those.
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

// values returns the values of an object, in the order of the names.
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

// alike returns the value of the label whose key has the name in Prometheus. If several keys have it, the first in
// alphabetical order counts.
func alike(object map[string]string, name string) (value string, found bool) {
	first := ""
	for key, labelValue := range object {
		if settings.Valid(key) == name && (!found || key < first) {
			first, value, found = key, labelValue, true
		}
	}
	return value, found
}

// joined returns a key for values. Labels of Kubernetes cannot contain its separator.
func joined(values []string) string { return strings.Join(values, "\xff") }
