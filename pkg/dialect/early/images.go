package early

import (
	"cmp"
	"fmt"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// AnnotationSparkVersion is the version of Spark in the image of an application: this API has no field for it.
const AnnotationSparkVersion = "firesteel.dev/spark-version"

const imageKey = "spark.kubernetes.container.image"

// setImages replaces images as the settings say, and refuses those whose driver cannot start.
func (t *translation) setImages(s Settings) {
	refused := map[string]bool{}
	defer delete(t.app.Spec.SparkConf, imageKey) // each role has it
	for _, role := range []struct {
		name string
		pods *v1beta2.SparkPodSpec
	}{{"driver", &t.app.Spec.Driver.SparkPodSpec}, {"executor", &t.app.Spec.Executor.SparkPodSpec}} {
		field := "spec." + role.name + ".image"
		t.takeImage(field, "spark.kubernetes."+role.name+".container.image", role.pods)
		given := role.pods.Image
		image, replaced := s.replaced(given)
		shown := cmp.Or(t.spellings[field], field)
		if replaced {
			role.pods.Image = image
			t.warnings.Warn(shown, given, fmt.Sprintf("is replaced by %q, as image-replacements of the ConfigMap %s says", image, settingsMap),
				"write the image that shall run")
		}
		if dialect.IsImageTooOld(image) && !refused[image] {
			refused[image] = true
			t.refuse("ImageTooOld", shown, image, "has a Spark before 2.4, whose driver no supported way of submitting can start",
				fmt.Sprintf("write an image of Spark 3.5 or newer, or map this one in image-replacements of the ConfigMap %s", settingsMap))
		}
	}
}

// takeImage sets the image that a property gives to a role whose field is empty.
func (t *translation) takeImage(field, key string, pods *v1beta2.SparkPodSpec) {
	for _, key := range []string{key, imageKey} {
		if image := t.app.Spec.SparkConf[key]; pods.Image == "" && image != "" {
			pods.Image = image
			t.spellings[field] = t.propertyPath(key)
		}
	}
	if t.app.Spec.SparkConf[key] == pods.Image {
		delete(t.app.Spec.SparkConf, key)
	}
}

// setVersion sets the version of Spark: the annotation's, the image's or the setting's.
func (t *translation) setVersion(s Settings) {
	const field = "spec.sparkVersion"
	annotation := finding.Entry("metadata.annotations", AnnotationSparkVersion)
	t.spellings[field] = annotation
	given, image := t.app.Annotations[AnnotationSparkVersion], t.app.Spec.Driver.Image
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
