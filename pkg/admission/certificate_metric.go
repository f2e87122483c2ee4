package admission

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"go.opentelemetry.io/otel/metric"
	corelisters "k8s.io/client-go/listers/core/v1"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// MeasureCertificate registers the metric of the time for which the certificate in a Secret is still valid. Without a certificate it has no value.
func MeasureCertificate(provider metric.MeterProvider, secrets corelisters.SecretNamespaceLister, secret string, now func() time.Time) error {
	_, err := provider.Meter("github.com/firesteel-dev/firesteel/pkg/admission").Int64ObservableGauge("firesteel.webhook.certificate.remaining",
		metric.WithDescription("Time for which the webhook's certificate is still valid. Every replica has the same certificate."), metric.WithUnit("s"),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			expires, ok := certificateExpires(secrets, secret)
			if ok {
				observer.Observe(int64(expires.Sub(now()).Seconds()))
			}
			return nil
		}))
	return err
}

// certificateExpires returns when the certificate in a Secret expires, and false if there is none that can be read.
func certificateExpires(secrets corelisters.SecretNamespaceLister, name string) (time.Time, bool) {
	secret, err := secrets.Get(name)
	if err != nil {
		return time.Time{}, false
	}
	block, _ := pem.Decode(secret.Data[certresources.ServerCert])
	if block == nil {
		return time.Time{}, false
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return certificate.NotAfter, true
}
