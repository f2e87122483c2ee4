package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/bench/usage"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	partWebhook = "webhook"
	// What the slowest of a hundred answers may take, in milliseconds, and the memory of the process, in MiB: with annotated Pods alone, and
	// with the quotas and storedEach unfinished applications for each that is asked about, which makes 10,000.
	answerGoalP99, webhookMemoryGoal, validationMemoryGoal = 5, 50, 60
	storedEach                                             = 10
	// asked is how often the webhook is asked about applications.
	asked = 10 * time.Millisecond
)

// measureWebhook is the part that asks the webhook: about annotated Pods, and about applications that are compared with quotas.
func (b *bench) measureWebhook(ctx context.Context) error {
	if err := firesteel.Build(ctx, b.root, b.dir, "cmd/webhook"); err != nil {
		return err
	}
	if err := b.measureAnnotatedPods(ctx); err != nil {
		return err
	}
	return b.measureValidation(ctx)
}

// startWebhook starts the webhook, and waits until it answers about the Pods of a namespace.
func (b *bench) startWebhook(ctx context.Context, namespace string) (*firesteel.Webhook, error) {
	w, err := b.StartWebhook(ctx, b.root, filepath.Join(b.dir, "webhook"), b.dir)
	if err != nil {
		return nil, err
	}
	if err := w.UntilAnswering(ctx, namespace); err != nil {
		return nil, errors.Join(err, w.Remove(ctx))
	}
	return w, nil
}

// measureAnnotatedPods asks the webhook about annotated Pods, one after the other: itself, and through the API server.
func (b *bench) measureAnnotatedPods(ctx context.Context) (err error) {
	namespace, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	w, err := b.startWebhook(ctx, namespace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Remove(ctx)) }()
	plain, annotated, err := b.dryRuns(ctx, namespace)
	if err != nil {
		return err
	}
	p50, p90, p99 := b.AddTimes(partWebhook, "annotated Pod", "dry run", annotated)
	against(plain, p50, p90, p99)
	answers, err := b.answers(ctx, w)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.Tail(20))
	}
	_, _, p99 = b.AddTimes(partWebhook, "annotated Pod", "answer", answers)
	p99.Below(answerGoalP99)
	resident, err := w.PeakResident()
	if err != nil {
		return err
	}
	b.Add(partWebhook, "annotated Pod", "resident at most", "MiB", float64(resident)/(1<<20)).Below(webhookMemoryGoal)
	b.logf("%d answers measured", len(answers))
	return nil
}

// dryRuns times the API server with Pods that it shows to the webhook, and with Pods that it does not, by turns.
func (b *bench) dryRuns(ctx context.Context, namespace string) (plain, annotated []time.Duration, err error) {
	for range b.count {
		for _, run := range []struct {
			annotated bool
			times     *[]time.Duration
		}{{false, &plain}, {true, &annotated}} {
			began := time.Now()
			_, err := b.Kube.CoreV1().Pods(namespace).Create(ctx, plainRun(run.annotated), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				return nil, nil, err
			}
			*run.times = append(*run.times, time.Since(began))
		}
	}
	return plain, annotated, nil
}

// answers times the webhook alone, over one connection as the API server's.
func (b *bench) answers(ctx context.Context, w *firesteel.Webhook) (times []time.Duration, err error) {
	client, err := asAPIServer(ctx, w)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	review, err := reviewOf(plainRun(true), "default", metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, "pods")
	if err != nil {
		return nil, err
	}
	for range b.count {
		began := time.Now()
		answer, err := ask(ctx, client, w.URL(admission.PodsPath), review)
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		if len(answer.Patch) == 0 {
			return nil, fmt.Errorf("the webhook answers %v, want a patch", answer)
		}
	}
	return times, nil
}

// idleConnections is how many connections the API server keeps to a webhook, over HTTP/1.1: client-go's transport does so for each host. With Go's
// default, two, each request beside two others would begin with a TLS handshake.
const idleConnections = 25

// asAPIServer is a client that trusts the webhook as the API server does.
func asAPIServer(ctx context.Context, w *firesteel.Webhook) (*http.Client, error) {
	configuration, err := w.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: idleConnections, TLSClientConfig: &tls.Config{
		RootCAs: authority, ServerName: "webhook." + firesteel.SystemNamespace + ".svc", MinVersion: tls.VersionTLS13,
	}}}, nil
}

// reviewOf is the API server's question about a new object.
func reviewOf(object any, namespace string, kind metav1.GroupVersionKind, resource string) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "any", Operation: admissionv1.Create, Namespace: namespace, Object: runtime.RawExtension{Raw: raw}, Kind: kind,
			Resource: metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resource},
		},
	})
}

// ask sends a review, and wants the object to be allowed.
func ask(ctx context.Context, client *http.Client, url string, review []byte) (*admissionv1.AdmissionResponse, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	if answer.Response == nil || !answer.Response.Allowed {
		return nil, fmt.Errorf("the webhook answers %v", answer.Response)
	}
	return answer.Response, nil
}

// measureValidation asks the webhook about applications a hundred times a second, while it compares them with the quota of a namespace that
// has many unfinished ones.
func (b *bench) measureValidation(ctx context.Context) (err error) {
	namespace, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	stored := b.count * storedEach
	defer func() { err = errors.Join(err, b.unlimited(ctx, namespace)) }()
	if err := b.limited(ctx, namespace, stored); err != nil {
		return err
	}
	w, err := b.startWebhook(ctx, namespace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Remove(ctx)) }()
	client, err := asAPIServer(ctx, w)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	review, err := reviewOf(apacheApplication("asked", runs), namespace, metav1.GroupVersionKind(sparkv1.SchemeGroupVersion.WithKind("SparkApplication")), "sparkapplications")
	if err != nil {
		return err
	}
	waits := func() (bool, error) {
		answer, err := ask(ctx, client, w.URL(admission.ValidationPath), review)
		return err == nil && strings.Contains(fmt.Sprint(answer.Warnings), "will wait for room"), err
	}
	if err := until(ctx, "the webhook to know all applications", waits); err != nil {
		return fmt.Errorf("%w\n%s", err, w.Tail(20))
	}
	deletion, err := deletionOf(review)
	if err != nil {
		return err
	}
	unchecked, err := b.validations(ctx, client, w.URL(admission.ValidationPath), deletion)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.Tail(20))
	}
	before, err := observedBy(ctx, w)
	if err != nil {
		return err
	}
	times, err := b.validations(ctx, client, w.URL(admission.ValidationPath), review)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.Tail(20))
	}
	after, err := observedBy(ctx, w)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("application beside %d, compared with quotas", stored)
	p50, p90, p99 := b.AddTimes(partWebhook, of, "answer at 100 a second", times)
	against(unchecked, p50, p90, p99)
	p99.Below(answerGoalP99)
	within := after.answers.Since(before.answers)
	b.Add(partWebhook, of, "answer by the webhook's own histogram, p90 at most", "ms", 1000*within.Quantile(0.9))
	b.Add(partWebhook, of, "answer by the webhook's own histogram, p99 at most", "ms", 1000*within.Quantile(0.99))
	b.Add(partWebhook, of, "allocated for an answer", "KiB", (after.allocated-before.allocated)/float64(len(times))/(1<<10))
	resident, err := w.PeakResident()
	if err != nil {
		return err
	}
	b.Add(partWebhook, of, "resident at most", "MiB", float64(resident)/(1<<20)).Below(validationMemoryGoal)
	b.logf("%d answers measured", len(times))
	return nil
}

// observed is what the webhook's own metrics say: how long its requests about validation took, from the first byte read to the last one written, and
// the bytes that it has allocated. The difference to the time of a round trip is the connection's and the machine's.
type observed struct {
	answers   usage.Histogram
	allocated float64
}

func observedBy(ctx context.Context, w *firesteel.Webhook) (o observed, err error) {
	page, err := w.Metrics(ctx)
	if err != nil {
		return o, err
	}
	if o.answers, err = usage.Observed(page, "http_server_request_duration_seconds", func(label func(string) string) bool {
		return label("http_route") == admission.ValidationPath
	}); err != nil {
		return o, err
	}
	all, err := usage.Counts(page, "go_memstats_alloc_bytes_total", func(func(string) string) string { return "" })
	o.allocated = all[""]
	return o, err
}

// deletionOf is the question about the deletion of the object of a review, which is never checked: its answer takes what the connection and the
// machine need.
func deletionOf(review []byte) ([]byte, error) {
	var of admissionv1.AdmissionReview
	if err := json.Unmarshal(review, &of); err != nil {
		return nil, err
	}
	of.Request.Operation = admissionv1.Delete
	return json.Marshal(of)
}

// limited stores unfinished applications in a namespace whose quota is as large as what they ask for.
func (b *bench) limited(ctx context.Context, namespace string, applications int) error {
	if err := b.Configure(ctx, "config-admission", map[string]string{"quota": "hold"}); err != nil {
		return err
	}
	hard := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(applications*(1+executorsEach)), resource.DecimalSI)}
	limit := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if _, err := b.Kube.CoreV1().ResourceQuotas(namespace).Create(ctx, limit, metav1.CreateOptions{}); err != nil {
		return err
	}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i := range applications {
		group.Go(func() error {
			_, err := apacheKind.create(creating, b.Spark, namespace, fmt.Sprintf("stored-%05d", i), runs)
			return err
		})
	}
	return group.Wait()
}

// unlimited removes what limited made.
func (b *bench) unlimited(ctx context.Context, namespace string) error {
	return errors.Join(
		b.Configure(ctx, "config-admission", map[string]string{"quota": ""}),
		b.Kube.CoreV1().ResourceQuotas(namespace).Delete(ctx, "team", metav1.DeleteOptions{}),
		b.Spark.SparkV1().SparkApplications(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
	)
}

// validations times answers from the instant at which each is due, whether or not those before it are answered.
func (b *bench) validations(ctx context.Context, client *http.Client, url string, review []byte) ([]time.Duration, error) {
	times := make([]time.Duration, b.count)
	group, asking := errgroup.WithContext(ctx)
	due := time.NewTicker(asked)
	defer due.Stop()
	for i := range times {
		at := <-due.C
		group.Go(func() error {
			_, err := ask(asking, client, url, review)
			times[i] = time.Since(at)
			return err
		})
	}
	return times, group.Wait()
}

// plainRun is a driver of a plain spark-submit run, with or without annotations of all kinds.
func plainRun(annotated bool) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", Labels: map[string]string{"spark-role": "driver"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "spark-kubernetes-driver", Image: image, Args: []string{"driver", "--class", mainClass, mainJar},
			Env: []corev1.EnvVar{{Name: "SPARK_CONF_DIR", Value: "/opt/spark/conf"}},
		}}},
	}
	if annotated {
		pod.Annotations = map[string]string{
			"spark-operator.k8s.io/sparkConfigMap": "spark", "spark-operator.k8s.io/hadoopConfigMap": "hadoop", "spark-operator.k8s.io/configMap.a": "/a",
			"spark-operator.k8s.io/secret.s": "/s", "spark-operator.k8s.io/GCPServiceAccount.g": "/g",
			"spark-operator.k8s.io/ownerReference": `{"apiVersion":"v1","kind":"ConfigMap","name":"run","uid":"u"}`,
			"spark-operator.k8s.io/volumes.v":      `{"name":"v","emptyDir":{}}`, "spark-operator.k8s.io/volumemounts.v": `{"name":"v","mountPath":"/v"}`,
		}
	}
	return pod
}
