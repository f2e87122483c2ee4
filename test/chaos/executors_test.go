package chaos

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

func isExecutor(pod *corev1.Pod) bool { return pod.Labels["spark-role"] == "executor" }

// executors makes the executor Pods of drivers that run, as Spark in the driver would.
type executors struct {
	*env
	rng  *rng.Rand
	seen map[types.UID]bool
}

func newExecutors(w *env) *executors {
	return &executors{env: w, rng: rng.New(w.seed, "executors"), seen: map[types.UID]bool{}}
}

func (e *executors) see(ctx context.Context, driver *corev1.Pod) {
	if driver.Status.Phase != corev1.PodRunning || driver.DeletionTimestamp != nil || e.seen[driver.UID] {
		return
	}
	e.seen[driver.UID] = true
	count := e.rng.Below(3)
	go func() {
		for i := range count {
			// It fails if the driver is gone or a quota is in the way. So does Spark.
			_, _ = e.Kube.CoreV1().Pods(driver.Namespace).Create(ctx, executor(driver, i+1), metav1.CreateOptions{})
		}
	}()
}

func executor(driver *corev1.Pod, number int) *corev1.Pod {
	yes := true
	labels := map[string]string{
		"spark-role": "executor", "spark-exec-id": fmt.Sprint(number),
		"spark-app-selector": driver.Labels["spark-app-selector"], "spark-app-name": driver.Labels["spark-app-name"],
	}
	for key, value := range driver.Labels {
		if strings.HasPrefix(key, "sparkoperator.k8s.io/") {
			labels[key] = value
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s-exec-%d", driver.Name, number),
			Namespace: driver.Namespace,
			Labels:    labels,
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Pod", Name: driver.Name, UID: driver.UID, Controller: &yes},
			},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector:  driver.Spec.NodeSelector,
			Containers:    []corev1.Container{{Name: "spark-kubernetes-executor", Image: driver.Spec.Containers[0].Image}},
		},
	}
}
