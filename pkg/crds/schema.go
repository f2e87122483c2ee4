package crds

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	// AnnotationSchema is the annotation of a CRD that changes with its schema. Each CRD of Firesteel has it.
	AnnotationSchema = "firesteel.dev/schema"
	// LabelVersion is the label of a CRD that names its release. CRDs from a source tree do not have it.
	LabelVersion = "app.kubernetes.io/version"
)

// Schemas returns the values of AnnotationSchema of this version's CRDs, by their names.
func Schemas() (map[string]string, error) {
	found := map[string]string{}
	err := each(func(text []byte) error {
		head, _, _ := bytes.Cut(text, []byte("\nspec:")) // the rest takes much memory
		var crd metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(head, &crd); err != nil {
			return err
		}
		found[crd.Name] = crd.Annotations[AnnotationSchema]
		return nil
	})
	return found, err
}
