// Package blocked reports why Firesteel does nothing for an object: its spec cannot be decoded, its record is another version's, or
// the API server does not store its record.
package blocked

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// Object is one that can be reported.
type Object interface {
	metav1.Object
	runtime.Object
}

// Reports knows the last report about each object, so that each is made once for a generation and a reason. The zero value is
// ready for use.
type Reports struct {
	mutex sync.Mutex
	last  map[types.UID]report
}

type report struct {
	generation int64
	reason     string
}

// Report reports why nothing is done for an object: in the log, by a Kubernetes Event and by showInStatus, which may be nil. It
// reports again if that fails.
func (r *Reports) Report(ctx context.Context, object Object, reason, message string, showInStatus func() error) error {
	if !r.isNew(object, reason) {
		return nil
	}
	logging.FromContext(ctx).Warnw("object blocked", "reason", reason, "detail", message)
	controller.GetEventRecorder(ctx).Event(object, corev1.EventTypeWarning, reason, message)
	if showInStatus == nil {
		return nil
	}
	if err := showInStatus(); err != nil {
		r.Forget(object.GetUID())
		return fmt.Errorf("report %s in the status: %w", reason, err)
	}
	return nil
}

// NotUnderstood reports that this version of Firesteel does not understand the record of an object.
func (r *Reports) NotUnderstood(ctx context.Context, object Object, why diagnosis.Explanation) {
	_ = r.Report(ctx, object, why.Reason, why.Message(), nil) // nothing is written that could fail
}

// Forget has the next report about an object made: the object is deleted or reconciled again.
func (r *Reports) Forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.last, uid)
}

func (r *Reports) isNew(object metav1.Object, reason string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	next := report{object.GetGeneration(), reason}
	if r.last[object.GetUID()] == next {
		return false
	}
	if r.last == nil {
		r.last = map[types.UID]report{}
	}
	r.last[object.GetUID()] = next
	return true
}

// AwaitNewerVersion returns the error that requeues a deleted object whose record is not understood, while the version of
// Firesteel that wrote the record may still conclude it. After that it returns nil, and the finalizer is removed.
func AwaitNewerVersion(ctx context.Context, object metav1.Object, record *v1alpha1.Record, now time.Time) error {
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		if wait := deleted.Add(config.FromContext(ctx).Events.DeletionGrace).Sub(now); wait > 0 {
			return controller.NewRequeueAfter(wait)
		}
	}
	logging.FromContext(ctx).Errorw("finalizer removed from a deleted object whose record is not understood",
		"detail", diagnosis.NotUnderstood(record).Message(), "record", record)
	return nil
}

// SpecAdopted reports by a Kubernetes Event that Firesteel cannot know whether the spec of an object was edited.
func SpecAdopted(ctx context.Context, object runtime.Object, record *v1alpha1.Record) {
	why := diagnosis.SpecAdopted(record)
	controller.GetEventRecorder(ctx).Event(object, corev1.EventTypeWarning, why.Reason, why.Message())
}
