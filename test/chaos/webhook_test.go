package chaos

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// webhookMemoryLimit is that of the webhook's container.
const webhookMemoryLimit = 128 << 20

// The answers to an application that the webhook refuses.
const (
	webhookRefuses    = "webhook refuses"
	webhookPassedOver = "webhook passed over"
)

// askWebhook asks again and again about an application that the webhook refuses, and counts the answers. A run must see both.
func (r *run) askWebhook(ctx context.Context) error {
	ticker := time.NewTicker(3 * poll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		if answer := r.askOnce(ctx); answer == webhookRefuses || answer == webhookPassedOver {
			r.counters.note(answer)
		}
	}
}

func (r *run) askOnce(ctx context.Context) string {
	r.acting.RLock()
	defer r.acting.RUnlock()
	return r.webhookAnswer(ctx)
}

// webhookAnswer returns the API server's answer to an application that the webhook refuses. The application is not created.
func (r *run) webhookAnswer(ctx context.Context) string {
	_, err := r.Spark.SparkV1().SparkApplications(r.calm[0].namespace).Create(ctx, &sparkv1.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Name: "refused"},
		Spec:       sparkv1.ApplicationSpec{DeploymentMode: sparkv1.ClientMode, RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.1"}},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return webhookPassedOver
	case apierrors.IsInvalid(err):
		return webhookRefuses
	default:
		return err.Error()
	}
}
