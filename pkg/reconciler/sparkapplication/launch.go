package sparkapplication

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// labelLaunch is on every object of an attempt. Its value tells one launch's objects from any other's.
const labelLaunch = "firesteel.dev/launch-id"

// launch is an attempt made ready: its objects, and what the record says of it.
type launch struct {
	objects *submission.Objects
	// resumed says that an earlier reconcile fenced this launch, perhaps of another replica.
	resumed bool
}

// prepare builds the attempt's objects and names the launch in the record. Where there is nothing to launch it says
// in the observation why: the submission cannot do it, it has to wait, or the driver is there.
func (r *Reconciler) prepare(
	ctx context.Context, app *sparkv1.SparkApplication, record *v1alpha1.Record, seen *lifecycle.Observation,
) (*launch, error) {
	defaults := *config.FromContext(ctx).Defaults
	objects, fence, err := r.build(app, record.Attempt, defaults)
	var absent *absentTemplate
	if errors.As(err, &absent) && absent.pending {
		if seen.LaunchHeld = absent.cause(app, defaults); seen.LaunchHeld == nil {
			return nil, absent
		}
		return nil, nil
	}
	refused := causeOf(err, app, defaults)
	if fenced := fencedLaunch(app, record); fenced != nil {
		if refused == nil && fenced.ID == fence.ID {
			return &launch{objects: objects, resumed: true}, nil
		}
		// The spec, a default or a template was edited between the fence and now. A driver that was launched completely
		// stays, as it would have a moment later.
		if refused == nil {
			if seen.Launched, err = r.launched(ctx, fenced, objects); err != nil || seen.Launched != "" {
				return nil, err
			}
		}
		// What was begun can't be completed any more. Its driver may have been made, under a name that the edit may have
		// changed; it has to go before anything else happens.
		begun, err := r.fencedDriver(ctx, app, fenced)
		if err != nil {
			return nil, err
		}
		if begun != nil {
			seen.Stray = true
			return nil, r.dismiss(ctx, app, begun)
		}
	}
	if seen.LaunchRefused = refused; refused != nil {
		return nil, nil
	}
	if record.Attempt.SpecHash, err = apache.SpecHash(app); err != nil {
		return nil, err
	}
	record.Launch = fence
	return &launch{objects: objects}, nil
}

// fencedLaunch is the launch of the current attempt that was persisted already; nil where none was.
func fencedLaunch(app *sparkv1.SparkApplication, record *v1alpha1.Record) *v1alpha1.Launch {
	if stored := app.Status.Firesteel; stored != nil && stored.Attempt.ID == record.Attempt.ID {
		return stored.Launch
	}
	return nil
}

// causeOf is what an error of the submission ends the attempt with; nil where there is none.
func causeOf(err error, app *sparkv1.SparkApplication, defaults apache.Defaults) *lifecycle.Cause {
	var absent *absentTemplate
	switch {
	case err == nil:
		return nil
	case errors.As(err, &absent):
		return absent.cause(app, defaults)
	default:
		return &lifecycle.Cause{
			Class: lifecycle.ClassApplication, Reason: "InvalidSpec", Message: apache.Refusal(err, app, defaults),
		}
	}
}

// launched returns the uid of a launch's driver where all objects of the launch exist, under the names of those that
// would be made now.
func (r *Reconciler) launched(ctx context.Context, fenced *v1alpha1.Launch, objects *submission.Objects) (types.UID, error) {
	var existing submission.Object
	for _, object := range append(slices.Concat(objects.Before, objects.Owned), objects.Driver) {
		object.SetNamespace(objects.Driver.Namespace)
		verbs, err := r.verbsFor(object)
		if err != nil {
			return "", err
		}
		existing, err = verbs.get(ctx)
		switch {
		case apierrors.IsNotFound(err), refusedForGood(err):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("look for %s: %w", describe(object), err)
		case existing.GetLabels()[labelLaunch] != fenced.ID && !unchanged(existing, object), existing.GetDeletionTimestamp() != nil:
			return "", nil
		}
	}
	return existing.GetUID(), nil // the driver's: it is the last
}

func (r *Reconciler) build(
	app *sparkv1.SparkApplication, attempt v1alpha1.Attempt, defaults apache.Defaults,
) (*submission.Objects, *v1alpha1.Launch, error) {
	plan, err := apache.Plan(app, attempt, defaults)
	if err != nil {
		return nil, nil, err
	}
	warnings, err := r.giveTemplates(app, attempt, defaults.PodTemplates, &plan)
	if err != nil {
		return nil, nil, err
	}
	configMaps := apache.ConfigMaps(app)
	id, err := launchID(app, attempt, plan, configMaps)
	if err != nil {
		return nil, nil, err
	}
	plan.Labels = map[string]string{labelLaunch: id}
	objects, err := submission.Build(plan)
	if err != nil {
		return nil, nil, err
	}
	if err := apache.CheckConfigMaps(app, objects); err != nil {
		return nil, nil, err
	}
	routes, err := apache.Routes(app, objects)
	if err != nil {
		return nil, nil, err
	}
	objects.Owned = append(objects.Owned, routes...)
	apache.Decorate(objects)
	own(app, objects, configMaps, id)
	return objects, &v1alpha1.Launch{
		ID: id, ApplicationID: plan.Names.AppID, DriverPod: objects.Driver.Name, Warnings: warnings,
	}, nil
}

// launchID is a hash of what makes a launch this one and no other.
func launchID(
	app *sparkv1.SparkApplication, attempt v1alpha1.Attempt, plan submission.Plan, configMaps []*corev1.ConfigMap,
) (string, error) {
	encoded, err := json.Marshal(struct {
		UID        string
		Attempt    int64
		Plan       submission.Plan
		ConfigMaps []*corev1.ConfigMap
		Ingresses  []sparkv1.DriverServiceIngress
		HTTPRoutes []sparkv1.DriverHTTPRoute
		GRPCRoutes []sparkv1.DriverGRPCRoute
	}{
		string(app.UID), attempt.ID, plan, configMaps,
		app.Spec.DriverServiceIngressList, app.Spec.DriverHTTPRouteList, app.Spec.DriverGRPCRouteList,
	})
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return hex.EncodeToString(digest[:16]), nil
}

// own makes the application the owner of the driver and of what exists before it. What comes after belongs to
// the driver.
func own(app *sparkv1.SparkApplication, objects *submission.Objects, configMaps []*corev1.ConfigMap, id string) {
	for _, configMap := range configMaps {
		configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		objects.Before = append(objects.Before, configMap)
	}
	// Whatever labels a user asks for: by these the objects of a launch are told from others.
	for _, object := range slices.Concat(objects.Before, objects.Owned) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[labelLaunch] = id
		labels[apache.LabelApplication] = objects.Driver.Labels[apache.LabelApplication]
		object.SetLabels(labels)
	}
	owner := *metav1.NewControllerRef(app, sparkv1.SchemeGroupVersion.WithKind("SparkApplication"))
	for _, object := range objects.Before {
		object.SetOwnerReferences([]metav1.OwnerReference{owner})
	}
	objects.Driver.OwnerReferences = []metav1.OwnerReference{owner}
}

// launch creates the objects of a fenced attempt. It says no where an earlier object of a name is still going.
func (r *Reconciler) launch(
	ctx context.Context, app *sparkv1.SparkApplication, launch *launch, seen *lifecycle.Observation,
) (bool, error) {
	if launch.resumed {
		if err := r.unchanged(ctx, app); err != nil {
			return false, err
		}
	}
	driver, missing, err := r.createWhileFenced(ctx, launch.objects)
	if driver != nil {
		seen.LaunchWarnings = apache.NotInstalled(missing)
		seen.Launched = driver.UID
		r.sightings.sawCreation(driver.UID)
	}
	var refused *refusedError
	switch {
	case err == nil:
		r.templates.Forget(app.UID)
		return true, nil
	case errors.As(err, &refused) && r.mayPass(app, refused):
		r.enqueueAfter(app, retryAfter)
		return false, nil
	case errors.As(err, &refused):
		seen.LaunchRefused = refused.cause()
		return true, r.abandon(ctx, driver)
	case errors.Is(err, errGoing):
		// A volume claim that is going stays for as long as there is a Pod that names it, as this driver does.
		return false, errors.Join(r.abandon(ctx, driver), r.hurry(ctx, app, launch.objects.Driver), r.waitFor(app, err))
	default:
		return false, fmt.Errorf("launch attempt %d: %w", app.Status.Firesteel.Attempt.ID, err)
	}
}

// accountDelay is how long a service account may come after an application that names it: the default one comes
// a moment after its namespace, and one in the same manifest after what stands above it.
const accountDelay = 10 * time.Second

// mayPass says that a refusal may yet turn out well.
func (r *Reconciler) mayPass(app *sparkv1.SparkApplication, refused *refusedError) bool {
	return refused.reason() == reasonNoAccount && r.clock.Since(app.CreationTimestamp.Time) < accountDelay
}

// unchanged reads the application live: since it was written as it is known here, another replica may have moved on.
func (r *Reconciler) unchanged(ctx context.Context, app *sparkv1.SparkApplication) error {
	live, err := r.spark.SparkV1().SparkApplications(app.Namespace).Get(ctx, app.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read application again: %w", err)
	}
	if live.UID != app.UID || live.ResourceVersion != app.ResourceVersion {
		return apierrors.NewConflict(sparkv1.Resource("sparkapplications"), app.Name,
			errors.New("the application changed since it was read"))
	}
	return nil
}

func (r *Reconciler) createWhileFenced(ctx context.Context, objects *submission.Objects) (*corev1.Pod, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, fenceHolds)
	defer cancel()
	return r.create(ctx, objects)
}

// create makes what must exist before the driver, then the driver, then at once what the driver owns. It returns
// the driver beside an error where the error came after it.
//
// The driver runs without a route of a kind that the cluster does not have: those kinds are returned as well.
func (r *Reconciler) create(ctx context.Context, objects *submission.Objects) (*corev1.Pod, []string, error) {
	for _, object := range objects.Before {
		if _, err := r.ensure(ctx, object); err != nil {
			return nil, nil, err
		}
	}
	made, err := r.ensure(ctx, objects.Driver)
	if err != nil {
		return nil, nil, err
	}
	driver := made.(*corev1.Pod)
	missing := make([]string, len(objects.Owned))
	group, ctx := errgroup.WithContext(ctx)
	for i, object := range objects.Owned {
		object.SetNamespace(driver.Namespace)
		object.SetOwnerReferences([]metav1.OwnerReference{submission.OwnedBy(driver)})
		group.Go(func() error {
			_, err := r.ensure(ctx, object)
			if refused := (*refusedError)(nil); errors.As(err, &refused) && refused.reason() == reasonNoKind {
				missing[i] = object.GetObjectKind().GroupVersionKind().Kind
				return nil
			}
			return err
		})
	}
	err = group.Wait()
	return driver, missing, err
}

// abandon deletes the driver of a launch that cannot be completed.
func (r *Reconciler) abandon(ctx context.Context, driver *corev1.Pod) error {
	if driver == nil {
		return nil
	}
	_, err := r.deleteDriver(ctx, driver.Namespace, driver.Name, driver.UID, nil)
	return err
}
