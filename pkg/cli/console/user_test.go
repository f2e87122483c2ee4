package console

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
)

// failing returns a client whose reviews of its user have an error.
func failing(failure error) *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	return client
}

func noWarning(string) {}

func TestOnlyTheSessionOfThisProcessIsTheUser(t *testing.T) {
	one, err := newUser(t.Context(), failing(apierrors.NewNotFound(schema.GroupResource{Resource: "selfsubjectreviews"}, "")), noWarning)
	if err != nil || one.Name() != "the user of the kubeconfig" {
		t.Fatalf("%v, %v", one, err)
	}
	two, err := newUser(t.Context(), failing(apierrors.NewNotFound(schema.GroupResource{Resource: "selfsubjectreviews"}, "")), noWarning)
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
	if _, err := newUser(t.Context(), failing(failure), noWarning); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}

func TestCredentialsThatAreOverAreSaidOnce(t *testing.T) {
	client := failing(apierrors.NewNotFound(schema.GroupResource{Resource: "selfsubjectreviews"}, ""))
	refused := false
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused {
			return true, nil, apierrors.NewUnauthorized("the token has expired")
		}
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
	var warnings []string
	u, err := newUser(t.Context(), client, func(text string) { warnings = append(warnings, text) })
	if err != nil {
		t.Fatal(err)
	}
	right := access.RightOn("list", "sparkapplications.spark.apache.org", "team-a", "")
	if err := u.Ask(t.Context(), right); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %q", err, warnings)
	}
	refused = true
	for _, ask := range []func() error{
		func() error { return u.Ask(t.Context(), right) },
		func() error { return u.Check(t.Context(), access.RightOn("get", "pods", "team-a", "")) },
	} {
		var refusal *pages.Refusal
		if err := ask(); !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized || !strings.Contains(refusal.Message, "Log in again") {
			t.Errorf("the error is %v", err)
		}
	}
	if len(warnings) != 1 || warnings[0] != notAccepted {
		t.Errorf("the warnings are %q", warnings)
	}
}
