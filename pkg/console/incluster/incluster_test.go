package incluster

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firesteel-dev/firesteel/pkg/console"
)

func TestNamespaceIsTheLivingOne(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "1"}})
	r := &reader{Users: NewUsers(client, nil)}
	if got, err := r.Namespace(t.Context(), "team-a"); err != nil || got.UID != "1" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"team-b", "", "../kube-system", "team-a/x"} {
		if _, err := r.Namespace(t.Context(), name); !errors.Is(err, console.ErrNoNamespace) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
