package fields

import (
	"cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// sparkVersion returns the version of Spark of an application. If the spec has none, it is that in the tag of the driver's image.
func sparkVersion(app *v1beta2.SparkApplication) string {
	if app.Spec.SparkVersion != "" {
		return app.Spec.SparkVersion
	}
	image, _ := imageOf(app, names.Driver)
	return dialect.ImageVersion(image)
}

// imageOf returns the image of a role, and the field that names it.
func imageOf(app *v1beta2.SparkApplication, r names.Role) (image, field string) {
	conf, key := app.Spec.SparkConf, r.KubernetesProperty("container.image")
	for _, given := range []struct{ image, field string }{
		{r.Pods(&app.Spec).Image, r.Field("image")},
		{app.Spec.Image, "spec.image"},
		{conf[key], finding.Entry(confField, key)},
		{conf[imageKey], finding.Entry(confField, imageKey)},
	} {
		if given.image != "" {
			return given.image, given.field
		}
	}
	return "", ""
}

// oldImages warns of images of Spark 1 and 2. Only their names show that, so the applications run.
func oldImages(app *v1beta2.SparkApplication) finding.List {
	var found finding.List
	warned := ""
	for _, r := range []names.Role{names.Driver, names.Executor} {
		image, field := imageOf(app, r)
		if field != warned && dialect.IsImageTooOld(image, "") {
			warned = cmp.Or(warned, field)
			found.Warn(field, image, "has Spark 2 or older by its name, which Firesteel cannot submit", "write an image of Spark 3.5 or newer")
		}
	}
	return found
}
