package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// kubeflowBudget is that of an application of the Kubeflow kind, where Spark needs no more than a ConfigMap.
func kubeflowBudget() budget {
	return budget{
		"patch sparkapplications": 2, "update sparkapplications/status": 7, "create events": 2,
		"create pods": 1, "create services": 2, "create configmaps": 1,
	}
}

// Executors that come and go cost a write a second, and a time to live what its handler reads and deletes.
func TestWriteBudgetOfExecutorsAndATimeToLive(t *testing.T) {
	t.Parallel()
	newEnv(t).sharesController().storesKubeflowRecords()
	s := newEnv(t).sharesController()
	began := time.Now()
	s.submitted(strings.Replace(sparkPi("4.1.1"), "spec:\n", "spec:\n  timeToLiveSeconds: 1\n", 1))
	d := s.kubeflowDriver("spark-pi")
	d.start().ready()
	s.untilShown("spark-pi", v1beta2.RunningState)
	change := time.Now()
	for id := range 5 {
		executor := d.kubeflowExecutor(id + 1).start().ready()
		if id%2 == 0 {
			executor.exit(1)
		}
	}
	last := kubeflowExecutorName(5)
	until(s, s.kubeflowApps(), "spark-pi", "show its last executor's end", func(app *v1beta2.SparkApplication) bool {
		return app.Status.ExecutorState[last] == v1beta2.ExecutorFailedState
	})
	changing := time.Since(change)
	ended := time.Now()
	d.succeed()
	untilGone(s, s.kubeflowApps(), "spark-pi") // it is completed for a second only
	overdue := time.Since(ended) - time.Second
	s.untilKubeEvent("spark-pi", corev1.EventTypeNormal, "SparkApplicationCompleted") // Events come late where there is much to do
	allowed := kubeflowBudget()
	allowed["update sparkapplications/status"] += perSecond(changing) + int(time.Since(began)/(30*time.Second))
	allowed["get sparkapplications"], allowed["delete sparkapplications"] = 1+expectedRepeats(overdue), 1 // the handler's
	allowed["create events"]++                                                                            // an executor failed
	allowed["delete pods"] = 1                                                                            // the driver's, which is kept as long as the application
	// If the handler is asked again, it may find that all is done.
	s.wantWithinBudget(allowed, slices.DeleteFunc(s.requestsAtRest(), func(r controlplane.Request) bool {
		return r.Kind() == "get sparkapplications" && r.Code == http.StatusNotFound
	}))
	s.untilNothingIsLeft()
}

// perSecond is the number of writes that one a second comes to.
func perSecond(d time.Duration) int { return int(d/time.Second) + 1 }

// Changes of many executors are written once a second, without a list request.
func TestWriteBudgetOfManyExecutors(t *testing.T) {
	t.Parallel()
	const executors = 250
	s := newEnv(t).sharesController()
	s.submitted(sparkPi("4.1.1"))
	d := s.kubeflowDriver("spark-pi")
	d.start().ready()
	s.untilShown("spark-pi", v1beta2.RunningState)
	s.untilKubeEvent("spark-pi", corev1.EventTypeNormal, "SparkApplicationSubmitted")
	before, change := len(s.requestsAtRest()), time.Now()
	s.must(d.manyExecutors(executors))
	until(s, s.kubeflowApps(), "spark-pi", "show its executors", func(app *v1beta2.SparkApplication) bool {
		return running(app) == executors
	})
	changing := time.Since(change)
	asked := withoutEvents(s.requestsAtRest()[before:])
	for _, request := range asked {
		if request.Kind() != "update sparkapplications/status" || request.Code >= 400 {
			t.Errorf("the controller asked for %s", request)
		}
	}
	t.Logf("%d status writes in %s", len(asked), changing)
	if most := perSecond(changing) + 1; len(asked) > most { // the last comes when all is shown
		t.Errorf("%d status writes in %s, want at most %d", len(asked), changing, most)
	}
	d.succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
}

func running(app *v1beta2.SparkApplication) (count int) {
	for _, state := range app.Status.ExecutorState {
		if state == v1beta2.ExecutorRunningState {
			count++
		}
	}
	return count
}

// manyExecutors makes executors of a driver, and has them run.
func (d *driver) manyExecutors(count int) error {
	ctx, pods := d.env.Context(), d.env.Kube.CoreV1().Pods(d.env.ns)
	var group errgroup.Group
	group.SetLimit(32)
	for id := range count {
		group.Go(func() error {
			pod := d.kubeflowExecutorPod(id + 1)
			made := pod
			err := kubelet.RetryWrite(ctx, func() (err error) {
				if made, err = pods.Create(ctx, pod, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) { // an answer was lost
					made, err = pods.Get(ctx, pod.Name, metav1.GetOptions{})
				}
				return err
			})
			if err != nil {
				return err
			}
			return kubelet.SetStatus(ctx, d.env.Kube, made, kubelet.Started)
		})
	}
	return group.Wait()
}

// kubeflowExecutorPod is an executor of a driver, as the driver would make it.
func (d *driver) kubeflowExecutorPod(number int) *corev1.Pod {
	labels := map[string]string{
		"spark-role": "executor", submission.LabelExecutorID: fmt.Sprint(number), "spark-app-selector": d.Labels["spark-app-selector"],
	}
	for key, value := range d.Labels {
		if strings.HasPrefix(key, "sparkoperator.k8s.io/") {
			labels[key] = value
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: kubeflowExecutorName(number), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(d.Pod)},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark"}}},
	}
}

func kubeflowExecutorName(number int) string {
	return fmt.Sprintf("spark-pi-0b9a1c2d3e4f5a6b-exec-%d", number)
}
