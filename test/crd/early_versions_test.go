package crd

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

// kubeflowVersions are the versions that sparkoperator.k8s.io is served in. The first is stored.
var kubeflowVersions = []string{"v1beta2", "v1beta1", "v1alpha1"}

// A manifest of the first versions may be applied as any version: no field of it is unknown, refused, dropped or unreadable, and it runs.
func TestManifestsOfTheFirstVersionsAreTaken(t *testing.T) {
	for _, text := range bytes.Split(read(t, "testdata/sparkoperator-early.yaml"), []byte("\n---\n")) {
		name := decode(t, text)["metadata"].(map[string]any)["name"].(string)
		t.Run(name, func(t *testing.T) {
			for _, version := range kubeflowVersions {
				resource := newResource(t, sparkOperatorApplications, version)
				if unknown := resource.unknown(t, text); len(unknown) > 0 {
					t.Errorf("%s does not know %q", version, unknown)
				}
				admitted, refusal := resource.admit(t, text)
				if refusal != nil {
					t.Fatalf("%s refuses it: %v", version, refusal)
				}
				app := decodeKubeflow(t, admitted)
				if app.Undecodable != "" || len(app.UnknownFields) > 0 {
					t.Errorf("undecodable %q, dropped %q", app.Undecodable, app.UnknownFields)
				}
				if refused := kubeflow.New(settings.Defaults{}).Policy(app).Refused; refused != nil {
					t.Errorf("it fails: %s", refused.Message)
				}
			}
		})
	}
}

func decodeKubeflow(t *testing.T, object map[string]any) *v1beta2.SparkApplication {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1beta2.SparkApplication{}
	if err := json.Unmarshal(text, app); err != nil {
		t.Fatal(err)
	}
	return app
}

func TestTextsOfTheFirstVersionsAreChecked(t *testing.T) {
	for _, version := range kubeflowVersions {
		resource := newResource(t, sparkOperatorApplications, version)
		for spec, field := range map[string]string{
			`{restartPolicy: Sometimes}`:                "spec.restartPolicy",
			`{restartPolicy: [Never]}`:                  "spec.restartPolicy",
			`{restartPolicy: {type: Sometimes}}`:        "spec.restartPolicy.type",
			`{restartPolicy: {onFailureRetries: -1}}`:   "spec.restartPolicy.onFailureRetries",
			`{driver: {cores: "many"}}`:                 "spec.driver.cores",
			`{driver: {cores: 0}}`:                      "spec.driver.cores",
			`{executor: {cores: {a: 1}}}`:               "spec.executor.cores",
			`{executor: {cores: [1]}}`:                  "spec.executor.cores",
			`{maxSubmissionRetries: -1}`:                "spec.maxSubmissionRetries",
			`{submissionRetryInterval: 0}`:              "spec.submissionRetryInterval",
			`{maxSubmissionRetries: 99999999999999999}`: "spec.maxSubmissionRetries",
		} {
			if _, refusal := resource.admit(t, sparkOperatorApplication(t, "a", spec)); refusal == nil || !strings.Contains(refusal.Error(), field) {
				t.Errorf("%s: %s: the refusal is %v", version, spec, refusal)
			}
		}
	}
}

// The API server keeps unknown fields of a restart policy, since it may be a text.
func TestMisspeltFieldOfARestartPolicyIsReported(t *testing.T) {
	admitted, refusal := newSparkOperator(t).admit(t, sparkOperatorApplication(t, "a", `{restartPolicy: {type: Never, onFailureRetrys: 3}}`))
	if refusal != nil {
		t.Fatal(refusal)
	}
	if got := strings.Join(decodeKubeflow(t, admitted).UnknownFields, " "); got != `unknown field "spec.restartPolicy.onFailureRetrys"` {
		t.Errorf("unknown are %q", got)
	}
}

// What is stored of an object must not depend on the version that it was written in, and readers see all of it.
func TestAllVersionsOfACRDHaveOneSchemaAndFitIntoAnAnnotation(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(manifestDir, "300-*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		crd, _ := load(t, file)
		var first []byte
		for _, version := range crd.Spec.Versions {
			bare := version.Schema.OpenAPIV3Schema.DeepCopy()
			undescribe(bare)
			text, err := json.Marshal(bare)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text
			}
			if !bytes.Equal(first, text) {
				t.Errorf("%s: the schema of %s is another", file, version.Name)
			}
		}
		// kubectl apply stores the object as JSON in an annotation, which may have 256 KiB.
		text, err := json.Marshal(crd)
		if err != nil || len(text) > 200_000 {
			t.Errorf("%s has %d bytes: %v", file, len(text), err)
		}
	}
}

func undescribe(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Description = ""
	for name, property := range schema.Properties {
		undescribe(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		undescribe(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		undescribe(schema.AdditionalProperties.Schema)
	}
}
