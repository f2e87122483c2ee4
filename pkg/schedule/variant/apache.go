package variant

import (
	"fmt"
	"reflect"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// Apache is Firesteel's own kind of schedule, for the Apache operator's applications.
var Apache = &Kind{
	GroupVersion:  firesteelv1alpha1.SchemeGroupVersion,
	Manifest:      "config/300-scheduledsparkapplication.yaml",
	Runs:          sparkv1.SchemeGroupVersion.WithKind("SparkApplication"),
	LabelSchedule: "firesteel.dev/schedule",
	Finalizer:     apache.API.Finalizer,
	spec:          reflect.TypeFor[sparkv1.ApplicationSpec](),
	specPath:      "spec.template.spec.",
	// The template has metadata.
	annotationsOf: "spec.template.",
	template: func(s Schedule) (template, error) {
		own, ok := s.(*firesteelv1alpha1.ScheduledSparkApplication)
		if !ok {
			return template{}, fmt.Errorf("%T is a schedule of another kind", s)
		}
		given := own.Spec.Template
		return template{labels: given.Metadata.Labels, annotations: given.Metadata.Annotations, spec: given.Spec.Raw}, nil
	},
}
