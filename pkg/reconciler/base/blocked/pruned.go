package blocked

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// PrunedRetryAfter is how long Firesteel leaves an object alone after the API server did not store its record.
const PrunedRetryAfter = time.Minute

// Pruned knows the objects whose record the API server did not store, since the CustomResourceDefinition does not have the field, or
// the object is too large.
// Firesteel starts nothing for them: no record would know of it. The zero value is ready for use.
type Pruned struct {
	mutex sync.Mutex
	at    map[types.UID]time.Time
}

// IsPruned reports whether the API server dropped a written record, or a part that this version always keeps.
func IsPruned(written, stored *v1alpha1.Record) bool {
	return stored == nil || written.Attempt.Spec != nil && stored.Attempt.Spec == nil
}

// IsRefused reports whether the API server refused the first record of an object: the schema of another operator's
// CustomResourceDefinition may refuse the status instead of pruning it, or the object is too large with it.
func IsRefused(err error, first bool) bool {
	return first && (apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err))
}

// Report reports that the record of an object was not stored, and returns the error that requeues the object. definition is the
// name of the CustomResourceDefinition, manifest the file that has Firesteel's own, cause the API server's error if there is one.
func (p *Pruned) Report(ctx context.Context, object Object, definition, manifest string, now time.Time, cause error) error {
	why := diagnosis.RecordNotStored(definition, manifest)
	if apierrors.IsRequestEntityTooLargeError(cause) {
		why = diagnosis.TooLargeForRecord()
	}
	logging.FromContext(ctx).Errorw("record not stored", "detail", why.Message(), zap.Error(cause))
	controller.GetEventRecorder(ctx).Event(object, corev1.EventTypeWarning, why.Reason, why.Message())
	p.Note(object.GetUID(), now)
	return controller.NewRequeueAfter(PrunedRetryAfter)
}

// Note remembers that the record of an object was not stored.
func (p *Pruned) Note(uid types.UID, now time.Time) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.at == nil {
		p.at = map[types.UID]time.Time{}
	}
	p.at[uid] = now
}

// Has reports whether the last record written for an object was not stored.
func (p *Pruned) Has(uid types.UID) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, known := p.at[uid]
	return known
}

// Wait returns for how long to leave an object alone, zero if its record was stored or may be written again. Each write changes
// the object, so the event of one would cause the next.
func (p *Pruned) Wait(uid types.UID, now time.Time) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	at, known := p.at[uid]
	if !known {
		return 0
	}
	return max(at.Add(PrunedRetryAfter).Sub(now), 0)
}

// Forget forgets an object: its record was stored, or the object is deleted.
func (p *Pruned) Forget(uid types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.at, uid)
}
