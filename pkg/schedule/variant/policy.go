package variant

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// PolicyOf reads a schedule's spec at an instant. It refuses a template with quantities that could not be decoded in
// a run: the schedule reports them once, and no run is created.
func (k *Kind) PolicyOf(s Schedule, now time.Time) schedule.Policy {
	policy := schedule.PolicyOf(s, now)
	if policy.Refusal != nil {
		return policy
	}
	template, err := k.template(s)
	if err == nil && len(template.spec) > 0 {
		err = quantity.Check(template.spec, k.spec)
	}
	for _, found := range finding.Of(err) {
		policy.Clock, policy.Refusal = nil, k.inTemplate(found)
	}
	return policy
}

// inTemplate is what was found in the spec of runs, by the field of the schedule.
func (k *Kind) inTemplate(found finding.Finding) *finding.Finding {
	found.Reason, found.Field = schedule.ReasonInvalidTemplate, k.specPath+found.Field
	if found.Text != "" {
		found.Text = k.specPath + found.Text
	}
	return &found
}
