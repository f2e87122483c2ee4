package podtemplate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// What is said of unknown fields is stored with the application, and must not be as long as the file.
const maxDropped, maxField = 4, 256

// Decode reads the manifest of a Pod, as Spark does, or of a PodTemplate. It also returns what it does not understand
// and drops.
func Decode(text []byte) (*corev1.PodTemplateSpec, finding.List, error) {
	manifest, err := onlyDocument(text)
	if err != nil {
		return nil, nil, notATemplate(err)
	}
	var kind metav1.TypeMeta
	if err := json.UnmarshalCaseSensitivePreserveInts(manifest, &kind); err != nil {
		return nil, nil, notATemplate(err)
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 Pod":
		var pod corev1.Pod
		dropped, err := decode(manifest, &pod)
		return withoutFinalizers(&corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, dropped, err)
	case "v1 PodTemplate":
		var template corev1.PodTemplate
		dropped, err := decode(manifest, &template)
		return withoutFinalizers(&template.Template, dropped, err)
	default:
		return nil, nil, notATemplate(fmt.Errorf("it is a %q of %q", kind.Kind, kind.APIVersion))
	}
}

func withoutFinalizers(template *corev1.PodTemplateSpec, dropped finding.List, err error) (*corev1.PodTemplateSpec, finding.List, error) {
	dropped = append(dropped, FinalizersDropped("metadata.finalizers", template.Finalizers)...)
	template.Finalizers = nil
	return template, dropped, err
}

func decode(manifest []byte, into any) (dropped finding.List, err error) {
	if err := quantity.Check(manifest, reflect.TypeOf(into).Elem()); err != nil {
		return nil, notATemplate(err)
	}
	if err := codec.CheckWeight(manifest, reflect.TypeOf(into).Elem()); err != nil {
		return nil, notATemplate(err)
	}
	unknown, err := json.UnmarshalStrict(manifest, into)
	if err != nil {
		return nil, notATemplate(quantity.Locate(err, manifest, reflect.TypeOf(into).Elem()))
	}
	for _, field := range unknown[:min(len(unknown), maxDropped)] {
		dropped.WarnOfUnknown([]string{fmt.Sprintf("%.*v", maxField, field)}, into)
	}
	if more := len(unknown) - maxDropped; more > 0 {
		dropped.Add(finding.Finding{Severity: finding.Warning, Text: fmt.Sprintf("%d fields more are dropped", more)})
	}
	return dropped, nil
}

// maxDocuments is how many documents a file may hold. All but one hold comments.
const maxDocuments = 16

// onlyDocument is the one YAML document that a file holds, in JSON.
func onlyDocument(text []byte) ([]byte, error) {
	var only []byte
	count := 0
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return only, nil
		}
		if err != nil {
			return nil, err
		}
		if count++; count > maxDocuments {
			return nil, fmt.Errorf("it holds more than %d documents", maxDocuments)
		}
		manifest, err := yaml.YAMLToJSONStrict(document)
		switch {
		case err != nil:
			return nil, err
		case string(manifest) == "null": // nothing but comments
		case only != nil:
			return nil, errors.New("it holds several documents")
		default:
			only = manifest
		}
	}
}

func notATemplate(err error) error {
	return refuse(fmt.Sprintf("is no template of a pod (%v)", err), "put a Pod or a PodTemplate of v1 there, in YAML")
}
