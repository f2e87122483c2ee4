package pages

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func objectOf(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "spec": spec}}
}

func TestFieldsOfSpecsAreComparedOneByOne(t *testing.T) {
	before := objectOf(map[string]any{
		"mainClass": "Main", "driverArgs": []any{"--date", "2026-03-03"}, "suspend": false, "limit": int64(2_000_000), "empty": "",
		"sparkConf": map[string]any{"spark.executor.memory": "4g", "spark.executor.cores": "2", "spark.hadoop.fs.s3a.secret.key": "first-secret"},
	})
	after := objectOf(map[string]any{
		"mainClass": "Main", "driverArgs": []any{"--date", "2026-03-04", "--full"}, "suspend": false, "limit": float64(2_000_000), "nothing": nil,
		"sparkConf": map[string]any{"spark.executor.memory": "2g", "spark.executor.cores": "2", "spark.hadoop.fs.s3a.secret.key": "second-secret"},
	})
	rows, same := comparedFields(fieldsOf(before), fieldsOf(after))
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("%s: %s | %s", row.Name, row.A, row.B))
	}
	want := "driverArgs[1]: 2026-03-03 | 2026-03-04\ndriverArgs[2]: not set | --full\nempty: (empty) | not set\nsparkConf[spark.executor.memory]: 4g | 2g"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("they differ in\n%s\nwant\n%s", got, want)
	}
	if want := 6; same != want {
		t.Errorf("%d fields are the same, want %d", same, want)
	}
}

func TestLargeSpecsAreBounded(t *testing.T) {
	large := map[string]any{}
	for i := range 2 * maxFields {
		large[fmt.Sprintf("spark.a%d", i)] = strings.Repeat("x", 2*maxFieldValue)
	}
	fields := fieldsOf(objectOf(map[string]any{"sparkConf": large}))
	if len(fields) != maxFields {
		t.Errorf("there are %d fields", len(fields))
	}
	body := compareView{}
	body.compareSpecs(&side{object: objectOf(map[string]any{"sparkConf": large})}, &side{object: objectOf(map[string]any{})})
	if len(body.Spec) != maxComparedFields || body.MoreSpec != "9\u202f800 further fields differ" || len(body.Spec[0].A) > maxFieldValue {
		t.Errorf("%d fields are shown, and then %q", len(body.Spec), body.MoreSpec)
	}
	if rows, same := comparedFields(fields, maps.Clone(fields)); len(rows) > 0 || same != maxFields {
		t.Errorf("%d fields differ", len(rows))
	}
}

func TestRunsOfAJobHaveNamesThatBeginAlike(t *testing.T) {
	for name, want := range map[string]string{
		"daily-revenue-20260304": "daily-revenue", "daily-revenue-20260304-rerun-x7k2f": "daily-revenue", "etl": "etl", "etl-final": "etl-final", "2026-etl": "2026",
		"job1": "job1", "": "",
	} {
		if got := stemOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
