package submit

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// killReason is the reason with which --kill stops an application.
const killReason = "spark-submit --kill"

// kill ends drivers, as spark-submit --kill does. The application of a driver is stopped: a restart policy would start it again if only the
// Pod was deleted.
func (s *submitter) kill(ctx context.Context, id string, submission *sparksubmit.Submission) error {
	options := metav1.DeleteOptions{DryRun: s.dryRun.Options()}
	if grace, set := submission.Properties[graceKey]; set {
		seconds, err := strconv.ParseUint(grace, 10, 31)
		if err != nil {
			return cli.Usage("--conf %s %q is no number of seconds: write one such as 30", graceKey, grace)
		}
		period := int64(seconds)
		options.GracePeriodSeconds = &period
	}
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	if len(found.pods) == 0 {
		return s.killWaiting(ctx, found)
	}
	for i := range found.pods {
		if err := s.killDriver(ctx, found.kube, &found.pods[i], options); err != nil {
			return err
		}
	}
	return nil
}

// killDriver stops the application of a driver Pod. It deletes the Pod if there is none, or if the user may not change it.
func (s *submitter) killDriver(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod, options metav1.DeleteOptions) error {
	application, err := s.applicationOf(ctx, pod)
	if application != nil {
		err = s.stop(ctx, application, options.GracePeriodSeconds != nil)
	}
	switch {
	case err == nil && application != nil:
		return nil
	case apierrors.IsForbidden(err):
		s.Warn(fmt.Sprintf("the application of driver pod %s is not stopped, and its restart policy may start it again: %v", pod.Name, err))
	case err != nil:
		return err
	}
	return s.deleteDriver(ctx, kube, pod, options)
}

// killWaiting stops an application that has no driver Pod.
func (s *submitter) killWaiting(ctx context.Context, d *drivers) error {
	found, o, err := s.application(ctx, d)
	if err != nil {
		return err
	}
	if !stoppable(o) {
		return fmt.Errorf("%s has no driver Pod: %s removes it", o.Name(), s.suggest("delete", o.Namespace(), o.Name()))
	}
	return s.stop(ctx, found, false)
}

// applicationOf returns the application that would start the driver of a Pod again; nil if there is none.
func (s *submitter) applicationOf(ctx context.Context, pod *corev1.Pod) (*target.Found, error) {
	client, err := s.Dynamic()
	if err != nil {
		return nil, err
	}
	for _, kind := range actions.KindsOf(overview.Application) {
		name := nameOfApplication(kind.Group, pod)
		if name == "" {
			continue
		}
		found, err := kind.Get(ctx, client, pod.Namespace, name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o, err := overview.Read(found.Unstructured)
		if err != nil {
			return nil, err
		}
		if runs(o, pod) {
			return found, nil
		}
	}
	return nil, nil
}

// nameOfApplication returns the name of the application of an API that a driver Pod may belong to, by its owner or its label.
func nameOfApplication(group string, pod *corev1.Pod) string {
	for _, owner := range pod.OwnerReferences {
		if schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() == (schema.GroupKind{Group: group, Kind: "SparkApplication"}) {
			return owner.Name
		}
	}
	return pod.Labels[applications.All(nil)[group].LabelApplication]
}

// stoppable reports whether a stop ends an application: Firesteel runs it.
func stoppable(o *overview.Object) bool {
	app := o.Typed.(dialect.Application)
	return !o.Inherited && !o.Over() && !dialect.FollowsUserDriver(app) && app.GetUndecodable() == ""
}

// runs reports whether Firesteel runs a driver Pod for an application.
func runs(o *overview.Object, pod *corev1.Pod) bool {
	switch {
	case !stoppable(o):
		return false
	case o.Record != nil && o.Record.Launch != nil && o.Record.Launch.DriverUID != "":
		return o.Record.Launch.DriverUID == pod.UID
	default: // the status does not name the driver yet
		return pod.Labels[dialect.LabelLaunch] != "" && dialect.Owns(o.Typed.(dialect.Application), pod)
	}
}

// stop stops an application. Its driver ends within the grace period of its Pod.
func (s *submitter) stop(ctx context.Context, found *target.Found, hasGrace bool) error {
	client, err := s.Dynamic()
	if err != nil {
		return err
	}
	if hasGrace {
		s.Warn(fmt.Sprintf("--conf %s has no effect on %s: its driver ends within the grace period of its Pod", graceKey, found.Reference()))
	}
	if !dialect.IsStopped(found) && s.dryRun != cli.DryRunClient { // its reason stays
		if err := actions.SetStop(ctx, client, found, actions.WriteOptions{DryRun: s.dryRun.Options()}, killReason); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(s.Out, "Stopping application: %s.%s\n", found.Reference(), s.dryRun.Note())
	return err
}

// deleteDriver deletes a driver Pod that no application would start again.
func (s *submitter) deleteDriver(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod, options metav1.DeleteOptions) error {
	if s.dryRun != cli.DryRunClient {
		options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
		err := kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	_, err := fmt.Fprintf(s.Out, "Deleting driver pod: %s.%s\n", pod.Name, s.dryRun.Note())
	return err
}
