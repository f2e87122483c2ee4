package features

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// Three applications of three Pods each are created in a namespace that has room for three Pods. They run one after the other, and the quota
// refuses no executor. What never fits fails at once where the settings say so.
func TestQuotaHoldsSparkUntilItsExecutorsFit(t *testing.T) {
	c := cluster.New(t)
	_, err := c.Kube.CoreV1().ResourceQuotas(c.Namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}},
	}, metav1.CreateOptions{})
	cluster.Must(t, err)
	finally(t, "-n", "firesteel-system", "patch", "configmap/config-admission", "--type=merge", "-p", `{"data":{"quota":null}}`)

	setQuota(t, c, "hold", metav1.ConditionUnknown, "WaitingForQuota")
	names := []string{"first", "second", "third"}
	for _, name := range names {
		c.ApplyText(t, piOfThreePods(name))
	}
	eventually(t, "an application waits for the room that others use", func(ctx context.Context) error {
		for _, name := range names {
			app, err := c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			verdict := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
			if verdict != nil && verdict.Reason == "WaitingForQuota" && strings.Contains(verdict.Message, "pods (3 requested, 0 available of 3)") {
				return nil
			}
		}
		return fmt.Errorf("none of %v waits", names)
	})
	for _, name := range names {
		c.AwaitKubeflow(t, name, "completed", cluster.InKubeflowState(v1beta2.CompletedState))
		log := c.Run(t, "", "kubectl", "-n", c.Namespace, "logs", name+"-driver")
		if !strings.Contains(log, "Pi is roughly 3.1") || strings.Contains(log, "exceeded quota") {
			t.Errorf("the driver of %s has no result, or the quota refused its executors:\n%.8000s", name, log)
		}
	}

	setQuota(t, c, "fail", metav1.ConditionFalse, "QuotaWouldBeExceeded")
}

// setQuota sets what the controller does about quotas, and waits until several applications that never fit have the verdict that follows
// from it: the keys of the replicas differ.
func setQuota(t *testing.T, c *cluster.Cluster, mode string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	c.Run(t, "", "kubectl", "-n", "firesteel-system", "patch", "configmap/config-admission", "--type=merge", "-p", fmt.Sprintf(`{"data":{"quota":%q}}`, mode))
	apps := c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace)
	for i := range 4 {
		name := fmt.Sprintf("large-%s-%d", mode, i)
		text := strings.Replace(piOfThreePods(name), "instances: 2", "instances: 20", 1)
		c.ApplyText(t, text)
		eventually(t, name+" has the verdict", func(ctx context.Context) error {
			app, err := apps.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				c.ApplyText(t, text)
				return err
			}
			verdict := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
			if verdict != nil && verdict.Status == status && verdict.Reason == reason {
				return nil
			}
			if app.Status.DriverInfo.PodName != "" { // it was launched before the controller knew the setting
				if err := apps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
					return err
				}
			}
			return fmt.Errorf("the verdict is %v", verdict)
		})
		c.Run(t, "", "kubectl", "-n", c.Namespace, "delete", "sparkapplications.sparkoperator.k8s.io", name)
	}
}

func piOfThreePods(name string) string {
	return strings.Replace(restrictedPi, "name: kubeflow-pi", "name: "+name, 1)
}
