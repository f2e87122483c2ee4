package early

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// AnnotationSparkVersion is the version of Spark in the image of an application: this API has no field for it.
const AnnotationSparkVersion = "firesteel.dev/spark-version"

const (
	imageKey       = "spark.kubernetes.container.image"
	driverImageKey = "spark.kubernetes.driver.container.image"
	imageTooOld    = "ImageTooOld"
)

// setImages takes the images of roles from properties, replaces images as the settings say, and refuses those of Spark 1 and 2.
func (t *translation) setImages(s Settings) {
	spec := &t.app.Spec
	t.takeImage("spec.driver.image", driverImageKey, &spec.Driver.Image)
	t.takeImage("spec.executor.image", "spark.kubernetes.executor.container.image", &spec.Executor.Image)
	t.checkImage(s, "spec.driver.image", &spec.Driver.Image)
	t.checkImage(s, "spec.executor.image", &spec.Executor.Image)
	t.spellings["spec.image"] = "spec.driver.image" // this API has no field for both roles
	shared, set := spec.SparkConf[imageKey]
	if !set {
		return
	}
	t.spellings["spec.image"] = t.propertyPath(imageKey)
	if spec.Driver.Image == "" || spec.Executor.Image == "" {
		t.checkImage(s, "spec.image", &shared)
		spec.SparkConf[imageKey] = shared
	}
}

// takeImage moves the image that a property gives a role into the role's field, if that is empty.
func (t *translation) takeImage(field, key string, into *string) {
	image := t.app.Spec.SparkConf[key]
	if *into == "" && image != "" {
		*into = image
		t.spellings[field] = t.propertyPath(key)
	}
	if image != "" && *into == image {
		delete(t.app.Spec.SparkConf, key)
	}
}

// checkImage replaces an image as the settings say, and refuses it if it has Spark 1 or 2.
func (t *translation) checkImage(s Settings, field string, image *string) {
	shown, given := t.spellings.path(field), *image
	var replaced bool
	if *image, replaced = s.replaced(given); replaced {
		t.warnings.Warn(shown, given, fmt.Sprintf("is replaced by %q, as image-replacements of the ConfigMap %s says", *image, settingsMap),
			"write the image that shall run")
	}
	known := slices.ContainsFunc(t.refused, func(f finding.Finding) bool { return f.Reason == imageTooOld && f.Value == *image })
	if dialect.IsImageTooOld(*image, t.app.Annotations[AnnotationSparkVersion]) && !known {
		t.refuse(imageTooOld, shown, *image, "has Spark 2 or older by its name, which Firesteel cannot submit",
			fmt.Sprintf("write an image of Spark 3.5 or newer, or map this one in image-replacements of the ConfigMap %s; if the tag is not Spark's, "+
				"say the version of Spark by %s", settingsMap, finding.Entry("metadata.annotations", AnnotationSparkVersion)))
	}
}

// setVersion sets the version of Spark: the annotation's, the image's or the setting's.
func (t *translation) setVersion(s Settings) {
	const field = "spec.sparkVersion"
	annotation := finding.Entry("metadata.annotations", AnnotationSparkVersion)
	t.spellings[field] = annotation
	given := t.app.Annotations[AnnotationSparkVersion]
	image := cmp.Or(t.app.Spec.Driver.Image, t.settings.Properties[driverImageKey], t.app.Spec.SparkConf[imageKey], t.settings.Properties[imageKey])
	t.app.Spec.SparkVersion = cmp.Or(given, dialect.ImageVersion(image))
	if t.app.Spec.SparkVersion != "" || s.SparkVersion == "" {
		return // if there is no version at all, a warning of the translated application says so
	}
	t.app.Spec.SparkVersion = s.SparkVersion
	if _, known := submission.RulesFor(s.SparkVersion); known {
		t.warnings.Warn(annotation, nil, fmt.Sprintf("is missing and the tag of the image %q names no version, so that spark-version %s of the "+
			"ConfigMap %s counts", image, s.SparkVersion, settingsMap), "set it to the image's version")
	}
}
