package invariants

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// DeletionDue checks that an application is deleted only by its users or when its time to live is over: the ttl handler
// subscribes to "an application's time to live is over" (section 5).
func DeletionDue(app dialect.Application, at metav1.Time, permitted bool) error {
	// The timestamp lacks the fraction of its second.
	if !permitted && !expired(app, at.Add(time.Second)) {
		return fmt.Errorf("it was deleted at %s, and that was not due", at)
	}
	return nil
}

// expired reports whether the time to live was over at an instant.
func expired(app dialect.Application, at time.Time) bool {
	due, ok := lifecycle.ExpiresAt(app.GetRecord(), PolicyOf(app))
	return ok && due.Before(at)
}

// APIOf is the API of an application.
func APIOf(app dialect.Application) *applications.API {
	switch app.(type) {
	case *v1beta2.SparkApplication:
		return applications.Kubeflow(nil)
	case *earlyv1alpha1.SparkApplication:
		return applications.Early(nil)
	default:
		return applications.Apache(nil)
	}
}

// PolicyOf is the lifecycle policy of an application's spec.
func PolicyOf(app dialect.Application) lifecycle.Policy {
	return APIOf(app).Dialect(config.Default()).Policy(app)
}
