package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// API is an API of applications.
type API string

// The APIs.
const (
	// Apache is spark.apache.org, and for schedules firesteel.dev.
	Apache API = "apache"
	// Kubeflow is sparkoperator.k8s.io.
	Kubeflow API = "kubeflow"
	// Early is spark-operator.k8s.io.
	Early API = "early"
)

// APIs are all of them.
var APIs = []API{Apache, Kubeflow, Early}

// Converted is a manifest of another API.
type Converted struct {
	Object *unstructured.Unstructured
	// Beside are objects for which the other API has no field. They must be created before Object.
	Beside []*unstructured.Unstructured
	// Lost are findings about what does not carry over. They name the fields of the given manifest.
	Lost finding.List
}

// To converts an application or a schedule to another API. It returns an error if the object cannot run there.
func To(api API, object runtime.Object) (*Converted, error) {
	switch object := object.(type) {
	case *sparkv1.SparkApplication:
		return fromApache(api, object)
	case *v1beta2.SparkApplication:
		return fromKubeflow(api, object)
	case *earlyv1alpha1.SparkApplication:
		return fromEarly(api, object)
	case *v1beta2.ScheduledSparkApplication:
		return fromKubeflowSchedule(api, object)
	case *v1alpha1.ScheduledSparkApplication:
		return fromFiresteelSchedule(api, object)
	case *sparkv1.SparkCluster:
		return nil, &finding.Finding{Field: "kind", Value: "SparkCluster", Message: "is a kind of spark.apache.org alone", Remedy: "convert applications and schedules"}
	default:
		return nil, fmt.Errorf("%T is no application and no schedule", object)
	}
}

func fromApache(api API, app *sparkv1.SparkApplication) (*Converted, error) {
	if err := undecodable(app.Undecodable); err != nil {
		return nil, err
	}
	if api == Apache {
		return converted(app, nil, nil)
	}
	translated, lost, err := toKubeflow(app)
	if err != nil {
		return nil, err
	}
	beside := configMapsOf(app)
	if api == Kubeflow {
		return converted(translated, lost, beside)
	}
	last, more, err := toEarly(translated)
	if err != nil {
		return nil, err
	}
	// The second step names fields of the translated application, which the user did not write.
	return converted(last, append(lost, asTexts(more, v1beta2.SchemeGroupVersion.Group)...), beside)
}

func fromKubeflow(api API, app *v1beta2.SparkApplication) (*Converted, error) {
	if err := undecodable(app.Undecodable); err != nil {
		return nil, err
	}
	switch api {
	case Apache:
		translated, lost, err := toApache(app)
		if err != nil {
			return nil, err
		}
		return converted(translated, lost, nil)
	case Early:
		translated, lost, err := toEarly(app)
		if err != nil {
			return nil, err
		}
		return converted(translated, lost, nil)
	default:
		return converted(app, nil, nil)
	}
}

func fromEarly(api API, app *earlyv1alpha1.SparkApplication) (*Converted, error) {
	if err := undecodable(app.Undecodable); err != nil {
		return nil, err
	}
	if api == Early {
		return converted(app, nil, nil)
	}
	translated, lost, err := earlyToKubeflow(app)
	if err != nil {
		return nil, err
	}
	if api == Kubeflow {
		return converted(translated, lost, nil)
	}
	last, more, err := toApache(translated)
	if err != nil {
		return nil, err
	}
	return converted(last, append(lost, asTexts(more, v1beta2.SchemeGroupVersion.Group)...), nil)
}

// earlyToKubeflow translates as the early dialect does.
func earlyToKubeflow(app *earlyv1alpha1.SparkApplication) (*v1beta2.SparkApplication, finding.List, error) {
	if app.Spec.SubmissionByUser {
		return nil, nil, &finding.Finding{
			Field: "spec.submissionByUser", Value: true, Message: "means that you start the driver, which no other API knows",
			Remedy: "leave it out, so that the operator starts it",
		}
	}
	translated, found := early.Translate(app, earlySettings())
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return nil, nil, refused.Err()
	}
	translated.ObjectMeta = metadataOf(app)
	delete(translated.Annotations, early.AnnotationSparkVersion)
	return translated, found, nil
}

func undecodable(reason string) error {
	if reason == "" {
		return nil
	}
	return &finding.Finding{Text: "the manifest cannot be decoded (" + reason + ")", Remedy: "correct it first"}
}

// metadataOf returns the metadata that users write.
func metadataOf(object metav1.Object) metav1.ObjectMeta {
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	delete(annotations, "firesteel.dev/launch")
	if len(annotations) == 0 {
		annotations = nil
	}
	return metav1.ObjectMeta{
		Name: object.GetName(), GenerateName: object.GetGenerateName(), Namespace: object.GetNamespace(),
		Labels: maps.Clone(object.GetLabels()), Annotations: annotations,
	}
}

// converted returns an object as a manifest, with only what users write.
func converted(object metav1.Object, lost finding.List, beside []*unstructured.Unstructured) (*Converted, error) {
	metadata, err := asMap(metadataOf(object))
	if err != nil {
		return nil, err
	}
	fields, err := asMap(object)
	if err != nil {
		return nil, err
	}
	delete(metadata, "creationTimestamp")
	apiVersion, kind := typeOf(object).ToAPIVersionAndKind()
	spec, _ := fields["spec"].(map[string]any)
	dropEmpty(spec)
	return &Converted{
		Object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec}},
		Beside: beside, Lost: lost,
	}, nil
}

// typeOf returns the kind of an object, in the version that Firesteel writes.
func typeOf(object metav1.Object) schema.GroupVersionKind {
	const application, schedule = "SparkApplication", "ScheduledSparkApplication"
	switch object.(type) {
	case *v1beta2.SparkApplication:
		return v1beta2.SchemeGroupVersion.WithKind(application)
	case *earlyv1alpha1.SparkApplication:
		return earlyv1alpha1.SchemeGroupVersion.WithKind(application)
	case *v1beta2.ScheduledSparkApplication:
		return v1beta2.SchemeGroupVersion.WithKind(schedule)
	case *v1alpha1.ScheduledSparkApplication:
		return v1alpha1.SchemeGroupVersion.WithKind(schedule)
	default:
		return sparkv1.SchemeGroupVersion.WithKind(application)
	}
}

// asMap returns a value as decoded JSON. Whole numbers are integers.
func asMap(value any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Value","value":` + string(encoded) + `}`)); err != nil {
		return nil, err
	}
	fields, _ := object.Object["value"].(map[string]any)
	return fields, nil
}

// dropEmpty removes what encoding writes for fields that are not set: null creation times, and empty objects. It keeps the values of users' maps,
// and objects that have a meaning even if they are empty.
func dropEmpty(fields map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[key].(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			dropEmpty(value)
			if len(value) == 0 && (key == "metadata" || key == "resources" || key == "deps" || key == "restartPolicy" || key == "strategy") {
				delete(fields, key)
			}
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					dropEmpty(item)
				}
			}
		}
	}
}

// asTexts returns findings about the application between two steps. Their fields become a part of the text, with the group of that application.
func asTexts(found finding.List, group string) finding.List {
	var texts finding.List
	for _, f := range found {
		remedy := f.Remedy
		f.Remedy = ""
		texts.Add(finding.Finding{Severity: f.Severity, Text: fmt.Sprintf("by way of %s: %s", group, f.Error()), Remedy: remedy})
	}
	return texts
}

// splitList splits the value of a property at commas.
func splitList(value string) []string {
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
