package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// slowWebhook admits Pods of a namespace when it is closed, and counts those that it holds. It refuses those that are tried, at once.
type slowWebhook struct {
	*httptest.Server
	closed chan struct{}

	mutex sync.Mutex
	// held is the number of Pods that wait, and most the highest number before the first of them went.
	held, most int
	went       bool
	changed    chan struct{}
}

func (w *slowWebhook) count(change int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.held += change
	if w.went = w.went || change < 0; !w.went {
		w.most = max(w.most, w.held)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// untilHolds waits until the webhook holds a number of Pods, and returns how many it held at most.
func (w *slowWebhook) untilHolds(s *env, pods int) int {
	s.Helper()
	for {
		w.mutex.Lock()
		most, changed := w.most, w.changed
		w.mutex.Unlock()
		if most >= pods {
			return most
		}
		select {
		case <-changed:
		case <-s.Context().Done():
			s.Fatalf("the webhook holds %d Pods", most)
		}
	}
}

func (w *slowWebhook) admit(answer http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	tried := ptr.Deref(review.Request.DryRun, false)
	if !tried {
		w.count(1)
		defer w.count(-1)
		select {
		case <-w.closed:
		case <-request.Context().Done():
		}
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !tried}
	_ = json.NewEncoder(answer).Encode(review)
}

// slowly has a webhook hold all Pods of the env's namespace.
func (s *env) slowly() *slowWebhook {
	s.Helper()
	w := &slowWebhook{closed: make(chan struct{}), changed: make(chan struct{})}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(w.admit))
	s.Cleanup(w.Close)
	webhooks := s.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := webhooks.Create(s.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "slow.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds: ptr.To[int32](30), FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.ns}},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      ptr.To(w.URL),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() {
		close(w.closed)
		s.must(webhooks.Delete(context.Background(), s.ns, metav1.DeleteOptions{}))
	})
	s.untilRefused("slow.example.com", s.creating(plainPod("tried")))
	return w
}

// A webhook of one namespace that answers late holds a worker for each Pod of that namespace. It never holds all of them.
func TestNamespaceThatIsSlowLeavesWorkersToOthers(t *testing.T) {
	alone(t)
	const workers, share = 40, 30
	slow, other := newEnv(t), newEnv(t)
	webhook := slow.slowly()
	other.untilReady(other.ownController(controller{sink: other.sink.URL()}))
	for i := range 2 * workers {
		slow.create(App(fmt.Sprintf("slow-%d", i)))
	}
	webhook.untilHolds(slow, share)
	other.create(App("pi"))
	other.run("pi", 0).succeed()
	other.untilState("pi", "ResourceReleased")
	if most := webhook.untilHolds(slow, share); most > share {
		t.Errorf("the slow namespace holds %d of %d workers, want %d", most, workers, share)
	}
}
