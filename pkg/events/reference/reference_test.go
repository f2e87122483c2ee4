package reference_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/events/reference"
)

const root = "../../.."

func published(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := reference.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestWhatIsPublishedIsCurrent keeps what is published what the table of types says.
func TestWhatIsPublishedIsCurrent(t *testing.T) {
	want := published(t)
	for path, text := range want {
		got, err := os.ReadFile(filepath.Join(root, path))
		if diff := cmp.Diff(string(text), string(got)); err != nil || diff != "" {
			t.Errorf("%s is stale: run make generate (-want +got): %v\n%s", path, err, diff)
		}
	}
	schemas, err := os.ReadDir(filepath.Join(root, reference.SchemaDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range schemas {
		if path := filepath.Join(reference.SchemaDir, schema.Name()); want[path] == nil {
			t.Errorf("%s is the schema of no type", path)
		}
	}
}

func TestEveryTypeHasAnEventType(t *testing.T) {
	type eventType struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
		Spec             struct {
			Description string
			Reference   struct{ APIVersion, Kind, Name string }
			Attributes  []struct {
				Name, Value string
				Required    bool
			}
		}
	}
	texts := strings.Split(string(published(t)["config/eventing/600-eventtypes.yaml"]), "\n---\n")
	if len(texts) != len(events.Types) {
		t.Fatalf("there are %d, want %d", len(texts), len(events.Types))
	}
	for i, text := range texts {
		var got eventType
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		kind := events.Types[i]
		if problems := validation.IsDNS1123Subdomain(got.Metadata.Name); got.Metadata.Name != kind.Name || problems != nil {
			t.Errorf("it is named %s for %s: %v", got.Metadata.Name, kind.Name, problems)
		}
		values, required := map[string]string{}, map[string]bool{}
		for _, a := range got.Spec.Attributes {
			values[a.Name], required[a.Name] = a.Value, a.Required
		}
		// Knative's webhook wants these four.
		if !required["id"] || !required["specversion"] || values["type"] != kind.Name || !strings.HasPrefix(values["source"], "/apis/{group}/") {
			t.Errorf("%s has the attributes %+v", kind.Name, got.Spec.Attributes)
		}
	}
}

// TestTheAsyncAPIDocumentIsWhole checks that every type is a message of the channel, and that whatever is referred to exists.
func TestTheAsyncAPIDocumentIsWhole(t *testing.T) {
	files := published(t)
	var document map[string]any
	if err := yaml.UnmarshalStrict(files["docs/users/asyncapi.yaml"], &document); err != nil {
		t.Fatal(err)
	}
	if document["asyncapi"] != "3.0.0" || at(document, "info/title") == nil || at(document, "info/version") == nil {
		t.Errorf("it is AsyncAPI %v, of %v", document["asyncapi"], document["info"])
	}
	if channel := at(document, "operations/tell/channel/$ref"); channel != "#/channels/lifecycle" {
		t.Errorf("it tells %v", channel)
	}
	for _, kind := range events.Types {
		to, _ := at(document, "channels/lifecycle/messages/"+kind.Name+"/$ref").(string)
		message := at(document, strings.TrimPrefix(to, "#/"))
		if at(message, "name") != kind.Name {
			t.Errorf("%s leads to %q, which is %v", kind.Name, to, message)
		}
		schema, _ := at(message, "payload/schema/$ref").(string)
		if files["docs/users/"+schema] == nil {
			t.Errorf("the payload of %s is %s, which does not exist", kind.Name, schema)
		}
		for _, header := range []string{"ce-id", "ce-source", "ce-type", "ce-sparkname", "content-type"} {
			if at(message, "headers/properties/"+header) == nil {
				t.Errorf("%s has no header %s", kind.Name, header)
			}
		}
	}
}

// at is what a document has at a path.
func at(document any, path string) any {
	for _, name := range strings.Split(path, "/") {
		fields, _ := document.(map[string]any)
		document = fields[name]
	}
	return document
}
