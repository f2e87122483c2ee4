package sparkcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// goingError says that what has the name of an object is on its way out.
type goingError struct{ object string }

func (e *goingError) Error() string {
	return fmt.Sprintf("%s is not there yet: what has its name is on its way out, and is awaited.", e.object)
}

func (e *goingError) cause() *lifecycle.Cause {
	return &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "NameNotFree", Message: e.Error()}
}

// refusedAgain is when an edit of a cluster that runs, which was refused, is tried again.
const refusedAgain = time.Minute

// refusedError is the API server's, or a namesake's, last word on an object.
type refusedError struct {
	object, reason string
	err            error
}

func (e *refusedError) Error() string { return fmt.Sprintf("%s was refused: %v", e.object, e.err) }

func (e *refusedError) Unwrap() error { return e.err }

func (e *refusedError) cause() *lifecycle.Cause {
	message := e.Error()
	if remedy := remedies[e.reason]; remedy != "" {
		message += "; " + remedy
	}
	return &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: e.reason, Message: message}
}

// remedies say what to do about a refusal, where that can be known.
var remedies = map[string]string{
	apierror.QuotaExceeded: "raise the quota, or have the cluster ask for less",
	apierror.NameTaken:     "rename the cluster, or delete what has the name",
	apierror.Invalid:       "mend what it comes from in spec.masterSpec, spec.workerSpec or spec.sparkConf",
	reasonLabel:            "see that no admission webhook or policy changes it: by that label the object is found",
	reasonClaims:           "undo the edit, or delete the cluster and apply it again",
}

// reasonClaims is the reason of an edit of what Kubernetes lets nobody edit.
const reasonClaims = "VolumeClaimTemplatesEdited"

// reasonLabel is the reason of an object whose labels somebody changes as it is written.
const reasonLabel = "LabelChanged"

// isEnsured says that all objects are as they were built, and that there are no others.
func (r *Reconciler) isEnsured(c *sparkv1.SparkCluster, objects *resources.Objects) bool {
	for _, wanted := range objects.All() {
		if existing := r.estate.get(c.UID, placeOf(wanted)); existing == nil || !asWanted(c, existing, wanted) {
			return false
		}
	}
	return len(r.surplus(c, objects)) == 0
}

func asWanted(c *sparkv1.SparkCluster, existing, wanted object) bool {
	return existing.GetDeletionTimestamp() == nil && owns(c.UID, existing) && resources.Same(existing, wanted) &&
		changedLabel(existing, wanted) == "" && !rescaled(c, existing, wanted)
}

// changedLabel is a label of an object that is not as Firesteel sets it, by which the object is found; empty if there is none.
func changedLabel(existing, wanted object) string {
	for _, label := range []string{resources.LabelCluster, resources.LabelOperator} {
		if existing.GetLabels()[label] != wanted.GetLabels()[label] {
			return label
		}
	}
	return ""
}

// rescaled says that somebody gave a StatefulSet another number of Pods than the spec, which alone decides about it: no
// autoscaler does, and it was not taken over with that number.
func rescaled(c *sparkv1.SparkCluster, existing, wanted object) bool {
	before, is := existing.(*appsv1.StatefulSet)
	after, too := wanted.(*appsv1.StatefulSet)
	if !is || !too || takenOver(existing) || resources.Autoscaled(c) && wanted.GetName() == resources.WorkerName(c.Name) {
		return false
	}
	return ptr.Deref(before.Spec.Replicas, 1) != ptr.Deref(after.Spec.Replicas, 1)
}

func hashOf(o object) string { return o.GetAnnotations()[resources.HashAnnotation] }

// surplus are the objects of a cluster that it is not to have any more.
func (r *Reconciler) surplus(c *sparkv1.SparkCluster, objects *resources.Objects) []object {
	var surplus []object
	for _, owned := range r.estate.of(c.UID) {
		scaler := owned.GetName() == resources.AutoscalerName(c.Name) && objects.Autoscaler == nil
		budget := owned.GetName() == resources.BudgetName(c.Name) && objects.Budget == nil
		if (scaler || budget) && owned.GetDeletionTimestamp() == nil {
			surplus = append(surplus, owned)
		}
	}
	return surplus
}

// ensure has all objects be as they were built. It returns why one can never be; others are made all the same where the
// cluster runs.
func (r *Reconciler) ensure(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects, starts bool) (*lifecycle.Cause, error) {
	for _, needless := range r.surplus(c, objects) {
		if err := r.remove(ctx, needless); err != nil {
			return nil, err
		}
	}
	var cause *lifecycle.Cause
	for _, wanted := range objects.All() {
		err := r.have(ctx, c, wanted)
		var refused *refusedError
		switch {
		case errors.As(err, &refused):
			if cause == nil {
				cause = refused.cause()
			}
			if starts {
				return cause, nil
			}
		case err != nil:
			return nil, err
		}
	}
	return cause, nil
}

// have creates an object, or has what there is be like it.
func (r *Reconciler) have(ctx context.Context, c *sparkv1.SparkCluster, wanted object) error {
	existing := r.estate.get(c.UID, placeOf(wanted))
	if existing != nil && asWanted(c, existing, wanted) {
		return nil
	}
	verbs, err := verbsFor(r.kube, wanted)
	if err != nil {
		return err
	}
	var refused error
	if existing == nil {
		made, err := verbs.create(ctx)
		if !apierrors.IsAlreadyExists(err) && !apierror.ForGood(err) {
			return r.note(made, wanted, err)
		}
		refused = err
	}
	return r.take(ctx, c, verbs, wanted, refused)
}

// take has an object that exists be like the wanted one, where it is the cluster's to have. refused is why it was not created,
// nil where nobody tried to. Any refusal may be for its name: the answer to an earlier create may have been lost, or what has
// the name is on its way out, and the API server looks at quotas and policies before names.
func (r *Reconciler) take(ctx context.Context, c *sparkv1.SparkCluster, verbs verbs, wanted object, refused error) error {
	existing, err := verbs.get(ctx)
	going := &goingError{object: describe(wanted)}
	switch {
	case apierror.ForGood(refused) && (apierrors.IsNotFound(err) || apierror.ForGood(err)):
		return r.note(nil, wanted, refused)
	case apierrors.IsNotFound(err):
		return going // it went in between
	case err != nil:
		return fmt.Errorf("look at existing %s: %w", describe(wanted), err)
	case existing.GetDeletionTimestamp() != nil, namesakes(c, existing):
		return going
	case !owns(c.UID, existing) && !abandoned(c, existing):
		return &refusedError{
			object: describe(wanted), reason: apierror.NameTaken, err: fmt.Errorf("it exists already and belongs to %s", ownerOf(existing)),
		}
	case asWanted(c, existing, wanted):
		r.estate.wrote(existing)
		return nil
	case claimsEdited(existing, wanted):
		return &refusedError{
			object: describe(wanted), reason: reasonClaims, err: errors.New("its volumeClaimTemplates cannot be edited"),
		}
	}
	if !owns(c.UID, existing) {
		if err := r.lives(ctx, c); err != nil {
			return err
		}
	}
	if readdressed(existing, wanted) {
		return r.replace(ctx, verbs, existing, wanted)
	}
	updated, err := verbs.update(ctx, merge(existing, wanted, r.scaled(c)))
	return r.note(updated, wanted, err)
}

// replace deletes an object that cannot be edited, and creates the wanted one in its place.
func (r *Reconciler) replace(ctx context.Context, verbs verbs, existing, wanted object) error {
	if err := r.remove(ctx, existing); err != nil {
		return err
	}
	made, err := verbs.create(ctx)
	if apierrors.IsAlreadyExists(err) {
		return &goingError{object: describe(wanted)}
	}
	return r.note(made, wanted, err)
}

// lives says by an error that a cluster was deleted meanwhile: what it is about to take may have been orphaned by that very
// deletion, which the cache does not know yet.
func (r *Reconciler) lives(ctx context.Context, c *sparkv1.SparkCluster) error {
	live, err := r.client.SparkV1().SparkClusters(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("look whether the cluster was deleted: %w", err)
	case err != nil || live.UID != c.UID || live.DeletionTimestamp != nil:
		return apierrors.NewConflict(sparkv1.Resource(status.Resource), c.Name, errors.New("it was deleted meanwhile"))
	default:
		return nil
	}
}

// scaled says that an autoscaler decides about the workers, and is there to do so: until then a range begins with the
// number that the spec says.
func (r *Reconciler) scaled(c *sparkv1.SparkCluster) bool {
	scaler := place{kind: kindOf(&autoscalingv2.HorizontalPodAutoscaler{}), namespace: c.Namespace, name: resources.AutoscalerName(c.Name)}
	return resources.Autoscaled(c) && r.estate.get(c.UID, scaler) != nil
}

// note keeps what a write brought.
func (r *Reconciler) note(written, wanted object, err error) error {
	switch {
	case err == nil && changedLabel(written, wanted) != "":
		return &refusedError{object: describe(wanted), reason: reasonLabel, err: fmt.Errorf("its label %s was changed on its way, to %q",
			changedLabel(written, wanted), written.GetLabels()[changedLabel(written, wanted)])}
	case err == nil:
		r.estate.wrote(written)
		return nil
	case apierror.ForGood(err):
		return &refusedError{object: describe(wanted), reason: apierror.Reason(err), err: err}
	default:
		return fmt.Errorf("write %s: %w", describe(wanted), err)
	}
}

// namesakes says that an object is of an earlier cluster of the same name, which the garbage collector deletes.
func namesakes(c *sparkv1.SparkCluster, existing object) bool {
	for _, owner := range existing.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if kind == sparkv1.SchemeGroupVersion.WithKind("SparkCluster").GroupKind() && owner.Name == c.Name && owner.UID != c.UID {
			return true
		}
	}
	return false
}

// abandoned says that an object was made for a cluster of this name, which was deleted and its objects orphaned.
func abandoned(c *sparkv1.SparkCluster, existing object) bool {
	return metav1.GetControllerOf(existing) == nil && existing.GetLabels()[resources.LabelOperator] != "" &&
		existing.GetLabels()[resources.LabelCluster] == c.Name
}

func ownerOf(o object) string {
	if owners := o.GetOwnerReferences(); len(owners) > 0 {
		return fmt.Sprintf("%s %s", owners[0].Kind, owners[0].Name)
	}
	return "somebody else: it has no owner"
}

func describe(o object) string {
	return fmt.Sprintf("%s %s/%s", kindOf(o), o.GetNamespace(), o.GetName())
}

// remove deletes an object, where it is still as it was seen: it may have been orphaned since.
func (r *Reconciler) remove(ctx context.Context, o object) error {
	verbs, err := verbsFor(r.kube, o)
	if err != nil {
		return err
	}
	background, uid, version := metav1.DeletePropagationBackground, o.GetUID(), o.GetResourceVersion()
	err = verbs.remove(ctx, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}, PropagationPolicy: &background,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", describe(o), err)
	}
	r.estate.deleted(o)
	return nil
}

// release deletes all that a cluster owns.
func (r *Reconciler) release(ctx context.Context, c *sparkv1.SparkCluster) error {
	var errs []error
	for _, owned := range r.estate.of(c.UID) {
		if owned.GetDeletionTimestamp() == nil {
			errs = append(errs, r.remove(ctx, owned))
		}
	}
	return errors.Join(errs...)
}

// combined is a hash of all objects.
func combined(objects *resources.Objects) string {
	var hashes []string
	for _, o := range objects.All() {
		hashes = append(hashes, o.GetName()+"="+hashOf(o))
	}
	return strings.Join(hashes, " ")
}
