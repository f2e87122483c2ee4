package act

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

var (
	errNoAction = errors.New("there is no such action")
	errOff      = errors.New("this console only reads: the key actions of the ConfigMap config-console allows actions, and so does kubectl spark console --actions")
	errReplaced = errors.New("another object has the name by now: nothing was done; look at it first")
	errChanged  = errors.New("the object has changed since you were shown what the action will do: nothing was done; look at it again")
)

// refusedError is the refusal of an action by what the object is, or by what the user wrote.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// Explain returns the HTTP status for the error of an action, and its text for people.
func (a *Actions) Explain(err error) (status int, message string) {
	var refused *refusedError
	var unknown *actions.UnknownCreationError
	var answer apierrors.APIStatus
	text := redact.Text(err.Error())
	switch {
	case errors.Is(err, errNoAction):
		return http.StatusNotFound, sentence(text)
	case errors.Is(err, errOff):
		return http.StatusForbidden, sentence(text)
	case errors.Is(err, errReplaced), errors.Is(err, errChanged):
		return http.StatusConflict, sentence(text)
	case errors.As(err, &refused):
		return http.StatusUnprocessableEntity, sentence(text)
	case errors.As(err, &unknown):
		return http.StatusBadGateway, sentence(text)
	case apierrors.IsNotFound(err):
		return http.StatusNotFound, "The object is gone, or you may not read it."
	case apierrors.IsUnauthorized(err):
		return http.StatusUnauthorized, "The API server does not accept your token: sign in again. If your token is for the console alone, as the key audiences of the " +
			"ConfigMap config-console says, you can read with it, and not act."
	case apierrors.IsForbidden(err):
		return http.StatusForbidden, sentence("the API server refuses it: " + text)
	case apierrors.IsConflict(err):
		return http.StatusConflict, "Others change the object all the time, and nothing was done. Try again."
	case errors.As(err, &answer) && answer.Status().Code < http.StatusInternalServerError:
		return int(answer.Status().Code), sentence("the API server refuses it: " + text)
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, "The API server did not answer in time. It may still do what was asked: look at the object."
	case errors.Is(err, access.ErrUnavailable):
		return http.StatusServiceUnavailable, "The API server cannot be asked what you may do. Try again later."
	}
	a.Logger.Errorw("action failed", zap.Error(err))
	return http.StatusBadGateway, "The API server does not answer. It may still do what was asked: look at the object."
}
