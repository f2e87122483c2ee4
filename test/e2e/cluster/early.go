package cluster

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
)

var earlyEnded = InEarlyState(v1alpha1.CompletedState, v1alpha1.FailedState)

// AwaitEarly is Await of the early operator's kind.
func (c *Cluster) AwaitEarly(t *testing.T, name, what string, is func(*v1alpha1.SparkApplication) bool) *v1alpha1.SparkApplication {
	t.Helper()
	app, itIs := await(t, is, earlyEnded, func(ctx context.Context) (*v1alpha1.SparkApplication, error) {
		return c.Spark.EarlyV1alpha1().SparkApplications(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	})
	if !itIs {
		t.Fatalf("application %s never was %s; its state: %+v", name, what, app.Status.AppState)
	}
	return app
}

// InEarlyState holds for an application of the early operator's kind that is in one of these states.
func InEarlyState(wanted ...v1alpha1.ApplicationStateType) func(*v1alpha1.SparkApplication) bool {
	return func(app *v1alpha1.SparkApplication) bool { return slices.Contains(wanted, app.Status.AppState.State) }
}
