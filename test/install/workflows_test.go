package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/recorded"
	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// resourceTemplate is what the tests read of a template of Argo Workflows.
type resourceTemplate struct {
	Name     string
	Resource struct{ Action, SuccessCondition, FailureCondition, Manifest string }
	Outputs  struct {
		Parameters []struct {
			Name      string
			ValueFrom struct{ JSONPath string }
		}
	}
}

func workflowTemplate(t *testing.T) resourceTemplate {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples/argo-workflows/workflow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Spec struct{ Templates []resourceTemplate }
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	for _, template := range workflow.Spec.Templates {
		if template.Name == "spark" {
			return template
		}
	}
	t.Fatal("the workflow has no template spark")
	return resourceTemplate{}
}

// fields are the fields of an object by their gjson paths, which Argo Workflows matches a label selector against.
type fields string

func (f fields) Has(path string) bool   { return gjson.Get(string(f), path).Exists() }
func (f fields) Get(path string) string { return gjson.Get(string(f), path).String() }
func (f fields) Lookup(path string) (string, bool) {
	return f.Get(path), f.Has(path)
}

// matched returns how many requirements of a condition an object meets, and how many there are.
func matched(t *testing.T, condition string, object fields) (met, all int) {
	t.Helper()
	selector, err := labels.Parse(condition)
	if err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	requirements, _ := selector.Requirements()
	for _, requirement := range requirements {
		if requirement.Matches(object) {
			met++
		}
	}
	return met, len(requirements)
}

func TestWorkflowEndsWithTheApplication(t *testing.T) {
	template := workflowTemplate(t)
	for _, o := range recorded.SparkApplications() {
		if strings.Contains(o.Name, ", ") { // adopted, edited or refused: the workflow creates its application itself
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			text, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			failures, _ := matched(t, template.Resource.FailureCondition, fields(text))
			successes, all := matched(t, template.Resource.SuccessCondition, fields(text))
			ended := o.Health == recorded.Degraded || gjson.Get(string(text), `status.conditions.#(type=="Succeeded").status`).String() == "True"
			succeeded := ended && o.Health == recorded.Healthy
			if got := failures > 0; got != (ended && !succeeded) {
				t.Errorf("the workflow fails: %t", got)
			}
			if got := all > 0 && successes == all; got != succeeded {
				t.Errorf("the workflow goes on: %t", got)
			}
			if ended {
				checkOutputs(t, template, o)
			}
		})
	}
}

// checkOutputs checks the outputs as kubectl would print them.
func checkOutputs(t *testing.T, template resourceTemplate, o recorded.Object) {
	t.Helper()
	for _, parameter := range template.Outputs.Parameters {
		path := jsonpath.New(parameter.Name)
		if err := path.Parse(parameter.ValueFrom.JSONPath); err != nil {
			t.Fatal(err)
		}
		var value strings.Builder
		if err := path.Execute(&value, o.Object.Object); err != nil || value.Len() == 0 {
			t.Errorf("the output %s is %q, %v", parameter.Name, value.String(), err)
		}
	}
}

func TestWorkflowStepsOfTheKubeflowAPIEndWithTheApplication(t *testing.T) {
	const success, failure = "status.applicationState.state == COMPLETED", "status.applicationState.state == FAILED"
	page, err := os.ReadFile(filepath.Join(root, "docs/operators/gitops.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "`"+success+"` | `"+failure+"`") {
		t.Error("gitops.md has other conditions")
	}
	for _, o := range recorded.KubeflowApplications() {
		if strings.Contains(o.Name, ", ") {
			continue
		}
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		over := strings.Contains(o.Name, "TerminatedWithoutReleaseResources") || strings.Contains(o.Name, "ResourceReleased")
		if met, _ := matched(t, success, fields(text)); (met == 1) != (over && o.Health == recorded.Healthy) {
			t.Errorf("%s: the workflow goes on: %t", o.Name, met == 1)
		}
		if met, _ := matched(t, failure, fields(text)); (met == 1) != (over && o.Health == recorded.Degraded) {
			t.Errorf("%s: the workflow fails: %t", o.Name, met == 1)
		}
	}
}

func TestWorkflowCreatesAnApplicationOfTheAPI(t *testing.T) {
	template := workflowTemplate(t)
	var app sparkv1.SparkApplication
	if err := yaml.UnmarshalStrict([]byte(template.Resource.Manifest), &app); err != nil {
		t.Fatal(err)
	}
	if template.Resource.Action != "create" || app.APIVersion != sparkv1.SchemeGroupVersion.String() || app.Kind != "SparkApplication" {
		t.Errorf("the template has the action %s and the kind %s", template.Resource.Action, app.GroupVersionKind())
	}
}
