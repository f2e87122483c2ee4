package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Prepared is an attempt that is ready for creation: its objects, and its launch as the record has it.
type Prepared struct {
	objects *submission.Objects
	// launch is the launch in the record, attempt the number of the attempt.
	launch  *v1alpha1.Launch
	attempt int64
	// resumed reports whether an earlier reconcile, maybe of another replica, fenced this launch.
	resumed bool
	// first reports whether nothing was launched for this attempt before.
	first bool
	// Reserves reports whether the record reserves room in quotas with this launch. Nothing is created before that is confirmed.
	Reserves bool
	// at is when the launch was prepared. The fence was written or read live after that.
	at time.Time
}

// Prepare builds the attempt's objects and writes the launch into the record. It returns nil if there is nothing to launch.
// The observation then has the reason: the submission is refused, the launch has to wait, or the driver exists.
func (l *Launcher) Prepare(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) (*Prepared, error) {
	app, d := v.App, v.Dialect
	fenced := record.Launch // of this attempt: the next attempt begins without a launch
	built, err := l.build(v, record.Attempt, fenced)
	var absent *TemplateUnavailable
	if errors.As(err, &absent) && absent.pending {
		if seen.LaunchHeld = l.Redactors.Cause(app, absent.cause(v)); seen.LaunchHeld == nil {
			return nil, absent
		}
		return nil, nil
	}
	refused := l.Redactors.Cause(app, causeOf(err, v))
	objects, fence := built.objects, built.launch
	if refused == nil {
		if held, err := l.waitForNames(ctx, v, objects.Driver, seen); held || err != nil {
			return nil, err
		}
	}
	if fenced != nil {
		if refused == nil && fenced.ID == fence.ID {
			if confirmed, err := l.confirm(ctx, v, record, seen); err != nil || !confirmed {
				return nil, err
			}
			return &Prepared{objects: objects, launch: fenced, attempt: record.Attempt.ID, resumed: true, at: l.Clock.Now()}, nil
		}
		// The spec, a default or a template was edited after the fence. A driver that was launched completely stays, as it
		// would if the edit came a moment later.
		if refused == nil {
			if seen.Launched, err = l.completeDriver(ctx, fenced, objects); err != nil || seen.Launched != "" {
				return nil, err
			}
		}
		// The launch that was begun cannot be completed any more. Its driver may exist, under a name that the edit may have
		// changed. It must be deleted before anything else happens.
		if begun, err := l.deleteBegun(ctx, v, fenced, seen); begun || err != nil {
			return nil, err
		}
	}
	if seen.LaunchRefused = refused; refused != nil {
		return nil, nil
	}
	if until := l.CreatesOverAt(app, record); fenced == nil && l.Clock.Now().Before(until) {
		seen.RetryLaunchAt = until
		return nil, nil
	}
	if fenced != nil {
		fence.Unknown = fenced.Unknown
	}
	if !l.reserve(ctx, v, record, &built, seen) {
		return nil, nil
	}
	record.Launch = fence
	d.Spec(app).Note(record)
	return &Prepared{
		objects: objects, launch: fence, attempt: record.Attempt.ID, first: fenced == nil, Reserves: record.Quota != nil, at: l.Clock.Now(),
	}, nil
}

// built is what an attempt is built to.
type built struct {
	objects *submission.Objects
	launch  *v1alpha1.Launch
	plan    submission.Plan
}

// deleteBegun deletes the driver of a launch that was begun and cannot be completed any more. It reports whether there is such a driver.
func (l *Launcher) deleteBegun(
	ctx context.Context, v *view.Application, fenced *v1alpha1.Launch, seen *lifecycle.Observation,
) (bool, error) {
	begun, err := drivers.FindFenced(ctx, l.Kube, v.App, fenced)
	if begun == nil || err != nil {
		return false, err
	}
	seen.HasOrphan, seen.OrphanDriver = true, lifecycle.ObserveDriver(begun, "")
	l.EnqueueAfter(v.App, reportWaitAfter) // no informer reports its deletion if its labels were changed
	return true, l.Deleter.DeleteOrphan(ctx, v.App, v.Policy, begun)
}

// causeOf returns why an error of the submission ends the attempt; nil if there is no error.
func causeOf(err error, v *view.Application) *lifecycle.Cause {
	var absent *TemplateUnavailable
	switch {
	case err == nil:
		return nil
	case errors.As(err, &absent):
		return absent.cause(v)
	default:
		return diagnosis.InvalidSpec(err).Cause(lifecycle.ClassApplication)
	}
}

// completeDriver returns the UID of a launch's driver if all objects of the launch exist under the names from the present
// spec.
func (l *Launcher) completeDriver(ctx context.Context, fenced *v1alpha1.Launch, objects *submission.Objects) (types.UID, error) {
	var existing submission.Object
	owners := map[types.UID]bool{}
	for _, object := range append(slices.Concat(objects.Before, objects.Owned), objects.Driver) {
		if slices.Contains(objects.Optional, object) {
			continue
		}
		object.SetNamespace(objects.Driver.Namespace)
		client, err := objectclient.For(l.Kube, l.Dynamic, object)
		if err != nil {
			return "", err
		}
		existing, err = client.Get(ctx)
		switch {
		case apierrors.IsNotFound(err), apierror.IsTerminal(err):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("look for %s: %w", describe(object), err)
		case existing.GetLabels()[dialect.LabelLaunch] != fenced.ID && !sameConfigMap(existing, object), existing.GetDeletionTimestamp() != nil:
			return "", nil
		}
		if owner := metav1.GetControllerOf(existing); owner != nil && owner.Kind == "Pod" {
			owners[owner.UID] = true
		}
	}
	driver := existing.GetUID() // the driver is the last object
	if delete(owners, driver); len(owners) > 0 {
		return "", nil // an earlier driver of this launch left objects that the garbage collector is about to delete
	}
	return driver, nil
}

// build makes the objects of an attempt. Its error has everything that the attempt is refused for, by the fields of the manifest. If a
// launch was fenced for the same objects, they get its launch ID, whichever of the two encodings the ID was made from.
func (l *Launcher) build(
	v *view.Application, attempt v1alpha1.Attempt, fenced *v1alpha1.Launch,
) (built, error) {
	app, d := v.App, v.Dialect
	plan, err := d.Plan(app, attempt)
	if err != nil {
		return built{}, dialect.AllRefusals(d, app, plan, err).Err()
	}
	warnings, err := l.addTemplates(v, attempt, &plan)
	if err != nil {
		return built{}, err
	}
	dialect.ApplySettings(&plan, app, attempt, d.Settings())
	if v.KeepExecutors {
		warnings.Add(keepExecutors(&plan)...)
	}
	// The ID is made as the previous version of Firesteel makes it. So each version continues what the other has begun, in
	// an upgrade, in a rollback and side by side. The next version may write the other ID, which this version reads.
	id, err := dialect.LaunchID(json.Marshal, app, attempt, plan, d.Ingredients(app))
	if err != nil {
		return built{}, err
	}
	if fenced != nil && fenced.ID != id {
		canonical, err := dialect.LaunchID(spec.Encode, app, attempt, plan, d.Ingredients(app))
		if err != nil {
			return built{}, err
		}
		if fenced.ID == canonical {
			id = canonical
		}
	}
	objects, err := dialect.BuildLaunch(d, l.API.API, app, &plan, id)
	if err != nil {
		return built{}, d.Refusals(app, err).Err()
	}
	warnings = append(warnings, dialect.LaunchWarnings(d, l.API.API, app, plan, objects)...)
	return built{objects, &v1alpha1.Launch{
		ID: id, ApplicationID: plan.Names.AppID, DriverPod: objects.Driver.Name,
		Warnings: append(withoutEventLogs(attempt), l.Redactors.Texts(app, warnings.Sentences())...),
	}, plan}, nil
}

// createdAtOnce is how many objects of a launch are created at the same time.
const createdAtOnce = 16

// Create creates the objects of a fenced attempt. If an earlier object with the same name is not deleted yet, the
// observation has the reason of the wait.
func (l *Launcher) Create(
	ctx context.Context, v *view.Application, prepared *Prepared, seen *lifecycle.Observation,
) (bool, error) {
	app := v.App
	if prepared.first {
		l.own.Add(app.GetUID(), prepared.attempt)
	}
	if prepared.resumed {
		if done, ok := l.complete.Get(app.GetUID()); ok && done.(*completeLaunch).id == prepared.launch.ID {
			done.(*completeLaunch).report(seen)
			return true, nil
		}
		if err := l.API.CheckUnchanged(ctx, app); err != nil {
			return false, err
		}
	}
	result, err := l.createWithinFence(ctx, app, prepared)
	driver := result.driver
	if driver != nil {
		seen.LaunchWarnings = append(v.Dialect.NotInstalled(result.missing), l.Redactors.Texts(app, result.refused)...)
		seen.Launched = driver.UID
		l.Expectations.PodCreated(driver.UID)
	}
	var refused *refusedError
	var notFree *nameNotFreeError
	switch {
	case err == nil:
		l.waits.forget(app.GetUID())
		seen.UI = uiOf(prepared.objects.UI, result.objects)
		l.complete.Add(app.GetUID(), &completeLaunch{prepared.launch.ID, driver.UID, seen.LaunchWarnings, seen.UI})
		l.rememberObsolete(v, prepared.launch.ID, result.objects)
		logging.FromContext(ctx).Debugw("created objects", "attempt", prepared.attempt, "launch", prepared.launch.ID,
			"objects", len(result.objects), "pod", driver.Name, "uid", driver.UID)
		l.Templates.Forget(app.GetUID())
		if l.Quotas != nil {
			l.Quotas.Launched(app.GetUID())
		}
		return true, nil
	case errors.As(err, &refused) && l.accountMayFollow(app, refused):
		l.EnqueueAfter(app, base.RetryAfter)
		return false, nil
	case errors.As(err, &refused) && refused.reason() == apierror.QuotaExceeded && l.holds(ctx):
		l.Quotas.Refused(app)
		if err := l.deleteIncompleteDriver(ctx, app, driver); err != nil {
			return false, err
		}
		seen.Launched, seen.LaunchWarnings = "", nil
		return true, nil
	case errors.As(err, &refused):
		return true, l.refuse(ctx, app, prepared, driver, refused, seen)
	case errors.As(err, &notFree):
		// A terminating volume claim is not removed while a Pod names it, as this driver does.
		if err := l.deleteIncompleteDriver(ctx, app, driver); err != nil {
			return false, err
		}
		seen.Launched, seen.LaunchWarnings = "", nil
		l.waits.explain(l.waits.stopped(app.GetUID(), *notFree), seen)
		return true, nil
	default:
		l.own.Remove(app.GetUID()) // the API server may still do what it was asked for
		return false, fmt.Errorf("launch attempt %d: %w", prepared.attempt, err)
	}
}

// refuse adds to an observation why the API server refused a launch, and deletes its driver if that exists.
func (l *Launcher) refuse(
	ctx context.Context, app dialect.Application, prepared *Prepared, driver *corev1.Pod, refused *refusedError, seen *lifecycle.Observation,
) (err error) {
	cause := l.Redactors.Cause(app, refused.cause(l.API.Fields))
	if mayBeOfSidecar(refused, prepared.objects.Driver) {
		seen.RefusedWithEventLogs = cause
		return nil
	}
	l.waits.forget(app.GetUID())
	if driver == nil {
		// An object before the driver may be refused although the driver exists: an earlier try created it, and its
		// response was lost.
		if driver, err = drivers.FindFenced(ctx, l.Kube, app, prepared.launch); err != nil {
			return err
		}
		if driver != nil {
			seen.Launched = driver.UID
		}
	}
	seen.LaunchRefused = cause
	return l.deleteIncompleteDriver(ctx, app, driver)
}

// completeLaunch is a launch of which everything was created. If the response to the status write that reports it is lost, the API server
// may execute that write later. Its driver may have disappeared until then. So the launch is not done again: the second driver would
// run while that write, which names the first one, ends the attempt.
type completeLaunch struct {
	id       string
	driver   types.UID
	warnings []string
	ui       lifecycle.UI
}

// report reports the launch as if it were done just now.
func (c *completeLaunch) report(seen *lifecycle.Observation) {
	seen.Launched, seen.LaunchWarnings, seen.UI = c.driver, c.warnings, c.ui
}

// accountDelay is how long after an application its service account may be created. The default account is created a moment
// after its namespace. An account in the same manifest is created after the objects above it.
const accountDelay = 10 * time.Second

// accountMayFollow reports whether a launch was refused for a missing service account that may still be created.
func (l *Launcher) accountMayFollow(app dialect.Application, refused *refusedError) bool {
	return refused.reason() == apierror.ServiceAccountNotFound && l.Clock.Since(app.GetCreationTimestamp().Time) < accountDelay
}

// createResult is the result of creating the objects of an attempt.
type createResult struct {
	// Driver is nil if it was not created.
	driver *corev1.Pod
	// objects are the objects as the API server returned them.
	objects []submission.Object
	// missing are the kinds of objects that the cluster does not have; empty strings stand for the others.
	missing []string
	// refused are sentences about optional objects that the API server refused.
	refused []string
}

func (l *Launcher) createWithinFence(ctx context.Context, app dialect.Application, prepared *Prepared) (createResult, error) {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout-l.Clock.Since(prepared.at))
	defer cancel()
	return l.create(ctx, app, prepared.objects)
}

// create creates first what must exist before the driver, then the driver, then all objects that the driver owns at once. If
// an error occurs after the driver was created, it returns the driver and the error.
//
// If the cluster does not have a kind of route, the driver runs without that route. It also runs without an optional object that the API
// server refuses.
func (l *Launcher) create(ctx context.Context, app dialect.Application, objects *submission.Objects) (createResult, error) {
	var result createResult
	for _, object := range objects.Before {
		existing, err := l.ensure(ctx, app, object)
		if err != nil {
			return result, err
		}
		result.objects = append(result.objects, existing)
	}
	existing, err := l.ensure(ctx, app, objects.Driver)
	if err != nil {
		return result, err
	}
	result.driver = existing.(*corev1.Pod)
	owned := make([]submission.Object, len(objects.Owned))
	result.missing, result.refused = make([]string, len(objects.Owned)), make([]string, len(objects.Owned))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(createdAtOnce)
	for i, object := range objects.Owned {
		dialect.OwnByDriver(object, result.driver)
		group.Go(func() (err error) {
			owned[i], err = l.ensure(ctx, app, object)
			if slices.Contains(objects.Optional, object) && isRefused(err) {
				result.refused[i] = runsWithout(object, refusalOf(err))
				return nil
			}
			if refused := (*refusedError)(nil); errors.As(err, &refused) && refused.reason() == apierror.NotInstalled {
				result.missing[i] = object.GetObjectKind().GroupVersionKind().Kind
				return nil
			}
			return err
		})
	}
	err = group.Wait()
	owned = slices.DeleteFunc(owned, func(object submission.Object) bool { return object == nil })
	result.refused = slices.DeleteFunc(result.refused, func(text string) bool { return text == "" })
	result.objects = slices.Concat(result.objects, []submission.Object{result.driver}, owned)
	return result, err
}

// deleteIncompleteDriver deletes the driver of a launch that cannot be completed.
func (l *Launcher) deleteIncompleteDriver(ctx context.Context, app dialect.Application, driver *corev1.Pod) error {
	if driver == nil {
		return nil
	}
	_, err := l.Deleter.Delete(ctx, app, drivers.RefOf(driver), drivers.LaunchIncomplete, false)
	return err
}
