package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// maxTokenBytes bounds a token. Those of large OIDC providers have a few KiB.
const maxTokenBytes = 16 << 10

// User is a user whom the API server knows.
type User struct {
	info authenticationv1.UserInfo
	// key identifies name, groups and everything else that a decision may depend on.
	key string
}

// Name returns the name of the user.
func (u User) Name() string { return u.info.Username }

// Key identifies name, groups and everything else that a decision may depend on.
func (u User) Key() string { return u.key }

// authenticatedGroup is the group that the API server adds to whom it knows, and to whom it is asked to impersonate.
const authenticatedGroup = "system:authenticated"

// Impersonated returns a user as the API server sees one whom a process impersonates.
func Impersonated(name string, groups []string) (User, error) {
	return newUser(authenticationv1.UserInfo{Username: name, Groups: append(slices.Clone(groups), authenticatedGroup)})
}

// newUser describes a user whom the API server has authenticated.
func newUser(info authenticationv1.UserInfo) (User, error) {
	described, err := json.Marshal(info)
	if err != nil {
		return User{}, fmt.Errorf("describe user %q: %w", info.Username, err)
	}
	return User{info: info, key: hash(string(described))}, nil
}

// Authenticate returns the user of a bearer token. Its error is access.ErrUnauthenticated, access.ErrBusy or access.ErrUnavailable.
func (r *Reviewer) Authenticate(ctx context.Context, token string) (User, error) {
	if token == "" {
		return User{}, fmt.Errorf("%w: the request has no bearer token", access.ErrUnauthenticated)
	}
	if len(token) > maxTokenBytes {
		return User{}, fmt.Errorf("%w: the token has %d bytes, and at most %d are accepted", access.ErrUnauthenticated, len(token), maxTokenBytes)
	}
	audiences := r.audiences()
	key := hash(strings.Join(append(slices.Clone(audiences), token), "\x00"))
	user, err := r.users.get(ctx, key, func(ctx context.Context) (answer[User], error) { return r.reviewToken(ctx, token, audiences) })
	switch {
	case err != nil:
		return User{}, unavailable(err, "tokenreviews.authentication.k8s.io")
	case user.key == "":
		return User{}, fmt.Errorf("%w: the API server does not accept the token: log in again", access.ErrUnauthenticated)
	}
	return user, nil
}

// reviewToken asks about a token. It returns a User without a key for a token that is not accepted.
func (r *Reviewer) reviewToken(ctx context.Context, token string, audiences []string) (answer[User], error) {
	review, err := r.client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return answer[User]{}, err
	}
	status := review.Status
	if !status.Authenticated || !isFor(audiences, status.Audiences) || status.User.Username == "" {
		// The API server reports an error for each token that it does not know, and also if an authenticator cannot be reached.
		return answer[User]{uncertain: status.Error != ""}, nil
	}
	user, err := newUser(status.User)
	return answer[User]{value: user}, err
}

// isFor reports whether a token with these audiences is for one of those that were wanted. An authenticator that knows no audiences returns none:
// then only tokens for the API server are accepted.
func isFor(wanted, audiences []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(wanted, a) })
}

// hash returns a text from which a secret cannot be read.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Pod is a Pod that a token is bound to.
type Pod struct {
	types.NamespacedName
	UID types.UID
}

// The keys under which the API server says which Pod a token of a service account is bound to.
const (
	podNameKey          = "authentication.kubernetes.io/pod-name"
	podUIDKey           = "authentication.kubernetes.io/pod-uid"
	serviceAccountGroup = "system:serviceaccounts"
	serviceAccountUser  = "system:serviceaccount:"
)

// Pod returns the Pod that the user's token is bound to. It returns false if the token is bound to none, or is not that of a service account.
func (u User) Pod() (Pod, bool) {
	account, isAccount := strings.CutPrefix(u.info.Username, serviceAccountUser)
	namespace, _, _ := strings.Cut(account, ":")
	name, uid := u.info.Extra[podNameKey], u.info.Extra[podUIDKey]
	if !isAccount || namespace == "" || !slices.Contains(u.info.Groups, serviceAccountGroup) || len(name) != 1 || len(uid) != 1 || name[0] == "" || uid[0] == "" {
		return Pod{}, false
	}
	return Pod{types.NamespacedName{Namespace: namespace, Name: name[0]}, types.UID(uid[0])}, true
}
