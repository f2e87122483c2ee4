package parity

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// ExecutorCase is what a field of the Kubeflow operator's API asks of executors. Drivers make those, so that what their
// Pods show is Spark's doing: of the properties and the template that Firesteel gives to the driver.
type ExecutorCase struct {
	// Field is the path below spec, and About what else tells the case from others of the field. The first case of a field
	// goes the way that the table of routes says.
	Field, About string
	// Spec is the application's, but for what every one has.
	Spec string
	// Pod and Container are what the Pod shows that has what the field asks for, and Spark's container in it: see Shown.
	Pod, Container string
}

// Name is the case's own.
func (c ExecutorCase) Name() string { return strings.TrimSpace(c.Field + " " + c.About) }

// executorContainer is the name of Spark's container in executors.
const executorContainer = "spark-kubernetes-executor"

// Application is the case as an application of that version of Spark.
func (c ExecutorCase) Application(version string) (*v1beta2.SparkApplication, error) {
	spec := Object{
		"type": "Scala", "sparkVersion": version, "image": "apache/spark:4.1.0", "executor": Object{},
		"mainClass": "org.apache.spark.examples.SparkPi", "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
	}
	if err := yaml.Unmarshal([]byte(c.Spec), &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	manifest, err := yaml.Marshal(Object{
		"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
		"metadata": Object{"name": appName, "namespace": likeMinimal}, "spec": spec,
	})
	if err != nil {
		return nil, err
	}
	return DecodeKubeflow(manifest)
}

// Given is what a driver finds mounted, and makes executors of. Template is empty where there is none.
type Given struct{ Properties, Template string }

// Given is what Firesteel gives to the driver of an application.
func (c ExecutorCase) Given(app *v1beta2.SparkApplication) (Given, error) {
	objects, err := complete(Case{Name: likeMinimal}).BuildKubeflow(app)
	if err != nil {
		return Given{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	var given Given
	for _, object := range objects {
		data, _ := object["data"].(Object)
		if text, has := data["spark.properties"].(string); has {
			given.Properties = text
		}
		if text, has := data["podspec-configmap-key"].(string); has {
			given.Template = text
		}
	}
	return given, nil
}

// What is given begins so in the recording of an executor.
const (
	givenProperty = "given/property"
	givenTemplate = "given/template"
)

// Fields are what is given, as recordings have it.
func (g Given) Fields() Fields {
	fields := Flatten(map[string]Object{givenProperty: readProperties(g.Properties)})
	delete(fields, givenProperty+"/#") // names the config map
	if g.Template != "" {
		flatten(givenTemplate, readTemplate(g.Template), fields)
	}
	return fields
}

// Missing are the fields that the Pod of an executor would show if it had what the case asks for.
func (c ExecutorCase) Missing(executor Fields) ([]string, error) {
	var pod, container Object
	if err := yaml.Unmarshal([]byte(c.Pod), &pod); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	if err := yaml.Unmarshal([]byte(c.Container), &container); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	wanted := Fields{}
	for path, fragment := range map[string]Object{"Pod": pod, "Pod/spec/containers/" + executorContainer: container} {
		if fragment != nil {
			flatten(path, fragment, wanted)
		}
	}
	var missing []string
	for _, field := range slices.Sorted(maps.Keys(wanted)) {
		if executor[field] != wanted[field] {
			missing = append(missing, fmt.Sprintf("%s is %s, not %s", field, shown(executor[field]), shown(wanted[field])))
		}
	}
	return missing, nil
}

// Warned reports whether the condition Warning of the application names the field.
func (c ExecutorCase) Warned(app *v1beta2.SparkApplication) bool {
	return slices.ContainsFunc(fields.UnsupportedFields(app, kubeflowDefaults()), func(f finding.Finding) bool {
		return strings.HasPrefix(f.Sentence(), "spec."+c.Field)
	})
}

// ExecutorRecordings are what Spark of one version makes of the cases, by their names: all but the first as differences
// from that, which asks for nothing.
type ExecutorRecordings map[string]Fields

func executorsFile(version string) string {
	return filepath.Join("testdata", "executors", version+".yaml")
}

// LoadExecutors reads the recordings of a version; none where there is no file.
func LoadExecutors(version string) (ExecutorRecordings, error) {
	text, err := os.ReadFile(executorsFile(version))
	if errors.Is(err, fs.ErrNotExist) {
		return ExecutorRecordings{}, nil
	}
	if err != nil {
		return nil, err
	}
	var recordings ExecutorRecordings
	err = yaml.UnmarshalStrict(text, &recordings)
	return recordings, err
}

// Of returns the recording of a case, whole.
func (r ExecutorRecordings) Of(c ExecutorCase) (Fields, error) {
	kept, known := r[c.Name()]
	if !known {
		return nil, fmt.Errorf("there is no recording of executors with %s, run make parity RECORD=missing", c.Name())
	}
	if c.Name() == ExecutorCases[0].Name() {
		return kept, nil
	}
	return whole(kept, r[ExecutorCases[0].Name()]), nil
}

// NewExecutorRecordings has recordings kept as they are stored.
func NewExecutorRecordings(made map[string]Fields) ExecutorRecordings {
	first := ExecutorCases[0].Name()
	recordings := ExecutorRecordings{first: made[first]}
	for name, fields := range made {
		if name != first {
			recordings[name] = less(fields, made[first])
		}
	}
	return recordings
}

// Write writes the recordings of a version.
func (r ExecutorRecordings) Write(version string) error {
	text, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(executorsFile(version)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(executorsFile(version), text, 0o644)
}
