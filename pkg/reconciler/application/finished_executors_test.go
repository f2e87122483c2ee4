package application

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The Pods of executors that ended stay for the archive. Those of a long application with dynamic allocation do not accumulate.
func TestTheExecutorsThatStayForTheArchiveAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		state lifecycle.State
		keeps bool
		kept  string
		want  int
	}{
		"while the driver runs":      {state: lifecycle.RunningHealthy, keeps: true, want: executors.MaxFinished},
		"not after its end":          {state: lifecycle.Succeeded, keeps: true, want: executors.MaxFinished + 5},
		"not without an archive":     {state: lifecycle.RunningHealthy, want: executors.MaxFinished + 5},
		"not if the user keeps them": {state: lifecycle.RunningHealthy, keeps: true, kept: "false", want: executors.MaxFinished + 5},
	} {
		t.Run(name, func(t *testing.T) {
			client, finished := fake.NewClientset(), executors.NewFinished()
			controlled := true
			for i := range executors.MaxFinished + 5 {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Namespace: "team-a", Name: fmt.Sprintf("exec-%03d", i), UID: types.UID(fmt.Sprint(i)), CreationTimestamp: metav1.NewTime(applicationtest.Start),
					Labels:          map[string]string{submission.LabelApplicationID: "pi-0"},
					OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", UID: "driver-0", Controller: &controlled}},
				}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
				if err := client.Tracker().Add(pod); err != nil {
					t.Fatal(err)
				}
				stripped, err := executors.Strip(pod)
				if err != nil {
					t.Fatal(err)
				}
				finished.Update(nil, stripped.(*executors.Pod))
			}
			app := applicationtest.With(applicationtest.Pi().In(test.state, 2, 2), func(app *sparkv1.SparkApplication) {
				app.Spec.SparkConf = map[string]string{"spark.dynamicAllocation.enabled": "true"}
				if test.kept != "" {
					app.Spec.SparkConf["spark.kubernetes.executor.deleteOnTermination"] = test.kept
				}
				app.Status.Firesteel.Launch = &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "driver-0"}
			})
			r := &Reconciler{
				kube: client, finishedExecutors: finished, clock: applicationtest.ClockAt(applicationtest.Start.Add(time.Hour)),
				enqueueAfter: func(any, time.Duration) { t.Error("it is enqueued") },
			}
			v := applicationtest.Viewed(app)
			v.KeepExecutors = test.keeps
			if err := r.deleteFinishedExecutors(t.Context(), v, app.Status.Firesteel); err != nil {
				t.Fatal(err)
			}
			left, err := client.CoreV1().Pods("team-a").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(left.Items) != test.want {
				t.Errorf("%d Pods are left, want %d: %v", len(left.Items), test.want, err)
			}
			if test.want == executors.MaxFinished && applicationtest.Exists(t, client, "4") {
				t.Error("the oldest ones stay")
			}
		})
	}
}
