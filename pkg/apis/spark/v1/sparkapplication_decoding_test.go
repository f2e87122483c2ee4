package v1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// object is an application of a spec and a status.
func object(spec, status string) string {
	return `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication",` +
		`"metadata":{"name":"pi","namespace":"team-a","uid":"u","resourceVersion":"7","generation":2},` +
		`"spec":` + spec + `,"status":` + status + `}`
}

const (
	plainSpec = `{"runtimeVersions":{"sparkVersion":"4.1.4"},"driverArgs":["20"]}`
	template  = `{"runtimeVersions":{"sparkVersion":"4.1.4"},"driverSpec":{"podTemplateSpec":`
)

func TestUnmarshalJSON(t *testing.T) {
	for name, test := range map[string]struct {
		text        string
		unknown     []string
		undecodable string
	}{
		"a plain one":                            {text: object(plainSpec, `{}`)},
		"a template with parts only":             {text: object(template+`{"spec":{"volumes":[{"name":"v"}]}}}}`, `{}`)},
		"a template without containers":          {text: object(template+`{"metadata":{"labels":{"a":"b"}}}}}`, `{}`)},
		"a template whose container has no name": {text: object(template+`{"spec":{"containers":[{"image":"i"}]}}}}`, `{}`)},
		"a template that is a whole Pod":         {text: object(template+`{"apiVersion":"v1","kind":"Pod","spec":{}}}}`, `{}`)},
		"a misspelt field": {
			text: object(template+`{"spec":{"volume":[],"containers":[{"img":"i"}]}}}}`, `{}`),
			unknown: []string{
				`unknown field "spec.driverSpec.podTemplateSpec.spec.volume"`,
				`unknown field "spec.driverSpec.podTemplateSpec.spec.containers[0].img"`,
			},
		},
		"a field in the wrong case": {
			text:    object(`{"runtimeVersions":{"sparkVersion":"4.1.4"},"mainclass":"Main"}`, `{}`),
			unknown: []string{`unknown field "spec.mainclass"`},
		},
		"a newer Firesteel's status is no mistake": {
			text: object(plainSpec, `{"firesteel":{"attempt":{"id":0,"since":null},"sequence":1,"acknowledged":0,"newer":1}}`),
		},
		"a newer API server's metadata is no mistake": {
			text: strings.Replace(object(plainSpec, `{}`), `"uid":"u"`, `"uid":"u","newer":1`, 1),
		},
		"a string for a number": {
			text:        object(template+`{"spec":{"activeDeadlineSeconds":"60"}}}}`, `{}`),
			undecodable: "activeDeadlineSeconds",
		},
		"a quantity that is none": {
			text:        object(template+`{"spec":{"containers":[{"resources":{"limits":{"cpu":"a lot"}}}]}}}}`, `{}`),
			undecodable: "quantities must match",
		},
		"a quantity that would take hours to read": {
			text:        object(template+`{"spec":{"containers":[{"resources":{"limits":{"cpu":" 1e-2147483647 "}}}]}}}}`, `{}`),
			undecodable: "1e-2147483647",
		},
		"a text with something like one": {
			text: object(`{"runtimeVersions":{"sparkVersion":"4.1.4"},"driverArgs":["0a1e-123456789012","1e-300"]}`, `{}`),
		},
		"a list for an object": {
			text: object(template+`[]}}`, `{}`), undecodable: "podTemplateSpec",
		},
		"a status that cannot be read": {
			text: object(plainSpec, `{"firesteel":{"sequence":"one"}}`), undecodable: "sequence",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var app sparkv1.SparkApplication
			if err := json.Unmarshal([]byte(test.text), &app); err != nil {
				t.Fatalf("a whole list would be lost: %v", err)
			}
			if app.Name != "pi" || app.Namespace != "team-a" || app.UID != "u" || app.ResourceVersion != "7" || app.Generation != 2 ||
				app.Kind != "SparkApplication" {
				t.Errorf("the metadata is %+v %+v", app.TypeMeta, app.ObjectMeta)
			}
			if diff := cmp.Diff(test.unknown, app.UnknownFields); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
			if (app.Undecodable != "") != (test.undecodable != "") || !strings.Contains(app.Undecodable, test.undecodable) {
				t.Errorf("undecodable: %q, want %q", app.Undecodable, test.undecodable)
			}
			if empty := app.Spec.RuntimeVersions.SparkVersion == ""; empty != (test.undecodable != "") {
				t.Errorf("the spec is %+v", app.Spec)
			}
		})
	}
}

func TestUnmarshalJSONReplacesThePreviousValue(t *testing.T) {
	app := sparkv1.SparkApplication{Undecodable: "before", UnknownFields: []string{"before"}}
	app.Spec.MainClass = "Before"
	if err := json.Unmarshal([]byte(object(plainSpec, `{}`)), &app); err != nil {
		t.Fatal(err)
	}
	if app.Undecodable != "" || app.UnknownFields != nil || app.Spec.MainClass != "" {
		t.Errorf("something is left: %+v", app)
	}
}

func TestUnmarshalJSONOfWhatIsNoObject(t *testing.T) {
	for _, text := range []string{`[]`, `"pi"`, `{"metadata":7}`} {
		if err := json.Unmarshal([]byte(text), &sparkv1.SparkApplication{}); err == nil {
			t.Errorf("%s was taken for an application", text)
		}
	}
}

// One bad object must not keep the others from being served: a client decodes whole lists.
func TestListWithAnUndecodableApplication(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := sparkv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	bad := object(template+`{"spec":{"activeDeadlineSeconds":"60"}}}}`, `{}`)
	text := `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplicationList","metadata":{"resourceVersion":"9"},"items":[` +
		bad + `,` + object(plainSpec, `{}`) + `]}`
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDeserializer(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list := decoded.(*sparkv1.SparkApplicationList)
	if len(list.Items) != 2 || list.Items[0].Undecodable == "" || list.Items[1].Undecodable != "" ||
		list.Items[1].Spec.DriverArgs[0] != "20" {
		t.Errorf("the list is %+v", list.Items)
	}
	if copied := list.DeepCopy(); copied.Items[0].Undecodable == "" {
		t.Error("a copy does not know that it is undecodable")
	}
}

// Nothing that says how an object was decoded may come back to the API server.
func TestMarshalOmitsTheResultOfDecoding(t *testing.T) {
	text, err := json.Marshal(sparkv1.SparkApplication{Undecodable: "secret", UnknownFields: []string{"secret"}})
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("encoded as %s, %v", text, err)
	}
}
