package names_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// named returns an application with a name, changed as a test needs it.
func named(name string, change func(*v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{}
	app.Namespace, app.Name, app.UID = "team-a", name, "uid-of-pi"
	change(app)
	return app
}

func TestNamesOfObjectsAreThoseOfTheKubeflowOperator(t *testing.T) {
	asIs := func(*v1beta2.SparkApplication) {}
	long := strings.Repeat("a", 60)
	for app, want := range map[*v1beta2.SparkApplication][3]string{
		named("pi", asIs): {"pi-driver", "pi-ui-svc", "pi-ui-ingress"},
		named(long, asIs): {long + "-driver", strings.Repeat("a", 47) + "-9df9eea7-ui-svc", strings.Repeat("a", 43) + "-461c30ab-ui-ingress"},
		named("pi", func(app *v1beta2.SparkApplication) { app.Spec.Driver.PodName = "mine" }): {"mine", "pi-ui-svc", "pi-ui-ingress"},
		named("pi", func(app *v1beta2.SparkApplication) {
			app.Spec.SparkConf = map[string]string{"spark.kubernetes.driver.pod.name": "conf"}
		}): {"conf", "pi-ui-svc", "pi-ui-ingress"},
	} {
		got := [3]string{names.DriverPodName(app), names.UIServiceName(app), names.UIIngressName(app)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestEachAttemptHasNamesOfItsOwn(t *testing.T) {
	app := named("pi", func(*v1beta2.SparkApplication) {})
	otherApp := named("pi", func(app *v1beta2.SparkApplication) { app.UID = "another" })
	first, again, second, other := names.OfAttempt(app, 1), names.OfAttempt(app, 1), names.OfAttempt(app, 2), names.OfAttempt(otherApp, 1)
	if first != again {
		t.Errorf("the same attempt has %+v and %+v", first, again)
	}
	if first.AppID == second.AppID || first.Prefix == second.Prefix || first.ConfigMap == second.ConfigMap || first.AppID == other.AppID {
		t.Errorf("%+v is much like %+v or %+v", first, second, other)
	}
	if len(first.AppID) != len("spark-")+32 {
		t.Errorf("the id is %q", first.AppID)
	}
}

func TestPodsOfALaunchHaveItsSubmissionID(t *testing.T) {
	plan := submission.Plan{Properties: map[string]string{}}
	names.AddLaunchLabels(&plan, "launch")
	for _, role := range []string{"driver", "executor"} {
		key := "spark.kubernetes." + role + ".label.sparkoperator.k8s.io/submission-id"
		if got := plan.Properties[key]; got != names.SubmissionID("launch") {
			t.Errorf("%s is %q", key, got)
		}
	}
}

func TestDriverLabelsSelectPodsOfTheKubeflowOperator(t *testing.T) {
	running := named("running", func(*v1beta2.SparkApplication) {})
	if got := names.DriverLabels(running); got != "spark-role=driver,sparkoperator.k8s.io/app-name=running" {
		t.Errorf("labels %s", got)
	}
}
