package actions

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// CheckName returns an InvalidError if an application cannot have a name. Without a name, one is made of the old one's.
func CheckName(name string) error {
	if problems := validation.NameIsDNSSubdomain(name, false); name != "" && len(problems) > 0 {
		return Invalid("%q is no name of an object: %s", name, strings.Join(problems, "; "))
	}
	return nil
}

// Rerun plans a new application with the spec of an old one, and changes of it. Without a name, it is made of the old one's.
func Rerun(s *Subject, name string, changes []Change) (*Plan, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if name == s.GetName() {
		return nil, Invalid("%s is the name of the old application: write another one", name)
	}
	again := anew(s.Unstructured, name)
	set := setter{spec: specType(s.View), explain: s.explain}
	for _, change := range changes {
		if err := set.apply(again.Object, change); err != nil {
			return nil, err
		}
	}
	created := &Object{again, s.Resource}
	return &Plan{
		Effect: "A new application is created with the spec of this one" + map[bool]string{true: ", changed", false: ""}[len(changes) > 0] + ". This one stays as it is.",
		Done:   "created", Warning: sharedName(again), Creates: created,
		do: func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
			made, err := Create(ctx, client, Creation{
				Resource: s.Resource, Object: again, Options: metav1.CreateOptions{DryRun: options.DryRun, FieldValidation: metav1.FieldValidationStrict},
			})
			return &Object{made, s.Resource}, err
		},
	}, nil
}

// explain returns the command that lists the fields at a path of a spec.
func (o *Object) explain(path string) string {
	if path != "" {
		path = "." + path
	}
	return fmt.Sprintf("kubectl explain %s.spec%s --api-version=%s", o.Resource.Resource, path, o.Resource.GroupVersion())
}

// generatedName matches what a rerun adds to a name.
var generatedName = regexp.MustCompile(`-rerun-[a-z0-9]{5}$`)

// NameOfRerun returns the name of an application that runs another one again, with a random end of five letters and digits.
func NameOfRerun(old, end string) string {
	base := generatedName.ReplaceAllString(old, "")
	return strings.TrimRight(base[:min(len(base), maxBase)], "-.") + "-rerun-" + end
}

const appNameKey = "spark.app.name"

// maxBase leaves room, within the 63 characters of a label, for what is added to the name of an application: the driver's suffix.
const maxBase = 40

// anew returns a new object with the spec of an old one. What marks the old one for its owner, its schedule, its launch or a tool that
// applies manifests is left out.
func anew(old *unstructured.Unstructured, name string) *unstructured.Unstructured {
	again := &unstructured.Unstructured{Object: map[string]any{}}
	again.SetAPIVersion(old.GetAPIVersion())
	again.SetKind(old.GetKind())
	again.SetNamespace(old.GetNamespace())
	if again.SetName(name); name == "" {
		again.SetGenerateName(NameOfRerun(old.GetName(), ""))
	}
	again.SetLabels(without(old.GetLabels(), scheduleLabels...))
	again.SetAnnotations(without(old.GetAnnotations(), markingAnnotations...))
	if spec, ok := old.Object["spec"]; ok {
		again.Object["spec"] = spec
	}
	again = again.DeepCopy() // the spec is the old one's
	unstructured.RemoveNestedField(again.Object, "spec", "suspend")
	rename(again, old.GetName())
	return again
}

// rename gives Spark's name of the application, if it was the old object's name, the new object's. That has to be known before the object is
// created: the operators let no other name have an effect.
func rename(again *unstructured.Unstructured, old string) {
	if name, _, _ := unstructured.NestedString(again.Object, "spec", "sparkConf", appNameKey); name != old {
		return
	}
	if base := again.GetGenerateName(); base != "" {
		again.SetGenerateName("")
		again.SetName(base + rand.String(generatedLength))
	}
	_ = unstructured.SetNestedField(again.Object, again.GetName(), "spec", "sparkConf", appNameKey) // sparkConf is a map
}

var (
	scheduleLabels = []string{variant.Apache.LabelSchedule, variant.Kubeflow.LabelSchedule}
	// markingAnnotations are about the old object.
	markingAnnotations = []string{
		"kubectl.kubernetes.io/last-applied-configuration", "firesteel.dev/launch", dialect.AnnotationStop, variant.AnnotationScheduledTime,
	}
	// toolPrefixes are those of tools that apply manifests: they would take the new object for one of theirs, and delete it.
	toolPrefixes = []string{"argocd.argoproj.io/", "meta.helm.sh/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"}
)

// without removes some entries of a map, and those of tools. It returns nil if nothing is left.
func without(all map[string]string, names ...string) map[string]string {
	for _, name := range names {
		delete(all, name)
	}
	for name := range all {
		for _, prefix := range toolPrefixes {
			if strings.HasPrefix(name, prefix) {
				delete(all, name)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// driverNames are the fields that give the driver Pod a fixed name.
var driverNames = [][]string{{"spec", "driver", "podName"}, {"spec", "sparkConf", "spark.kubernetes.driver.pod.name"}}

// sharedName names what two applications cannot share; empty if there is nothing.
func sharedName(again *unstructured.Unstructured) string {
	var warnings []string
	for _, path := range driverNames {
		if name, ok, _ := unstructured.NestedString(again.Object, path...); ok && name != "" {
			warnings = append(warnings, fmt.Sprintf("%s names the driver Pod %s: while the old one exists, the new application cannot start; set %s=NAME to change that",
				strings.Join(path, "."), name, strings.Join(path[1:], ".")))
		}
	}
	return strings.Join(warnings, "; ")
}
