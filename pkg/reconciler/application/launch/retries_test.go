package launch

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A create that the client repeats by itself could be of an attempt that has ended meanwhile.
func TestRetriesOfABusyServerAreOfReadsOnly(t *testing.T) {
	var reads, creates atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		count := &reads
		if request.Method == http.MethodPost {
			count = &creates
		}
		if count.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pi-0-driver"}}`))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	WithoutCreateRetries(config)
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("team-a")
	if _, err := pods.Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{}); !apierrors.IsTooManyRequests(err) || creates.Load() != 1 {
		t.Errorf("the create ends with %v after %d requests", err, creates.Load())
	}
	if _, err := pods.Get(t.Context(), "pi-0-driver", metav1.GetOptions{}); err != nil || reads.Load() != 2 {
		t.Errorf("the read ends with %v after %d requests", err, reads.Load())
	}
}
