package variant

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Apache is Firesteel's own kind of schedule, for the Apache operator's applications.
var Apache = &Kind{
	GroupVersion:  firesteelv1alpha1.SchemeGroupVersion,
	Manifest:      "config/300-scheduledsparkapplication.yaml",
	Runs:          sparkv1.SchemeGroupVersion.WithKind("SparkApplication"),
	LabelSchedule: "firesteel.dev/schedule",
	Finalizer:     apache.API.Finalizer,
	schedules: func(client kube.Clients, namespace string) kube.Client[Schedule] {
		return kube.ClientOf[Schedule](client.FiresteelV1alpha1().ScheduledSparkApplications(namespace))
	},
	spec:     reflect.TypeFor[sparkv1.ApplicationSpec](),
	specPath: "spec.template.spec.",
	// The template has metadata.
	annotationsOf: "spec.template.",
	run: func(ctx context.Context, client kube.Clients, key types.NamespacedName) (metav1.Object, error) {
		return client.SparkV1().SparkApplications(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	},
	template: func(s Schedule) (template, error) {
		own, ok := s.(*firesteelv1alpha1.ScheduledSparkApplication)
		if !ok {
			return template{}, fmt.Errorf("%T is a schedule of another kind", s)
		}
		given := own.Spec.Template
		return template{labels: given.Metadata.Labels, annotations: given.Metadata.Annotations, spec: given.Spec.Raw}, nil
	},
}
