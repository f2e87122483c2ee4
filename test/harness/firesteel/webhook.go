package firesteel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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

// WebhookConfiguration is the name of the MutatingWebhookConfiguration of Pods, and ValidationConfiguration that of the
// ValidatingWebhookConfiguration.
const (
	WebhookConfiguration    = "firesteel-pods"
	ValidationConfiguration = "firesteel-validation"
)

// WebhookOf is where an installation has its webhook: its namespace, and what ends the names of its configurations.
type WebhookOf struct{ Namespace, Suffix string }

// firstWebhook is that of the installation in SystemNamespace.
var firstWebhook = WebhookOf{Namespace: SystemNamespace}

func (of WebhookOf) pods() string       { return WebhookConfiguration + of.Suffix }
func (of WebhookOf) validation() string { return ValidationConfiguration + of.Suffix }

// webhookService is the name of the webhook's Service.
const webhookService = "webhook"

// Webhook is the webhook as a process that the API server of an installation calls.
type Webhook struct {
	*process.Process
	installation  *Installation
	of            WebhookOf
	program       string
	folder        string
	port, metrics int
}

// StartWebhook applies config/webhook and runs the program with the rights of its service account. Logs and kubeconfig are written to a
// folder. The API server calls it in the place of a Pod behind the Service: nothing here routes to Services.
func (i *Installation) StartWebhook(ctx context.Context, repository, program, folder string) (*Webhook, error) {
	if err := i.ApplyWebhook(ctx, repository); err != nil {
		return nil, err
	}
	return i.StartWebhookOf(ctx, firstWebhook, program, folder)
}

// StartWebhookOf is [Installation.StartWebhook] for the webhook of an installation whose manifests are applied.
func (i *Installation) StartWebhookOf(ctx context.Context, of WebhookOf, program, folder string) (*Webhook, error) {
	w, err := (&Webhook{installation: i, of: of, program: program, folder: folder}).Replica(ctx, "webhook"+of.Suffix)
	if err != nil {
		return nil, err
	}
	return w, w.Route(ctx)
}

// ApplyWebhook applies config/webhook.
func (i *Installation) ApplyWebhook(ctx context.Context, repository string) error {
	manifests, err := controlplane.Manifests(filepath.Join(repository, "config", "webhook"), "*.yaml")
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		text, err := os.ReadFile(manifest)
		if err != nil {
			return err
		}
		if _, err := i.Plane.Kubectl(ctx, string(text), "apply", "--server-side", "--filename=-"); err != nil {
			return err
		}
	}
	return nil
}

// WebhookProgram describes a webhook process.
type WebhookProgram struct {
	// Program is the file of the program, and Kubeconfig the file that it reads to reach the API server.
	Program, Kubeconfig string
	// Of is the installation; that in SystemNamespace if empty.
	Of WebhookOf
	// Port is the port that the API server calls, Metrics and Profiling are the others that it listens on.
	Port, Metrics, Profiling int
}

// Start starts the webhook. Its output goes to the file log.
func (p WebhookProgram) Start(log string) (*process.Process, error) {
	of := cmp.Or(p.Of, firstWebhook)
	return process.Start(log, []string{
		"KUBECONFIG=" + p.Kubeconfig,
		"SYSTEM_NAMESPACE=" + of.Namespace,
		"PODS_WEBHOOK_CONFIGURATION=" + of.pods(),
		"VALIDATION_WEBHOOK_CONFIGURATION=" + of.validation(),
		"CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability",
		fmt.Sprintf("HTTPS_PORT=%d", p.Port),
		// What Kubernetes sets for the Service in its Pods.
		"WEBHOOK_PORT=tcp://10.0.0.1:443", "WEBHOOK_SERVICE_HOST=10.0.0.1", "WEBHOOK_SERVICE_PORT=443",
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", p.Metrics),
		fmt.Sprintf("PROFILING_PORT=%d", p.Profiling),
		"GRACE_PERIOD=1ms",
	}, p.Program)
}

// Replica starts another replica, which logs under a name of its own. The API server calls it after Route.
func (w *Webhook) Replica(ctx context.Context, name string) (*Webhook, error) {
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, err
	}
	config, err := w.installation.ConfigOf(ctx, w.of.Namespace, "webhook")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(w.folder, name+".kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	program := WebhookProgram{Program: w.program, Kubeconfig: kubeconfig, Of: w.of, Port: ports[0], Metrics: ports[1], Profiling: ports[2]}
	started, err := program.Start(filepath.Join(w.folder, name+".log"))
	if err != nil {
		return nil, err
	}
	return &Webhook{
		Process: started, installation: w.installation, of: w.of, program: w.program, folder: w.folder, port: ports[0], metrics: ports[1],
	}, nil
}

// RouteWebhook makes the API server call a port of this machine, under the name of the webhook's Service.
func (i *Installation) RouteWebhook(ctx context.Context, port int) error {
	return (&Webhook{installation: i, of: firstWebhook, port: port}).Route(ctx)
}

// Route makes the API server call the port of this process, under the name of the Service.
func (w *Webhook) Route(ctx context.Context) error {
	services := w.installation.Kube.CoreV1().Services(w.of.Namespace)
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
	at, patience := int32(w.port), int32(30) // which a busy machine may take
	if err := w.Change(ctx, func(mutating *admissionregistrationv1.MutatingWebhookConfiguration) {
		for n := range mutating.Webhooks {
			mutating.Webhooks[n].ClientConfig.Service.Port, mutating.Webhooks[n].TimeoutSeconds = &at, &patience
		}
	}); err != nil {
		return err
	}
	return w.ChangeValidation(ctx, func(validating *admissionregistrationv1.ValidatingWebhookConfiguration) {
		for n := range validating.Webhooks {
			validating.Webhooks[n].ClientConfig.Service.Port, validating.Webhooks[n].TimeoutSeconds = &at, &patience
		}
	})
}

// Change changes the configuration of the webhook of Pods.
func (w *Webhook) Change(ctx context.Context, change func(*admissionregistrationv1.MutatingWebhookConfiguration)) error {
	return changeConfiguration(ctx, w.installation.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations(), w.of.pods(), change)
}

// ChangeValidation changes the configuration of the validation.
func (w *Webhook) ChangeValidation(ctx context.Context, change func(*admissionregistrationv1.ValidatingWebhookConfiguration)) error {
	return changeConfiguration(ctx, w.installation.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations(), w.of.validation(), change)
}

// configurations are the webhook configurations of a kind.
type configurations[C any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (C, error)
	Update(ctx context.Context, configuration C, options metav1.UpdateOptions) (C, error)
}

func changeConfiguration[C any](ctx context.Context, all configurations[C], name string, change func(C)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		configuration, err := all.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(configuration)
		_, err = all.Update(ctx, configuration, metav1.UpdateOptions{})
		return err
	})
}

// Remove ends the process and deletes both configurations.
func (w *Webhook) Remove(ctx context.Context) error {
	w.Kill()
	client := w.installation.Kube.AdmissionregistrationV1()
	return errors.Join(
		client.MutatingWebhookConfigurations().Delete(ctx, w.of.pods(), metav1.DeleteOptions{}),
		client.ValidatingWebhookConfigurations().Delete(ctx, w.of.validation(), metav1.DeleteOptions{}),
	)
}

// URL is the address of a path that the API server calls. The certificate is for the name of the Service.
func (w *Webhook) URL(path string) string { return fmt.Sprintf("https://localhost:%d%s", w.port, path) }

// Configuration returns the webhook configuration.
func (w *Webhook) Configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return w.installation.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, w.of.pods(), metav1.GetOptions{})
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
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = w.installation.Kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for an answer of the webhook: %w: %w\n%s", err, last, w.Tail(20))
	}
	return nil
}

// Metrics returns the page of the webhook's metrics.
func (w *Webhook) Metrics(ctx context.Context) ([]byte, error) {
	return Fetch(ctx, fmt.Sprintf("http://127.0.0.1:%d/metrics", w.metrics))
}

// answers matches the number of answers, with their attributes.
var answers = regexp.MustCompile(`(?m)^kn_webhook_handler_duration_seconds_count\{([^\n]*)\} (\d+)`)

// Answers returns how many requests about objects of a kind the webhook has answered.
func (w *Webhook) Answers(ctx context.Context, kind string) (int, error) {
	text, err := w.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, found := range answers.FindAllSubmatch(text, -1) {
		if !strings.Contains(string(found[1]), `_kind="`+kind+`"`) {
			continue
		}
		count, err := strconv.Atoi(string(found[2]))
		if err != nil {
			return 0, err
		}
		sum += count
	}
	return sum, nil
}
