package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

const (
	// keepFor is how long an answer is used. While the API server gives none, the last one is used up to graceFor.
	keepFor, graceFor = time.Minute, 3 * time.Minute
	// maxUsers bounds the tokens whose users are kept, and maxAnswers the answers about rights.
	maxUsers, maxAnswers = 4096, 16384
	// maxInFlight bounds the reviews of one sort that are under way, and maxWaiting those that wait for that. Callers of more get access.ErrBusy: whoever
	// sends many unknown tokens must not exhaust the memory.
	maxInFlight, maxWaiting = 32, 512
	// reviewTimeout bounds one review, with its wait for others.
	reviewTimeout = 10 * time.Second
)

// Reviewer asks the API server, and keeps its answers.
type Reviewer struct {
	client kubernetes.Interface
	// audiences returns those of the tokens. Without one, they are the API server's own.
	audiences func() []string
	users     *answers[User]
	rights    *answers[bool]
}

// NewReviewer creates a Reviewer. Tokens must be for one of the audiences or, without any, for the API server.
func NewReviewer(client kubernetes.Interface, audiences func() []string, clock clock.PassiveClock) *Reviewer {
	return &Reviewer{
		client: client, audiences: audiences,
		users: newAnswers[User](maxUsers, clock), rights: newAnswers[bool](maxAnswers, clock),
	}
}

// unavailable returns the error of a review that failed. needed names the resource that the process creates for it.
func unavailable(err error, needed string) error {
	switch {
	case errors.Is(err, access.ErrBusy):
		return err
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: this process may not create %s: bind it a role with that right (%w)", access.ErrUnavailable, needed, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: it did not answer in time (%w)", access.ErrUnavailable, err)
	default:
		return fmt.Errorf("%w: %w", access.ErrUnavailable, err)
	}
}
