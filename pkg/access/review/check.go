package review

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// Check returns nil if the user has the right. Otherwise the error is access.ErrNotAllowed or access.ErrUnavailable.
func (r *Reviewer) Check(ctx context.Context, user User, right access.Right) error {
	for _, wider := range right.Including() {
		key := strings.Join([]string{user.key, wider.Verb, wider.Group, wider.Resource, wider.Subresource, wider.Namespace, wider.Name}, "\x00")
		allowed, err := r.rights.get(ctx, key, func(ctx context.Context) (answer[bool], error) { return r.reviewAccess(ctx, user, wider) })
		switch {
		case err != nil:
			return unavailable(err, "subjectaccessreviews.authorization.k8s.io")
		case allowed:
			return nil
		}
	}
	return fmt.Errorf("%w: it needs %s", access.ErrNotAllowed, right)
}

func (r *Reviewer) reviewAccess(ctx context.Context, user User, right access.Right) (answer[bool], error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.info.Extra))
	for key, values := range user.info.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.info.Username, UID: user.info.UID, Groups: user.info.Groups, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: right.Verb, Group: right.Group, Resource: right.Resource, Subresource: right.Subresource,
				Namespace: right.Namespace, Name: right.Name,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return answer[bool]{}, err
	}
	allowed := review.Status.Allowed && !review.Status.Denied
	return answer[bool]{value: allowed, uncertain: !allowed && review.Status.EvaluationError != ""}, nil
}
