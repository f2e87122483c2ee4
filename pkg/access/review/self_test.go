package review_test

import (
	"errors"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
)

// selfReviews answers reviews of the user of a client, who may do what allowed is, and counts them.
func selfReviews(allowed access.Right, failure *error) (*fake.Clientset, *int) {
	client, count := fake.NewClientset(), 0
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		answer := &authenticationv1.SelfSubjectReview{}
		answer.Status.UserInfo.Username = "ann"
		return true, answer, *failure
	})
	client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		count++
		asked := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		a := asked.Spec.ResourceAttributes
		right := access.Right{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}
		asked.Status.Allowed = right == allowed
		return true, asked, *failure
	})
	return client, &count
}

func TestSelfAsksWhatItsOwnUserMayDo(t *testing.T) {
	var failure error
	client, count := selfReviews(logs, &failure)
	clock := newClock()
	self := review.NewSelf(client, clock)
	if name, err := self.Name(t.Context()); err != nil || name != "ann" {
		t.Errorf("the user is %q (%v)", name, err)
	}
	for range 3 {
		if err := self.Check(t.Context(), logs); err != nil {
			t.Error(err)
		}
	}
	other := logs
	other.Namespace = "team-b"
	if err := self.Check(t.Context(), other); !errors.Is(err, access.ErrNotAllowed) {
		t.Errorf("another namespace: %v", err)
	}
	if *count != 2 {
		t.Errorf("%d reviews, want 2: answers are kept", *count)
	}
	if err := self.Ask(t.Context(), logs); err != nil || *count != 3 {
		t.Errorf("asked now: %v after %d reviews", err, *count)
	}
	failure = apierrors.NewServiceUnavailable("gone")
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	if err := self.Check(t.Context(), logs); err != nil {
		t.Errorf("while the API server gives no answer: %v", err)
	}
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	if err := self.Check(t.Context(), logs); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("without an answer for long: %v", err)
	}
}
