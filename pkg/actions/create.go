package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
)

const (
	// settleTime bounds how long Create asks what a request did whose answer was lost, and how long an answer is awaited after an interrupt.
	settleTime = 10 * time.Second
	// generatedLength is how many characters Kubernetes adds to a generateName, and maxGenerated the length to which it cuts that before.
	generatedLength = 5
	maxGenerated    = 63
)

// pauses are those before the repetitions of a request whose answer was lost.
var pauses = []time.Duration{0, 200 * time.Millisecond, time.Second}

// Creation is an object that is to be created.
type Creation struct {
	Resource schema.GroupVersionResource
	Object   *unstructured.Unstructured
	Options  metav1.CreateOptions
	// IsOurs reports whether an object with the name is the one that is to be created here; nil if that cannot be known. An object with a
	// generateName needs none.
	IsOurs func(*unstructured.Unstructured) bool
}

// ByName is for the field IsOurs of an object with a random name.
func ByName(*unstructured.Unstructured) bool { return true }

// UnknownCreationError reports that it is not known whether an object was created.
type UnknownCreationError struct{ message string }

func (e *UnknownCreationError) Error() string { return e.message }

// Create creates an object. If the answer of the API server is lost, the request is repeated, which creates no second object with that name, and the
// object with the name is read. The error is an UnknownCreationError if the result is not known even then.
func Create(ctx context.Context, client dynamic.Interface, c Creation) (*unstructured.Unstructured, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(c.Options.DryRun) > 0 {
		created, _, err := c.request(ctx, client)
		return created, err
	}
	if c.Object.GetName() == "" && c.Object.GetGenerateName() != "" { // a name that is known without an answer
		c.Object = c.Object.DeepCopy()
		base := c.Object.GetGenerateName()
		c.Object.SetName(base[:min(len(base), maxGenerated-generatedLength)] + rand.String(generatedLength))
		c.IsOurs = ByName
	}
	longer, cancel := outlasting(ctx)
	defer cancel()
	created, sent, err := c.request(longer, client)
	if !isLost(err, sent) {
		return created, err
	}
	return c.settle(ctx, client, err)
}

// outlasting returns a context that ends some time after another one: a request in flight may be executed, and its answer tells.
func outlasting(ctx context.Context) (longer context.Context, cancel func()) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(settleTime, end) })
	return longer, func() {
		stop()
		end()
	}
}

// request sends the request. sent reports whether it may have reached the API server.
func (c *Creation) request(ctx context.Context, client dynamic.Interface) (created *unstructured.Unstructured, sent bool, err error) {
	var wrote atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	created, err = client.Resource(c.Resource).Namespace(c.Object.GetNamespace()).Create(traced, c.Object, c.Options)
	return created, wrote.Load(), err
}

// isLost reports whether an error leaves open whether the request was executed.
func isLost(err error, sent bool) bool {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return answer.Status().Code >= http.StatusInternalServerError
	}
	return err != nil && sent
}

// mayBeExecutedLater reports whether an error leaves open whether the API server is done with the request.
func mayBeExecutedLater(err error) bool {
	var answer apierrors.APIStatus
	return !errors.As(err, &answer) || answer.Status().Code == http.StatusGatewayTimeout
}

// settle returns the object of a request whose answer was lost, or why there is none.
func (c *Creation) settle(ctx context.Context, client dynamic.Interface, lost error) (*unstructured.Unstructured, error) {
	interrupted := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if !interrupted {
		created, err := c.repeat(ctx, client, lost)
		if err == nil {
			return created, nil
		}
		lost = err
	}
	name := c.Object.GetName()
	found, err := client.Resource(c.Resource).Namespace(c.Object.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil && c.IsOurs != nil && c.IsOurs(found):
		return found, nil
	case err == nil && c.IsOurs != nil:
		return nil, apierrors.NewAlreadyExists(c.Resource.GroupResource(), name)
	case apierrors.IsNotFound(err) && !mayBeExecutedLater(lost):
		return nil, lost
	default:
		reference := c.Resource.GroupResource().String() + "/" + name
		return nil, &UnknownCreationError{fmt.Sprintf("it is not known whether %s was created, as the answer of the API server was lost (%v): kubectl get %s -n %s shows whether it is there",
			reference, lost, reference, c.Object.GetNamespace())}
	}
}

// repeat sends the request again until it is answered. It returns the object, or the last error that says something about the request.
func (c *Creation) repeat(ctx context.Context, client dynamic.Interface, lost error) (*unstructured.Unstructured, error) {
	for _, pause := range pauses {
		if !mayBeExecutedLater(lost) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, lost
		case <-time.After(pause):
		}
		created, sent, err := c.request(ctx, client)
		if err == nil {
			return created, nil
		}
		if sent {
			lost = err
		}
	}
	return nil, lost
}
