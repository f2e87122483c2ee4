package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
)

func findings(t *testing.T, schemas *schema.Schemas, kind kubeschema.GroupKind, text string) []string {
	t.Helper()
	manifest, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found, err := schemas.Check(kind, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return found.Sentences()
}

var apache, kubeflow = kubeschema.GroupKind{Group: "spark.apache.org", Kind: "SparkApplication"}, kubeschema.GroupKind{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"}

func TestWhatTheAPIServerRefusesIsFoundByItsField(t *testing.T) {
	var schemas schema.Schemas
	const fine = "metadata: {name: a}\nspec:\n  runtimeVersions: {sparkVersion: 4.1.0}\n"
	for name, test := range map[string]struct {
		kind kubeschema.GroupKind
		text string
		want []string
	}{
		"nothing":                   {apache, fine, nil},
		"nulls":                     {apache, fine + "  mainClass: null\n  sparkConf: null\n", nil},
		"a status":                  {apache, fine + "status: {anything: 1}\n", nil},
		"no name":                   {apache, "metadata: {}\nspec: {runtimeVersions: {sparkVersion: '4'}}\n", []string{"metadata.name is missing: set it."}},
		"a generated name":          {apache, "metadata: {generateName: a-}\nspec: {runtimeVersions: {sparkVersion: '4'}}\n", nil},
		"a required field":          {apache, "metadata: {name: a}\nspec: {}\n", []string{"spec.runtimeVersions is missing: set it."}},
		"another value":             {apache, fine + "  deploymentMode: Cluster\n", []string{`spec.deploymentMode "Cluster" is no value of the field: write one of ClusterMode, ClientMode.`}},
		"a number that is no text":  {apache, fine + "  sparkConf: {spark.executor.instances: 2}\n", []string{"spec.sparkConf[spark.executor.instances] is no text: write it in quotes."}},
		"a list that is no text":    {apache, fine + "  mainClass: [A]\n", []string{"spec.mainClass has the wrong type: write a value of the type string."}},
		"a text that is no number":  {kubeflow, "metadata: {name: a}\nspec: {driver: {}, executor: {instances: '2'}}\n", []string{"spec.executor.instances is no whole number: write one, without quotes."}},
		"a text that is no switch":  {apache, fine + "  suspend: 'yes'\n", []string{"spec.suspend is neither true nor false: write one of them, without quotes."}},
		"a text that is no list":    {apache, fine + "  driverArgs: '100'\n", []string{"spec.driverArgs is no list: write each entry in a line of its own that begins with a hyphen, or all in brackets."}},
		"a text that has no fields": {apache, "metadata: {name: a}\nspec: {runtimeVersions: '4.1.0'}\n", []string{"spec.runtimeVersions has no fields: write them below it, each with its value."}},
		"a field that there is not": {apache, fine + "  mainClas: A\n", []string{`unknown field "spec.mainClas" is dropped: correct its spelling to mainClass.`}},
		"fields that metadata has not": {
			apache, "metadata: {name: a, lables: {b: c}, namespce: d, ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u, nmae: e}]}\nspec: {runtimeVersions: {sparkVersion: '4'}}\n", []string{
				`unknown field "metadata.lables" is dropped: correct its spelling to labels.`,
				`unknown field "metadata.namespce" is dropped: correct its spelling to namespace.`,
				`unknown field "metadata.ownerReferences[0].nmae" is dropped: correct its spelling to name.`,
			},
		},
		"a number too large": {
			kubeflow, "metadata: {name: a}\nspec: {driver: {}, executor: {instances: 3000000000}}\n",
			[]string{"spec.executor.instances 3000000000 is refused, it should be less than or equal to 2147483647: correct it."},
		},
		"an entry of a list": {
			kubeflow, "metadata: {name: a}\nspec: {driver: {configMaps: [{name: a, path: /a}, {name: b}]}, executor: {}}\n",
			[]string{"spec.driver.configMaps[1].path is missing: set it."},
		},
		"a template": {kubeflow, "metadata: {name: a}\nspec: {driver: {template: {spec: {anything: 1}}}, executor: {}}\n", nil},
	} {
		if diff := cmp.Diff(test.want, findings(t, &schemas, test.kind, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEachKindHasASchema(t *testing.T) {
	var schemas schema.Schemas
	for _, kind := range check.Served() {
		if _, err := schemas.Check(kind.GroupKind(), []byte(`{"metadata":{"name":"a"}}`)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := schemas.Check(kubeschema.GroupKind{Kind: "Pod"}, []byte(`{}`)); err == nil {
		t.Error("another kind has one")
	}
}
