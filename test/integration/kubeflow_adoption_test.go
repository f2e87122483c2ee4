package integration

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

const leftByKubeflow = "../../pkg/dialect/kubeflow/status/testdata/left-by-kubeflow-operator.yaml"

// kubeflowAdoptionCase is what becomes of an application that the Kubeflow operator left behind: the state that it comes to,
// and whether a driver is made for it.
type kubeflowAdoptionCase struct {
	state v1beta2.ApplicationStateType
	made  bool
}

// kubeflowAdoptionCases are without a driver, and with one that runs.
var kubeflowAdoptionCases = map[string]struct{ alone, withDriver kubeflowAdoptionCase }{
	"submitted":         {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"RUNNING", false}},
	"pending":           {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"RUNNING", false}},
	"running":           {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"RUNNING", false}},
	"running-again":     {kubeflowAdoptionCase{"FAILING", false}, kubeflowAdoptionCase{"RUNNING", false}},
	"unknown":           {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"RUNNING", false}},
	"succeeding":        {kubeflowAdoptionCase{"COMPLETED", false}, kubeflowAdoptionCase{"COMPLETED", false}},
	"succeeding-always": {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"SUBMITTED", true}},
	"failing":           {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"SUBMITTED", true}},
	"failing-last":      {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"FAILED", false}},
	"submission-failed": {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"RUNNING", false}},
	"pending-rerun":     {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"SUBMITTED", true}},
	"invalidating":      {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"SUBMITTED", true}},
	"suspending":        {kubeflowAdoptionCase{"SUSPENDED", false}, kubeflowAdoptionCase{"SUSPENDED", false}},
	"suspended":         {kubeflowAdoptionCase{"SUSPENDED", false}, kubeflowAdoptionCase{"SUSPENDED", false}},
	"resuming":          {kubeflowAdoptionCase{"SUBMITTED", true}, kubeflowAdoptionCase{"SUBMITTED", true}},
	"completed":         {kubeflowAdoptionCase{"COMPLETED", false}, kubeflowAdoptionCase{"COMPLETED", false}},
	"failed":            {kubeflowAdoptionCase{"FAILED", false}, kubeflowAdoptionCase{"FAILED", false}},
}

// leftByKubeflowOperator puts an application into the env as it was left, under a name of its own.
func (s *env) leftByKubeflowOperator(recorded, name string, changes ...func(*v1beta2.SparkApplication)) *v1beta2.SparkApplication {
	s.Helper()
	text, err := os.ReadFile(leftByKubeflow)
	s.must(err)
	for _, document := range bytes.Split(text, []byte("\n---\n"))[1:] {
		app := &v1beta2.SparkApplication{}
		s.must(yaml.Unmarshal(document, app))
		if app.Name != recorded {
			continue
		}
		for _, change := range changes {
			change(app)
		}
		status := app.Status
		app.Name, app.CreationTimestamp, app.Generation, app.Spec.Driver.ServiceAccount = name, metav1.Time{}, 0, "default"
		created, err := s.kubeflowApps().Create(s.Context(), app, metav1.CreateOptions{})
		s.must(err)
		created.Status = status
		if status.DriverInfo.PodName != "" {
			created.Status.DriverInfo.PodName = name + "-driver"
		}
		created, err = s.kubeflowApps().UpdateStatus(s.Context(), created, metav1.UpdateOptions{})
		s.must(err)
		return created
	}
	s.Fatalf("no application %s is recorded", recorded)
	return nil
}

// driverByKubeflowOperator makes the driver of the run that a status shows, and has it run. Changes are made to the Pod before.
func (s *env) driverByKubeflowOperator(app *v1beta2.SparkApplication, changes ...func(*corev1.Pod)) *driver {
	s.Helper()
	controls := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: app.Name + "-driver",
			Labels: map[string]string{
				"spark-role": "driver", "spark-app-selector": "spark-" + app.Name, "sparkoperator.k8s.io/app-name": app.Name,
				"sparkoperator.k8s.io/launched-by-spark-operator": "true", "sparkoperator.k8s.io/submission-id": app.Status.SubmissionID,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "sparkoperator.k8s.io/v1beta2", Kind: "SparkApplication", Name: app.Name, UID: app.UID,
				Controller: &controls, BlockOwnerDeletion: &controls,
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "spark:4.0.1"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	_, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
	return s.kubeflowDriver(app.Name).start().ready()
}

// Whatever the Kubeflow operator left behind goes on as it should: what has ended does not run again, and a driver that
// runs is followed, and no second one is created.
func TestAdoptionOfApplicationsOfTheKubeflowOperator(t *testing.T) {
	alone(t)
	s := newEnv(t)
	type left struct {
		app    *v1beta2.SparkApplication
		driver *driver
		want   kubeflowAdoptionCase
	}
	all := map[string]left{}
	for recorded, wants := range kubeflowAdoptionCases {
		alone := s.leftByKubeflowOperator(recorded, fmt.Sprintf("%s-a", recorded), func(app *v1beta2.SparkApplication) {
			if wants.alone.state == v1beta2.FailingState { // which lasts for the interval
				app.Spec.RestartPolicy.OnFailureRetryInterval = ptr.To[int64](3600)
			}
		})
		all[recorded+" without a driver"] = left{alone, nil, wants.alone}
		with := s.leftByKubeflowOperator(recorded, fmt.Sprintf("%s-d", recorded))
		all[recorded+" with a driver"] = left{with, s.driverByKubeflowOperator(with), wants.withDriver}
	}
	unowned := s.leftByKubeflowOperator("running", "running-o")
	all["running with a driver without an owner"] = left{unowned, s.driverByKubeflowOperator(unowned, unownedDriver(unowned.Status.SparkApplicationID)), kubeflowAdoptionCase{"RUNNING", false}}
	foreign := s.leftByKubeflowOperator("running", "running-f")
	s.driverByKubeflowOperator(foreign, unownedDriver("spark-of-another"))
	all["running beside a Pod that only has the driver's name"] = left{foreign, nil, kubeflowAdoptionCase{"FAILED", false}}
	s.ownController(controller{sink: s.sink.URL()})
	t.Run("each", func(t *testing.T) {
		for name, l := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := &env{TB: t, suite: s.suite, ns: s.ns}
				history := l.app.Status.AppState.State == l.want.state && (l.want.state == "COMPLETED" || l.want.state == "FAILED")
				app := until(s, s.kubeflowApps(), l.app.Name, "be "+string(l.want.state), func(app *v1beta2.SparkApplication) bool {
					return app.Status.AppState.State == l.want.state && (history || app.Status.Firesteel != nil)
				})
				if history && app.ResourceVersion != l.app.ResourceVersion && app.Status.Firesteel != nil {
					t.Error("what has ended for good was written to")
				}
				if l.want.made {
					made := s.kubeflowDriver(l.app.Name)
					if made.Labels["sparkoperator.k8s.io/submission-id"] != app.Status.SubmissionID || l.driver != nil && made.UID == l.driver.UID {
						t.Errorf("the driver is %s of submission %s", made.UID, made.Labels["sparkoperator.k8s.io/submission-id"])
					}
				}
				if l.driver != nil && !l.want.made && l.want.state == "RUNNING" && app.Status.Firesteel.Launch.DriverUID != l.driver.UID {
					t.Errorf("the driver that is followed is %s", app.Status.Firesteel.Launch.DriverUID)
				}
			})
		}
	})
}

// unownedDriver takes the owner from a driver of another operator, and gives it Spark's ID of an application.
func unownedDriver(id string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.OwnerReferences, pod.Labels["spark-app-selector"] = nil, id }
}
