package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
)

func decoded(t *testing.T, spec string) *v1alpha1.SparkApplication {
	t.Helper()
	text := `{"metadata":{"name":"pi","resourceVersion":"7"},"spec":` + spec + `,"status":{"firesteel":{"attempt":{"id":2,"since":null},"sequence":3,"acknowledged":0}}}`
	app := &v1alpha1.SparkApplication{}
	if err := json.Unmarshal([]byte(text), app); err != nil {
		t.Fatalf("a whole list would be lost: %v", err)
	}
	return app
}

func TestDecodingOfCoresTakesNumbersAndQuantities(t *testing.T) {
	for written, want := range map[string]v1alpha1.Cores{
		`1`: "1", `0.10`: "0.10", `"0.1"`: "0.1", `"100m"`: "100m", `12345678901234567890`: "12345678901234567890", `null`: "",
	} {
		app := decoded(t, `{"driver":{"cores":`+written+`}}`)
		if got := ptr.Deref(app.Spec.Driver.Cores, ""); got != want || app.Undecodable != "" {
			t.Errorf("%s is decoded as %q, want %q; undecodable: %s", written, got, want, app.Undecodable)
		}
	}
}

func TestDecodingKeepsTheRecordOfAnApplicationThatCannotBeDecoded(t *testing.T) {
	for spec, want := range map[string]string{
		`{"driver":{"cores":true}}`:          `cores true: write a number such as 1, or a quantity such as "100m"`,
		`{"driver":{"cores":{"a":1}}}`:       "write a number such as 1",
		`{"arguments":"one"}`:                "arguments",
		`{"executor":{"instances":"three"}}`: "instances",
	} {
		app := decoded(t, spec)
		if !strings.Contains(app.GetUndecodable(), want) {
			t.Errorf("%s: undecodable is %q, want %s in it", spec, app.GetUndecodable(), want)
		}
		if record := app.GetRecord(); app.Name != "pi" || record == nil || record.Attempt.ID != 2 {
			t.Errorf("%s: the name is %q, the record %v", spec, app.Name, record)
		}
	}
}

func TestDecodingNamesUnknownFields(t *testing.T) {
	app := decoded(t, `{"driver":{"corez":1}}`)
	if !slices.ContainsFunc(app.UnknownFields, func(field string) bool { return strings.Contains(field, "spec.driver.corez") }) || app.Undecodable != "" {
		t.Errorf("unknown are %q; undecodable: %q", app.UnknownFields, app.Undecodable)
	}
}
