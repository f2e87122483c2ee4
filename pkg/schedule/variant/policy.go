package variant

import (
	"regexp"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// PolicyOf reads a schedule's spec at an instant. It refuses a template with quantities that could not be decoded in
// a run: the schedule reports them once, and no run is created.
func (k *Kind) PolicyOf(s Schedule, now time.Time) schedule.Policy {
	policy := schedule.PolicyOf(s, now)
	template, err := k.template(s)
	if err == nil && len(template.spec) > 0 {
		err = quantity.Check(template.spec, k.spec)
	}
	for _, found := range finding.Of(err) {
		found.Reason, found.Field = schedule.ReasonInvalidTemplate, k.specPath+found.Field
		if found.Text != "" {
			found.Text = k.specPath + found.Text
		}
		policy.Refuse(found)
	}
	return policy
}

// ofSpec matches the beginning of a path from spec on, within a text. A decoder writes the name of a Go type before it.
var ofSpec = regexp.MustCompile(`(^|[^\w.\]/-]|\b[A-Z]\w*\.)spec\.`)

// FoundInTemplate returns what is found about a run as a finding about the schedule.
func (k *Kind) FoundInTemplate(found finding.Finding) finding.Finding {
	inSpec := func(text string) string { return ofSpec.ReplaceAllString(text, "${1}"+k.specPath) }
	switch {
	case found.Field == "spec":
		found.Field = strings.TrimSuffix(k.specPath, ".")
	case strings.HasPrefix(found.Field, "metadata.annotations"):
		found.Field = k.annotationsOf + found.Field
	default:
		found.Field = inSpec(found.Field)
	}
	found.Meant = inSpec(found.Meant)
	found.Text, found.Message, found.Remedy = inSpec(found.Text), inSpec(found.Message), inSpec(found.Remedy)
	return found
}
