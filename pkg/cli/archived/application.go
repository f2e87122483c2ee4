package archived

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Application is an application of the archive.
type Application struct {
	*api.Details
	client *api.Client
	kind   actions.Kind
}

// Find returns the newest application of the archive that a user names, or the newest cluster if nouns have that kind. gone is the error of the search in
// the cluster: it is returned if there is no archive, or if the archive does not have the application either.
func (f *Flags) Find(
	ctx context.Context, cluster *rest.Config, kube kubernetes.Interface, namespace, named string, gone error, nouns ...overview.Kind,
) (*Application, error) {
	if !target.IsNotFound(gone) {
		return nil, gone
	}
	kinds, name, err := target.Parse(named, nouns...)
	if err != nil {
		return nil, gone // it is another kind
	}
	client, err := f.Open(ctx, cluster, kube)
	if errors.Is(err, ErrNone) {
		return nil, gone
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the archive cannot be asked: %w", gone, err)
	}
	var newest *api.Application
	var of actions.Kind
	for _, kind := range kinds {
		found, err := client.Named(ctx, namespace, kind.GroupResource.String(), name)
		switch {
		case isAbsent(err), kind.Noun == overview.Cluster && api.IsInvalid(err): // an older one has no clusters
			continue
		case err != nil:
			return nil, fmt.Errorf("%w; the archive cannot be asked: %w", gone, err)
		}
		if len(found.Items) > 0 && (newest == nil || found.Items[0].Created.After(newest.Created)) {
			newest, of = &found.Items[0], kind
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("%w; the archive has none that you may read either", gone)
	}
	details, err := client.Details(ctx, newest)
	if err != nil {
		return nil, err
	}
	return &Application{details, client, of}, nil
}

// OfExisting returns what the archive has of an application that exists. gone is returned if that is nothing, or if there is no archive.
func (f *Flags) OfExisting(ctx context.Context, cluster *rest.Config, kube kubernetes.Interface, found *target.Found, gone error) (*Application, error) {
	client, err := f.Open(ctx, cluster, kube)
	if errors.Is(err, ErrNone) {
		return nil, gone
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the archive cannot be asked: %w", gone, err)
	}
	details, err := client.Details(ctx, &api.Application{
		Namespace: found.GetNamespace(), Resource: found.Resource.GroupResource().String(), Name: found.GetName(), UID: string(found.GetUID()),
	})
	switch {
	case isAbsent(err):
		return nil, gone
	case err != nil:
		return nil, fmt.Errorf("%w; the archive cannot be asked: %w", gone, err)
	}
	return &Application{details, client, actions.Kind{GroupResource: found.Resource.GroupResource()}}, nil
}

// isAbsent reports whether the console does not have something, or is not there, or may not be asked.
func isAbsent(err error) bool {
	var answer *api.Error
	return errors.As(err, &answer) && (answer.Code == http.StatusNotFound || answer.Code == http.StatusForbidden)
}

// LastAttempt stands for the number of the last attempt.
const LastAttempt = -1

// Attempt returns an attempt by its number, or the last one.
func (a *Application) Attempt(number int64) (*api.Attempt, error) {
	for i := range a.Attempts {
		if attempt := &a.Attempts[len(a.Attempts)-1-i]; number == LastAttempt || attempt.Attempt == number {
			return attempt, nil
		}
	}
	if number == LastAttempt {
		return nil, fmt.Errorf("the archive has no attempt of %s/%s", a.Namespace, a.Name)
	}
	return nil, fmt.Errorf("the archive has no attempt %d of %s/%s: it has %d, the last one is %d", number, a.Namespace, a.Name, len(a.Attempts), a.Application.Attempt)
}

// Object returns the application as it was at the end of its last attempt that has one, redacted.
func (a *Application) Object(ctx context.Context) (*target.Found, *overview.Object, error) {
	for _, attempt := range slices.Backward(a.Attempts) {
		at := slices.IndexFunc(attempt.Objects, func(o api.Object) bool { return o.Kind == a.Kind && o.Name == a.Name })
		if at < 0 {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := a.client.Object(ctx, &a.Application, attempt.Attempt, attempt.Objects[at].File, &object.Object); err != nil {
			return nil, nil, err
		}
		read, err := overview.Read(object)
		if err != nil {
			return nil, nil, err
		}
		return &target.Found{Unstructured: object, Resource: a.kind.WithVersion(object.GroupVersionKind().Version)}, read, nil
	}
	return nil, nil, fmt.Errorf("the archive has logs of %s/%s at most, and not the object itself: its last attempt was not archived to its end", a.Namespace, a.Name)
}

// maxPods bounds the Pods that are read of one attempt.
const maxPods = 50

// Pods returns the Pods of an attempt that the user may read.
func (a *Application) Pods(ctx context.Context, o *overview.Object, attempt *api.Attempt) overview.Pods {
	var pods []corev1.Pod
	for _, stored := range attempt.Objects {
		var pod corev1.Pod
		if stored.Kind != "Pod" || len(pods) == maxPods || a.client.Object(ctx, &a.Application, attempt.Attempt, stored.File, &pod) != nil {
			continue
		}
		pods = append(pods, pod)
	}
	return o.PodsOf(pods)
}

// Events returns the Kubernetes Events of an attempt. Events that may not be read are none.
func (a *Application) Events(ctx context.Context, attempt *api.Attempt) []corev1.Event {
	var all []corev1.Event
	for _, stored := range attempt.Objects {
		var list corev1.EventList
		if stored.Kind == "Event" && a.client.Object(ctx, &a.Application, attempt.Attempt, stored.File, &list) == nil {
			all = append(all, list.Items...)
		}
	}
	return all
}

// Open opens a log of an attempt.
func (a *Application) Open(ctx context.Context, attempt *api.Attempt, log api.Log, options api.LogOptions) (io.ReadCloser, error) {
	return a.client.Log(ctx, &a.Application, attempt.Attempt, log, options)
}

// The end of a log that is read to explain something.
const (
	logLines = 400
	logBytes = 256 << 10
)

// LogTail reads the end of the driver's log. A log that cannot be read is empty.
func (a *Application) LogTail(ctx context.Context, attempt *api.Attempt) string {
	for _, log := range slices.Backward(attempt.Logs) {
		if log.Role != RoleDriver {
			continue
		}
		stream, err := a.Open(ctx, attempt, log, api.LogOptions{Tail: logLines})
		if err != nil {
			return ""
		}
		defer stream.Close()
		var tail bytes.Buffer
		_, _ = io.Copy(&tail, io.LimitReader(stream, logBytes)) // what was read explains more than nothing
		return tail.String()
	}
	return ""
}

// The roles of Spark's own containers.
const (
	RoleDriver   = "driver"
	RoleExecutor = "executor"
	RoleMaster   = "master"
	RoleWorker   = "worker"
)
