package see

import (
	"bytes"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// cluster is the connection of a command.
type cluster struct{ *connection.Cluster }

func connect(o *cli.Options) (*cluster, error) {
	c, err := connection.Open(o)
	return &cluster{c}, err
}

// connectTo is connect with a namespace that the command line may not name.
func connectTo(o *cli.Options, namespace string) (*cluster, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	if c.Namespace != namespace {
		c.Namespace, c.Suggested = namespace, namespace
	}
	return c, nil
}

// again reads an object again. It returns nil if it is gone, or if another has its name.
func (c *cluster) again(ctx context.Context, found *target.Found) (*overview.Object, error) {
	read, err := c.Dynamic.Resource(found.Resource).Namespace(found.GetNamespace()).Get(ctx, found.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && read.GetUID() != found.GetUID() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return overview.Read(read)
}

// maxPods bounds the Pods that are read of one application.
const maxPods = 5_000

// pods reads the Pods of an object.
func (c *cluster) pods(ctx context.Context, o *overview.Object) (overview.Pods, error) {
	return Pods(ctx, c.Kube, o)
}

// Pods reads the Pods of an object.
func Pods(ctx context.Context, kube kubernetes.Interface, o *overview.Object) (overview.Pods, error) {
	selector := o.PodSelector()
	if selector == "" {
		return overview.Pods{}, nil
	}
	list, err := kube.CoreV1().Pods(o.Namespace()).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: maxPods})
	if err != nil {
		return overview.Pods{}, err
	}
	pods := o.PodsOf(list.Items)
	if pods.Driver == nil && o.DriverPod != "" { // its labels may have been changed
		driver, err := kube.CoreV1().Pods(o.Namespace()).Get(ctx, o.DriverPod, metav1.GetOptions{})
		switch {
		case err == nil && o.IsDriver(driver):
			pods.Driver = driver
		case err != nil && !apierrors.IsNotFound(err):
			return pods, err
		}
	}
	return pods, nil
}

// maxEvents bounds the Events that are read of one object.
const maxEvents = 500

// events reads the Kubernetes Events about an object and its Pods. Events that cannot be read are none: there may be no right.
func (c *cluster) events(ctx context.Context, o *overview.Object, pods overview.Pods) []corev1.Event {
	var all []corev1.Event
	read := func(name string, uid string) {
		selector := fields.Set{"involvedObject.name": name}
		if uid != "" {
			selector["involvedObject.uid"] = uid
		}
		list, err := c.Kube.CoreV1().Events(o.Namespace()).List(ctx, metav1.ListOptions{FieldSelector: selector.String(), Limit: maxEvents})
		if err == nil {
			all = append(all, list.Items...)
		}
	}
	read(o.Name(), string(o.Source.GetUID()))
	if pods.Driver != nil {
		read(pods.Driver.Name, string(pods.Driver.UID))
	}
	pending := 0
	for _, pod := range pods.Executors {
		const most = 3 // one is like another
		if pod.Status.Phase == corev1.PodPending && pending < most {
			pending++
			read(pod.Name, string(pod.UID))
		}
	}
	return all
}

// The end of a log that is read to explain something.
const (
	logLines = 400
	logBytes = 256 << 10
)

// logTail reads the end of a driver's log. A log that cannot be read is empty.
func (c *cluster) logTail(ctx context.Context, o *overview.Object, driver *corev1.Pod) string {
	if driver == nil || driver.Status.Phase == corev1.PodPending || driver.Status.Phase == "" {
		return ""
	}
	stream, err := c.Kube.CoreV1().Pods(driver.Namespace).GetLogs(driver.Name, &corev1.PodLogOptions{
		Container: o.MainContainer(driver), TailLines: ptr.To(int64(logLines)), LimitBytes: ptr.To(int64(logBytes)),
	}).Stream(ctx)
	if err != nil {
		return ""
	}
	defer stream.Close()
	var tail bytes.Buffer
	if _, err := io.Copy(&tail, io.LimitReader(stream, logBytes)); err != nil {
		return tail.String()
	}
	return tail.String()
}
