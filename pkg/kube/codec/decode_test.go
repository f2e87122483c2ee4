package codec_test

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// What users write of these kinds is decoded.
type (
	application          sparkv1.SparkApplication
	cluster              sparkv1.SparkCluster
	kubeflowApplication  v1beta2.SparkApplication
	kubeflowSchedule     v1beta2.ScheduledSparkApplication
	scheduledApplication firesteelv1alpha1.ScheduledSparkApplication
)

// TestDecodesAsKubernetesDoes decodes objects whose every field is set, and each field by itself with values that it may not
// be meant to have, and compares what comes of them with what Kubernetes' decoder makes of them.
func TestDecodesAsKubernetesDoes(t *testing.T) {
	t.Run("Apache application", as[application])
	t.Run("Apache cluster", as[cluster])
	t.Run("Kubeflow application", as[kubeflowApplication])
	t.Run("Kubeflow schedule", as[kubeflowSchedule])
	t.Run("Firesteel schedule", as[scheduledApplication])
}

var replacements = []string{
	`null`, `true`, `0`, `-1`, `1.0`, `1.5`, `1e3`, `99999999999`, `1e99`, `""`, `"x"`, `"1"`, `"1Gi"`, `"2026-11-23T07:00:00Z"`,
	`"caf\u00e9 \ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `[]`, `[null]`, `["x"]`, `[{}]`, `{}`, `{"x":null}`, `{"x":"y"}`,
	`{"x":"y","x":"z"}`, `{"name":"x","name":"y"}`, `{"Name":"x"}`, `{"name":"x","more":1}`,
}

func as[Plain any](t *testing.T) {
	var object Plain
	filler(1).Fill(&object)
	text, err := stdjson.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	same[Plain](t, text)
	if !codec.IsFast[Plain](text) {
		t.Error("what has nothing wrong is not decoded quickly")
	}
	var fields any
	if err := stdjson.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	replace[Plain](t, "", fields, "", "", seen)
	if len(seen) < 50 {
		t.Errorf("%d fields are hardly any: %s", len(seen), text)
	}
}

// replace has each value in a value stand alone in an object, and be each of the replacements. Fields
// of the same name, in fields of the same name, mostly have the same type and are seen once.
func replace[Plain any](t *testing.T, before string, value any, after, field string, seen map[string]bool) {
	for _, other := range replacements {
		same[Plain](t, []byte(before+other+after))
	}
	if t.Failed() {
		return // there are thousands
	}
	switch value := value.(type) {
	case map[string]any:
		for name, its := range value {
			if id := field + "." + name; !seen[id] {
				seen[id] = true
				replace[Plain](t, before+fmt.Sprintf("{%q:", name), its, "}"+after, name, seen)
			}
		}
	case []any:
		for _, entry := range value {
			replace[Plain](t, before+"[", entry, "]"+after, field, seen)
		}
	}
}

func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 1).MaxDepth(20).Funcs(
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
		func(at *metav1.MicroTime, _ randfill.Continue) { *at = metav1.NewMicroTime(metav1.Unix(1, 5000).Time) },
		func(quantity *resource.Quantity, _ randfill.Continue) { *quantity = resource.MustParse("1500m") },
		func(record *firesteelv1alpha1.Record, c randfill.Continue) {
			c.FillNoCustom(record)
			record.Format = firesteelv1alpha1.Format
		},
		func(record *firesteelv1alpha1.ScheduleRecord, c randfill.Continue) {
			c.FillNoCustom(record)
			record.Format = firesteelv1alpha1.Format
		},
		func(unknown *firesteelv1alpha1.UnknownFields, _ randfill.Continue) {
			*unknown = `{"newer":{"much":[1]}}`
		},
		func(fields *metav1.FieldsV1, _ randfill.Continue) { fields.Raw = []byte(`{"f:spec":{}}`) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{}`) },
	)
}

// same decodes a text both ways.
func same[Plain any](t *testing.T, text []byte) {
	t.Helper()
	var want Plain
	unknown, refused := json.UnmarshalStrict(text, &want)
	got, found, err := codec.Decode[Plain](text)
	switch {
	case refused != nil:
		if err == nil && found.Undecodable == "" {
			t.Errorf("taken, though it is refused with %q: %s", refused, text)
		}
	case err != nil || found.Undecodable != "":
		t.Errorf("refused with %q and %v: %s", found.Undecodable, err, text)
	case !reflect.DeepEqual(want, got):
		t.Errorf("another, -want +got: %s\n%s", cmp.Diff(want, got), text)
	case !slices.Equal(unknownInSpec(unknown), found.UnknownFields):
		t.Errorf("found %q of %q: %s", found.UnknownFields, unknown, text)
	}
}

func unknownInSpec(errs []error) (texts []string) {
	for _, err := range errs {
		if strings.Contains(err.Error(), `"spec.`) {
			texts = append(texts, err.Error())
		}
	}
	return texts
}
