package convert

import (
	"encoding/json"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

func noSchedule() error {
	return &finding.Finding{Field: "kind", Value: "ScheduledSparkApplication", Message: "is no kind of spark-operator.k8s.io", Remedy: "convert it to apache or kubeflow"}
}

// fromKubeflowSchedule converts a schedule with its template.
func fromKubeflowSchedule(api API, s *v1beta2.ScheduledSparkApplication) (*Converted, error) {
	if err := undecodable(s.Undecodable); err != nil {
		return nil, err
	}
	switch api {
	case Early:
		return nil, noSchedule()
	case Kubeflow:
		return converted(s, nil, nil)
	}
	app := &v1beta2.SparkApplication{}
	if err := decodeTemplate(s.Spec.Template.Raw, &app.Spec); err != nil {
		return nil, err
	}
	app.Name, app.Namespace = s.Name, s.Namespace
	run, err := fromKubeflow(Apache, app)
	if err != nil {
		return nil, errorInSchedule(variant.Kubeflow, err)
	}
	made := &v1alpha1.ScheduledSparkApplication{ObjectMeta: metadataOf(s)}
	made.Spec.ScheduleSpec = s.Spec.ScheduleSpec
	if most := s.Spec.RunHistoryLimit; most != nil {
		if made.Spec.SuccessfulRunHistoryLimit == nil {
			made.Spec.SuccessfulRunHistoryLimit = most
		}
		if made.Spec.FailedRunHistoryLimit == nil {
			made.Spec.FailedRunHistoryLimit = most
		}
	}
	if made.Spec.Template.Spec.Raw, err = json.Marshal(run.Object.Object["spec"]); err != nil {
		return nil, err
	}
	return converted(made, inSchedule(variant.Kubeflow, run.Lost), run.Beside)
}

// fromFiresteelSchedule converts a schedule of the Apache operator's applications with its template.
func fromFiresteelSchedule(api API, s *v1alpha1.ScheduledSparkApplication) (*Converted, error) {
	if err := undecodable(s.Undecodable); err != nil {
		return nil, err
	}
	switch api {
	case Early:
		return nil, noSchedule()
	case Apache:
		return converted(s, nil, nil)
	}
	app := &sparkv1.SparkApplication{}
	if err := decodeTemplate(s.Spec.Template.Spec.Raw, &app.Spec); err != nil {
		return nil, err
	}
	app.Name, app.Namespace = s.Name, s.Namespace
	app.Annotations = s.Spec.Template.Metadata.Annotations
	run, err := fromApache(Kubeflow, app)
	if err != nil {
		return nil, errorInSchedule(variant.Apache, err)
	}
	lost := inSchedule(variant.Apache, run.Lost)
	made := &v1beta2.ScheduledSparkApplication{ObjectMeta: metadataOf(s)}
	made.Spec.ScheduleSpec = s.Spec.ScheduleSpec
	if s.Spec.StartingDeadlineSeconds != nil {
		lost.Warn("spec.startingDeadlineSeconds", *s.Spec.StartingDeadlineSeconds, noField, "leave it out")
	}
	if len(s.Spec.Template.Metadata.Labels) > 0 {
		lost.Warn("spec.template.metadata.labels", nil, "does not carry over, runs have the labels of their schedule", "label the schedule")
	}
	for key, value := range run.Object.GetAnnotations() { // runs have the annotations of their schedule
		if made.Annotations == nil {
			made.Annotations = map[string]string{}
		}
		made.Annotations[key] = value
	}
	if made.Spec.Template.Raw, err = json.Marshal(run.Object.Object["spec"]); err != nil {
		return nil, err
	}
	return converted(made, lost, run.Beside)
}

func decodeTemplate(raw []byte, spec any) error {
	if err := json.Unmarshal(raw, spec); err != nil {
		return &finding.Finding{Field: "spec.template", Message: "is no application (" + err.Error() + ")", Remedy: "correct it first"}
	}
	return nil
}

// inSchedule changes the fields of findings about a template to the fields of its schedule.
func inSchedule(kind *variant.Kind, found finding.List) finding.List {
	for i := range found {
		found[i] = kind.FoundInTemplate(found[i])
	}
	return found
}

// errorInSchedule does the same for an error.
func errorInSchedule(kind *variant.Kind, err error) error {
	return inSchedule(kind, finding.Of(err)).Err()
}
