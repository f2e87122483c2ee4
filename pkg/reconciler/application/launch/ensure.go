package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// errNameNotFree means that an object of an earlier launch has the name and is not deleted yet.
var errNameNotFree = errors.New("an object of an earlier launch is not gone yet")

// ensure creates an object of a launch, or returns the existing one. If an object of an earlier launch of the same
// application has the name, it is deleted and awaited. If an object of another owner has the name, the launch is refused.
func (l *Launcher) ensure(ctx context.Context, app dialect.Application, object submission.Object) (submission.Object, error) {
	client, err := objectclient.For(l.Kube, l.Dynamic, object)
	if err != nil {
		return nil, err
	}
	created, err := createWithin(ctx, client)
	switch {
	case err == nil:
		return created, nil
	case apierrors.IsAlreadyExists(err):
		return l.reuse(ctx, app, client, object)
	case apierror.IsTerminal(err), notInstalled(object, err):
		return l.reuseRefused(ctx, client, object, &refusedError{object: describe(object), account: accountOf(object), err: err})
	default:
		return nil, fmt.Errorf("create %s: %w", describe(object), err)
	}
}

// reuseRefused looks for an object whose creation was refused. The response to an earlier create may have been lost. The API
// server checks quotas and policies before names, so it may refuse an object that exists already.
func (l *Launcher) reuseRefused(
	ctx context.Context, client objectclient.Client, object submission.Object, refused *refusedError,
) (submission.Object, error) {
	existing, err := client.Get(ctx)
	switch {
	case apierrors.IsNotFound(err), apierror.IsTerminal(err), notInstalled(object, err):
		return nil, refused
	case err != nil:
		return nil, fmt.Errorf("look for refused %s: %w", describe(object), err)
	case ofEarlierDriver(existing, object):
		return nil, &nameNotFreeError{object, existing}
	case !sameLaunch(existing, object):
		return nil, refused
	case existing.GetDeletionTimestamp() != nil:
		return nil, &nameNotFreeError{object, existing}
	default:
		return existing, nil
	}
}

// reuse returns the existing object with a wanted name if it is the wanted one. An object of an earlier launch is deleted.
func (l *Launcher) reuse(
	ctx context.Context, app dialect.Application, client objectclient.Client, object submission.Object,
) (submission.Object, error) {
	existing, err := client.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return createFreed(ctx, client, object, nil) // it was deleted in between
	case err != nil:
		return nil, fmt.Errorf("look at existing %s: %w", describe(object), err)
	}
	asWanted := !ofEarlierDriver(existing, object) && (sameLaunch(existing, object) || sameConfigMap(existing, object))
	terminating := existing.GetDeletionTimestamp() != nil
	switch {
	case asWanted && !terminating:
		return existing, nil
	case !asWanted && !l.ofEarlierLaunch(existing, object):
		return nil, l.nameTaken(ctx, existing, object)
	case terminating:
		return nil, &nameNotFreeError{object, existing}
	}
	if err := l.deleteEarlier(ctx, app, client, existing); err != nil {
		return nil, fmt.Errorf("delete %s of an earlier launch: %w", describe(object), err)
	}
	return createFreed(ctx, client, object, existing) // other objects than Pods are deleted at once, unless they have a finalizer
}

// createFreed creates an object whose name should be free now. existing had the name; nil if that is not known. If the name is not free, or
// if a quota still counts the object that is gone, the launch waits. Any other error is retried with the driver that exists already.
func createFreed(ctx context.Context, client objectclient.Client, object, existing submission.Object) (submission.Object, error) {
	created, err := createWithin(ctx, client)
	switch {
	case err == nil:
		return created, nil
	case apierrors.IsAlreadyExists(err), apierror.IsTerminal(err):
		return nil, &nameNotFreeError{object, existing}
	default:
		return nil, fmt.Errorf("create %s: %w", describe(object), err)
	}
}

// deleteEarlier deletes an object of an earlier launch. If it is gone or another has its name, there is nothing to do.
func (l *Launcher) deleteEarlier(ctx context.Context, app dialect.Application, client objectclient.Client, existing objectclient.Object) error {
	if driver, ok := existing.(*corev1.Pod); ok {
		_, err := l.Deleter.Delete(ctx, app, drivers.RefOf(driver), drivers.NameNeeded, false)
		return err
	}
	err := client.Delete(ctx, *metav1.NewPreconditionDeleteOptions(string(existing.GetUID())))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// sameLaunch reports whether an existing object is the wanted one. Either it has the launch ID of the wanted one, or it has
// no launch ID and the same owner: then another operator created it for this application.
func sameLaunch(existing, wanted submission.Object) bool {
	if id := existing.GetLabels()[dialect.LabelLaunch]; id != "" {
		return id == wanted.GetLabels()[dialect.LabelLaunch]
	}
	owner := metav1.GetControllerOf(wanted)
	return owner != nil && slices.ContainsFunc(existing.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
}

// ofEarlierDriver reports whether an existing object belongs to an earlier driver of the same launch that could not be
// completed. The garbage collector deletes the object after that driver, possibly much later.
func ofEarlierDriver(existing, wanted submission.Object) bool {
	if existing.GetLabels()[dialect.LabelLaunch] == "" || existing.GetLabels()[dialect.LabelLaunch] != wanted.GetLabels()[dialect.LabelLaunch] {
		return false
	}
	before, after := metav1.GetControllerOf(existing), metav1.GetControllerOf(wanted)
	return before != nil && after != nil && after.Kind == "Pod" && sameKind(*before, *after) && before.UID != after.UID
}

// sameConfigMap reports whether an earlier attempt of the same application created a config map with the wanted content.
func sameConfigMap(existing, wanted submission.Object) bool {
	before, isConfigMap := existing.(*corev1.ConfigMap)
	after, ok := wanted.(*corev1.ConfigMap)
	if !isConfigMap || !ok {
		return false
	}
	owner := metav1.GetControllerOf(after)
	return owner != nil && metav1.IsControlledBy(before, &metav1.ObjectMeta{UID: owner.UID}) &&
		maps.Equal(before.Data, after.Data) && maps.Equal(before.Annotations, after.Annotations) &&
		maps.Equal(withoutLaunchLabel(before.Labels), withoutLaunchLabel(after.Labels))
}

func withoutLaunchLabel(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	delete(labels, dialect.LabelLaunch)
	return labels
}

// ofEarlierLaunch reports whether Firesteel created an existing object for an application with the same name. The labels of
// a driver may have been changed: then its owner identifies it, which is the application or an earlier one with its name.
func (l *Launcher) ofEarlierLaunch(existing, wanted submission.Object) bool {
	label := l.API.LabelApplication
	if driver, ok := existing.(*corev1.Pod); ok {
		before, after := metav1.GetControllerOf(driver), metav1.GetControllerOf(wanted)
		if before != nil && after != nil && sameKind(*before, *after) && before.Name == after.Name {
			return true
		}
	}
	return existing.GetLabels()[dialect.LabelLaunch] != "" && existing.GetLabels()[label] == wanted.GetLabels()[label]
}

// nameTaken returns the error for a name that another owner's object has. If that owner is deleted or terminating, as an
// earlier driver of another operator is, the garbage collector is about to free the name.
func (l *Launcher) nameTaken(ctx context.Context, existing, wanted submission.Object) error {
	abandoned := len(existing.GetOwnerReferences()) > 0
	for _, owner := range existing.GetOwnerReferences() {
		exists, err := l.ownerExists(ctx, existing.GetNamespace(), owner, metav1.GetControllerOf(wanted))
		if err != nil {
			return err
		}
		abandoned = abandoned && !exists
	}
	if abandoned {
		return &nameNotFreeError{wanted, existing}
	}
	return &refusedError{object: describe(wanted), err: fmt.Errorf("it exists already and belongs to %s", ownerOf(existing))}
}

// ownerExists reports whether an owner still exists. It does not exist if the wanted object's owner has its name and another
// UID.
func (l *Launcher) ownerExists(
	ctx context.Context, namespace string, owner metav1.OwnerReference, namesake *metav1.OwnerReference,
) (bool, error) {
	switch {
	case namesake != nil && sameKind(owner, *namesake) && owner.Name == namesake.Name:
		return owner.UID == namesake.UID, nil
	case owner.Kind != "Pod":
		return true, nil
	}
	pod, err := l.Kube.CoreV1().Pods(namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at owner Pod %s/%s: %w", namespace, owner.Name, err)
	}
	return pod.UID == owner.UID && pod.DeletionTimestamp == nil, nil
}

// sameKind reports whether two owners are of the same kind, in any version.
func sameKind(a, b metav1.OwnerReference) bool {
	return schema.FromAPIVersionAndKind(a.APIVersion, a.Kind).GroupKind() == schema.FromAPIVersionAndKind(b.APIVersion, b.Kind).GroupKind()
}

func ownerOf(object submission.Object) string {
	if owners := object.GetOwnerReferences(); len(owners) > 0 {
		return fmt.Sprintf("%s %s", owners[0].Kind, owners[0].Name)
	}
	return "another creator: it has no owner reference"
}

// runsWithout returns the sentence that an application runs without an object, and why.
func runsWithout(object submission.Object, reason error) string {
	return fmt.Sprintf("The application runs without its %s: %v.", describe(object), reason)
}

func describe(object submission.Object) string {
	return fmt.Sprintf("%s %s/%s", objectclient.KindOf(object), object.GetNamespace(), object.GetName())
}

// notInstalled reports whether the cluster does not have this kind of object: the API server does not know the path. If a
// namespace is missing, the API server's answer names the namespace.
func notInstalled(object submission.Object, err error) bool {
	_, untyped := object.(*unstructured.Unstructured)
	return untyped && apierror.IsNotInstalled(err)
}

// refusedError is the final refusal of an object: by the API server, or because an object of another owner has the name.
type refusedError struct {
	object string
	// account is the service account of a Pod, with its namespace; empty if the object is no Pod or names none.
	account types.NamespacedName
	err     error
}

// isRefused reports whether an object was not created for a reason that lasts.
func isRefused(err error) bool {
	return errors.As(err, new(*refusedError)) || apierror.IsNodePortsExhausted(err)
}

// refusalOf returns the reason without the name of the object.
func refusalOf(err error) error {
	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		return refused.err
	}
	return cmp.Or(errors.Unwrap(err), err)
}

func accountOf(object submission.Object) types.NamespacedName {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}
}

func (e *refusedError) Error() string { return fmt.Sprintf("%s was refused: %v", e.object, e.err) }

func (e *refusedError) Unwrap() error { return e.err }

func (e *refusedError) cause(fields dialect.Fields) *lifecycle.Cause {
	message := e.Error()
	if remedy := remedies(fields, e.account)[e.reason()]; remedy != "" {
		message += "; " + remedy
	}
	return &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: e.reason(), Message: message}
}

// remedies maps the reason of a refusal to its remedy, if there is a known one.
func remedies(fields dialect.Fields, account types.NamespacedName) map[string]string {
	return map[string]string{
		apierror.QuotaExceeded: "raise the quota, or have the application ask for less",
		apierror.ServiceAccountNotFound: fmt.Sprintf("%s creates the accounts of drivers in a namespace; or create this one and give it the "+
			"rights of a driver (%s), or name another in %s", namespaces.Command(account.Namespace),
			dialect.GrantCommand(account.Namespace, cmp.Or(account.Name, "default")), fields.ServiceAccount),
		apierror.NameTaken:    "rename it or the application, or delete the object with the name",
		apierror.NotInstalled: "install what defines it",
		apierror.Invalid:      "correct the field that causes it, such as a property in spec.sparkConf or " + fields.DriverTemplate,
	}
}

func (e *refusedError) reason() string { return apierror.Reason(e.err) }
