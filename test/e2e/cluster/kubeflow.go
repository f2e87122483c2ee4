package cluster

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// KubeflowEnded reports whether an application of the Kubeflow kind has ended for good.
var KubeflowEnded = InKubeflowState(v1beta2.CompletedState, v1beta2.FailedState)

// AwaitKubeflow is Await of the Kubeflow kind.
func (c *Cluster) AwaitKubeflow(t *testing.T, name, what string, is func(*v1beta2.SparkApplication) bool) *v1beta2.SparkApplication {
	t.Helper()
	app, itIs := await(t, is, KubeflowEnded, func(ctx context.Context) (*v1beta2.SparkApplication, error) {
		return c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	})
	if !itIs {
		t.Fatalf("application %s never was %s; its state: %+v", name, what, app.Status.AppState)
	}
	return app
}

// InKubeflowState holds for an application of the Kubeflow kind that is in one of these states.
func InKubeflowState(wanted ...v1beta2.ApplicationStateType) func(*v1beta2.SparkApplication) bool {
	return func(app *v1beta2.SparkApplication) bool { return slices.Contains(wanted, app.Status.AppState.State) }
}
