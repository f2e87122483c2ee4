package apierror_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

func TestFailedWebhook(t *testing.T) {
	const message = `failed calling webhook "mutate--v1-pod.sparkoperator.k8s.io": failed to call webhook: no endpoints available`
	for err, want := range map[error]string{
		fmt.Errorf("create: %w", apierrors.NewInternalError(errors.New(message))): "mutate--v1-pod.sparkoperator.k8s.io",
		apierrors.NewInternalError(errors.New("etcd")):                            "",
		errors.New(message): "", // not the API server says so
	} {
		if got := apierror.FailedWebhook(err); got != want {
			t.Errorf("the webhook of %v is %q, want %q", err, got, want)
		}
	}
}

func TestIsNodePortsExhausted(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("create: %w", apierrors.NewInternalError(errors.New("failed to allocate a nodePort: range is full"))): true,
		apierrors.NewInternalError(errors.New("failed to allocate a nodePort: etcd")):                                    false,
		errors.New("failed to allocate a nodePort: range is full"):                                                       false,
	} {
		if got := apierror.IsNodePortsExhausted(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}

func TestIsTerminal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"forbidden by a quota": {apierrors.NewForbidden(pods, "pi", errors.New("exceeded quota")), true},
		"invalid":              {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "pi", nil), true},
		"a bad request":        {apierrors.NewBadRequest("no JSON"), true},
		"too large":            {apierrors.NewRequestEntityTooLargeError("no"), true},
		"wrapped":              {fmt.Errorf("create: %w", apierrors.NewBadRequest("no JSON")), true},
		"an owner of a new kind": {apierrors.NewForbidden(pods, "pi", errors.New("cannot set blockOwnerDeletion in this case because cannot find "+
			"RESTMapping for APIVersion sparkoperator.k8s.io/v1beta2 Kind SparkApplication")), false},
		"unavailable":                 {apierrors.NewServiceUnavailable("later"), false},
		"not found":                   {apierrors.NewNotFound(pods, "pi"), false},
		"a conflict":                  {apierrors.NewConflict(pods, "pi", nil), false},
		"credentials that may return": {apierrors.NewUnauthorized("expired"), false},
		"too many requests":           {apierrors.NewTooManyRequests("later", 1), false},
		"a timeout":                   {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 408}}, false},
		"an error of the server":      {apierrors.NewInternalError(errors.New("etcd")), false},
		"no answer":                   {errors.New("connection refused"), false},
		"nothing":                     {nil, false},
	} {
		if got := apierror.IsTerminal(test.err); got != test.want {
			t.Errorf("%s is terminal: %t", name, got)
		}
	}
}
