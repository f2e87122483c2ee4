package console_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// description is the part of the OpenAPI document that the tests read.
type description struct {
	Paths map[string]struct {
		Get struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"get"`
	} `json:"paths"`
}

func readDescription(t *testing.T) (described description, text []byte) {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	return described, text
}

func TestAnswersAreAsDescribed(t *testing.T) {
	described, text := readDescription(t)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	e, _ := newLiveEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	examples := map[string]string{"/namespaces": list, "/live/stream": list}
	for path, rights := range guarded {
		examples[path] = strings.Join(rights, "; ")
	}
	maps.Copy(examples, liveGuarded)
	for template, path := range described.Paths {
		matched := 0
		for example, rights := range examples {
			if !matches(template, example) {
				continue
			}
			matched++
			ref := path.Get.Responses["200"].Content["application/json"].Schema.Ref
			if ref == "" {
				continue
			}
			for code, want := range map[string]string{e.get(example, rights).body: ref, e.get(example, "").body: "#/components/schemas/Error"} {
				schema, err := compiler.Compile("openapi.json" + want)
				if err != nil {
					t.Fatal(err)
				}
				got, err := jsonschema.UnmarshalJSON(strings.NewReader(code))
				if err != nil {
					t.Fatalf("%s: %v", example, err)
				}
				if err := schema.Validate(got); err != nil {
					t.Errorf("%s: %v", example, err)
				}
			}
		}
		if matched == 0 {
			t.Errorf("no test asks for %s", template)
		}
	}
	for example := range examples {
		known := false
		for template := range described.Paths {
			known = known || matches(template, example)
		}
		if !known {
			t.Errorf("%s is served and not described", example)
		}
	}
}

var parameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

func matches(template, path string) bool {
	return regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$").MatchString(path)
}

func TestDescriptionIsServedToAll(t *testing.T) {
	_, text := readDescription(t)
	if got := newEnv(t).get("/openapi.json", ""); got.body != string(text) {
		t.Errorf("got %d %.100s", got.code, got.body)
	}
}

func TestClientReadsWhatIsServed(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	client := e.client(getEtl + "; " + list + "; " + getLogs)
	page, err := client.List(t.Context(), "team-a", api.Filter{State: "Failed", Limit: 1, Since: began, LabelSelector: "app=etl", Resource: apache}, "")
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%v, %v", page, err)
	}
	found, err := client.Named(t.Context(), "team-a", apache, "etl")
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	details, err := client.Details(t.Context(), &found.Items[0])
	if err != nil || len(details.Attempts) != 1 || string(details.Attempts[0].Usage) != `{"seconds":60}` || details.Attempts[0].Logs[0].Missing == "" {
		t.Fatalf("%v, %v", details, err)
	}
	var object struct{ Kind string }
	if err := client.Object(t.Context(), &details.Application, 0, "application.json.gz", &object); err != nil || object.Kind != "SparkApplication" {
		t.Errorf("%v, %v", object, err)
	}
	stream, err := client.Log(t.Context(), &details.Application, 0, details.Attempts[0].Logs[0], api.LogOptions{Tail: 1, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var log bytes.Buffer
	if _, err := log.ReadFrom(stream); err != nil || log.String() != "three\n" {
		t.Errorf("%q, %v", log.String(), err)
	}
	if _, err := client.Named(t.Context(), "team-b", apache, "etl"); !api.IsNotFound(err) {
		t.Errorf("what the caller may not read: %v", err)
	}
	if namespaces, err := client.Namespaces(t.Context()); err != nil || len(namespaces.Items) != 1 {
		t.Errorf("%v, %v", namespaces, err)
	}
}
