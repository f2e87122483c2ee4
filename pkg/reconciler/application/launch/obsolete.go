package launch

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// DeleteObsolete deletes the objects of a launch that are useless once no Pod of the attempt will be created. It acts before
// the record has the end of the attempt, so a crash in between repeats it.
func (l *Launcher) DeleteObsolete(ctx context.Context, v *view.Application, record *v1alpha1.Record) error {
	app := v.App
	if !expectsNoPods(record) || record.Launch.ID == "" {
		return nil
	}
	if before := app.GetRecord(); before != nil && (before.Attempt.ID != record.Attempt.ID || expectsNoPods(before)) {
		return nil
	}
	for _, object := range v.Dialect.ObsoleteObjects(app) {
		object.SetNamespace(app.GetNamespace())
		if err := l.deleteOfLaunch(ctx, record.Launch.ID, object); err != nil {
			return err
		}
	}
	return nil
}

// expectsNoPods reports whether an attempt was launched and no more Pods of it will be created.
func expectsNoPods(record *v1alpha1.Record) bool {
	if record.Launch == nil {
		return false
	}
	state := lifecycle.CurrentState(record)
	return outbox.LastEnd(record) != nil || state.Terminated() ||
		state == lifecycle.Suspending || state == lifecycle.Suspended || state == lifecycle.Invalidating
}

// deleteOfLaunch deletes an object if it belongs to the launch. If the deletion is forbidden, nothing waits for it: the
// object is deleted with the application.
func (l *Launcher) deleteOfLaunch(ctx context.Context, launch string, object submission.Object) error {
	client, err := objectclient.For(l.Kube, l.Dynamic, object)
	if err != nil {
		return err
	}
	existing, err := client.Get(ctx)
	if err == nil && existing.GetLabels()[dialect.LabelLaunch] == launch && existing.GetDeletionTimestamp() == nil {
		err = client.Delete(ctx, *metav1.NewPreconditionDeleteOptions(string(existing.GetUID())))
	}
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case apierror.IsTerminal(err):
		logging.FromContext(ctx).Warnw("object of an ended launch not deleted", "object", describe(object), zap.Error(err))
		return nil
	default:
		return fmt.Errorf("delete %s: %w", describe(object), err)
	}
}
