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
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// nameNotFreeError reports that another object with the wanted name is being deleted.
type nameNotFreeError struct{ object string }

func (e *nameNotFreeError) Error() string {
	return diagnosis.ClusterNameNotFree(e.object).Message()
}

func (e *nameNotFreeError) cause() *lifecycle.Cause {
	return diagnosis.ClusterNameNotFree(e.object).Cause(lifecycle.ClassScheduling)
}

// refusalRetry is when Firesteel tries a refused edit of a running cluster again.
const refusalRetry = time.Minute

// refusedError reports that an object was refused and a retry cannot help: by the API server, or because another
// owner has the name.
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

// remedies say what to do about a refusal, if that is known.
var remedies = map[string]string{
	apierror.QuotaExceeded: "raise the quota, or have the cluster ask for less",
	apierror.NameTaken:     "rename the cluster, or delete the object with the name",
	apierror.Forbidden:     ruleRemedy,
	apierror.Refused:       ruleRemedy,
	apierror.Invalid:       "correct the field that causes it in spec.masterSpec, spec.workerSpec or spec.sparkConf",
	reasonLabel:            "make sure that no admission webhook or policy changes this label: Firesteel finds the object by it",
	reasonClaims:           "undo the edit, or delete the cluster and apply it again",
}

// ruleRemedy says what to do about a refusal by a webhook, an admission policy or a Pod Security Standard.
const ruleRemedy = "change what the message names, or ask who owns the rule"

// reasonClaims is the reason of an edit of volumeClaimTemplates, which Kubernetes does not allow.
const reasonClaims = "VolumeClaimTemplatesEdited"

// reasonLabel is the reason of an object whose labels an admission webhook changed.
const reasonLabel = "LabelChanged"

// allUpToDate reports whether all objects are as they were built, and no obsolete ones exist.
func (r *Reconciler) allUpToDate(c *sparkv1.SparkCluster, objects *resources.Objects) bool {
	for _, wanted := range objects.All() {
		if existing := r.owned.get(c.UID, objectKeyOf(wanted)); existing == nil || !isUpToDate(c, existing, wanted) {
			return false
		}
	}
	return len(r.obsolete(c, objects)) == 0
}

func isUpToDate(c *sparkv1.SparkCluster, existing, wanted object) bool {
	return existing.GetDeletionTimestamp() == nil && owns(c.UID, existing) && resources.Same(existing, wanted) &&
		changedLabel(existing, wanted) == "" && !rescaled(c, existing, wanted)
}

// changedLabel returns a label of an object that differs from what Firesteel set, if objects are found by that label. It is empty
// if there is none.
func changedLabel(existing, wanted object) string {
	for _, label := range []string{resources.LabelCluster, resources.LabelOperator} {
		if existing.GetLabels()[label] != wanted.GetLabels()[label] {
			return label
		}
	}
	return ""
}

// rescaled reports whether another writer changed the replicas of a StatefulSet although the spec alone decides: there is no
// autoscaler, and the StatefulSet was not adopted with other replicas.
func rescaled(c *sparkv1.SparkCluster, existing, wanted object) bool {
	before, isSet := existing.(*appsv1.StatefulSet)
	after, ok := wanted.(*appsv1.StatefulSet)
	if !isSet || !ok || takenOver(existing) || resources.Autoscaled(c) && wanted.GetName() == resources.WorkerName(c.Name) {
		return false
	}
	return ptr.Deref(before.Spec.Replicas, 1) != ptr.Deref(after.Spec.Replicas, 1)
}

func hashOf(o object) string { return o.GetAnnotations()[resources.HashAnnotation] }

// obsolete returns the objects of a cluster that its spec no longer asks for.
func (r *Reconciler) obsolete(c *sparkv1.SparkCluster, objects *resources.Objects) []object {
	var surplus []object
	for _, owned := range r.owned.ownedBy(c.UID) {
		scaler := owned.GetName() == resources.AutoscalerName(c.Name) && objects.Autoscaler == nil
		budget := owned.GetName() == resources.BudgetName(c.Name) && objects.Budget == nil
		if (scaler || budget) && owned.GetDeletionTimestamp() == nil {
			surplus = append(surplus, owned)
		}
	}
	return surplus
}

// ensure creates or updates all objects. It returns the cause if one is refused. In a running cluster it goes on with
// the other objects.
func (r *Reconciler) ensure(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects, starts bool) (*lifecycle.Cause, error) {
	for _, needless := range r.obsolete(c, objects) {
		if err := r.remove(ctx, needless); err != nil {
			return nil, err
		}
	}
	var cause *lifecycle.Cause
	for _, wanted := range objects.All() {
		err := r.ensureObject(ctx, c, wanted)
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

// ensureObject creates an object, or updates the existing one.
func (r *Reconciler) ensureObject(ctx context.Context, c *sparkv1.SparkCluster, wanted object) error {
	existing := r.owned.get(c.UID, objectKeyOf(wanted))
	if existing != nil && isUpToDate(c, existing, wanted) {
		return nil
	}
	client, err := objectclient.For(r.kube, nil, wanted)
	if err != nil {
		return err
	}
	var refused error
	if existing == nil {
		made, err := client.Create(ctx)
		if !apierrors.IsAlreadyExists(err) && !apierror.IsTerminal(err) {
			return r.recordWrite(made, wanted, err)
		}
		refused = err
	}
	return r.adoptOrUpdate(ctx, c, client, wanted, refused)
}

// adoptOrUpdate updates an existing object, if the cluster owns it or may adopt it. refused is why the object was not created, nil
// if that was not tried. Any refusal may be caused by the name: the response to an earlier create may be lost, or the object with
// the name is being deleted. The API server checks quotas and policies before names.
func (r *Reconciler) adoptOrUpdate(ctx context.Context, c *sparkv1.SparkCluster, client objectclient.Client, wanted object, refused error) error {
	existing, err := client.Get(ctx)
	notFree := &nameNotFreeError{object: describe(wanted)}
	switch {
	case apierror.IsTerminal(refused) && (apierrors.IsNotFound(err) || apierror.IsTerminal(err)):
		return r.recordWrite(nil, wanted, refused)
	case apierrors.IsNotFound(err):
		return notFree // it was deleted in between
	case err != nil:
		return fmt.Errorf("get existing %s: %w", describe(wanted), err)
	case existing.GetDeletionTimestamp() != nil, belongsToNamesake(c, existing):
		return notFree
	case !owns(c.UID, existing) && !isOrphan(c, existing):
		return &refusedError{
			object: describe(wanted), reason: apierror.NameTaken, err: fmt.Errorf("it exists already and belongs to %s", ownerOf(existing)),
		}
	case isUpToDate(c, existing, wanted):
		r.owned.written(existing)
		return nil
	case claimsEdited(existing, wanted):
		return &refusedError{
			object: describe(wanted), reason: reasonClaims, err: errors.New("its volumeClaimTemplates cannot be edited"),
		}
	}
	if !owns(c.UID, existing) {
		if err := r.checkNotDeleted(ctx, c); err != nil {
			return err
		}
	}
	if needsReplacement(existing, wanted) {
		return r.replace(ctx, client, existing, wanted)
	}
	updated, err := client.Update(ctx, merge(existing, wanted, r.isAutoscaled(c)))
	return r.recordWrite(updated, wanted, err)
}

// replace deletes an object that cannot be updated, and creates the wanted one.
func (r *Reconciler) replace(ctx context.Context, client objectclient.Client, existing, wanted object) error {
	if err := r.remove(ctx, existing); err != nil {
		return err
	}
	created, err := client.Create(ctx)
	if apierrors.IsAlreadyExists(err) {
		return &nameNotFreeError{object: describe(wanted)}
	}
	return r.recordWrite(created, wanted, err)
}

// checkNotDeleted returns a conflict if a cluster was deleted and the cache is stale. That deletion may have orphaned the object
// that is about to be adopted.
func (r *Reconciler) checkNotDeleted(ctx context.Context, c *sparkv1.SparkCluster) error {
	return r.checkLive(ctx, c, "deleted", func(live *sparkv1.SparkCluster) bool { return live.DeletionTimestamp == nil })
}

// checkUnchanged returns a conflict if the API server has another version of a cluster. What a released cluster has may belong to an attempt
// that the cache does not show yet.
func (r *Reconciler) checkUnchanged(ctx context.Context, c *sparkv1.SparkCluster) error {
	return r.checkLive(ctx, c, "changed", func(live *sparkv1.SparkCluster) bool { return live.ResourceVersion == c.ResourceVersion })
}

// checkLive returns a conflict if a cluster is gone, or is not as it must be. otherwise says what happened to it then.
func (r *Reconciler) checkLive(ctx context.Context, c *sparkv1.SparkCluster, otherwise string, asRead func(live *sparkv1.SparkCluster) bool) error {
	live, err := r.client.SparkV1().SparkClusters(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("check whether the cluster was %s: %w", otherwise, err)
	case err != nil || live.UID != c.UID || !asRead(live):
		return apierrors.NewConflict(sparkv1.Resource(status.Resource), c.Name, fmt.Errorf("it was %s in the meantime", otherwise))
	default:
		return nil
	}
}

// isAutoscaled reports whether an autoscaler exists and decides the number of workers. Until it exists, the number in the spec
// holds.
func (r *Reconciler) isAutoscaled(c *sparkv1.SparkCluster) bool {
	scaler := objectKey{kind: objectclient.KindOf(&autoscalingv2.HorizontalPodAutoscaler{}), namespace: c.Namespace, name: resources.AutoscalerName(c.Name)}
	return resources.Autoscaled(c) && r.owned.get(c.UID, scaler) != nil
}

// recordWrite stores the result of a write.
func (r *Reconciler) recordWrite(written, wanted object, err error) error {
	switch {
	case err == nil && changedLabel(written, wanted) != "":
		return &refusedError{object: describe(wanted), reason: reasonLabel, err: fmt.Errorf("its label %s was changed by an admission webhook or policy, to %q",
			changedLabel(written, wanted), written.GetLabels()[changedLabel(written, wanted)])}
	case err == nil:
		r.owned.written(written)
		return nil
	case apierror.IsTerminal(err):
		return &refusedError{object: describe(wanted), reason: apierror.Reason(err), err: err}
	default:
		return fmt.Errorf("write %s: %w", describe(wanted), err)
	}
}

// belongsToNamesake reports whether an object belongs to an earlier cluster of the same name. The garbage collector deletes it.
func belongsToNamesake(c *sparkv1.SparkCluster, existing object) bool {
	for _, owner := range existing.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if kind == sparkv1.SchemeGroupVersion.WithKind("SparkCluster").GroupKind() && owner.Name == c.Name && owner.UID != c.UID {
			return true
		}
	}
	return false
}

// isOrphan reports whether an object was made for a deleted cluster of this name and was orphaned.
func isOrphan(c *sparkv1.SparkCluster, existing object) bool {
	return metav1.GetControllerOf(existing) == nil && existing.GetLabels()[resources.LabelOperator] != "" &&
		existing.GetLabels()[resources.LabelCluster] == c.Name
}

func ownerOf(o object) string {
	if owners := o.GetOwnerReferences(); len(owners) > 0 {
		return fmt.Sprintf("%s %s", owners[0].Kind, owners[0].Name)
	}
	return "another creator: it has no owner reference"
}

func describe(o object) string {
	return fmt.Sprintf("%s %s/%s", objectclient.KindOf(o), o.GetNamespace(), o.GetName())
}

// remove deletes an object if it has not changed since it was read: it may have been orphaned.
func (r *Reconciler) remove(ctx context.Context, o object) error {
	client, err := objectclient.For(r.kube, nil, o)
	if err != nil {
		return err
	}
	background, uid, version := metav1.DeletePropagationBackground, o.GetUID(), o.GetResourceVersion()
	err = client.Delete(ctx, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}, PropagationPolicy: &background,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", describe(o), err)
	}
	r.owned.deleted(o)
	return nil
}

// release deletes all objects that a cluster owns.
func (r *Reconciler) release(ctx context.Context, c *sparkv1.SparkCluster) error {
	var errs []error
	for _, owned := range r.owned.ownedBy(c.UID) {
		if owned.GetDeletionTimestamp() == nil {
			errs = append(errs, r.remove(ctx, owned))
		}
	}
	return errors.Join(errs...)
}

// objectsHash returns a hash of all objects.
func objectsHash(objects *resources.Objects) string {
	var hashes []string
	for _, o := range objects.All() {
		hashes = append(hashes, o.GetName()+"="+hashOf(o))
	}
	return strings.Join(hashes, " ")
}
