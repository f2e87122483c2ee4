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

func TestReferenceIsCurrent(t *testing.T) {
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
			t.Errorf("%s does not belong to any type", path)
		}
	}
}

func TestReferenceHasAnEventTypeManifestForEveryType(t *testing.T) {
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
		t.Fatalf("there are %d EventTypes, want %d", len(texts), len(events.Types))
	}
	for i, text := range texts {
		var got eventType
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		eventType := events.Types[i]
		if problems := validation.IsDNS1123Subdomain(got.Metadata.Name); got.Metadata.Name != eventType.Name || problems != nil {
			t.Errorf("the manifest of %[2]s is named %[1]s: %[3]v", got.Metadata.Name, eventType.Name, problems)
		}
		values, required := map[string]string{}, map[string]bool{}
		for _, a := range got.Spec.Attributes {
			values[a.Name], required[a.Name] = a.Value, a.Required
		}
		// Knative's webhook wants these four.
		if !required["id"] || !required["specversion"] || values["type"] != eventType.Name || !strings.HasPrefix(values["source"], "/apis/{group}/") {
			t.Errorf("%s has the attributes %+v", eventType.Name, got.Spec.Attributes)
		}
	}
}

// Every type is a message of the channel, and every reference has a target.
func TestReferenceHasAnAsyncAPIDocumentForEveryType(t *testing.T) {
	files := published(t)
	var document map[string]any
	if err := yaml.UnmarshalStrict(files["docs/users/asyncapi.yaml"], &document); err != nil {
		t.Fatal(err)
	}
	if document["asyncapi"] != "3.0.0" || at(document, "info/title") == nil || at(document, "info/version") == nil {
		t.Errorf("it is AsyncAPI %v, of %v", document["asyncapi"], document["info"])
	}
	if channel := at(document, "operations/publish/channel/$ref"); channel != "#/channels/lifecycle" {
		t.Errorf("it publishes to %v", channel)
	}
	for _, eventType := range events.Types {
		to, _ := at(document, "channels/lifecycle/messages/"+eventType.Name+"/$ref").(string)
		message := at(document, strings.TrimPrefix(to, "#/"))
		if at(message, "name") != eventType.Name {
			t.Errorf("%s leads to %q, which is %v", eventType.Name, to, message)
		}
		schema, _ := at(message, "payload/schema/$ref").(string)
		if files["docs/users/"+schema] == nil {
			t.Errorf("the payload of %s is %s, which does not exist", eventType.Name, schema)
		}
		for _, header := range []string{"ce-id", "ce-source", "ce-type", "ce-sparkname", "content-type"} {
			if at(message, "headers/properties/"+header) == nil {
				t.Errorf("%s has no header %s", eventType.Name, header)
			}
		}
	}
}

// at returns the value at a path of a document.
func at(document any, path string) any {
	for _, name := range strings.Split(path, "/") {
		fields, _ := document.(map[string]any)
		document = fields[name]
	}
	return document
}
