package outbox

import "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// unknownFields returns the unknown fields of a record, in the order in which they are dropped.
func unknownFields(record *v1alpha1.Record) []*v1alpha1.UnknownFields {
	fields := make([]*v1alpha1.UnknownFields, 0, 2*len(record.Transitions)+10)
	for i := range record.Transitions {
		t := &record.Transitions[i]
		if t.End != nil {
			fields = append(fields, &t.End.Unknown)
		}
		fields = appendUsage(fields, t.Usage)
		fields = append(fields, &t.Unknown)
	}
	if record.Verdict != nil {
		fields = append(fields, &record.Verdict.Unknown)
	}
	for _, attempt := range []*v1alpha1.Attempt{record.Previous, &record.Attempt} {
		if attempt == nil {
			continue
		}
		if attempt.Spec != nil {
			fields = append(fields, &attempt.Spec.Unknown)
		}
		fields = append(fields, &attempt.Unknown)
	}
	if record.Quota != nil {
		for i := range record.Quota.Pods {
			fields = append(fields, &record.Quota.Pods[i].Unknown)
		}
		fields = append(fields, &record.Quota.Unknown)
	}
	if record.Launch != nil {
		fields = append(fields, &record.Launch.Unknown)
	}
	if usage := record.Usage; usage != nil {
		for i := range usage.Attempts {
			attempt := &usage.Attempts[i]
			fields = append(appendUsage(appendUsage(fields, &attempt.Ended), &attempt.Running), &attempt.Unknown)
		}
		fields = append(appendUsage(fields, &usage.Total), &usage.Unknown)
	}
	return append(fields, &record.Unknown)
}

// appendUsage appends the unknown fields of a usage, if there is one.
func appendUsage(fields []*v1alpha1.UnknownFields, usage *v1alpha1.Usage) []*v1alpha1.UnknownFields {
	if usage == nil {
		return fields
	}
	for _, pods := range []*v1alpha1.PodUsage{usage.Driver, usage.Executors} {
		if pods != nil {
			fields = append(fields, &pods.Unknown)
		}
	}
	return append(fields, &usage.Unknown)
}
