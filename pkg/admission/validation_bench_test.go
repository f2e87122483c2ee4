package admission_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/check"
)

// BenchmarkAdmit measures the answer about a new application, without the server and without quotas.
func BenchmarkAdmit(b *testing.B) {
	v := &admission.Validator{
		Settings: storeWith(b, nil).Load, Namespaces: labelled(labels.Set{"team": "a"}, nil), Installation: installation, Version: "v1.2.3",
		Admitted: check.AsBuilt, Now: func() time.Time { return time.Unix(0, 0) },
	}
	b.ReportAllocs()
	for b.Loop() {
		if !v.Admit(b.Context(), applied(good)).Allowed {
			b.Fatal("it is refused")
		}
	}
}
