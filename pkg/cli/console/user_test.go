package console

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
)

// failing returns a client whose reviews of its user have an error.
func failing(failure error) *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	return client
}

func TestOnlyTheSessionOfThisProcessIsTheUser(t *testing.T) {
	one, err := newUser(t.Context(), failing(apierrors.NewNotFound(schema.GroupResource{Resource: "selfsubjectreviews"}, "")))
	if err != nil || one.Name() != "the user of the kubeconfig" {
		t.Fatalf("%v, %v", one, err)
	}
	two, err := newUser(t.Context(), failing(apierrors.NewNotFound(schema.GroupResource{Resource: "selfsubjectreviews"}, "")))
	if err != nil {
		t.Fatal(err)
	}
	if reader, err := one.Reader(t.Context(), one.token); err != nil || reader.Key() != one.Key() {
		t.Errorf("%v, %v", reader, err)
	}
	for _, token := range []string{"", "x", two.token, one.token + "x", one.name} {
		if _, err := one.Reader(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%q: %v", token, err)
		}
	}
	if _, err := one.Namespace(t.Context(), "team-a"); !errors.Is(err, console.ErrNoNamespace) {
		t.Errorf("an archive: %v", err)
	}
}

func TestClusterThatDoesNotAnswerIsAnError(t *testing.T) {
	failure := apierrors.NewUnauthorized("who are you")
	if _, err := newUser(t.Context(), failing(failure)); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}
