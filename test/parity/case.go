package parity

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// Versions are those of the recordings: the newest patch of each line that Firesteel knows.
var Versions = []string{"3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0"}

const (
	appNameKey = "spark.app.name"
	imageKey   = "spark.kubernetes.container.image"
)

// Case is the input of one submission.
type Case struct {
	// Name is the namespace of the submission as well, so it is a DNS label, but for cases of values.
	Name string
	// Versions are those that can run it; empty means all.
	Versions []string
	// Conf are Spark properties. The name and the image come by themselves, unless they are absent.
	Conf properties
	// Class and Resource are those of Spark's example if both are empty.
	Class, Resource string
	Args            []string
	ProxyUser       string
	// Driver and Executor are manifests of pod templates.
	Driver, Executor string
	// Refused is the field that a refusal must name, on those versions where spark-submit refuses the case.
	Refused string

	ofValue bool
}

// OfValue reports whether the case is of a single odd value.
func (c Case) OfValue() bool { return c.ofValue }

// Namespace is the one of the submission.
func (c Case) Namespace() string {
	if c.ofValue {
		return likeMinimal
	}
	return c.Name
}

var roles = []string{"driver", "executor"}

// templateOf is the manifest of a role's pod template; empty if there is none.
func (c Case) templateOf(role string) string {
	if role == "driver" {
		return c.Driver
	}
	return c.Executor
}

// podTemplates are the templates as fields of an application hold them, by role.
func (c Case) podTemplates() (map[string]Object, error) {
	templates := map[string]Object{}
	for _, role := range roles {
		manifest := c.templateOf(role)
		if manifest == "" {
			continue
		}
		var pod Object
		if err := yaml.Unmarshal([]byte(manifest), &pod); err != nil {
			return nil, fmt.Errorf("template of the %s: %w", role, err)
		}
		delete(pod, "apiVersion")
		delete(pod, "kind")
		templates[role] = pod
	}
	return templates, nil
}

// Arguments are those of spark-submit for the case at an API server. templates are the files of its templates, by role.
func (c Case) Arguments(server string, templates map[string]string) []string {
	arguments := []string{"--master", "k8s://" + server, "--deploy-mode", "cluster"}
	if master, set := c.Conf["spark.master"]; set {
		arguments[1] = master
	}
	if mode, set := c.Conf["spark.submit.deployMode"]; set {
		arguments[3] = mode
	}
	for key, value := range c.Conf {
		arguments = append(arguments, "--conf", key+"="+value)
	}
	for role, file := range templates {
		arguments = append(arguments, "--conf", "spark.kubernetes."+role+".podTemplateFile="+file)
	}
	if c.Class != "" {
		arguments = append(arguments, "--class", c.Class)
	}
	if c.ProxyUser != "" {
		arguments = append(arguments, "--proxy-user", c.ProxyUser)
	}
	return append(append(arguments, c.Resource), c.Args...)
}

type properties map[string]string

// absent is the value of a property that a case does not have.
const absent = "(absent)"

// Cases returns all cases of a version: those of the tables, those drawn for it, and those of single values.
func Cases(version string) []Case {
	var cases []Case
	for _, c := range slices.Concat(accepted, volumes, templates, refused) {
		if len(c.Versions) == 0 || slices.Contains(c.Versions, version) {
			cases = append(cases, complete(c))
		}
	}
	for _, c := range slices.Concat(draws(version), values()) {
		cases = append(cases, complete(c))
	}
	return cases
}

func complete(c Case) Case {
	conf := properties{
		appNameKey: "spark-pi",
		imageKey:   "apache/spark:4.1.0",
		"spark.kubernetes.submission.waitAppCompletion": "false",
		"spark.kubernetes.namespace":                    c.Namespace(),
	}
	maps.Copy(conf, c.Conf)
	maps.DeleteFunc(conf, func(_, value string) bool { return value == absent })
	c.Conf = conf
	if c.Class == "" && c.Resource == "" {
		c.Class = "org.apache.spark.examples.SparkPi"
		c.Resource = "local:///opt/spark/examples/jars/spark-examples.jar"
	}
	return c
}
