package firesteel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// WebhookConfiguration is the name of the MutatingWebhookConfiguration of Pods.
const WebhookConfiguration = "firesteel-pods"

// webhookService is the name of the webhook's Service.
const webhookService = "webhook"

// Webhook is the webhook as a process that the API server of an installation calls.
type Webhook struct {
	*process.Process
	installation  *Installation
	port, metrics int
}

// StartWebhook applies config/webhook and runs the program with the rights of its service account. Logs and kubeconfig are written to a
// folder. The API server calls it in the place of a Pod behind the Service: nothing here routes to Services.
func (i *Installation) StartWebhook(ctx context.Context, repository, program, folder string) (*Webhook, error) {
	manifests, err := controlplane.Manifests(filepath.Join(repository, "config", "webhook"), "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, manifest := range manifests {
		text, err := os.ReadFile(manifest)
		if err != nil {
			return nil, err
		}
		if _, err := i.Plane.Kubectl(ctx, string(text), "apply", "--server-side", "--filename=-"); err != nil {
			return nil, err
		}
	}
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, err
	}
	if err := i.routeToWebhook(ctx, ports[0]); err != nil {
		return nil, err
	}
	config, err := i.ConfigOf(ctx, SystemNamespace, "webhook")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(folder, "webhook.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	started, err := process.Start(filepath.Join(folder, "webhook.log"), []string{
		"KUBECONFIG=" + kubeconfig,
		"SYSTEM_NAMESPACE=" + SystemNamespace,
		"CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability",
		fmt.Sprintf("HTTPS_PORT=%d", ports[0]),
		// What Kubernetes sets for the Service in its Pods.
		"WEBHOOK_PORT=tcp://10.0.0.1:443", "WEBHOOK_SERVICE_HOST=10.0.0.1", "WEBHOOK_SERVICE_PORT=443",
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", ports[1]),
		fmt.Sprintf("PROFILING_PORT=%d", ports[2]),
		"GRACE_PERIOD=1ms",
	}, program)
	if err != nil {
		return nil, err
	}
	return &Webhook{started, i, ports[0], ports[1]}, nil
}

// routeToWebhook makes the API server call a port of this machine, under the name of the Service.
func (i *Installation) routeToWebhook(ctx context.Context, port int) error {
	services := i.Kube.CoreV1().Services(SystemNamespace)
	if err := services.Delete(ctx, webhookService, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	local := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: webhookService},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if _, err := services.Create(ctx, local, metav1.CreateOptions{}); err != nil {
		return err
	}
	configurations := i.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		configuration, err := configurations.Get(ctx, WebhookConfiguration, metav1.GetOptions{})
		if err != nil {
			return err
		}
		at := int32(port)
		for n := range configuration.Webhooks {
			configuration.Webhooks[n].ClientConfig.Service.Port = &at
		}
		_, err = configurations.Update(ctx, configuration, metav1.UpdateOptions{})
		return err
	})
}

// URL is the address that the API server calls. The certificate is for the name of the Service.
func (w *Webhook) URL() string { return fmt.Sprintf("https://localhost:%d/pods", w.port) }

// Configuration returns the webhook configuration.
func (w *Webhook) Configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return w.installation.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, WebhookConfiguration, metav1.GetOptions{})
}

// UntilAnswering waits until the API server gets an answer of the webhook for a Pod, which is not created.
func (w *Webhook) UntilAnswering(ctx context.Context, namespace string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "asks-", Labels: map[string]string{"spark-role": "driver"},
			Annotations: map[string]string{"sparkoperator.k8s.io/sparkConfigMap": "any"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "spark"}}},
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = w.installation.Kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for an answer of the webhook: %w: %w\n%s", err, last, w.Tail(20))
	}
	return nil
}

// answers matches the number of answers, for each set of attributes.
var answers = regexp.MustCompile(`(?m)^kn_webhook_handler_duration_seconds_count\{[^\n]*\} (\d+)`)

// Answers returns how many requests the webhook has answered.
func (w *Webhook) Answers(ctx context.Context) (int, error) {
	text, err := Fetch(ctx, fmt.Sprintf("http://127.0.0.1:%d/metrics", w.metrics))
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, found := range answers.FindAllSubmatch(text, -1) {
		count, err := strconv.Atoi(string(found[1]))
		if err != nil {
			return 0, err
		}
		sum += count
	}
	return sum, nil
}
