package adoption_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	. "github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestDriversWithoutOwnerAreFoundByNameAndLabelsOfTheirLaunch(t *testing.T) {
	app := applicationtest.With(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
		app.CreationTimestamp = metav1.NewTime(applicationtest.Start)
		app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: "RunningHealthy", LastTransitionTime: "2026-03-01T12:00:00Z"}
	})
	v := applicationtest.Viewed(app)
	record, err := v.Dialect.Inherit(app)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"the driver":                             {func(*corev1.Pod) {}, true},
		"of another launch":                      {func(pod *corev1.Pod) { pod.Labels[submission.LabelApplicationID] = "pi-7" }, false},
		"without an ID":                          {func(pod *corev1.Pod) { delete(pod.Labels, submission.LabelApplicationID) }, false},
		"of another application":                 {func(pod *corev1.Pod) { pod.Labels[apache.LabelApplication] = "other" }, false},
		"that is no driver":                      {func(pod *corev1.Pod) { delete(pod.Labels, "spark-role") }, false},
		"that has another owner":                 {func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{{UID: "uid-of-another"}} }, false},
		"of an earlier application of this name": {func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(applicationtest.Start.Add(-time.Second)) }, false},
		"that Firesteel launched":                {func(pod *corev1.Pod) { pod.Labels[dialect.LabelLaunch] = "launch" }, false},
		"with another name":                      {func(pod *corev1.Pod) { pod.Name = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			id := apache.Names(app, record.Attempt.ID)
			pod := applicationtest.DriverOf("", "uid-of-driver").Obj()
			pod.Name, pod.OwnerReferences, pod.CreationTimestamp = id.DriverPod, nil, metav1.NewTime(applicationtest.Start)
			pod.Labels = map[string]string{"spark-role": "driver", apache.LabelApplication: "pi", submission.LabelApplicationID: id.AppID}
			test.change(pod)
			found, err := FindDrivers(t.Context(), fake.NewClientset(pod), v, record)
			if err != nil {
				t.Fatal(err)
			}
			if (len(found) == 1) != test.want {
				t.Errorf("found are %v", found)
			}
		})
	}
}
