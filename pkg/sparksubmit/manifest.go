package sparksubmit

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Object is the manifest of an application.
type Object = map[string]any

// Apache returns the submission as an application of the Apache operator's API, with the name of the object.
func (s *Submission) Apache(name, namespace string) Object {
	s = s.withFolders(name)
	spec := Object{"runtimeVersions": Object{"sparkVersion": s.SparkVersion}, "sparkConf": s.conf(name)}
	var configMaps []any
	for _, folder := range s.configMaps(name) {
		configMaps = append(configMaps, Object{"name": folder.name, "data": values(folder.files)})
	}
	if configMaps != nil {
		spec["configMapSpecs"] = configMaps
	}
	set(spec, "mainClass", s.MainClass)
	set(spec, "proxyUser", s.ProxyUser)
	if s.Resource != submission.NoResource {
		set(spec, resourceFields[KindOf(s.Resource)], s.Resource)
	}
	setArguments(spec, "driverArgs", s.Arguments)
	setTemplate(spec, "driverSpec", "podTemplateSpec", s.DriverTemplate)
	setTemplate(spec, "executorSpec", "podTemplateSpec", s.ExecutorTemplate)
	return object("spark.apache.org/v1", name, namespace, spec)
}

// resourceFields are the fields of the main resource.
var resourceFields = map[submission.ResourceKind]string{submission.Java: "jars", submission.Python: "pyFiles", submission.R: "sparkRFiles"}

// Kubeflow returns the submission as an application of the Kubeflow operator's API, with the name of the object. ConfigMaps must be created before
// it.
func (s *Submission) Kubeflow(name, namespace string) Object {
	s = s.withFolders(name)
	driver, executor := Object{}, Object{}
	setTemplate(driver, "template", "", s.DriverTemplate)
	setTemplate(executor, "template", "", s.ExecutorTemplate)
	spec := s.spec(name, driver, executor)
	spec["mode"], spec["sparkVersion"] = "cluster", s.SparkVersion
	s.moveImage(spec)
	moveAccount(spec, "driver", driver)
	moveAccount(spec, "executor", executor)
	set(spec, "proxyUser", s.ProxyUser)
	return object("sparkoperator.k8s.io/v1beta2", name, namespace, spec)
}

// moveAccount moves the service account of a role to its field: the Kubeflow operator refuses the property. An account that refers to another property
// stays where it is.
func moveAccount(spec Object, role string, fields Object) {
	properties, key := spec["sparkConf"].(map[string]string), "spark.kubernetes.authenticate."+role+".serviceAccountName"
	if account := properties[key]; account != "" && !strings.Contains(account, "${") {
		fields["serviceAccount"] = account
		delete(properties, key)
	}
}

// moveImage moves the image to the field image, which the Kubeflow operator needs. The image stays a property in two cases: if
// a role has its own image, because the field would win over it, and if the image refers to another property.
func (s *Submission) moveImage(spec Object) {
	image := s.Properties[imageKey]
	ofRoles := cmp.Or(s.Properties[driverImageKey], s.Properties[executorImageKey]) != ""
	if ofRoles || image == "" || strings.TrimSpace(image) != image || strings.Contains(image, "${") {
		return
	}
	spec["image"] = image
	delete(spec["sparkConf"].(map[string]string), imageKey)
}

// Early returns the submission as an application of the early operator's API, with the name of the object. ConfigMaps must be created before it. The
// findings are what that API cannot express.
func (s *Submission) Early(name, namespace string) (Object, finding.List) {
	var found finding.List
	const message, remedy = "has no field in spark-operator.k8s.io", "choose another API, such as --api sparkoperator.k8s.io"
	if s.ProxyUser != "" {
		found.Refuse(optionProxyUser, s.ProxyUser, message, remedy)
	}
	for _, role := range []struct {
		key      string
		template *corev1.PodTemplateSpec
	}{{driverTemplateKey, s.DriverTemplate}, {executorTemplateKey, s.ExecutorTemplate}} {
		if role.template != nil {
			found.Refuse(cmp.Or(s.origins[role.key], role.key), nil, message, remedy)
		}
	}
	driver, executor := Object{}, Object{}
	if len(s.SparkConf) > 0 {
		mount := []any{Object{"name": name + sparkConfSuffix, "path": sparkConfMount}}
		driver["configMaps"], executor["configMaps"] = mount, mount
	}
	app := object("spark-operator.k8s.io/v1alpha1", name, namespace, s.withProperties(name).spec(name, driver, executor))
	app["metadata"].(Object)["annotations"] = Object{early.AnnotationSparkVersion: s.SparkVersion}
	return app, found
}

// spec returns the fields that the APIs of the Kubeflow and the early operator share.
func (s *Submission) spec(name string, driver, executor Object) Object {
	conf := s.conf(name)
	if _, set := conf[instancesKey]; !set && !submission.DynamicAllocation(func(key string) string { return conf[key] }) {
		conf[instancesKey] = strconv.Itoa(submission.DefaultExecutors) // the Kubeflow operator has another default than Spark
	}
	spec := Object{
		"type": types[KindOf(s.Resource)], "mainApplicationFile": s.Resource, "sparkConf": conf, "driver": driver, "executor": executor,
	}
	set(spec, "mainClass", s.MainClass)
	setArguments(spec, "arguments", s.Arguments)
	return spec
}

var types = map[submission.ResourceKind]string{submission.Java: "Scala", submission.Python: "Python", submission.R: "R"}

// conf returns the properties of a manifest. As with both operators, Spark's name of the application is the name of the object.
func (s *Submission) conf(name string) map[string]string {
	conf := maps.Clone(s.Properties)
	conf[nameKey] = name
	return conf
}

func object(apiVersion, name, namespace string, spec Object) Object {
	for key, value := range spec {
		if conf, isConf := value.(map[string]string); isConf {
			spec[key] = values(conf)
		}
	}
	metadata := Object{"name": name}
	set(metadata, "namespace", namespace)
	return Object{"apiVersion": apiVersion, "kind": "SparkApplication", "metadata": metadata, "spec": spec}
}

func values(conf map[string]string) Object {
	all := Object{}
	for key, value := range conf {
		all[key] = value
	}
	return all
}

// set sets a field that is not empty.
func set(spec Object, field, value string) {
	if value != "" {
		spec[field] = value
	}
}

func setArguments(spec Object, field string, arguments []string) {
	if len(arguments) == 0 {
		return
	}
	var all []any
	for _, argument := range arguments {
		all = append(all, argument)
	}
	spec[field] = all
}

// setTemplate sets a field to a template. within is a field between them; empty for none.
func setTemplate(spec Object, field, within string, template *corev1.PodTemplateSpec) {
	if template == nil {
		return
	}
	var content Object
	encoded, err := json.Marshal(template)
	if err == nil {
		err = json.Unmarshal(encoded, &content)
	}
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	for part, field := range map[string]string{"metadata": "creationTimestamp", "spec": "containers"} {
		if within, ok := content[part].(Object); ok && within[field] == nil {
			delete(within, field)
		}
	}
	if within != "" {
		content = Object{within: content}
	}
	spec[field] = content
}
