package parity

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Apache is the Apache operator's API.
const Apache = "apache"

// appName is the name of the application that a case is in an API.
const appName = "spark-pi"

// Manifest returns the case as a user of the Apache operator's API writes it.
func (c Case) Manifest(version, namespace string) ([]byte, error) {
	conf := maps.Clone(c.Conf)
	delete(conf, "spark.kubernetes.namespace") // the application's own
	spec := Object{
		"runtimeVersions": Object{"sparkVersion": version}, "mainClass": c.Class, "sparkConf": conf,
		"driverArgs": c.Args, "proxyUser": c.ProxyUser,
	}
	switch {
	case strings.HasSuffix(c.Resource, ".py"):
		spec["pyFiles"] = c.Resource
	case strings.HasSuffix(strings.ToLower(c.Resource), ".r"):
		spec["sparkRFiles"] = c.Resource
	case c.Resource != noResource:
		spec["jars"] = c.Resource
	}
	templates, err := c.podTemplates()
	if err != nil {
		return nil, err
	}
	for role, pod := range templates {
		spec[role+"Spec"] = Object{"podTemplateSpec": pod}
	}
	return yaml.Marshal(Object{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication",
		"metadata": Object{"name": appName, "namespace": namespace}, "spec": spec,
	})
}

// Decode reads a manifest of the Apache operator's API as the controller reads what the API server has of it.
func Decode(manifest []byte) (*sparkv1.SparkApplication, error) {
	app := &sparkv1.SparkApplication{}
	return app, decode(manifest, app, &app.UnknownFields)
}

// BuildApache returns the objects that Firesteel makes of an application that a case is, or the refusal that the
// application's condition shows. The names of the objects are Spark's, so that those of a recording are the same.
func (c Case) BuildApache(app *sparkv1.SparkApplication) ([]Object, error) {
	if refused := apache.Policy(app, apache.Defaults{}).Refused; refused != nil {
		return nil, errors.New(refused.Message)
	}
	plan, err := apache.Plan(app, v1alpha1.Attempt{Since: metav1.NewMicroTime(time.UnixMilli(0))}, apache.Defaults{})
	if err != nil {
		return nil, err
	}
	return c.build(plan, app.Namespace, func(built *submission.Objects) error {
		apache.Decorate(built)
		return nil
	})
}

// Apache returns the expected objects of the case as an application of the Apache operator's API: those of the
// recording, with what that operator adds to them.
func (r *Recording) Apache(c Case) *Recording {
	if r.RefusedBy != "" {
		return r
	}
	fields := maps.Clone(r.Fields)
	for key, value := range apacheProperties(c) {
		fields[propertiesOf+key] = value
	}
	labelled := []string{driverLabels}
	if _, made := fields[driverService+"kind"]; made {
		labelled = append(labelled, driverService+"spec/selector/")
		if !strings.EqualFold(strings.TrimSpace(c.Conf[publishKey]), "false") {
			fields[driverService+"spec/publishNotReadyAddresses"] = true
		}
	}
	for _, labels := range labelled {
		fields[labels+"spark-app-name"] = appName
		for key, value := range apacheLabels {
			fields[labels+key] = value
		}
	}
	addLabels(fields)
	forbidEscalation(fields)
	return &Recording{Fields: fields}
}

const (
	propertiesOf  = "ConfigMap/-conf-map/data/spark.properties/"
	driverLabels  = "Pod/metadata/labels/"
	driverService = "Service/-driver-svc/"
	publishKey    = "spark.kubernetes.driver.service.publishNotReadyAddresses"
)

// apacheLabels are the labels that identify the objects of the operator's applications.
var apacheLabels = properties{"spark.operator/name": "spark-kubernetes-operator", "spark.operator/spark-app-name": appName}

// apacheProperties are those that the operator sets, and its defaults for those that the case does not set.
func apacheProperties(c Case) properties {
	set := properties{
		"spark.authenticate": "true", "spark.io.encryption.enabled": "true", publishKey: "true",
		"spark.kubernetes.driver.annotateExitException": "true", "spark.kubernetes.executor.useDriverPodIP": "true",
	}
	if !strings.EqualFold(c.Conf["spark.dynamicAllocation.enabled"], "true") {
		set["spark.kubernetes.executor.deleteOnTermination"] = "false"
	}
	if strings.HasSuffix(c.Resource, ".py") {
		set["spark.submit.pyFiles"] = c.Resource
	}
	maps.DeleteFunc(set, func(key, _ string) bool { _, given := c.Conf[key]; return given })
	set[appNameKey] = appName
	for key, value := range apacheLabels {
		for _, role := range []string{"driver.label", "driver.service.label", "executor.label"} {
			set["spark.kubernetes."+role+"."+key] = value
		}
	}
	return set
}

// addLabels gives the driver's labels to all that the driver owns.
func addLabels(fields Fields) {
	for field, kind := range maps.Clone(fields) {
		object, ofKind := strings.CutSuffix(field, "/kind")
		if !ofKind || kind == "Pod" || kind == "PodGroup" || strings.Count(object, "/") != 1 {
			continue
		}
		for field, value := range maps.Clone(fields) {
			label, isLabel := strings.CutPrefix(field, driverLabels)
			if _, own := fields[object+"/metadata/labels/"+label]; isLabel && !own {
				fields[object+"/metadata/labels/"+label] = value
			}
		}
	}
}

var containers = regexp.MustCompile(`^Pod/spec/(?:initC|c)ontainers/\d+`)

// forbidEscalation sets that no container gains privileges, if its template does not say so.
func forbidEscalation(fields Fields) {
	for field := range maps.Clone(fields) {
		escalation := containers.FindString(field) + "/securityContext/allowPrivilegeEscalation"
		privileged := fields[containers.FindString(field)+"/securityContext/privileged"] == true
		if _, said := fields[escalation]; !said && !privileged && containers.MatchString(field) {
			fields[escalation] = false
		}
	}
}

// RefusalInApache is what the condition of the application says of a refusal, if there is one.
func RefusalInApache(refusal error, app *sparkv1.SparkApplication) string {
	if refusal == nil {
		return ""
	}
	return apache.Refusals(refusal, app, apache.Defaults{}).String()
}

// placeInApache is where in a manifest of the Apache operator's API the refused field is.
func (c Case) placeInApache() string {
	switch field, rest, _ := strings.Cut(c.Refused, "."); field {
	case "spark":
		return finding.Entry("spec.sparkConf", c.Refused)
	case "driverTemplate":
		return "spec.driverSpec.podTemplateSpec." + rest
	case "resource":
		switch {
		case strings.HasSuffix(c.Resource, ".py"):
			return "spec.pyFiles"
		case strings.HasSuffix(c.Resource, ".R"):
			return "spec.sparkRFiles"
		default:
			return "spec.jars"
		}
	default:
		return "spec." + c.Refused
	}
}
