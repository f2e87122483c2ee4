package resources

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// HashAnnotation holds a hash of an object as it was built. If it equals the hash of the object that would be built
// now, no write is needed.
const HashAnnotation = "firesteel.dev/spec-hash"

// MadeOfAnnotation is on a StatefulSet. It holds the hash of the spec and settings from which the StatefulSet was
// built, the number of Pods, and the matching HashAnnotation. Another version of Firesteel may build a different
// StatefulSet from the same spec; then the running Pods are not replaced.
const MadeOfAnnotation = "firesteel.dev/made-of"

// TakenOverAnnotation is on a StatefulSet that another operator made, until Firesteel writes it.
const TakenOverAnnotation = "firesteel.dev/taken-over"

// sign adds the hash to an object.
func sign(object metav1.Object) error {
	hash, err := spec.HashJSON(object)
	if err != nil {
		return fmt.Errorf("hash %s: %w", object.GetName(), err)
	}
	annotate(object, HashAnnotation, hash)
	return nil
}

// nameSources adds to a signed StatefulSet from what it was built. It takes the original spec, since building changes
// the copy.
func (b *builder) nameSources(set *appsv1.StatefulSet, metadata *metav1.ObjectMeta, template *appsv1.StatefulSetSpec) error {
	hash, err := spec.Hash(struct {
		Metadata *metav1.ObjectMeta
		Template *appsv1.StatefulSetSpec
		Conf     map[string]string
		Versions sparkv1.RuntimeVersions
		Image    string
		// Without a profile the hash is that of earlier versions.
		PodSecurity *podsecurity.Profile `json:",omitempty"`
	}{metadata, template, b.cluster.Spec.SparkConf, b.cluster.Spec.RuntimeVersions, b.image, b.profile()})
	if err != nil {
		return fmt.Errorf("hash what %s is built from: %w", set.Name, err)
	}
	pods := "any"
	if set.Spec.Replicas != nil {
		pods = strconv.Itoa(int(*set.Spec.Replicas))
	}
	annotate(set, MadeOfAnnotation, fmt.Sprintf("%d-%s-%s-%s", spec.HashVersion, hash, pods, set.Annotations[HashAnnotation]))
	return nil
}

func annotate(object metav1.Object, name, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	object.SetAnnotations(annotations)
}

// Same reports whether an existing object was built like the wanted one, or from the same spec.
func Same(existing, wanted metav1.Object) bool {
	sources, pods := sourcesOf(existing)
	wantedSources, wantedPods := sourcesOf(wanted)
	return existing.GetAnnotations()[HashAnnotation] == wanted.GetAnnotations()[HashAnnotation] ||
		sources != "" && sources == wantedSources && pods == wantedPods
}

// SameButPods reports whether an existing StatefulSet was built from the same spec as the wanted one, except for the
// number of Pods.
func SameButPods(existing, wanted metav1.Object) bool {
	sources, _ := sourcesOf(existing)
	wantedSources, _ := sourcesOf(wanted)
	return sources != "" && sources == wantedSources
}

// sourcesOf returns from what a StatefulSet was built, and its number of Pods. Both are empty if unknown: an earlier
// version, which does not write the annotation, wrote the StatefulSet last.
func sourcesOf(object metav1.Object) (sources, pods string) {
	parts := strings.Split(object.GetAnnotations()[MadeOfAnnotation], "-")
	if len(parts) != 4 || parts[3] != cmp.Or(object.GetAnnotations()[HashAnnotation], "-") {
		return "", ""
	}
	return parts[0] + "-" + parts[1], parts[2]
}
