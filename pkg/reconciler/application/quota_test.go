package application

import (
	"testing"

	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// noQuotas returns the source of a tracker that compares nothing.
func noQuotas(t *testing.T) *quotas.Source {
	return quotas.New(t.Context(), fake.NewClientset(), clock.RealClock{}, zap.NewNop().Sugar()).AddSource(quotas.Source{})
}
