package admission_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

func TestMetricHasTheTimeForWhichTheCertificateIsValid(t *testing.T) {
	now := time.Now()
	expires := now.Add(7 * 24 * time.Hour).Truncate(time.Second)
	_, certificate, _, err := certresources.CreateCerts(t.Context(), "webhook", "firesteel-system", expires)
	if err != nil {
		t.Fatal(err)
	}
	secrets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	store := func(certificate []byte) {
		t.Helper()
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: "webhook-certificates"},
			Data:       map[string][]byte{certresources.ServerCert: certificate},
		}
		if err := secrets.Add(secret); err != nil {
			t.Fatal(err)
		}
	}
	reader := metricstest.NewReader()
	lister := corelisters.NewSecretLister(secrets).Secrets("firesteel-system")
	if err := admission.MeasureCertificate(reader.Provider(), lister, "webhook-certificates", func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	const metric = "firesteel.webhook.certificate.remaining " // without attributes
	if got, ok := reader.Values(t)[metric]; ok {
		t.Errorf("without a Secret it is %v", got)
	}
	store(nil) // the Secret is applied empty
	if got, ok := reader.Values(t)[metric]; ok {
		t.Errorf("without a certificate it is %v", got)
	}
	store([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	if got, ok := reader.Values(t)[metric]; ok {
		t.Errorf("with a certificate that cannot be read it is %v", got)
	}
	store(certificate)
	for _, passed := range []time.Duration{0, 6 * 24 * time.Hour, 8 * 24 * time.Hour} {
		now = expires.Add(-7 * 24 * time.Hour).Add(passed)
		if got, want := reader.Values(t)[metric], (7*24*time.Hour - passed).Seconds(); got != want {
			t.Errorf("after %v it is %v s, want %v", passed, got, want)
		}
	}
}
