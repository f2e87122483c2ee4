package launch

import (
	"context"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// quotaSettings returns the settings about quotas. Without a tracker there are none.
func (l *Launcher) quotaSettings(ctx context.Context) config.QuotaSettings {
	if l.Quotas == nil {
		return config.QuotaSettings{Quota: config.QuotaOff}
	}
	return config.FromContext(ctx).Admission.QuotaSettings
}

// holds reports whether a launch that the API server refuses for a quota waits for room.
func (l *Launcher) holds(ctx context.Context) bool {
	return l.quotaSettings(ctx).Quota == config.QuotaHold
}

// quotaRequest returns an application as the tracker of quotas needs it.
func (l *Launcher) quotaRequest(ctx context.Context, v *view.Application) quotas.Request {
	return quotas.Request{Object: v.App, Kind: l.API.Kind, Settings: l.quotaSettings(ctx)}
}

// reserve reserves room in the quotas of the namespace, or makes the launch wait for it. It returns false if the launch has to wait, or is
// refused. The record then has the claim, and the observation the reason. Room is reserved when the record is stored: confirm must follow
// before anything is created.
func (l *Launcher) reserve(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, built *built, seen *lifecycle.Observation,
) bool {
	waiting := record.Quota
	if record.Quota = nil; l.Quotas == nil {
		return true
	}
	claim, hold := l.Quotas.Reserve(l.quotaRequest(ctx, v), waiting, func() *v1alpha1.QuotaClaim { return l.claim(built, waiting) })
	if record.Quota = claim; hold == nil {
		return true
	}
	if !hold.Undecided {
		record.Launch = nil // no object of the earlier launch exists
	}
	showHold(hold, seen)
	return false
}

// claim returns what the objects of an attempt ask of the quotas. waiting is the claim with which it waits already; nil if it does not.
func (l *Launcher) claim(built *built, waiting *v1alpha1.QuotaClaim) *v1alpha1.QuotaClaim {
	executor, count := quota.PlannedExecutors(built.plan)
	claim := l.Quotas.Claim(built.objects.Driver, executor, count, waiting)
	claim.Elastic = submission.DynamicAllocation(func(key string) string { return built.plan.Properties[key] })
	return claim
}

// confirm reports whether an attempt for which room was reserved may create its objects. If what was reserved before leaves no room, it
// takes the reservation back.
func (l *Launcher) confirm(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) (bool, error) {
	if l.Quotas == nil {
		return true, nil
	}
	claim, hold := l.Quotas.Confirm(l.quotaRequest(ctx, v), record.Quota)
	switch {
	case hold == nil:
		return true, nil
	case hold.Undecided:
		showHold(hold, seen)
		return false, nil
	}
	begun, err := drivers.FindFenced(ctx, l.Kube, v.App, record.Launch)
	if err != nil || begun != nil && begun.DeletionTimestamp == nil {
		return err == nil, err // another replica has begun with it
	}
	record.Launch, record.Quota = nil, claim
	showHold(hold, seen)
	return false, nil
}

// showHold adds to an observation why a launch does not go on.
func showHold(hold *quotas.Hold, seen *lifecycle.Observation) {
	seen.LaunchHeld, seen.LaunchRefused, seen.RetryLaunchAt = hold.Waiting, hold.Refused, hold.RetryAt
}
