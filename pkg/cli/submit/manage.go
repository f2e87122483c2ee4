package submit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	driverSelector = "spark-role=driver"
	// driversPage is how many drivers are read at once.
	driversPage = 500
	graceKey    = "spark.kubernetes.appKillPodDeletionGracePeriod"
)

// drivers are the drivers that a submission ID names.
type drivers struct {
	kube            kubernetes.Interface
	namespace, name string
	pods            []corev1.Pod
}

// find returns the drivers of a submission ID, which is NAMESPACE:NAME or NAME as in Spark. NAME is the name of a driver Pod, or of an application. An
// asterisk at its end stands for any characters.
func (s *submitter) find(ctx context.Context, id string) (*drivers, error) {
	namespace, name, qualified := strings.Cut(id, ":")
	if !qualified {
		namespace, name = "", id
	}
	if name == "" {
		return nil, cli.Usage("submission ID %q names no driver: write NAMESPACE:NAME", id)
	}
	ofConnection, _, err := s.Namespace()
	if err != nil {
		return nil, err
	}
	namespace = cmp.Or(namespace, ofConnection)
	kube, err := s.Kubernetes()
	if err != nil {
		return nil, err
	}
	found := &drivers{kube: kube, namespace: namespace, name: name}
	prefix, isPattern := strings.CutSuffix(name, "*")
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return kube.CoreV1().Pods(namespace).List(ctx, options)
	})
	pages.PageSize = driversPage
	err = pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: driverSelector}, func(object runtime.Object) error {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("a list of Pods has a %T", object)
		}
		if isPattern && strings.HasPrefix(pod.Name, prefix) || !isPattern && (pod.Name == name || isDriverOf(pod, name)) {
			found.pods = append(found.pods, *pod)
		}
		return nil
	})
	return found, err
}

// isDriverOf reports whether a Pod has the label of an application with that name.
func isDriverOf(pod *corev1.Pod, application string) bool {
	for _, api := range applications.APIs() {
		if pod.Labels[api.LabelApplication] == application {
			return true
		}
	}
	return false
}

// notFound returns the error for a submission ID that names no driver and no application.
func (d *drivers) notFound() error {
	return fmt.Errorf("application not found: no driver Pod and no application in the namespace %s is %q: kubectl spark list -n %s shows what there is", d.namespace, d.name, d.namespace)
}

// status prints the states of drivers, as spark-submit --status does.
func (s *submitter) status(ctx context.Context, id string) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	for i := range found.pods {
		if err := printDriver(s.Out, &found.pods[i]); err != nil {
			return err
		}
	}
	if len(found.pods) > 0 {
		return nil
	}
	_, application, err := s.application(ctx, found)
	if err != nil {
		return err
	}
	return printFields(s.Out, [][2]string{
		{"application name", application.Name()}, {"namespace", application.Namespace()}, {"state", application.State}, {"message", application.Message},
	})
}

// application returns the application of a submission ID, if no driver Pod was found.
func (s *submitter) application(ctx context.Context, d *drivers) (*target.Found, *overview.Object, error) {
	if strings.HasSuffix(d.name, "*") {
		return nil, nil, d.notFound()
	}
	client, err := s.Dynamic()
	if err != nil {
		return nil, nil, err
	}
	for _, kind := range actions.KindsOf(overview.Application) {
		found, err := kind.Get(ctx, client, d.namespace, d.name)
		switch {
		case apierrors.IsNotFound(err): // the kind, or the object
		case err != nil:
			return nil, nil, err
		default:
			object, err := overview.Read(found.Unstructured)
			return found, object, err
		}
	}
	return nil, nil, d.notFound()
}

// printDriver prints the same fields of a driver Pod as Spark does.
func printDriver(out io.Writer, pod *corev1.Pod) error {
	rows := [][2]string{
		{"pod name", pod.Name}, {"namespace", pod.Namespace}, {"labels", labels(pod)}, {"pod uid", string(pod.UID)},
		{"creation time", timeOf(&pod.CreationTimestamp)}, {"service account name", pod.Spec.ServiceAccountName}, {"node name", pod.Spec.NodeName},
		{"start time", timeOf(pod.Status.StartTime)}, {"phase", string(pod.Status.Phase)}, {"container status", containers(pod)},
	}
	return printFields(out, rows)
}

func printFields(out io.Writer, rows [][2]string) error {
	var text strings.Builder
	text.WriteString("Application status (driver):\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "\t %s: %s\n", row[0], cmp.Or(row[1], "N/A"))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func labels(pod *corev1.Pod) string {
	return strings.ReplaceAll(metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: pod.Labels}), "=", " -> ")
}

func timeOf(instant *metav1.Time) string {
	if instant == nil || instant.IsZero() {
		return ""
	}
	return instant.UTC().Format(time.RFC3339)
}

// containers returns the states of a Pod's containers.
func containers(pod *corev1.Pod) string {
	var states []string
	for i := range pod.Status.ContainerStatuses {
		states = append(states, containerState(&pod.Status.ContainerStatuses[i]))
	}
	return strings.Join(states, ", ")
}

func containerState(container *corev1.ContainerStatus) string {
	switch state := container.State; {
	case state.Terminated != nil:
		return fmt.Sprintf("%s terminated with exit code %d (%s)", container.Name, state.Terminated.ExitCode, state.Terminated.Reason)
	case state.Waiting != nil:
		return fmt.Sprintf("%s waiting (%s)", container.Name, state.Waiting.Reason)
	default:
		return container.Name + " running"
	}
}
