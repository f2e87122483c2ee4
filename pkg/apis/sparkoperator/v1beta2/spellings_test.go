package v1beta2_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

func TestRestartPolicyIsATextOrAnObject(t *testing.T) {
	for text, want := range map[string]v1beta2.RestartPolicy{
		`"Never"`:  {Type: v1beta2.RestartNever},
		`"Always"`: {Type: v1beta2.RestartAlways},
		// A failed run was repeated without limit.
		`"OnFailure"`: {Type: v1beta2.RestartOnFailure, OnFailureRetries: ptr.To[int32](math.MaxInt32)},
		`{"type":"OnFailure","onFailureRetries":2,"onFailureRetryInterval":9}`: {
			Type: v1beta2.RestartOnFailure, OnFailureRetries: ptr.To[int32](2), OnFailureRetryInterval: ptr.To[int64](9),
		},
		`{}`:   {},
		`null`: {},
	} {
		var app v1beta2.SparkApplication
		if err := json.Unmarshal([]byte(`{"spec":{"restartPolicy":`+text+`}}`), &app); err != nil || app.Undecodable != "" {
			t.Fatalf("%s: %v %s", text, err, app.Undecodable)
		}
		if diff := cmp.Diff(want, app.Spec.RestartPolicy); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{`1`, `true`, `[]`, `{"type":1}`} {
		var app v1beta2.SparkApplication
		if err := json.Unmarshal([]byte(`{"metadata":{"name":"a"},"spec":{"restartPolicy":`+text+`}}`), &app); err != nil || app.Undecodable == "" || app.Name != "a" {
			t.Errorf("%s: %v, %q", text, err, app.Undecodable)
		}
	}
}

func TestCoresAreANumberWithOrWithoutQuotes(t *testing.T) {
	for text, want := range map[string]v1beta2.Cores{`0.1`: 0.1, `"0.1"`: 0.1, `2`: 2, `"2"`: 2} {
		var app v1beta2.SparkApplication
		if err := json.Unmarshal([]byte(`{"spec":{"driver":{"cores":`+text+`}}}`), &app); err != nil || app.Spec.Driver.Cores == nil || *app.Spec.Driver.Cores != want {
			t.Errorf("%s: %v %v %s", text, err, app.Spec.Driver.Cores, app.Undecodable)
		}
	}
	var app v1beta2.SparkApplication
	if err := json.Unmarshal([]byte(`{"spec":{"driver":{"cores":"many"}}}`), &app); err != nil || app.Undecodable == "" {
		t.Errorf("%v, %v", err, app.Spec.Driver.Cores)
	}
}

func TestHistoryLimitOfTheFirstVersionIsThatOfBothOutcomes(t *testing.T) {
	for text, want := range map[string][2]*int32{
		`{}`:                    {nil, nil},
		`{"runHistoryLimit":3}`: {ptr.To[int32](3), ptr.To[int32](3)},
		`{"runHistoryLimit":3,"failedRunHistoryLimit":1}`: {ptr.To[int32](3), ptr.To[int32](1)},
	} {
		var schedule v1beta2.ScheduledSparkApplication
		if err := json.Unmarshal([]byte(`{"spec":`+text+`}`), &schedule); err != nil || schedule.Undecodable != "" {
			t.Fatalf("%s: %v %s", text, err, schedule.Undecodable)
		}
		spec := schedule.GetSchedule()
		if diff := cmp.Diff(want, [2]*int32{spec.SuccessfulRunHistoryLimit, spec.FailedRunHistoryLimit}); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
