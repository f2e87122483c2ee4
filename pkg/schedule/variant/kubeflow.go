package variant

import (
	"fmt"
	"reflect"
	"slices"

	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
)

// Kubeflow is the Kubeflow operator's kind of schedule.
var Kubeflow = &Kind{
	GroupVersion:  sparkoperatorv1beta2.SchemeGroupVersion,
	Manifest:      "config/300-sparkoperator-scheduledsparkapplication.yaml",
	Runs:          sparkoperatorv1beta2.SchemeGroupVersion.WithKind("SparkApplication"),
	Finalizer:     kubeflow.API.Finalizer,
	LabelSchedule: "sparkoperator.k8s.io/scheduled-app-name",
	spec:          reflect.TypeFor[sparkoperatorv1beta2.SparkApplicationSpec](),
	specPath:      "spec.template.",
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
	for _, name := range append(
		slices.Clone(dialect.BoundAnnotations), dialect.AnnotationDriverService, dialect.AnnotationDriverConfigMaps, dialect.AnnotationEventLogs,
	) {
		if value, set := s.Annotations[name]; set {
			annotations[name] = value
		}
	}
	return annotations
}
