package apache_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

func TestSpecHash(t *testing.T) {
	plain := hash(t, pi().Conf("spark.executor.instances", "1"))
	for name, test := range map[string]struct {
		app  *application
		same bool
	}{
		"the same spec again":  {pi().Conf("spark.executor.instances", "1"), true},
		"suspended":            {pi().Conf("spark.executor.instances", "1").Spec(func(s *sparkv1.ApplicationSpec) { s.Suspend = true }), true},
		"with tolerations":     {pi().Conf("spark.executor.instances", "1").Restart(sparkv1.RestartAlways), true},
		"of another name":      {pi().Conf("spark.executor.instances", "1").Named("other"), true},
		"with another value":   {pi().Conf("spark.executor.instances", "2"), false},
		"with another version": {pi().Conf("spark.executor.instances", "1").Spark("4.2.0"), false},
		"with a template":      {pi().Conf("spark.executor.instances", "1").Driver(&corev1.PodTemplateSpec{}), false},
		"with an argument": {
			pi().Conf("spark.executor.instances", "1").Spec(func(s *sparkv1.ApplicationSpec) { s.DriverArgs = []string{""} }), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hash(t, test.app); (got == plain) != test.same {
				t.Errorf("hash is %s, and of the plain spec %s", got, plain)
			}
		})
	}
}

func TestSpecHashLeavesTheSpecAlone(t *testing.T) {
	app := pi().Restart(sparkv1.RestartAlways).Spec(func(s *sparkv1.ApplicationSpec) { s.Suspend = true }).Obj()
	if apache.SpecOf(app).Hash(spec.HashVersion) == "" {
		t.Fatal("it has no hash")
	}
	if !app.Spec.Suspend || app.Spec.ApplicationTolerations == nil {
		t.Error("Hash changed the spec")
	}
}

func hash(t *testing.T, app *application) string {
	t.Helper()
	return apache.SpecOf(app.Obj()).Hash(spec.HashVersion)
}
