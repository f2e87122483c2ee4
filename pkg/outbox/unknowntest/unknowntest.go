// Package unknowntest adds unknown fields to records, as a newer version of Firesteel would, and finds the ones that were
// lost.
package unknowntest

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Fill adds to each part of a record a field that this version of Firesteel does not know, unless the part has unknown
// fields. record is a pointer.
func Fill(record any) {
	parts := 0
	visit(reflect.ValueOf(record).Elem(), func(unknown reflect.Value) {
		if parts++; unknown.String() == "" {
			unknown.SetString(fmt.Sprintf(`{"newer":%d}`, parts))
		}
	})
}

var unknownFields = reflect.TypeFor[v1alpha1.UnknownFields]()

// visit calls f with the unknown fields of each part of a value.
func visit(v reflect.Value, f func(unknown reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Field(i); {
			case field.Type() == unknownFields:
				f(field)
			case v.Type().Field(i).IsExported():
				visit(field, f)
			}
		}
	}
}

// Lost returns the names of the parts of a record whose unknown fields are missing afterwards, by the rule of
// v1alpha1.UnknownFields.
func Lost(before, after *v1alpha1.Record) []string {
	was, is := partsOf(before), partsOf(after)
	if after.Attempt.ID == before.Attempt.ID+1 {
		was["previous"], was["previous.spec"] = was["attempt"], was["attempt.spec"]
		delete(was, "launch")
	}
	if after.Launch == nil && after.Attempt.WithoutEventLogs != before.Attempt.WithoutEventLogs { // another launch of the attempt follows
		delete(was, "launch")
	}
	if after.Verdict == nil {
		delete(was, "verdict")
	}
	var lost []string
	for part, unknown := range was {
		if now, kept := is[part]; now != unknown && (kept || !strings.HasPrefix(part, "transition")) {
			lost = append(lost, fmt.Sprintf("%s: %s became %q", part, unknown, now))
		}
	}
	return lost
}

// partsOf returns the unknown fields of a record by the names of its parts. It omits parts without unknown fields.
func partsOf(record *v1alpha1.Record) map[string]v1alpha1.UnknownFields {
	parts := map[string]v1alpha1.UnknownFields{"record": record.Unknown}
	add := func(part string, attempt *v1alpha1.Attempt) {
		if attempt == nil {
			return
		}
		parts[part] = attempt.Unknown
		if attempt.Spec != nil {
			parts[part+".spec"] = attempt.Spec.Unknown
		}
	}
	add("attempt", &record.Attempt)
	add("previous", record.Previous)
	if record.Launch != nil {
		parts["launch"] = record.Launch.Unknown
	}
	if record.Verdict != nil {
		parts["verdict"] = record.Verdict.Unknown
	}
	for _, t := range record.Transitions {
		name := fmt.Sprintf("transition %d", t.Sequence)
		parts[name] = t.Unknown
		if t.End != nil {
			parts[name+".end"] = t.End.Unknown
		}
	}
	maps.DeleteFunc(parts, func(_ string, unknown v1alpha1.UnknownFields) bool { return unknown == "" })
	return parts
}
