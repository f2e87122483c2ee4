package v1beta2

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	strictjson "sigs.k8s.io/json"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Cores is a number of CPU cores. The first manifests of v1alpha1 have it in quotes.
type Cores float64

// UnmarshalJSON decodes a number with or without quotes. The JSON libraries look for this method at the type.
func (c *Cores) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return json.Unmarshal(data, (*float64)(c))
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	*c = Cores(number)
	return nil
}

// UnmarshalJSON decodes a restart policy. In v1alpha1 it was first a text, which is the type, and a failed run was repeated
// without limit. The JSON libraries look for this method at the type.
func (p *RestartPolicy) UnmarshalJSON(data []byte) error {
	type plain RestartPolicy
	var text string
	if json.Unmarshal(data, &text) != nil {
		unknown, err := strictjson.UnmarshalStrict(data, (*plain)(p))
		p.UnknownFields = nil
		for _, field := range unknown {
			p.UnknownFields = append(p.UnknownFields, strings.Replace(field.Error(), `"`, `"spec.restartPolicy.`, 1))
		}
		return err
	}
	*p = RestartPolicy{Type: RestartPolicyType(text)}
	if p.Type == RestartOnFailure {
		unlimited := int32(math.MaxInt32)
		p.OnFailureRetries = &unlimited
	}
	return nil
}

// GetSchedule returns what schedules of all kinds have in common. A history limit that is missing is that of v1alpha1, which had one
// for all runs.
func (s *ScheduledSparkApplication) GetSchedule() *firesteelv1alpha1.ScheduleSpec {
	limit := s.Spec.RunHistoryLimit
	if limit == nil {
		return &s.Spec.ScheduleSpec
	}
	filled := s.Spec.ScheduleSpec
	for _, each := range []**int32{&filled.SuccessfulRunHistoryLimit, &filled.FailedRunHistoryLimit} {
		if *each == nil {
			*each = limit
		}
	}
	return &filled
}
