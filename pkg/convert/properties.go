package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// ownLabels reports whether the operator of an API sets a label of Pods itself.
type ownLabels func(label string) bool

func labelsOfKubeflow(label string) bool { return strings.HasPrefix(label, "sparkoperator.k8s.io/") }

func labelsOfApache(label string) bool {
	return label == apache.LabelOperator || label == apache.LabelApplication
}

// labelPrefixes are the prefixes of properties with labels.
var labelPrefixes = []string{"spark.kubernetes.driver.label.", "spark.kubernetes.driver.service.label.", "spark.kubernetes.executor.label."}

// userProperties returns the properties of a plan without those that its API sets itself: the names and labels of the application and its Pods.
func userProperties(planned map[string]string, name string, own ownLabels) map[string]string {
	conf := maps.Clone(planned)
	for _, key := range []string{"spark.kubernetes.namespace", "spark.submit.deployMode", "spark.kubernetes.submission.waitAppCompletion"} {
		delete(conf, key)
	}
	if conf[appNameKey] == name {
		delete(conf, appNameKey)
	}
	maps.DeleteFunc(conf, func(key, _ string) bool {
		for _, prefix := range labelPrefixes {
			if label, isLabel := strings.CutPrefix(key, prefix); isLabel && own(label) {
				return true
			}
		}
		return false
	})
	return conf
}

// sparkConf returns the properties that an application needs beside its fields, so that its plan has all wanted ones. plan returns the properties of
// the plan with a given sparkConf. It is called twice: a property may change the defaults that the API adds.
func sparkConf(wanted map[string]string, plan func(conf map[string]string) (map[string]string, error)) (conf, planned map[string]string, err error) {
	const rounds = 2
	for range rounds {
		if planned, err = plan(conf); err != nil {
			return nil, nil, err
		}
		for key, value := range wanted {
			if given, set := planned[key]; set && given == value {
				continue
			}
			if conf == nil {
				conf = map[string]string{}
			}
			conf[key] = value
		}
	}
	planned, err = plan(conf)
	return conf, planned, err
}

// addedBy returns a warning about the properties that an API adds to the wanted ones.
func addedBy(api string, wanted, planned map[string]string) finding.List {
	var added []string
	for _, key := range slices.Sorted(maps.Keys(planned)) {
		if _, set := wanted[key]; !set {
			added = append(added, fmt.Sprintf("%s=%s", key, redact.Value(key, planned[key])))
		}
	}
	if len(added) == 0 {
		return nil
	}
	return finding.List{{
		Severity: finding.Warning, Text: fmt.Sprintf("%s adds %s", api, strings.Join(added, ", ")),
		Remedy: "set them in sparkConf if the application must have other values",
	}}
}
