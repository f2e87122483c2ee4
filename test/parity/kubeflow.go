package parity

import (
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Kubeflow is the Kubeflow operator's API.
const Kubeflow = "kubeflow"

// templateContainer begins and ends the property of a role that names Spark's container in a template. The Kubeflow
// operator always names the same.
func templateContainer(role string) (key, name string) {
	return "spark.kubernetes." + role + ".podTemplateContainerName", "spark-kubernetes-" + role
}

// InKubeflow reports whether a case can be given in that API so that spark-submit gets the same: not if another name identifies
// the driver's container in its template.
func (c Case) InKubeflow() bool {
	key, name := templateContainer("driver")
	chosen, chooses := c.Conf[key]
	return c.Driver == "" || !chooses || chosen == name
}

// KubeflowManifest returns the case as a user of the Kubeflow operator's API writes it. What that has fields for is given
// by properties all the same, but for templates: which property a field stands for is the dialect's own test.
func (c Case) KubeflowManifest(version, namespace string) ([]byte, error) {
	conf := maps.Clone(c.Conf)
	delete(conf, "spark.kubernetes.namespace") // the application's own
	spec := Object{
		"sparkVersion": version, "mainClass": c.Class, "mainApplicationFile": c.Resource, "arguments": c.Args,
		"proxyUser": c.ProxyUser, "sparkConf": conf,
	}
	templates, err := c.podTemplates()
	if err != nil {
		return nil, err
	}
	for role, pod := range templates {
		key, _ := templateContainer(role)
		delete(conf, key) // the operator sets it
		spec[role] = Object{"template": pod}
	}
	return yaml.Marshal(Object{
		"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
		"metadata": Object{"name": appName, "namespace": namespace}, "spec": spec,
	})
}

// DecodeKubeflow reads such a manifest as the controller reads what the API server has of it.
func DecodeKubeflow(manifest []byte) (*v1beta2.SparkApplication, error) {
	app := &v1beta2.SparkApplication{}
	return app, decode(manifest, app, &app.UnknownFields)
}

// kubeflowDefaults have the operator add nothing beside Spark's objects, and deny nothing.
func kubeflowDefaults() settings.Defaults {
	defaults := settings.NewDefaults()
	defaults.UIService, defaults.DeniedProperties = false, nil
	return defaults
}

// RefusalInKubeflow is what the condition of the application says of a refusal, if there is one.
func RefusalInKubeflow(refusal error, app *v1beta2.SparkApplication) string {
	if refusal == nil {
		return ""
	}
	return fields.Refusals(refusal, app, kubeflowDefaults()).String()
}

// placeInKubeflow is where in a manifest of the Kubeflow operator's API the refused field is.
func (c Case) placeInKubeflow() string {
	switch field, rest, _ := strings.Cut(c.Refused, "."); {
	case c.Refused == "spark.kubernetes.container.image" && c.Conf[c.Refused] == "":
		return "spec.image"
	case field == "spark":
		return finding.Entry("spec.sparkConf", c.Refused)
	case field == "resource":
		return "spec.mainApplicationFile"
	case field == "driverTemplate":
		return "spec.driver.template." + rest
	default:
		return "spec." + c.Refused
	}
}

// BuildKubeflow returns the objects that Firesteel makes of an application that a case is, or the refusal. The names of
// the objects are Spark's, so that those of a recording are the same.
func (c Case) BuildKubeflow(app *v1beta2.SparkApplication) ([]Object, error) {
	defaults := kubeflowDefaults()
	if refused := fields.Policy(app, defaults).Refused; refused != nil {
		return nil, errors.New(refused.Message)
	}
	plan, err := fields.Plan(app, v1alpha1.Attempt{Since: metav1.NewMicroTime(time.UnixMilli(0))}, defaults)
	if err != nil {
		return nil, err
	}
	return c.build(plan, app.Namespace, func(built *submission.Objects) error { return fields.Complete(app, defaults, built) })
}

// Kubeflow returns the expected objects of the case as an application of the Kubeflow operator's API: those of the
// recording, with what that operator adds to them. It has that number of executors if the case does not name one.
func (r *Recording) Kubeflow(c Case, executors string) *Recording {
	if r.RefusedBy != "" {
		return r
	}
	fields := r.named(c, properties{"sparkoperator.k8s.io/app-name": appName, "sparkoperator.k8s.io/launched-by-spark-operator": "true"}, executors)
	for _, role := range roles {
		if c.templateOf(role) == "" {
			label(fields, role, "sparkoperator.k8s.io/mutated-by-spark-operator", "true")
		} else {
			key, name := templateContainer(role)
			fields[propertiesOf+key] = name
		}
	}
	return &Recording{Fields: driverFirst(fields)}
}

// named returns the fields of a recording with the name of an application, the labels of its Pods, and the number of its executors if it
// has none.
func (r *Recording) named(c Case, labels properties, executors string) Fields {
	fields := maps.Clone(r.Fields)
	fields[propertiesOf+appNameKey] = appName
	if _, set := c.Conf["spark.executor.instances"]; !set && !strings.EqualFold(c.Conf["spark.dynamicAllocation.enabled"], "true") {
		fields[propertiesOf+"spark.executor.instances"] = executors
	}
	fields[driverLabels+"spark-app-name"] = appName
	if _, selects := fields[driverService+"kind"]; selects {
		fields[driverService+"spec/selector/spark-app-name"] = appName
	}
	for _, role := range roles {
		for key, value := range labels {
			label(fields, role, key, value)
		}
	}
	return fields
}

// label adds a label of a role's Pods.
func label(fields Fields, role, key, value string) {
	fields[propertiesOf+"spark.kubernetes."+role+".label."+key] = value
	if role != "driver" {
		return
	}
	fields[driverLabels+key] = value
	if _, selects := fields[driverService+"kind"]; selects {
		fields[driverService+"spec/selector/"+key] = value
	}
}

var containerField = regexp.MustCompile(`^(Pod/spec/containers/)(\d+)(/.*)$`)

// driverFirst moves Spark's container, the last one of a Pod that has it from a template, before the others.
func driverFirst(fields Fields) Fields {
	last := 0
	for field := range fields {
		if part := containerField.FindStringSubmatch(field); part != nil {
			at, _ := strconv.Atoi(part[2])
			last = max(last, at)
		}
	}
	moved := Fields{}
	for field, value := range fields {
		if part := containerField.FindStringSubmatch(field); part != nil {
			at, _ := strconv.Atoi(part[2])
			field = part[1] + strconv.Itoa((at+1)%(last+1)) + part[3]
		}
		moved[field] = value
	}
	return moved
}
