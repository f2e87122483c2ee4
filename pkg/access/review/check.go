package review

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// Check returns nil if the user has the right. Otherwise the error is access.ErrNotAllowed, access.ErrBusy or access.ErrUnavailable. It asks for exactly
// this right: an authorizer may allow a wider one and deny this one.
func (r *Reviewer) Check(ctx context.Context, user User, right access.Right) error {
	key := user.key + "\x00" + keyOf(right)
	allowed, err := r.rights.get(ctx, key, func(ctx context.Context) (answer[bool], error) { return r.reviewAccess(ctx, user, right) })
	return resultOf(right, allowed, err, subjectReviews)
}

// Ask is Check without kept answers: it asks the API server now.
func (r *Reviewer) Ask(ctx context.Context, user User, right access.Right) error {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answered, err := r.rights.once(ctx, func(ctx context.Context) (answer[bool], error) { return r.reviewAccess(ctx, user, right) })
	return resultOf(right, answered.value, err, subjectReviews)
}

// The resources that are created for reviews.
const (
	subjectReviews = "subjectaccessreviews.authorization.k8s.io"
	selfReviews    = "selfsubjectaccessreviews.authorization.k8s.io"
)

// resultOf returns the result of a check, of the answer or the error of its review. needed is what is created for it.
func resultOf(right access.Right, allowed bool, err error, needed string) error {
	switch {
	case err != nil:
		return unavailable(err, needed)
	case !allowed:
		return fmt.Errorf("%w: it needs %s", access.ErrNotAllowed, right)
	}
	return nil
}

// keyOf identifies a right.
func keyOf(right access.Right) string {
	return strings.Join([]string{right.Verb, right.Group, right.Resource, right.Subresource, right.Namespace, right.Name}, "\x00")
}

// attributesOf returns a right as reviews have it.
func attributesOf(right access.Right) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: right.Verb, Group: right.Group, Resource: right.Resource, Subresource: right.Subresource, Namespace: right.Namespace, Name: right.Name,
	}
}

// verdict reads the answer to a review.
func verdict(status authorizationv1.SubjectAccessReviewStatus) answer[bool] {
	allowed := status.Allowed && !status.Denied
	return answer[bool]{value: allowed, uncertain: !allowed && status.EvaluationError != ""}
}

func (r *Reviewer) reviewAccess(ctx context.Context, user User, right access.Right) (answer[bool], error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.info.Extra))
	for key, values := range user.info.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.info.Username, UID: user.info.UID, Groups: user.info.Groups, Extra: extra, ResourceAttributes: attributesOf(right),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return answer[bool]{}, err
	}
	return verdict(review.Status), nil
}
