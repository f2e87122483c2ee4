package submission

import (
	"errors"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

func TestPlansThatNameNothingToRunAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		resource  Resource
		mainClass string
		field     string
	}{
		"a jar without main class":       {Resource{URI: "local:///a.jar"}, "", "mainClass"},
		"neither resource nor class":     {Resource{}, "", "mainClass"},
		"Python without file":            {Resource{Kind: Python}, "x", "resource"},
		"R without file":                 {Resource{Kind: R, URI: "spark-internal"}, "", "resource"},
		"an unknown kind":                {Resource{Kind: "perl", URI: "local:///a.pl"}, "x", "resource.kind"},
		"a jar of the submitting host":   {Resource{URI: "/opt/a.jar"}, "x", "resource"},
		"a Python of the submitting one": {Resource{URI: "file:///a.py"}, "", "resource"},
		"R with a relative path":         {Resource{URI: "a.R"}, "", "resource"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := pi()
			plan.Resource, plan.MainClass = row.resource, row.mainClass
			_, err := Build(plan)
			var field *finding.Finding
			if !errors.As(err, &field) || field.Field != row.field {
				t.Errorf("Build: %v, want a finding about %s", err, row.field)
			}
		})
	}
}

func TestBlanksAroundTheResourceAreRefused(t *testing.T) {
	for _, resource := range []string{" local:///a.jar", "local:///a.py ", "local:///a.R\t", " "} {
		plan := pi()
		plan.Resource.URI = resource
		wantRefused(t, plan, "begins or ends with a blank: leave the blank out")
	}
}

func TestPlansWithoutNamesAreRefused(t *testing.T) {
	plan := pi()
	plan.Names, plan.Namespace = Names{}, ""
	wantRefused(t, plan, "namespace", "names.appID", "names.prefix", "names.driverPod", "names.configMap", "names.localDir")
}

func TestValuesOfLabelsAreChecked(t *testing.T) {
	plan := pi()
	plan.Names.AppID = "an id that is neither short enough nor made of the characters that a label may have"
	plan.SparkVersion = "4.0.1+mine"
	wantRefused(t, plan, "names.appID", "sparkVersion")
}

func TestSecretsOfReferencesAreInNoMessage(t *testing.T) {
	_, err := Build(pi("spark.driver.memory=${spark.x.pin}", "spark.x.pin=4711-0815", "spark.executor.memory=much"))
	if err == nil || strings.Contains(err.Error(), "4711") {
		t.Fatalf("it says %v", err)
	}
	for _, part := range []string{`spark.driver.memory "${spark.x.pin}"`, `spark.executor.memory "much"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it says %v, want %s", err, part)
		}
	}
}
