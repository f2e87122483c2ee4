package kubeflow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Plan is what an attempt of the application submits. It fails with what the Kubeflow operator does and Firesteel
// cannot, by the field's name.
func Plan(app *v1beta2.SparkApplication, attempt v1alpha1.Attempt, defaults Defaults) (submission.Plan, error) {
	names := Names(app, attempt.ID)
	p := propertiesOf(app, defaults)
	p.setProxy(app, defaults, names.AppID)
	plan := submission.Plan{
		Namespace:        app.Namespace,
		SparkVersion:     app.Spec.SparkVersion,
		Properties:       p.values(),
		MainClass:        app.Spec.MainClass,
		Resource:         mainResource(app.Spec),
		Arguments:        app.Spec.Arguments,
		ProxyUser:        app.Spec.ProxyUser,
		DriverTemplate:   app.Spec.Driver.Template.DeepCopy(),
		ExecutorTemplate: executorTemplate(app),
		Names:            names,
		// The same before and after the record was stored, in whatever zone: the launch id is a hash of the plan.
		SubmitTime: attempt.Since.UTC().Truncate(time.Microsecond),
	}
	if plan.ExecutorTemplate != nil {
		plan.Properties["spark.kubernetes.executor.podTemplateContainerName"] = executorContainer
	}
	return plan, errors.Join(checkSpec(app), besideRemoteTemplate(app, plan), dialect.SettleTemplates(plan, fields))
}

// mainResource is what runs. Its suffix says in which language: Spark goes by that, too.
func mainResource(spec v1beta2.SparkApplicationSpec) submission.Resource {
	return submission.Resource{URI: spec.MainApplicationFile}
}

// besideRemoteTemplate refuses an executors' template that a property names by a URL, where fields need one as well.
func besideRemoteTemplate(app *v1beta2.SparkApplication, plan submission.Plan) error {
	const key = "spark.kubernetes.executor.podTemplateFile"
	location, named := plan.Properties[key]
	if !named || app.Spec.Executor.Template != nil || plan.ExecutorTemplate == nil {
		return nil
	}
	return &submission.FieldError{
		Field: confField + key, Value: location,
		Problem: "cannot go with fields of spec.executor that no Spark property stands for",
		Remedy:  "write the template into spec.executor.template",
	}
}

// checkSpec refuses what neither Spark nor the Kubeflow operator could do.
func checkSpec(app *v1beta2.SparkApplication) error {
	var errs []error
	for _, r := range []role{driverRole, executorRole} {
		spec := r.pods(&app.Spec)
		for i, mount := range spec.VolumeMounts {
			if strings.HasPrefix(mount.Name, localDirPrefix) && volumeNamed(app, mount.Name) == nil {
				errs = append(errs, &submission.FieldError{
					Field: r.field(fmt.Sprintf("volumeMounts[%d].name", i)), Value: mount.Name,
					Problem: "names no volume of spec.volumes", Remedy: "add the volume",
				})
			}
		}
		if spec.Cores != nil && !(*spec.Cores > 0 && *spec.Cores < 1<<31) {
			errs = append(errs, &submission.FieldError{
				Field: r.field("cores"), Value: fmt.Sprint(*spec.Cores), Problem: "is no number of cores", Remedy: "write one such as 1",
			})
		}
	}
	if _, err := memoryLimit(app.Spec.Driver.MemoryLimit); err != nil {
		errs = append(errs, &submission.FieldError{
			Field: "spec.driver.memoryLimit", Value: app.Spec.Driver.MemoryLimit, Problem: "is not a size", Remedy: "write one such as 2g or 2Gi",
		})
	}
	return errors.Join(errs...)
}
