package variant

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/quantity"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// PolicyOf reads a schedule's spec at an instant. It refuses a template whose runs could not be decoded for their quantities:
// the schedule names them once, and no run is created.
func (k *Kind) PolicyOf(s Schedule, now time.Time) schedule.Policy {
	policy := schedule.PolicyOf(s, now)
	if policy.Refusal != nil {
		return policy
	}
	template, err := k.template(s)
	if err == nil && len(template.spec) > 0 {
		err = quantity.Check(template.spec, k.spec)
	}
	if err != nil {
		policy.Clock, policy.Refusal = nil, &schedule.Refusal{Reason: schedule.ReasonInvalidTemplate, Message: k.specPath + err.Error()}
	}
	return policy
}
