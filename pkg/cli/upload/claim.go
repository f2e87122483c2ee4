package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

const (
	// receiver is the name of the container that receives files, and the beginning of the name of its Pod.
	receiver = "kubectl-spark-upload"
	// mountPath is where the Pod mounts the claim.
	mountPath = "/upload"
	// deadline is when Kubernetes ends the Pod if this program did not remove it.
	deadline = time.Hour
	// startTime bounds the wait until the Pod runs, and removalTime the time in which it is removed after an interrupt.
	startTime   = 5 * time.Minute
	removalTime = 10 * time.Second
	// poll is the pause between two looks at a Pod that starts.
	poll = time.Second
	// sparkUser is the user of Spark's images. The files of the claim belong to its group.
	sparkUser = 185
)

// These scripts run in the Pod. Their first argument is the path of a file.
const (
	// hashScript prints the hash of a file that is stored.
	hashScript = `if [ -f "$1" ]; then sha256sum < "$1"; fi`
	// storeScript stores the input, if it has the hash of the second argument.
	storeScript = `set -e
mkdir -p "$(dirname "$1")"
part="$1.part-$$"
trap 'rm -f "$part"' EXIT
cat > "$part"
case "$(sha256sum < "$part")" in
"$2"*) mv "$part" "$1" ;;
*) echo "what has arrived is not the file" >&2; exit 1 ;;
esac`
)

// remote runs a script with arguments in the container that receives files.
type remote func(ctx context.Context, pod *corev1.Pod, script string, arguments []string, input io.Reader, output, problems io.Writer) error

// sendToClaim stores the files in the folder of a claim, by a short-lived Pod that mounts it.
func (p *Plan) sendToClaim(ctx context.Context, client kubernetes.Interface, run remote, shown *progress) error {
	pods := client.CoreV1().Pods(p.receiver.Namespace)
	pod, err := pods.Create(ctx, p.receiverPod(), metav1.CreateOptions{FieldManager: "kubectl-spark"})
	if err != nil {
		return fmt.Errorf("the Pod that receives files for the claim %s cannot be created: %w", p.place.claim, err)
	}
	defer func() {
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTime)
		defer cancel()
		err := pods.Delete(removing, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
		if err != nil && !apierrors.IsNotFound(err) {
			shown.Warn(fmt.Sprintf("the Pod %s/%s is not removed (%v): kubectl delete -n %s pod %s does it", pod.Namespace, pod.Name, err, pod.Namespace, pod.Name))
		}
	}()
	if err := untilRunning(ctx, client, pod); err != nil {
		return err
	}
	for _, file := range p.files {
		if err := p.store(ctx, run, pod, file, shown); err != nil {
			return err
		}
	}
	return nil
}

// receiverPod returns the Pod. It has no rights, and conforms to the restricted profile.
func (p *Plan) receiverPod() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: receiver + "-", Namespace: p.receiver.Namespace,
			Labels: map[string]string{"app.kubernetes.io/name": receiver, "app.kubernetes.io/managed-by": "kubectl-spark"},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: ptr.To(int64(deadline.Seconds())), TerminationGracePeriodSeconds: ptr.To[int64](0),
			AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](sparkUser), FSGroup: ptr.To[int64](sparkUser)},
			Volumes: []corev1.Volume{{Name: "claim", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: p.place.claim},
			}}},
			Containers: []corev1.Container{{
				Name: receiver, Image: p.receiver.Image, Command: []string{"/bin/sh", "-c", fmt.Sprintf("exec sleep %.0f", deadline.Seconds())},
				VolumeMounts: []corev1.VolumeMount{{Name: "claim", MountPath: mountPath}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
			}},
		},
	}
	for _, secret := range p.receiver.PullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	podsecurity.Profile{Restricted: true}.Complete(&pod.Spec, 0)
	return pod
}

// untilRunning waits until a Pod runs. It returns at once what waiting does not mend.
func untilRunning(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	last := "it is not scheduled"
	err := wait.PollUntilContextTimeout(ctx, poll, startTime, true, func(ctx context.Context) (bool, error) {
		seen, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		running, reason, final := progressOf(seen)
		if reason != "" {
			last = reason
		}
		if final {
			return false, errors.New(reason)
		}
		return running, nil
	})
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case wait.Interrupted(err):
		err = fmt.Errorf("%s, and it has waited %v", last, startTime)
	}
	return fmt.Errorf("the Pod %s/%s that receives files does not run (%w): correct that, or name another image by --upload-image", pod.Namespace, pod.Name, err)
}

// progressOf returns whether a Pod runs, or why it does not. final reports whether it never will.
func progressOf(pod *corev1.Pod) (running bool, reason string, final bool) {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return true, "", false
	case corev1.PodFailed, corev1.PodSucceeded:
		return false, strings.TrimSpace("it has ended " + pod.Status.Reason + " " + pod.Status.Message), true
	}
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "ContainerCreating" {
			final := slices.Contains([]string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}, waiting.Reason)
			return false, text.Clip(strings.TrimSpace(waiting.Reason+" "+waiting.Message), maxLog), final
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return false, text.Clip(condition.Reason+": "+condition.Message, maxLog), false
		}
	}
	return false, "", false
}

// store stores a file, unless it is there already.
func (p *Plan) store(ctx context.Context, run remote, pod *corev1.Pod, file upload.File, shown *progress) error {
	at := path.Join(mountPath, p.place.folder, file.Key())
	var output, problems strings.Builder
	fails := func(err error) error {
		shown.show(upload.Event{Step: upload.Failed, Path: file.Path, Interrupted: ctx.Err() != nil, Message: fmt.Sprintf(
			"%s cannot be stored (%v): %s", path.Base(file.Key()), err, text.Clip(strings.TrimSpace(problems.String()), maxLog))})
		return err
	}
	if err := run(ctx, pod, hashScript, []string{at}, nil, &output, &problems); err != nil {
		return fails(err)
	}
	if strings.HasPrefix(output.String(), file.SHA256) {
		shown.show(upload.Event{Step: upload.Present, Path: file.Path})
		return nil
	}
	content, err := os.Open(file.Path)
	if err != nil {
		return fails(err)
	}
	defer content.Close()
	counted := &counter{interruptible{ctx, content}, file.Path, 0, shown}
	if err := run(ctx, pod, storeScript, []string{at, file.SHA256}, counted, &output, &problems); err != nil {
		return fails(err)
	}
	shown.show(upload.Event{Step: upload.Uploaded, Path: file.Path})
	return nil
}

// counter is a reader that shows how much was read.
type counter struct {
	interruptible
	path  string
	sent  int64
	shown *progress
}

func (c *counter) Read(into []byte) (int, error) {
	read, err := c.interruptible.Read(into)
	c.sent += int64(read)
	c.shown.show(upload.Event{Step: upload.Sending, Path: c.path, Sent: c.sent})
	return read, err
}

// runIn returns a function that runs scripts in Pods of a cluster, as kubectl exec does.
func runIn(cluster *rest.Config, client kubernetes.Interface) remote {
	return func(ctx context.Context, pod *corev1.Pod, script string, arguments []string, input io.Reader, output, problems io.Writer) error {
		url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
			Container: receiver, Command: append([]string{"/bin/sh", "-c", script, "sh"}, arguments...), Stdin: input != nil, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec).URL()
		websocket, err := remotecommand.NewWebSocketExecutor(cluster, http.MethodGet, url.String())
		if err != nil {
			return err
		}
		spdy, err := remotecommand.NewSPDYExecutor(cluster, http.MethodPost, url)
		if err != nil {
			return err
		}
		executor, err := remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
			return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
		})
		if err != nil {
			return err
		}
		return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: input, Stdout: output, Stderr: problems})
	}
}
