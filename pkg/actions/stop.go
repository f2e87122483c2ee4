package actions

import (
	"context"
	"fmt"

	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// MaxReason bounds the reason of a stop, in bytes, so that it fits into messages with the user.
const MaxReason = 160

// Stop plans to stop an application for good.
func Stop(s *Subject, reason string) (*Plan, error) {
	o := s.View
	app, ok := o.Typed.(dialect.Application)
	plan := &Plan{Effect: stopEffect(o), Done: "stopped", do: func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
		return nil, SetStop(ctx, client, s.Object, options, reason)
	}}
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is no application: only those are stopped", s.Reference())
	case len(reason) > MaxReason:
		return nil, Invalid("the reason has %d bytes: write at most %d", len(reason), MaxReason)
	case o.Over():
		plan.Nothing = fmt.Sprintf("has ended (%s): there is nothing to stop", o.StateName())
	case dialect.FollowsUserDriver(app):
		return nil, fmt.Errorf("the user started the driver of %s, and Firesteel does not stop it: kubectl delete pod %s -n %s ends it", s.Reference(), o.DriverPod, o.Namespace())
	case app.GetUndecodable() != "":
		return nil, fmt.Errorf("the spec of %s cannot be decoded, and Firesteel leaves what it runs: correct the spec first, or %s ends it", s.Reference(), s.Suggest("delete"))
	case o.Inherited:
		return nil, fmt.Errorf("another operator runs %s, and cannot stop it: %s ends it", s.Reference(), s.Suggest("delete"))
	case dialect.IsStopped(app):
		plan.Nothing = "is stopped already"
	}
	return plan, nil
}

// stopEffect says what the stop of an application does.
func stopEffect(o *overview.Object) string {
	if o.Phase == overview.Running {
		return "The driver ends within its grace period, and its executors with it. Nothing starts the application again."
	}
	return "The application ends without a further driver. Nothing starts it again."
}
