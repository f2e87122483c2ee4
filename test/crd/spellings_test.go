package crd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// Manifests of the kinds that there are of the Apache operator, old spellings among them, are taken as they are: nothing
// of them is unknown, refused, dropped or unreadable, whatever version they are applied as, and all are launched.
func TestManifestsOfAllKindsAreTaken(t *testing.T) {
	manifests := bytes.Split(read(t, "testdata/spellings.yaml"), []byte("\n---\n"))
	for _, manifest := range manifests {
		name := decode(t, manifest)["metadata"].(map[string]any)["name"].(string)
		t.Run(name, func(t *testing.T) {
			for _, version := range sparkVersions {
				resource := newResource(t, sparkApplications, version)
				if unknown := resource.unknown(t, manifest); len(unknown) > 0 {
					t.Errorf("%s does not know %q", version, unknown)
				}
				admitted, refusal := resource.admit(t, manifest)
				if refusal != nil {
					t.Fatalf("%s refuses it: %v", version, refusal)
				}
				app := decodeApplication(t, admitted)
				if len(app.UnknownFields) > 0 {
					t.Errorf("dropped: %q", app.UnknownFields)
				}
				app.Namespace, app.UID = "default", "uid"
				if refused := apache.Policy(app, apache.Defaults{}).Refused; refused != nil {
					t.Errorf("it fails: %s", refused.Message)
				}
				if _, err := launch(app); err != nil {
					t.Errorf("it is not launched: %s", apache.Refusals(err, app, apache.Defaults{}).String())
				}
			}
		})
	}
	if len(manifests) < 2 {
		t.Error("there is one manifest only")
	}
}

// As kubectl apply says it.
func TestMisspeltFieldsAreUnknown(t *testing.T) {
	unknown := newResource(t, sparkApplications, "v1").unknown(t, application(t, "a", `{mainclass: Main, applicationTolerations: {ttl: 5}}`))
	if got := strings.Join(unknown, " "); got != "spec.applicationTolerations.ttl spec.mainclass" {
		t.Errorf("unknown are %q", unknown)
	}
}
