package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/labels"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/check"
)

func benchmarked(b *testing.B) *admission.Validator {
	return &admission.Validator{
		Settings: storeWith(b, nil).Load, Namespaces: labelled(labels.Set{"team": "a"}, nil), Installation: installation, Version: "v1.2.3",
		Admitted: check.AsBuilt, Now: func() time.Time { return time.Unix(0, 0) },
	}
}

// BenchmarkAdmit measures the decision about a new application, without the server and without quotas.
func BenchmarkAdmit(b *testing.B) {
	v := benchmarked(b)
	b.ReportAllocs()
	for b.Loop() {
		if !v.Admit(b.Context(), applied(good)).Allowed {
			b.Fatal("it is refused")
		}
	}
}

// validating is a webhook of the server.
type validating struct {
	webhook.StatelessAdmissionImpl
	*admission.Validator
}

func (validating) Path() string { return admission.ValidationPath }

// BenchmarkAnswer measures the answer of the server about a new application, by the level of its log.
func BenchmarkAnswer(b *testing.B) {
	request := applied(good)
	request.UID = "any"
	review, err := json.Marshal(admissionv1.AdmissionReview{Request: request})
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range []zapcore.Level{zapcore.InfoLevel, zapcore.WarnLevel} {
		b.Run(level.String(), func(b *testing.B) {
			logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), level)).Sugar()
			ctx := webhook.WithOptions(logging.WithLogger(context.Background(), logger), webhook.Options{ServiceName: "webhook", Port: 8443})
			server, err := webhook.New(ctx, []any{validating{Validator: benchmarked(b)}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				asked := httptest.NewRequestWithContext(ctx, http.MethodPost, admission.ValidationPath, bytes.NewReader(review))
				asked.Header.Set("Content-Type", "application/json")
				answer := httptest.NewRecorder()
				if server.ServeHTTP(answer, asked); answer.Code != http.StatusOK {
					b.Fatal(answer)
				}
			}
		})
	}
}
