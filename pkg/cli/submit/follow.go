package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// follower follows one application until its end.
type follower struct {
	*submitter
	namespace, name string
	printed         string
}

// follow waits until an object has ended. It prints the log if --logs asks for it, or else each state if --watch does, or under the name of
// spark-submit, which does.
func (s *submitter) follow(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	f := &follower{submitter: s, namespace: object.GetNamespace(), name: object.GetName()}
	created := &target.Found{Unstructured: object, Resource: resource}
	if s.logs {
		return f.interrupted(ctx, see.Log(ctx, s.Options, see.LogRequest{Namespace: object.GetNamespace(), Name: created.Reference(), Follow: true}))
	}
	client, err := s.Dynamic()
	if err != nil {
		return err
	}
	return f.interrupted(ctx, target.Until(ctx, client, created, f.see))
}

// suggest returns a command about the application.
func (f *follower) suggest(verb string) string { return f.submitter.suggest(verb, f.namespace, f.name) }

// interrupted says what becomes of the application if the user stops waiting.
func (f *follower) interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		f.Warn(fmt.Sprintf("%s goes on: %s shows it, %s waits for its end, and %s stops it", f.name, f.suggest("get"), f.suggest("wait"), f.suggest("stop")))
		return ctx.Err()
	}
	return err
}

// see prints the state if it is another one, and reports whether the application has ended. seen is nil if it was deleted.
func (f *follower) see(seen *overview.Object) (ended bool, err error) {
	if seen == nil {
		return true, cli.ApplicationFailed("%s was deleted before its end was seen", f.name)
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
		return true, cli.ApplicationFailed("%s failed: %s (%s says more)", f.name, cmp.Or(seen.Message, seen.Reason, seen.State), f.suggest("why"))
	default:
		return false, nil
	}
}

func (f *follower) described(seen *overview.Object) string {
	state := f.Color(f.Out, see.ColorOf(seen.Phase), seen.State)
	if reason := seen.ShortReason(); reason != "" {
		return state + "  " + reason
	}
	return state
}
