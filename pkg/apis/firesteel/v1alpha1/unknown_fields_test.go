package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	newerRecord = `{"format":1,"newer":"a","attempt":{"id":1,"since":"2026-03-01T08:00:00.000000Z","spec":{"hash":"h","hashVersion":2,` +
		`"generation":3,"newer":"b"},"newer":"c"},"previous":{"id":0,"since":"2026-03-01T08:00:00.000000Z","newer":"d"},"launch":{"id":"l",` +
		`"driverPod":"p","newer":"e"},"sequence":1,"acknowledged":1,"transitions":[{"sequence":1,"time":"2026-03-01T08:00:00.000000Z",` +
		`"attempt":1,"state":"Failed","end":{"outcome":"Failed","newer":"f"},"usage":{"driver":{"seconds":1,` +
		`"newer":"i"},"newer":"j"},"newer":"g"}],"verdict":{"attempt":1,"restart":true,"newer":{"h":[1,null]}},"usage":{"total":{"executors":` +
		`{"seconds":1,"newer":"k"},"newer":"l"},"attempts":[{"attempt":1,"applicationID":"a","driverPod":"p","driverUID":"u","countedAt":` +
		`"2026-03-01T08:00:00Z","ended":{"newer":"m"},"running":{},"newer":"n"}],"newer":"o"}}`
	newerSchedule = `{"since":null,"settledUntil":null,"newer":"a","held":{"scheduledTime":null,"policy":"Forbid","newer":"b"},` +
		`"begun":{"scheduledTime":null,"at":null,"newer":"c"},"last":{"scheduledTime":null,"startedAt":null,"name":"r","newer":"d"},` +
		`"active":[{"name":"r","uid":"u","newer":"e"}],"surplus":[{"name":"r","uid":"u","newer":"f"}]}`
)

func fieldsOf(t *testing.T, text []byte) (fields any) {
	t.Helper()
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return fields
}

func TestUnknownFieldsAreKept(t *testing.T) {
	for text, into := range map[string]any{newerRecord: &v1alpha1.Record{}, newerSchedule: &v1alpha1.ScheduleRecord{}} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
		var copied any
		switch record := into.(type) {
		case *v1alpha1.Record:
			copied = record.DeepCopy()
		case *v1alpha1.ScheduleRecord:
			copied = record.DeepCopy()
		}
		if !equality.Semantic.DeepEqual(into, copied) {
			t.Error("a copy is another")
		}
		encoded, err := json.Marshal(copied)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fieldsOf(t, []byte(text)), fieldsOf(t, encoded)); diff != "" {
			t.Errorf("encoded again (-was +is):\n%s", diff)
		}
		loose, err := runtime.DefaultUnstructuredConverter.ToUnstructured(copied)
		if err != nil {
			t.Fatal(err)
		}
		if encoded, err = json.Marshal(loose); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fieldsOf(t, []byte(text)), fieldsOf(t, encoded)); diff != "" {
			t.Errorf("converted (-was +is):\n%s", diff)
		}
	}
}

func TestDecodingReplacesThePreviousValue(t *testing.T) {
	record := v1alpha1.Record{Unknown: `{"before":1}`, Rejected: 7, Launch: &v1alpha1.Launch{Unknown: `{"before":2}`}}
	if err := json.Unmarshal([]byte(`{"attempt":{"id":1,"since":null},"sequence":1,"acknowledged":0,"launch":{"id":"l","driverPod":"p"}}`), &record); err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 1}, Sequence: 1, Launch: &v1alpha1.Launch{ID: "l", DriverPod: "p"}}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A record of another format may have anything where this version has its fields.
func TestRecordsOfOtherFormats(t *testing.T) {
	for text, want := range map[string]struct {
		newer  bool
		format int64
	}{
		`{"format":2,"attempt":"second","sequence":[1],"transitions":{"a":1}}`: {true, 2},
		`{"format":2,"attempt":{"id":1,"since":null},"sequence":1}`:            {true, 2},
		`{"format":9223372036854775807}`:                                       {true, v1alpha1.FormatUnreadable},
		`{"format":9223372036854775808,"sequence":1}`:                          {true, v1alpha1.FormatUnreadable},
		`{"format":-1,"sequence":1}`:                                           {true, v1alpha1.FormatUnreadable},
		`{"format":"two","sequence":1}`:                                        {true, v1alpha1.FormatUnreadable},
		`{"format":1.5}`:                                                       {true, v1alpha1.FormatUnreadable},
		`{"format":{"a":1},"sequence":1}`:                                      {true, v1alpha1.FormatUnreadable},
		`{"format":1,"clock":"x"}`:                                             {false, 1},
		`{"format":null}`:                                                      {false, 0},
		`{"format":0}`:                                                         {false, 0},
		`{}`:                                                                   {false, 0},
	} {
		var record v1alpha1.Record
		var schedule v1alpha1.ScheduleRecord
		for format, err := range map[*int64]error{
			&record.Format: json.Unmarshal([]byte(text), &record), &schedule.Format: json.Unmarshal([]byte(text), &schedule),
		} {
			if err != nil || *format != want.format {
				t.Errorf("%s: format %d, %v", text, *format, err)
			}
		}
		if record.HasNewerFormat() != want.newer || schedule.HasNewerFormat() != want.newer {
			t.Errorf("%s: newer   is %t and %t", text, record.HasNewerFormat(), schedule.HasNewerFormat())
		}
		if !want.newer {
			continue
		}
		for _, is := range []any{record, schedule, record.DeepCopy(), schedule.DeepCopy()} {
			if encoded, err := json.Marshal(is); err != nil || string(encoded) != text {
				t.Errorf("%s became %s, %v", text, encoded, err)
			}
		}
	}
}

// Of a known format, what cannot be decoded is an error that the object tells of.
func TestRecordsOfTheKnownFormatAreChecked(t *testing.T) {
	for _, text := range []string{`{"sequence":"one"}`, `{"format":1,"sequence":"one"}`, `[]`, `"record"`} {
		if err := json.Unmarshal([]byte(text), &v1alpha1.Record{}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestBoundUnknown(t *testing.T) {
	field := v1alpha1.UnknownFields(`{"a":"` + strings.Repeat("x", 92) + `"}`) // 100 bytes
	for limit, kept := range map[int]int{300: 3, 299: 2, 200: 2, 100: 1, 99: 0} {
		fields := []v1alpha1.UnknownFields{field, field, field}
		v1alpha1.BoundUnknown([]*v1alpha1.UnknownFields{&fields[0], &fields[1], &fields[2]}, limit)
		for i, is := range fields {
			if (is != "") != (i >= 3-kept) {
				t.Errorf("of %d bytes is left %q", limit, fields)
			}
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	var record v1alpha1.Record
	plain := strings.NewReplacer(`,"newer":"a"`, "", `,"newer":"b"`, "", `,"newer":"c"`, "", `,"newer":"d"`, "", `,"newer":"e"`, "",
		`,"newer":"f"`, "", `,"newer":"g"`, "", `,"newer":{"h":[1,null]}`, "").Replace(newerRecord)
	if err := json.Unmarshal([]byte(plain), &record); err != nil {
		b.Fatal(err)
	}
	for len(record.Transitions) < 10 {
		record.Transitions = append(record.Transitions, record.Transitions[0])
	}
	text, err := json.Marshal(record)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := json.Marshal(&record); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if err := json.Unmarshal(text, &record); err != nil {
				b.Fatal(err)
			}
		}
	})
}
