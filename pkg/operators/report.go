package operators

import (
	"context"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// limit bounds the time of one search.
const limit = time.Minute

// Reporter reports other operators in the log, and by Kubernetes Events on the ConfigMap with the scope.
type Reporter struct {
	Kube     kubernetes.Interface
	Recorder record.EventRecorder
	Logger   *zap.SugaredLogger
	// Namespace is that of the installation.
	Namespace string
	Now       func() time.Time
}

// Start reports the other operators after each call of the function that it returns, until the context is done. That function does not
// block: only the latest scope counts. It is not called concurrently.
func (r *Reporter) Start(ctx context.Context) (scopeChanged func(*config.Scope)) {
	scopes := make(chan *config.Scope, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case scope := <-scopes:
				r.report(ctx, scope)
			}
		}
	}()
	return func(scope *config.Scope) {
		select {
		case <-scopes:
		default:
		}
		scopes <- scope
	}
}

func (r *Reporter) report(ctx context.Context, scope *config.Scope) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := Find(ctx, r.Kube, scope, r.Now())
	if err != nil {
		r.Logger.Infow("other operators not searched for", "detail", diagnosis.OtherOperatorsUnknown(err).Message())
	}
	if len(found) == 0 {
		return
	}
	settings, err := r.Kube.CoreV1().ConfigMaps(r.Namespace).Get(ctx, config.ScopeName, metav1.GetOptions{})
	if err != nil {
		r.Logger.Warnw("no Event about another operator", zap.Error(err))
	}
	for _, each := range found {
		r.Logger.Warnw("another operator found", "detail", each.Message())
		if settings != nil && err == nil {
			r.Recorder.Event(settings, corev1.EventTypeWarning, each.Reason, each.Message())
		}
	}
}
