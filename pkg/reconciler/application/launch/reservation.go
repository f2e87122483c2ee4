package launch

import (
	"context"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
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

// reserve reserves room in the quotas of the namespace, or makes the launch wait for it. It returns false if the launch has to wait, or is
// refused. The record then has the claim, and the observation the reason. Room is reserved when the record is stored: confirm must follow
// before anything is created.
func (l *Launcher) reserve(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, built *built, seen *lifecycle.Observation,
) bool {
	settings, namespace := l.quotaSettings(ctx), v.App.GetNamespace()
	waiting := record.Quota
	if record.Quota = nil; settings.Quota == config.QuotaOff {
		return true
	}
	if !l.Quotas.Ready() {
		record.Quota = waiting
		l.awaitQuotas(seen)
		return false
	}
	until := l.Quotas.RefusedUntil(v.App.GetUID())
	if !l.Quotas.Limits(namespace) && until.IsZero() {
		return true
	}
	claim := l.claim(built, waiting)
	record.Quota = claim
	decision := l.Quotas.Decide(v.App, claim)
	if decision.Fits && until.IsZero() {
		now := outbox.RecordTime(l.Clock.Now())
		claim.Reserved = &now
		return true
	}
	record.Launch = nil // no object of the earlier launch exists
	if seen.RetryLaunchAt = until; !until.IsZero() {
		decision.Place, decision.Queue = 0, 0 // whatever its place is, it waits for the next try
	}
	l.explainHold(settings, v, claim, decision, seen)
	return false
}

// awaitQuotas makes a launch wait until the quotas are known. If that takes long, the condition says why.
func (l *Launcher) awaitQuotas(seen *lifecycle.Observation) {
	seen.RetryLaunchAt = l.Clock.Now().Add(base.RetryAfter)
	if l.Quotas.Late() {
		seen.LaunchHeld = diagnosis.QuotasUnknown().Cause(lifecycle.ClassScheduling)
	}
}

// claim returns what the objects of an attempt ask of the quotas. waiting is the claim with which it waits already; nil if it does not.
func (l *Launcher) claim(built *built, waiting *v1alpha1.QuotaClaim) *v1alpha1.QuotaClaim {
	driver, priority := l.Quotas.Admitted(built.objects.Driver)
	executor, count := quota.PlannedExecutors(built.plan)
	executor, _ = l.Quotas.Admitted(executor)
	claim := &v1alpha1.QuotaClaim{
		Since: outbox.RecordTime(l.Clock.Now()), Priority: priority, Pods: quota.Claim(driver, executor, count),
		Elastic: submission.DynamicAllocation(func(key string) string { return built.plan.Properties[key] }),
	}
	if waiting != nil {
		claim.Since, claim.Unknown = waiting.Since, waiting.Unknown
		for i := range min(len(claim.Pods), len(waiting.Pods)) {
			claim.Pods[i].Unknown = waiting.Pods[i].Unknown
		}
	}
	return claim
}

// confirm reports whether an attempt for which room was reserved may create its objects. If what was reserved before leaves no room, it
// takes the reservation back.
func (l *Launcher) confirm(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) (bool, error) {
	settings, claim, now := l.quotaSettings(ctx), record.Quota, l.Clock.Now()
	if settings.Quota == config.QuotaOff {
		return true, nil
	}
	until := l.Quotas.RefusedUntil(v.App.GetUID())
	if until.IsZero() && (claim == nil || claim.Reserved == nil) {
		return true, nil
	}
	var decision quota.Decision
	if until.IsZero() {
		if !l.Quotas.Ready() {
			l.awaitQuotas(seen)
			return false, nil
		}
		if !l.Quotas.Limits(v.App.GetNamespace()) {
			return true, nil
		}
		var known bool
		if decision, known = l.Quotas.Confirm(v.App, claim); !known {
			seen.RetryLaunchAt = now.Add(base.RetryAfter)
			return false, nil
		}
		if decision.Fits {
			return true, nil
		}
	}
	begun, err := drivers.FindFenced(ctx, l.Kube, v.App, record.Launch)
	if err != nil || begun != nil && begun.DeletionTimestamp == nil {
		return err == nil, err // another replica has begun with it
	}
	record.Launch = nil
	if claim == nil {
		claim = &v1alpha1.QuotaClaim{Since: outbox.RecordTime(now), Pods: []v1alpha1.QuotaPods{}}
		record.Quota = claim
	}
	claim.Reserved = nil
	if settings.Quota == config.QuotaFail {
		// Another reservation is in the way, which may be taken back, too. The queue decides, without either.
		seen.RetryLaunchAt = now.Add(base.RetryAfter)
		return false, nil
	}
	seen.RetryLaunchAt = until
	l.explainHold(settings, v, claim, decision, seen)
	return false, nil
}

// explainHold adds the reason of a hold to the observation, or that the hold has lasted too long.
func (l *Launcher) explainHold(
	settings config.QuotaSettings, v *view.Application, claim *v1alpha1.QuotaClaim, decision quota.Decision, seen *lifecycle.Observation,
) {
	if settings.Quota == config.QuotaFail {
		seen.LaunchRefused = diagnosis.QuotaFails(l.API.Kind, v.App.GetNamespace(), v.App.GetName(), decision).Cause(lifecycle.ClassScheduling)
		return
	}
	explanation := diagnosis.WaitingForQuota(v.App.GetNamespace(), decision)
	if limit := settings.QuotaHoldTimeout; limit > 0 {
		over := claim.Since.Add(limit)
		if !l.Clock.Now().Before(over) {
			seen.LaunchRefused = diagnosis.QuotaHoldTimedOut(explanation, limit).Cause(lifecycle.ClassScheduling)
			return
		}
		seen.RetryLaunchAt = earliest(seen.RetryLaunchAt, over)
	}
	explanation.Summary = l.Quotas.Report(v.App.GetUID(), explanation.Summary, decision)
	seen.LaunchHeld = explanation.Cause(lifecycle.ClassScheduling)
}

// earliest returns the earlier of two times, of which the first may be zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
