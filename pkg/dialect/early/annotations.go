package early

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podannotations"
)

// maxAnnotationBytes bounds the annotations that the early operator gave a Pod. The API server allows four times as much for all annotations
// of an object.
const maxAnnotationBytes = 64 << 10

var roles = []names.Role{names.Driver, names.Executor}

// setAnnotations sets the annotations that the early operator gave the Pods of a role.
func (t *translation) setAnnotations(role names.Role, properties map[string]string) {
	for key, value := range podAnnotations(t.app.Spec, role) {
		properties[role.KubernetesProperty("annotation.")+key] = value
	}
}

// podAnnotations returns the annotations that the early operator gave the Pods of a role. They are for readers: Firesteel mounts by fields.
// So what is too long for an annotation has none, since a Pod with it would be refused.
func podAnnotations(spec v1beta2.SparkApplicationSpec, role names.Role) map[string]string {
	annotations, size := map[string]string{}, 0
	set := func(kind podannotations.Kind, name, value string) {
		key := kind.Key(name)
		if _, twice := annotations[key]; twice || value == "" || len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			return
		}
		if size += len(key) + len(value); size <= maxAnnotationBytes {
			annotations[key] = value
		}
	}
	set(podannotations.SparkConfigMap, "", spec.SparkConfigMap)
	set(podannotations.HadoopConfigMap, "", spec.HadoopConfigMap)
	pods := role.Pods(&spec)
	for _, configMap := range pods.ConfigMaps {
		set(podannotations.ConfigMap, configMap.Name, configMap.Path)
	}
	for _, secret := range pods.Secrets {
		kind := podannotations.Secret
		if secret.Type == v1beta2.GCPServiceAccountSecret {
			kind = podannotations.ServiceAccount
		}
		set(kind, secret.Name, secret.Path)
	}
	return annotations
}

// warnOfAnnotations warns of annotations that would change Pods of plain spark-submit runs, unless a field does what they ask for.
func (t *translation) warnOfAnnotations() {
	for _, role := range roles {
		done, prefix := podAnnotations(t.app.Spec, role), role.KubernetesProperty("annotation.")
		for _, property := range slices.Sorted(maps.Keys(t.app.Spec.SparkConf)) {
			key, isAnnotation := strings.CutPrefix(property, prefix)
			asksFor, known := podannotations.AsksFor(key)
			if isAnnotation && known && done[key] != t.app.Spec.SparkConf[property] {
				t.warnings.Warn(t.propertyPath(property), nil, "does not change Pods of applications", t.inPlaceOf(asksFor, role))
			}
		}
	}
}

// inPlaceOf returns what to write in the place of an annotation.
func (t *translation) inPlaceOf(asksFor podannotations.Kind, role names.Role) string {
	switch asksFor {
	case podannotations.SparkConfigMap, podannotations.HadoopConfigMap:
		return "write it into " + t.spellings.path("spec."+string(asksFor))
	case podannotations.ConfigMap:
		return "write it into " + t.spellings.path(role.Field("configMaps"))
	case podannotations.Secret:
		return "write it into " + t.spellings.path(role.Field("secrets"))
	case podannotations.ServiceAccount:
		return "write it into " + t.spellings.path(role.Field("secrets")) + " with the secretType " + string(v1beta2.GCPServiceAccountSecret)
	case podannotations.OwnerReference:
		return "leave it out, the application owns its driver, and the driver its executors"
	default: // volumes, affinity and tolerations
		return "write it into a pod template, and name that by " + finding.Entry(confField, role.KubernetesProperty("podTemplateFile"))
	}
}
