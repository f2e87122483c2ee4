package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// follower follows one application until its end.
type follower struct {
	*submitter
	client  dynamic.ResourceInterface
	uid     string
	name    string
	printed string
}

// follow waits until an object has ended. It prints the log if --logs asks for it, or else each state if --watch does, or under the name of
// spark-submit, which does.
func (s *submitter) follow(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	client, err := s.Dynamic()
	if err != nil {
		return err
	}
	f := &follower{submitter: s, client: client.Resource(resource).Namespace(object.GetNamespace()), uid: string(object.GetUID()), name: object.GetName()}
	if s.logs {
		err := see.FollowLog(ctx, s.Options, object.GetNamespace(), resource.GroupResource().String()+"/"+object.GetName())
		return f.interrupted(ctx, err)
	}
	for {
		ended, err := f.see(object)
		if ended || err != nil {
			return err
		}
		if object, err = f.next(ctx, object); err != nil {
			return f.interrupted(ctx, err)
		}
	}
}

// interrupted says what becomes of the application if the user stops waiting.
func (f *follower) interrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		f.Warn(fmt.Sprintf("%s goes on: kubectl spark get %s shows it, and kubectl spark delete %s ends it", f.name, f.name, f.name))
		return ctx.Err()
	}
	return err
}

// see prints the state if it is another one, and reports whether the application has ended.
func (f *follower) see(object *unstructured.Unstructured) (ended bool, err error) {
	seen, err := overview.Read(object)
	if err != nil {
		return false, err
	}
	if (f.watch || f.Program == cli.SparkSubmit) && seen.State != f.printed && seen.State != "" {
		f.printed = seen.State
		if _, err := fmt.Fprintf(f.Out, "%s  %s\n", f.Now().Format("15:04:05"), f.described(seen)); err != nil {
			return false, err
		}
	}
	switch seen.Phase {
	case overview.Succeeded:
		return true, nil
	case overview.Failed:
		return true, cli.ApplicationFailed("%s failed: %s (kubectl spark why %s says more)", f.name, cmp.Or(seen.Message, seen.Reason, seen.State), f.name)
	default:
		return false, nil
	}
}

func (f *follower) described(seen *overview.Object) string {
	if reason := seen.ShortReason(); reason != "" {
		return seen.State + "  " + reason
	}
	return seen.State
}

// next waits for the next version of the object.
func (f *follower) next(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stream, err := f.client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", f.name).String(), ResourceVersion: object.GetResourceVersion(),
	})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return f.again(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		next, isObject := event.Object.(*unstructured.Unstructured)
		switch {
		case event.Type == watch.Bookmark:
		case event.Type == watch.Error:
			return f.again(ctx)
		case event.Type == watch.Deleted, isObject && string(next.GetUID()) != f.uid:
			return nil, f.deleted()
		case isObject:
			return next, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f.again(ctx)
}

// again reads the object when its watch has ended.
func (f *follower) again(ctx context.Context) (*unstructured.Unstructured, error) {
	object, err := f.client.Get(ctx, f.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && string(object.GetUID()) != f.uid {
		return nil, f.deleted()
	}
	return object, err
}

func (f *follower) deleted() error {
	return cli.ApplicationFailed("%s was deleted before its end was seen", f.name)
}
