package v1beta2_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// object is an application of a spec and a status.
func object(spec, status string) string {
	return `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication",` +
		`"metadata":{"name":"pi","namespace":"team-a","uid":"u","resourceVersion":"7"},` +
		`"spec":` + spec + `,"status":` + status + `}`
}

const plainSpec = `{"mainClass":"Main","driver":{},"executor":{}}`

func TestUnmarshalJSON(t *testing.T) {
	for name, test := range map[string]struct {
		text        string
		unknown     []string
		undecodable string
	}{
		"a plain one":                    {text: object(plainSpec, `{}`)},
		"a template that is a whole Pod": {text: object(`{"mainClass":"Main","driver":{"template":{"apiVersion":"v1","kind":"Pod"}}}`, `{}`)},
		"a template with what belongs to a container": {
			text:    object(`{"mainClass":"Main","driver":{"template":{"spec":{"securityContext":{"capabilities":{"drop":["ALL"]}}}}}}`, `{}`),
			unknown: []string{`unknown field "spec.driver.template.spec.securityContext.capabilities"`},
		},
		"a misspelt field of a volume": {
			text:    object(`{"mainClass":"Main","volumes":[{"name":"v","emptydir":{}}]}`, `{}`),
			unknown: []string{`unknown field "spec.volumes[0].emptydir"`},
		},
		"a newer Firesteel's status is no mistake": {
			text: object(plainSpec, `{"driverInfo":{},"newer":1,"firesteel":{"attempt":{"id":0,"since":null},"sequence":1,"acknowledged":0,"newer":1}}`),
		},
		"times that are null": {text: object(plainSpec, `{"driverInfo":{},"lastSubmissionAttemptTime":null,"terminationTime":null}`)},
		"a quantity that would take hours to read": {
			text:        object(`{"mainClass":"Main","batchSchedulerOptions":{"resources":{"cpu":" 1e-2147483647 "}}}`, `{}`),
			undecodable: "1e-2147483647",
		},
		"a text for a number": {
			text: object(`{"mainClass":"Main","executor":{"terminationGracePeriodSeconds":"60"}}`, `{}`), undecodable: "field ExecutorSpec.spec.executor.terminationGracePeriodSeconds",
		},
		"a status that cannot be read": {text: object(plainSpec, `{"terminationTime":"yesterday"}`), undecodable: "yesterday"},
	} {
		t.Run(name, func(t *testing.T) {
			app := v1beta2.SparkApplication{Undecodable: "before", UnknownFields: []string{"before"}}
			if err := json.Unmarshal([]byte(test.text), &app); err != nil {
				t.Fatalf("a whole list would be lost: %v", err)
			}
			if app.Name != "pi" || app.Namespace != "team-a" || app.UID != "u" || app.ResourceVersion != "7" || app.Kind != "SparkApplication" {
				t.Errorf("the metadata is %+v %+v", app.TypeMeta, app.ObjectMeta)
			}
			if diff := cmp.Diff(test.unknown, app.UnknownFields); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
			if (app.Undecodable != "") != (test.undecodable != "") || !strings.Contains(app.Undecodable, test.undecodable) {
				t.Errorf("undecodable: %q, want %q", app.Undecodable, test.undecodable)
			}
			if app.GetUndecodable() != app.Undecodable || (app.Spec.MainClass == "") != (test.undecodable != "") {
				t.Errorf("the spec is %+v", app.Spec)
			}
		})
	}
}

func TestUnmarshalJSONOfWhatIsNoObject(t *testing.T) {
	for _, text := range []string{`[]`, `"pi"`, `{"metadata":7}`} {
		if err := json.Unmarshal([]byte(text), &v1beta2.SparkApplication{}); err == nil {
			t.Errorf("%s was taken for an application", text)
		}
	}
}

// One bad object must not keep the others from being served: a client decodes whole lists.
func TestListWithAnUndecodableApplication(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	text := `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplicationList","metadata":{},"items":[` +
		object(`{"volumes":7}`, `{}`) + `,` + object(plainSpec, `{}`) + `]}`
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDeserializer(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	items := decoded.(*v1beta2.SparkApplicationList).Items
	if len(items) != 2 || items[0].Undecodable == "" || items[1].Undecodable != "" || items[1].Spec.MainClass != "Main" {
		t.Errorf("the list is %+v", items)
	}
}

func TestHadoopProperties(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want v1beta2.Properties
		says string // of an object that is undecodable
	}{
		"none":               {text: `{}`, want: v1beta2.Properties{}},
		"texts":              {text: `{"a":"b","c":""}`, want: v1beta2.Properties{"a": "b", "c": ""}},
		"numbers and truths": {text: `{"a":64000000,"b":0.50,"c":true}`, want: v1beta2.Properties{"a": "64000000", "b": "0.50", "c": "true"}},
		"nothing":            {text: `{"a":null}`, want: v1beta2.Properties{"a": ""}},
		"no properties":      {text: `null`},
		"the last of a name": {text: `{"a":"b","a":"c\u00e9\ud800"}`, want: v1beta2.Properties{"a": "cé\ufffd"}},
		"a list":             {text: `["a"]`, says: "spec.hadoopConf"},
		"an object":          {text: `{"fs":{"s3a":"b"}}`, says: `fs: write a text in the place of {"s3a":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var app v1beta2.SparkApplication
			if err := json.Unmarshal([]byte(object(`{"hadoopConf":`+test.text+`}`, `{}`)), &app); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, app.Spec.HadoopConf); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if !strings.Contains(app.Undecodable, test.says) || (test.says == "") != (app.Undecodable == "") {
				t.Errorf("undecodable: %q, want %q", app.Undecodable, test.says)
			}
		})
	}
}

func TestManyHadoopPropertiesAreDecodedInPlace(t *testing.T) {
	properties := map[string]any{"last": 1}
	for i := range 100_000 {
		properties[strconv.Itoa(i)] = ""
	}
	text, err := json.Marshal(properties)
	if err != nil {
		t.Fatal(err)
	}
	var decoded v1beta2.Properties
	spent := cost.Least(3, func() { err = decoded.UnmarshalJSON(text) })
	if err != nil || len(decoded) != len(properties) {
		t.Errorf("%d properties, %v", len(decoded), err)
	}
	if spent.Bytes > 24<<20 {
		t.Errorf("%d KiB of properties take %d MiB", len(text)>>10, spent.Bytes>>20)
	}
}

// Argo CD asks any status for its applicationState, and Airflow any applicationState for its state, which it takes for one
// of a driver that runs unless it is absent, SUBMITTED or FAILED.
func TestTheStatusOfANewApplicationIsReadByItsClients(t *testing.T) {
	text, err := json.Marshal(v1beta2.SparkApplicationStatus{Conditions: []metav1.Condition{{Type: "Succeeded"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"driverInfo":{}`, `"applicationState":{}`} {
		if !strings.Contains(string(text), field) {
			t.Errorf("%s lacks %s", text, field)
		}
	}
}
