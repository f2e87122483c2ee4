package variant

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Kubeflow is the Kubeflow operator's kind of schedule.
var Kubeflow = &Kind{
	GroupVersion:  sparkoperatorv1beta2.SchemeGroupVersion,
	Manifest:      "config/300-sparkoperator-scheduledsparkapplication.yaml",
	Runs:          sparkoperatorv1beta2.SchemeGroupVersion.WithKind("SparkApplication"),
	Finalizer:     kubeflow.API.Finalizer,
	LabelSchedule: "sparkoperator.k8s.io/scheduled-app-name",
	schedules: func(client kube.Clients, namespace string) kube.Client[Schedule] {
		return kube.ClientOf[Schedule](client.SparkoperatorV1beta2().ScheduledSparkApplications(namespace))
	},
	spec:     reflect.TypeFor[sparkoperatorv1beta2.SparkApplicationSpec](),
	specPath: "spec.template.",
	run: func(ctx context.Context, client kube.Clients, key types.NamespacedName) (metav1.Object, error) {
		return client.SparkoperatorV1beta2().SparkApplications(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	},
	template: func(s Schedule) (template, error) {
		own, ok := s.(*sparkoperatorv1beta2.ScheduledSparkApplication)
		if !ok {
			return template{}, fmt.Errorf("%T is a schedule of another kind", s)
		}
		return template{annotations: annotationsOf(own), spec: own.Spec.Template.Raw}, nil
	},
}

// annotationsOf returns the annotations of a schedule that are about applications: its template has no field for them.
func annotationsOf(s *sparkoperatorv1beta2.ScheduledSparkApplication) map[string]string {
	annotations := map[string]string{}
	for _, name := range append(slices.Clone(dialect.BoundAnnotations), dialect.AnnotationDriverService) {
		if value, set := s.Annotations[name]; set {
			annotations[name] = value
		}
	}
	return annotations
}
