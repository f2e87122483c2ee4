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
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	partWebhook = "webhook"
	// What the slowest of a hundred answers may take, in milliseconds, and the memory of the process, in MiB.
	answerGoalP99, webhookMemoryGoal = 5, 50
)

// measureWebhook is the part that asks the webhook about annotated Pods, one after the other: itself, and through the API server.
func (b *bench) measureWebhook(ctx context.Context) (err error) {
	if err := firesteel.Build(ctx, b.root, b.dir, "cmd/webhook"); err != nil {
		return err
	}
	namespace, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	w, err := b.StartWebhook(ctx, b.root, filepath.Join(b.dir, "webhook"), b.dir)
	if err != nil {
		return err
	}
	defer func() {
		w.Kill()
		err = errors.Join(err, b.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(ctx, firesteel.WebhookConfiguration, metav1.DeleteOptions{}))
	}()
	if err := w.UntilAnswering(ctx, namespace); err != nil {
		return err
	}
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
	configuration, err := w.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: authority, ServerName: "webhook." + firesteel.SystemNamespace + ".svc", MinVersion: tls.VersionTLS13,
	}}}
	defer client.CloseIdleConnections()
	pod, err := json.Marshal(plainRun(true))
	if err != nil {
		return nil, err
	}
	review, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "any", Operation: admissionv1.Create, Namespace: "default", Object: runtime.RawExtension{Raw: pod},
			Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		},
	})
	if err != nil {
		return nil, err
	}
	for range b.count {
		began := time.Now()
		if err := ask(ctx, client, w.URL(), review); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// ask sends a review, and wants a patch.
func ask(ctx context.Context, client *http.Client, url string, review []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(review))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if answer.Response == nil || !answer.Response.Allowed || len(answer.Response.Patch) == 0 {
		return fmt.Errorf("the webhook answers %v, want a patch", answer.Response)
	}
	return nil
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
