package early

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func TestTranslationIsMadeOnceForTheQuestionsOfAReconcile(t *testing.T) {
	s := NewSettings()
	s.last = &lastTranslation{}
	d := of(s)
	read := &v1alpha1.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Generation: 1},
		Spec: v1alpha1.SparkApplicationSpec{
			MainClass: "Main", MainApplicationFile: "local:///main.jar", SparkConf: map[string]string{"spark.eventLog.enabled": "true"},
			Driver: v1alpha1.DriverSpec{Image: "spark:4.1.1"}, Executor: v1alpha1.ExecutorSpec{Image: "spark:4.1.1"},
		},
	}
	d.Policy(read)
	first := s.last.translation
	stored := read.DeepCopy()
	stored.Annotations = map[string]string{"firesteel.dev/note": "of a write"}
	if _, err := d.Plan(stored, firesteelv1alpha1.Attempt{}); err != nil {
		t.Fatal(err)
	}
	d.Ingredients(stored)
	d.Warnings(stored)
	d.ObsoleteObjects(stored)
	if s.last.translation != first {
		t.Error("an application was translated again in its reconcile")
	}
	if translated := translate(stored, s).app; !reflect.DeepEqual(translated.Annotations, stored.Annotations) {
		t.Errorf("the annotations are %v", translated.Annotations)
	}
}

func TestTranslationIsThatOfTheApplication(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.SparkApplication){
		"after an edit": func(app *v1alpha1.SparkApplication) { app.Generation, app.Spec.MainClass = 2, "Other" },
		"after an edit of its annotation": func(app *v1alpha1.SparkApplication) {
			app.Annotations = map[string]string{AnnotationSparkVersion: "3.5.7"}
		},
		"of another one":            func(app *v1alpha1.SparkApplication) { app.UID, app.Spec.MainClass = "uid-of-another", "Other" },
		"of one that is not stored": func(app *v1alpha1.SparkApplication) { app.Generation, app.Spec.MainClass = 0, "Other" },
		"of the same one":           func(*v1alpha1.SparkApplication) {},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSettings()
			s.last = &lastTranslation{}
			app := &v1alpha1.SparkApplication{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Generation: 1},
				Spec:       v1alpha1.SparkApplicationSpec{MainClass: "Main", Driver: v1alpha1.DriverSpec{Image: "spark:4.1.1"}},
			}
			translate(app, s)
			edit(app)
			if got, want := translate(app, s), translateAnew(app, s); !reflect.DeepEqual(got, want) {
				t.Errorf("the translation is %+v, not %+v", got.app, want.app)
			}
		})
	}
}
