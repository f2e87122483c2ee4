package apache_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestConfigMaps(t *testing.T) {
	app := pi().Spec(func(spec *sparkv1.ApplicationSpec) {
		spec.ConfigMapSpecs = []sparkv1.ConfigMapSpec{
			{Name: "program", Data: map[string]string{"a.py": "pass"}},
			{Name: "bare"},
			{Name: "marked", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "2"}},
		}
	}).Obj()
	want := []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "program"}, Data: map[string]string{"a.py": "pass"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "bare"}},
		{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "marked",
			Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "2"},
		}},
	}
	got := apache.ConfigMaps(app)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
	got[2].Labels["firesteel.dev/launch-id"] = "of an attempt"
	if len(app.Spec.ConfigMapSpecs[2].Labels) != 1 {
		t.Error("the labels of the config map are the spec's own")
	}
}

func TestConfigMapsTakesTheLastOfEachName(t *testing.T) {
	app := withConfigMaps(
		sparkv1.ConfigMapSpec{Name: "a", Data: map[string]string{"x": "1"}},
		sparkv1.ConfigMapSpec{Name: "b"},
		sparkv1.ConfigMapSpec{Name: "a", Data: map[string]string{"y": "2"}},
	).Obj()
	made := map[string]map[string]string{}
	for _, configMap := range apache.ConfigMaps(app) {
		made[configMap.Name] = configMap.Data
	}
	if diff := cmp.Diff(map[string]map[string]string{"a": {"y": "2"}, "b": nil}, made); diff != "" {
		t.Errorf("config maps (-want +got):\n%s", diff)
	}
}

func TestCheckConfigMaps(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want []string // parts of the message; nil where there is nothing to say
	}{
		"none": {app: pi()},
		"one that can be made": {app: withConfigMaps(sparkv1.ConfigMapSpec{
			Name: "a.b-c", Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"x/y": "a b"}, Data: map[string]string{"log4j2.properties": ""},
		})},
		"one of the name of an earlier attempt's": {app: withConfigMaps(sparkv1.ConfigMapSpec{Name: "pi-1-spark-drv-conf-map"})},
		"the driver's own": {
			app:  withConfigMaps(sparkv1.ConfigMapSpec{Name: "free"}, sparkv1.ConfigMapSpec{Name: "pi-0-spark-drv-conf-map"}),
			want: []string{"spec.configMapSpecs[1].name", `"pi-0-spark-drv-conf-map"`, "choose another"},
		},
		"the executors' template": {
			app:  withConfigMaps(sparkv1.ConfigMapSpec{Name: "pi-0-driver-podspec-conf-map"}).Executor(&corev1.PodTemplateSpec{}),
			want: []string{"spec.configMapSpecs[0].name", `"pi-0-driver-podspec-conf-map"`},
		},
		"a template's name where there is none": {app: withConfigMaps(sparkv1.ConfigMapSpec{Name: "pi-0-driver-podspec-conf-map"})},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			plan, err := apache.Plan(app, v1alpha1.Attempt{Since: at(0)}, apache.Defaults{})
			if err != nil {
				t.Fatal(err)
			}
			objects, err := submission.Build(plan)
			if err != nil {
				t.Fatal(err)
			}
			err = apache.CheckConfigMaps(app, objects).Err()
			if (err == nil) != (test.want == nil) {
				t.Fatalf("it says %v, want %q", err, test.want)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("it says %v, want %q", err, part)
				}
			}
		})
	}
}

func withConfigMaps(specs ...sparkv1.ConfigMapSpec) *application {
	return pi().Spec(func(s *sparkv1.ApplicationSpec) { s.ConfigMapSpecs = specs })
}
