package review

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// Self asks the API server what the user of a client may do (SelfSubjectAccessReview), and keeps its answers. Every user may ask that.
type Self struct {
	client kubernetes.Interface
	rights *answers[bool]
}

// NewSelf creates a Self.
func NewSelf(client kubernetes.Interface, clock clock.PassiveClock) *Self {
	return &Self{client: client, rights: newAnswers[bool](maxAnswers, clock)}
}

// Name asks the API server for the name of the user (SelfSubjectReview). Its error is that of the request.
func (s *Self) Name(ctx context.Context) (string, error) {
	review, err := s.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}

// Check returns nil if the user has the right. Otherwise the error is access.ErrNotAllowed, access.ErrBusy or access.ErrUnavailable.
func (s *Self) Check(ctx context.Context, right access.Right) error {
	allowed, err := s.rights.get(ctx, keyOf(right), func(ctx context.Context) (answer[bool], error) { return s.review(ctx, right) })
	return resultOf(right, allowed, err, selfReviews)
}

// Ask is Check without kept answers: it asks the API server now.
func (s *Self) Ask(ctx context.Context, right access.Right) error {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answered, err := s.rights.once(ctx, func(ctx context.Context) (answer[bool], error) { return s.review(ctx, right) })
	return resultOf(right, answered.value, err, selfReviews)
}

func (s *Self) review(ctx context.Context, right access.Right) (answer[bool], error) {
	review, err := s.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributesOf(right)},
	}, metav1.CreateOptions{})
	if err != nil {
		return answer[bool]{}, err
	}
	return verdict(review.Status), nil
}
