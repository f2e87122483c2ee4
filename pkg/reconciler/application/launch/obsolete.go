package launch

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	l.obsolete.Remove(record.Launch.ID)
	return nil
}

// rememberObsolete remembers which created objects the end of a launch deletes. The process that created them need not read them then.
func (l *Launcher) rememberObsolete(v *view.Application, launch string, created []submission.Object) {
	uids := map[string]types.UID{}
	for _, obsolete := range v.Dialect.ObsoleteObjects(v.App) {
		for _, object := range created {
			if objectclient.KindOf(object) == objectclient.KindOf(obsolete) && object.GetName() == obsolete.GetName() {
				uids[keyOf(obsolete)] = object.GetUID()
			}
		}
	}
	if len(uids) > 0 {
		l.obsolete.Add(launch, uids)
	}
}

// createdUID returns the UID of an object that this process created for a launch.
func (l *Launcher) createdUID(launch string, object submission.Object) (types.UID, bool) {
	known, ok := l.obsolete.Get(launch)
	if !ok {
		return "", false
	}
	uid, created := known.(map[string]types.UID)[keyOf(object)]
	return uid, created
}

// keyOf returns the kind and the name of an object.
func keyOf(object submission.Object) string {
	return objectclient.KindOf(object) + "/" + object.GetName()
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
	uid, ofLaunch := l.createdUID(launch, object)
	if !ofLaunch {
		var existing objectclient.Object
		if existing, err = client.Get(ctx); err == nil {
			uid = existing.GetUID()
			ofLaunch = existing.GetLabels()[dialect.LabelLaunch] == launch && existing.GetDeletionTimestamp() == nil
		}
	}
	if ofLaunch {
		err = client.Delete(ctx, *metav1.NewPreconditionDeleteOptions(string(uid)))
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
