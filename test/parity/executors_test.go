package parity

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// TestExecutorsHaveTheirFields goes by the Pods that Spark made when they were recorded, and checks that Spark
// is given the same today.
func TestExecutorsHaveTheirFields(t *testing.T) {
	for _, version := range Versions {
		recordings, err := LoadExecutors(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ExecutorCases {
			t.Run(version+"/"+c.Name(), func(t *testing.T) {
				recorded, err := recordings.Of(c)
				if err != nil {
					t.Fatal(err)
				}
				app, err := c.Application(version)
				if err != nil {
					t.Fatal(err)
				}
				given, err := c.Given(app)
				if err != nil {
					t.Fatal(err)
				}
				for _, difference := range Differences(part(recorded, "given/"), given.Fields()) {
					t.Errorf("what the driver gets is otherwise than recorded, run make parity RECORD=all: %s is %s, was %s",
						difference.Field, difference.Firesteel, difference.Spark)
				}
				missing, err := c.Missing(recorded)
				if err != nil {
					t.Fatal(err)
				}
				if warned := c.Warned(app); warned != (len(missing) > 0) {
					t.Errorf("the condition Warning names it: %v; but the Pod's\n\t%s", warned, strings.Join(missing, "\n\t"))
				}
			})
		}
	}
}

func part(fields Fields, prefix string) Fields {
	found := Fields{}
	for field, value := range fields {
		if strings.HasPrefix(field, prefix) {
			found[field] = value
		}
	}
	return found
}

// TestExecutorFieldsTakeTheirRoutes goes by the first case of each field.
func TestExecutorFieldsTakeTheirRoutes(t *testing.T) {
	routes := slices.Clone(fields.Routes)
	for _, route := range fields.PodRoutes {
		route.Field = "executor." + route.Field
		routes = append(routes, route)
		if !slices.ContainsFunc(ExecutorCases, func(c ExecutorCase) bool { return c.Field == route.Field }) {
			t.Errorf("no case shows what executors get of %s: add one to cases_executors.go", route.Field)
		}
	}
	for _, version := range Versions {
		recordings, err := LoadExecutors(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, route := range routes {
			at := slices.IndexFunc(ExecutorCases, func(c ExecutorCase) bool { return c.Field == route.Field })
			switch {
			case at >= 0:
				t.Run(version+"/"+route.Field, func(t *testing.T) {
					wantRoute(t, ExecutorCases[at], recordings[ExecutorCases[at].Name()], route.Executor)
				})
			case route.Executor == fields.ByTemplate, route.Executor == fields.ByTemplateAndProperty:
				t.Errorf("no case shows what executors get of %s: add one to cases_executors.go", route.Field)
			}
		}
	}
}

// wantRoute checks the way of a field by what its case has recorded otherwise than the one that asks for nothing.
func wantRoute(t *testing.T, c ExecutorCase, recorded Fields, want fields.Way) {
	t.Helper()
	missing, err := c.Missing(recorded)
	if err != nil {
		t.Fatal(err)
	}
	template := len(part(recorded, givenTemplate)) > 0
	properties := part(recorded, givenProperty)
	maps.DeleteFunc(properties, func(field string, value any) bool {
		return value == nil || strings.Contains(field, "executor.podTemplate")
	})
	property := len(properties) > 0
	ways := map[fields.Way]bool{
		fields.Impossible: len(missing) > 0,
		fields.ByProperty: property && !template,
		// What makes a field of the application's count may be other fields, by properties.
		fields.ByTemplate:            template && (!property || !strings.HasPrefix(c.Field, "executor.")),
		fields.ByTemplateAndProperty: template && property,
	}
	if !ways[want] {
		t.Errorf("the way is said to be %s, and it is by property: %v, by template: %v, in vain: %v", want, property, template, missing)
	}
}

func TestExecutorsRequestThePlannedResources(t *testing.T) {
	for _, version := range Versions {
		recordings, err := LoadExecutors(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ExecutorCases {
			recorded, err := recordings.Of(c)
			if err != nil {
				t.Fatal(err)
			}
			app, err := c.Application(version)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := fields.Plan(app, v1alpha1.Attempt{}, kubeflowDefaults())
			if err != nil {
				t.Fatal(err)
			}
			executors, err := submission.PlannedExecutors(plan)
			if err != nil {
				t.Fatal(err)
			}
			for name, reckoned := range executors.Requests {
				requested, _ := recorded["Pod/spec/containers/"+executorContainer+"/resources/requests/"+string(name)].(string)
				if quantity, err := resource.ParseQuantity(requested); err != nil || quantity.Cmp(reckoned) != 0 {
					t.Errorf("%s/%s: executors request %s of %s, not %s", version, c.Name(), requested, name, &reckoned)
				}
			}
		}
	}
}

func TestEveryRecordingOfExecutorsIsOfACase(t *testing.T) {
	for _, version := range Versions {
		recordings, err := LoadExecutors(version)
		if err != nil {
			t.Fatal(err)
		}
		for name := range recordings {
			if !slices.ContainsFunc(ExecutorCases, func(c ExecutorCase) bool { return c.Name() == name }) {
				t.Errorf("%s: %s is of no case", version, name)
			}
		}
	}
}

func TestAProcessSeesTheLastVariableOfAName(t *testing.T) {
	got := environment([]Object{
		{"name": "A", "value": "$(B) $(A)"}, {"name": "A", "value": "one"}, {"name": "B", "value": "$(A) and $(C)"}, {"name": "A", "value": "two"},
	})
	if got["A"] != "two" || got["B"] != "one and $(C)" {
		t.Error(got)
	}
}
