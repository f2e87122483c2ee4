package parity

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Plan returns the case as Firesteel gets it, with names of Spark's own shapes.
func (c Case) Plan(version, namespace string) (submission.Plan, error) {
	driver, err := template(c.Driver)
	if err != nil {
		return submission.Plan{}, err
	}
	executor, err := template(c.Executor)
	if err != nil {
		return submission.Plan{}, err
	}
	conf := map[string]string{}
	for key, value := range c.Conf {
		conf[key] = value
	}
	conf["spark.kubernetes.namespace"] = namespace
	prefix := submission.ResourceNamePrefix(conf[appNameKey], uniqueID)
	return submission.Plan{
		Namespace: namespace, SparkVersion: version, Properties: conf,
		MainClass: c.Class, Resource: submission.Resource{URI: c.Resource}, Arguments: c.Args,
		ProxyUser: c.ProxyUser, SparkUser: "spark",
		DriverTemplate: driver, ExecutorTemplate: executor,
		SubmitTime: time.UnixMilli(0),
		Names: submission.Names{
			AppID: appID, Prefix: prefix, DriverPod: prefix + "-driver", ConfigMap: "spark-drv-" + uniqueID + "-conf-map",
			FallbackService: "spark-" + uniqueID + "-driver-svc", LocalDir: localDir,
		},
	}, nil
}

func template(manifest string) (*corev1.PodTemplateSpec, error) {
	if manifest == "" {
		return nil, nil
	}
	result := &corev1.PodTemplateSpec{}
	if err := yaml.Unmarshal([]byte(manifest), result); err != nil {
		return nil, fmt.Errorf("pod template: %w", err)
	}
	return result, nil
}

// Build returns the objects that Firesteel makes of a case, in order of creation, each as it would be sent.
func (c Case) Build(version, namespace string) ([]Object, error) {
	plan, err := c.Plan(version, namespace)
	if err != nil {
		return nil, err
	}
	built, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	return sent(built)
}

// sent returns objects in order of creation, each as it is sent to the API server.
func sent(built *submission.Objects) ([]Object, error) {
	driver := built.Driver.DeepCopy()
	driver.UID = ownerUID
	owner := submission.OwnedBy(driver)
	for _, object := range slices.Concat(built.Before, built.Owned) {
		object.SetOwnerReferences([]metav1.OwnerReference{owner})
	}
	var objects []Object
	for _, object := range slices.Concat(built.Before, []submission.Object{built.Driver}, built.Owned) {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		sent := Object{}
		if err := json.Unmarshal(text, &sent); err != nil {
			return nil, err
		}
		objects = append(objects, sent)
	}
	return objects, nil
}
