package fields_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// entriesOfPods are entries of each list and map of SparkPodSpec, as JSON. %[1]d is the number of the entry.
var entriesOfPods = map[string]string{
	"annotations":      `"a%[1]d": "a"`,
	"configMaps":       `{"name": "c.%[1]d", "path": "/c%[1]d"}`,
	"env":              `{"name": "V%[1]d", "value": "$(SPARK_USER)"}`,
	"envFrom":          `{"configMapRef": {"name": "c%[1]d"}}`,
	"envSecretKeyRefs": `"V%[1]d": {"name": "s", "key": "k"}`,
	"envVars":          `"V%[1]d": "a"`,
	"hostAliases":      `{"ip": "10.0.0.1", "hostnames": ["h%[1]d"]}`,
	"initContainers":   `{"name": "i%[1]d", "image": "i", "volumeMounts": [{"name": "v%[1]d", "mountPath": "/v"}]}`,
	"labels":           `"l%[1]d": "a"`,
	"nodeSelector":     `"n%[1]d": "a"`,
	"ports":            `{"name": "p%[1]d", "protocol": "none", "containerPort": %[1]d}`,
	"secrets":          `{"name": "s.%[1]d", "path": "/s%[1]d", "secretType": "none"}`,
	"sidecars":         `{"name": "s%[1]d", "image": "i", "volumeMounts": [{"name": "v%[1]d", "mountPath": "/v"}]}`,
	"tolerations":      `{"key": "t%[1]d", "operator": "none"}`,
	"volumeMounts":     `{"name": "v%[1]d", "mountPath": "/v%[1]d"}`,
}

// manyEntries are specs of any size, as JSON: each list with so many entries, and lists that go together.
func manyEntries() map[string]func(n int) string {
	const (
		emptyDir = `{"name": "%s%%[1]d", "emptyDir": {}}`
		scratch  = `{"name": "spark-local-dir-%[1]d", "mountPath": "/v%[1]d"}`
	)
	ofPods := func(fields string) string {
		return fmt.Sprintf(`"driver": {%s}, "executor": {%s}`, fields, fields)
	}
	mounted := func(n int, volume, mount string) string {
		return `"volumes": [` + entries(volume, n) + `], ` + ofPods(`"volumeMounts": [`+entries(mount, n)+`]`)
	}
	many := map[string]func(n int) string{
		"volumes": func(n int) string { return `"volumes": [` + entries(fmt.Sprintf(emptyDir, "v"), n) + `]` },
		"volumes with mounts": func(n int) string {
			return mounted(n, fmt.Sprintf(emptyDir, "v"), entriesOfPods["volumeMounts"])
		},
		"volumes with other mounts": func(n int) string {
			return mounted(n, fmt.Sprintf(emptyDir, "w"), entriesOfPods["volumeMounts"])
		},
		"volumes with mounts of sidecars": func(n int) string {
			return `"volumes": [` + entries(fmt.Sprintf(emptyDir, "v"), n) + `], ` + ofPods(`"sidecars": [`+entries(entriesOfPods["sidecars"], n)+`]`)
		},
		"volumes without a known source": func(n int) string { return `"volumes": [` + entries(`{"name": "v%[1]d"}`, n) + `]` },
		"volumes of templates": func(n int) string {
			return ofPods(`"template": {"spec": {"volumes": [` + entries(`{"name": "v%[1]d"}`, n) + `]}}, "volumeMounts": [` +
				entries(entriesOfPods["volumeMounts"], n) + `]`)
		},
		"scratch directories": func(n int) string { return mounted(n, fmt.Sprintf(emptyDir, "spark-local-dir-"), scratch) },
		"scratch directories that no properties describe": func(n int) string {
			return mounted(n, `{"name": "spark-local-dir-%[1]d", "configMap": {"name": "c"}}`, scratch)
		},
		"scratch directories without volumes": func(n int) string { return ofPods(`"volumeMounts": [` + entries(scratch, n) + `]`) },
	}
	for field, entry := range entriesOfPods {
		opening, closing := "[", "]"
		if strings.HasPrefix(entry, `"`) {
			opening, closing = "{", "}"
		}
		many[field] = func(n int) string { return ofPods(`"` + field + `": ` + opening + entries(entry, n) + closing) }
	}
	return many
}

func entries(entry string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(entry, i)
	}
	return strings.Join(all, ", ")
}

// costOf returns what it costs to plan, to complete and to warn of an application with a spec.
func costOf(t *testing.T, spec string, driver *submission.Objects) cost.Cost {
	t.Helper()
	app := pi().Obj()
	if err := json.Unmarshal([]byte("{"+spec+"}"), &app.Spec); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		app.UnknownFields = append(app.UnknownFields, fmt.Sprintf(`unknown field "spec.volumes[%d].none"`, i))
	}
	defaults := settings.NewDefaults()
	return cost.Least(3, func() {
		// A spec of a thousand mistakes is refused at the same cost.
		_, _ = fields.Plan(app, v1alpha1.Attempt{Since: submitTime}, defaults)
		_ = fields.Ingredients(app, defaults)
		_ = fields.Complete(app, defaults, &submission.Objects{Driver: driver.Driver.DeepCopy()})
		_ = fields.UnsupportedFields(app, defaults).Sentences()
	})
}

// Eight times as many entries cost about eight times as much, and not sixty-four times.
func TestCostIsLinearInEachList(t *testing.T) {
	const some, times = 1000, 8
	driver := built(t, pi().Obj(), settings.NewDefaults())
	for name, specOf := range manyEntries() {
		t.Run(name, func(t *testing.T) {
			few, lots := costOf(t, specOf(some), driver), costOf(t, specOf(times*some), driver)
			// What hardly costs anything says nothing.
			if floor := 40 * time.Millisecond; lots.CPU > 3*times*max(few.CPU, floor/times) {
				t.Errorf("%d take %s, and %d take %s", some, few.CPU, times*some, lots.CPU)
			}
			if lots.Bytes > 3*times*few.Bytes {
				t.Errorf("%d take %d KiB, and %d take %d KiB", some, few.Bytes>>10, times*some, lots.Bytes>>10)
			}
		})
	}
}

func TestCostOfEachListIsTested(t *testing.T) {
	pods := reflect.TypeFor[v1beta2.SparkPodSpec]()
	for i := range pods.NumField() {
		field := pods.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if kind := field.Type.Kind(); (kind == reflect.Slice || kind == reflect.Map) && entriesOfPods[name] == "" {
			t.Errorf("TestCostIsLinearInEachList has no entries of %s", name)
		}
	}
}
