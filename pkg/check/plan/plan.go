// Package plan shows what Firesteel creates for an object, as it could be applied, and how what runs differs from it.
package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/objectdiff"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Plan is what is created for an object.
type Plan struct {
	Warnings finding.List
	// Objects are in the order of their creation, without the fields that only the API server fills in. The template of the executors is the last one.
	Objects []*unstructured.Unstructured
	// Driver is the driver Pod; nil for a cluster.
	Driver *corev1.Pod
	// Templates are the pod templates at URLs, which are not read.
	Templates []string
	// ByUser reports whether the user starts the driver: then nothing is created.
	ByUser bool
}

// Of returns what is created for an object. If it is refused, there is no plan, and the errors say why.
func Of(object check.Object, installation *config.Config, now time.Time) (*Plan, finding.List) {
	found, _ := check.Examine(object, installation, now, check.AsBuilt)
	if len(found.Of(finding.Error)) > 0 {
		return nil, found
	}
	created, err := check.Create(object, installation, now)
	if err != nil {
		return nil, finding.Of(err)
	}
	p := &Plan{Warnings: found, ByUser: created == nil}
	if created == nil {
		return p, nil
	}
	p.Templates = created.Templates
	for _, object := range created.Objects {
		if pod, ok := object.(*corev1.Pod); ok {
			p.Driver = pod
		}
		if err := p.add(object); err != nil {
			return nil, finding.Of(err)
		}
	}
	if created.Executor != nil {
		if err := p.add(executorTemplate(created)); err != nil {
			return nil, finding.Of(err)
		}
	}
	return p, nil
}

// AnnotationExecutors is the annotation of the template with the number of executors.
const AnnotationExecutors = "firesteel.dev/executors"

// executorTemplate returns a template of the executors. The driver creates them.
func executorTemplate(created *check.Created) runtime.Object {
	return &corev1.PodTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
		ObjectMeta: metav1.ObjectMeta{
			Name: created.Of.GetName() + "-executors", Namespace: created.Of.GetNamespace(),
			Annotations: map[string]string{AnnotationExecutors: fmt.Sprint(created.Executors)},
		},
		Template: corev1.PodTemplateSpec{ObjectMeta: created.Executor.ObjectMeta, Spec: created.Executor.Spec},
	}
}

// IsTemplate reports whether an object is the template of the executors, from which the driver creates Pods.
func IsTemplate(object *unstructured.Unstructured) bool { return object.GetKind() == "PodTemplate" }

// add adds an object without the fields that only the API server fills in.
func (p *Plan) add(object runtime.Object) error {
	encoded, err := json.Marshal(object)
	if err != nil {
		return err
	}
	added := &unstructured.Unstructured{}
	if err := added.UnmarshalJSON(encoded); err != nil {
		return err
	}
	unstructured.RemoveNestedField(added.Object, "status")
	unstructured.RemoveNestedField(added.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(added.Object, "template", "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(added.Object, "spec", "template", "metadata", "creationTimestamp")
	owners, _, _ := unstructured.NestedSlice(added.Object, "metadata", "ownerReferences")
	for _, owner := range owners {
		if fields, ok := owner.(map[string]any); ok && fields["uid"] == "" {
			delete(fields, "uid") // the API server chooses it
		}
	}
	if len(owners) > 0 {
		if err := unstructured.SetNestedSlice(added.Object, owners, "metadata", "ownerReferences"); err != nil {
			return err
		}
	}
	p.Objects = append(p.Objects, added)
	return nil
}

// Hide replaces the values of secrets in objects that were made from a manifest.
func Hide(manifest []byte, objects ...*unstructured.Unstructured) {
	r := redact.For(manifest)
	for _, object := range objects {
		for key, value := range object.Object {
			object.Object[key] = r.Fields(key, value)
		}
	}
}

// Texts returns an object in the cluster and the planned one as YAML. The first has only what the plan decides; it is empty if there is no such object.
func Texts(existing, planned *unstructured.Unstructured) (before, after string, err error) {
	if existing != nil {
		text, err := yaml.Marshal(objectdiff.Comparable(planned.Object, existing.Object))
		if err != nil {
			return "", "", err
		}
		before = string(text)
	}
	text, err := yaml.Marshal(planned.Object)
	return before, string(text), err
}

// Difference returns how an object in the cluster differs from the planned one, by their Texts, as a unified diff; empty if it does not.
func Difference(before, after, name string) (string, error) {
	from := "running/" + name
	if before == "" {
		from = "/dev/null"
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(before), B: lines(after), FromFile: from, ToFile: "planned/" + name, Context: 3,
	})
}

// Name returns the name of an object for people, as in pod/pi-0-driver.
func Name(object *unstructured.Unstructured) string {
	return strings.ToLower(object.GetKind()) + "/" + object.GetName()
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return difflib.SplitLines(strings.TrimSuffix(text, "\n"))
}
