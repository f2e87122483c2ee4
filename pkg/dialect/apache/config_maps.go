package apache

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// ConfigMaps returns the config maps that the user wants to exist before the driver. If several have the same name, the last
// one counts: the Apache operator leaves that one in the end.
func ConfigMaps(app *sparkv1.SparkApplication) []*corev1.ConfigMap {
	last := lastOfName(app.Spec.ConfigMapSpecs)
	configMaps := make([]*corev1.ConfigMap, 0, len(last))
	for i, spec := range app.Spec.ConfigMapSpecs {
		if last[spec.Name] != i {
			continue
		}
		configMaps = append(configMaps, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: spec.Name, Namespace: app.Namespace,
				Labels: maps.Clone(spec.Labels), Annotations: maps.Clone(spec.Annotations),
			},
			Data: spec.Data,
		})
	}
	return configMaps
}

// lastOfName returns the index of the last entry with each name.
func lastOfName(specs []sparkv1.ConfigMapSpec) map[string]int {
	last := map[string]int{}
	for i, spec := range specs {
		last[spec.Name] = i
	}
	return last
}

// CheckConfigMaps refuses config maps that cannot be created. It also refuses one with the name of the config map that holds
// the driver's properties: the driver would run with the user's properties.
func CheckConfigMaps(app *sparkv1.SparkApplication, objects *submission.Objects) finding.List {
	var problems field.ErrorList
	for i, spec := range app.Spec.ConfigMapSpecs {
		at := field.NewPath("spec", "configMapSpecs").Index(i)
		for _, problem := range validation.IsDNS1123Subdomain(spec.Name) {
			problems = append(problems, field.Invalid(at.Child("name"), spec.Name, problem))
		}
		if isOwned(objects, spec.Name) {
			problems = append(problems, field.Invalid(at.Child("name"), spec.Name, "the submission makes a ConfigMap of this name: choose another"))
		}
		for _, key := range slices.Sorted(maps.Keys(spec.Data)) {
			for _, problem := range validation.IsConfigMapKey(key) {
				problems = append(problems, field.Invalid(at.Child("data"), key, problem))
			}
		}
		problems = append(problems, metavalidation.ValidateLabels(spec.Labels, at.Child("labels"))...)
		problems = append(problems, apivalidation.ValidateAnnotations(spec.Annotations, at.Child("annotations"))...)
	}
	return foundBy(problems)
}

// foundBy returns the findings of Kubernetes' own checks, in their words.
func foundBy(problems field.ErrorList) finding.List {
	var found finding.List
	for _, problem := range problems {
		found.Add(finding.Finding{Severity: finding.Error, Field: problem.Field, Value: problem.BadValue, Text: problem.Error()})
	}
	return found
}

func isOwned(objects *submission.Objects, name string) bool {
	return slices.ContainsFunc(objects.Owned, func(owned submission.Object) bool {
		_, isConfigMap := owned.(*corev1.ConfigMap)
		return isConfigMap && owned.GetName() == name
	})
}
