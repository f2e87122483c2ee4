// Package eventing has the parts of Knative Eventing that a small cluster applies: the
// Broker on the in-memory channel, and the SinkBinding. It edits the manifests
// in Knative's Go module.
package eventing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Module is Knative Eventing's Go module.
const Module = "knative.dev/eventing"

// Namespace is where its manifests put it.
const Namespace = "knative-eventing"

// Programs are the commands of the module that the manifests run. Each is a
// package below Module + "/cmd".
var Programs = []string{
	"controller",                   // channels, subscriptions
	"webhook",                      // defaults, validation and the SinkBinding
	"mtchannel_broker",             // Brokers and Triggers
	"broker/ingress",               // takes events
	"broker/filter",                // gives each Trigger its own
	"in_memory/channel_controller", // in-memory channels
	"in_memory/channel_dispatcher", // delivers, with retries
}

// Reference is how the manifests name the image of a program.
func Reference(program string) string { return "ko://" + Module + "/cmd/" + program }

// folders hold the manifests, inside the module. The namespace is in the first.
var folders = []string{"config/core", "config/channels/in-memory-channel", "config/brokers/mt-channel-broker"}

// left are the files of what no Broker needs: sources, sinks, and
// autoscalers, which need a metrics server that does not exist here.
var left = []string{"job-sink.yaml", "request-reply.yaml", "pingsource-mt-adapter.yaml", "webhook-hpa.yaml", "hpa.yaml"}

// images are the ConfigMaps that the module's archive lacks, since they are links
// in its repository. The controller starts nothing without them; what they name
// is never run here.
var images = map[string][]string{
	"eventing-transformations-images": {"transform-jsonata"},
	"eventing-integrations-images": {
		"timer-source", "aws-s3-source", "aws-sqs-source", "aws-ddb-streams-source",
		"log-sink", "aws-s3-sink", "aws-sqs-sink", "aws-sns-sink",
	},
}

// Manifests are the objects to apply, in order, from the module's folder. Their
// images are References.
func Manifests(module string) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, folder := range folders {
		// Sorted by name; archives of modules hold no links, so each file comes once.
		err := filepath.WalkDir(filepath.Join(module, folder), func(file string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".yaml" || slices.Contains(left, filepath.Base(file)) {
				return err
			}
			objects, err := read(file)
			list.Items = append(list.Items, objects...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("the manifests of %s: %w", Module, err)
		}
	}
	for _, object := range list.Items {
		makeSmall(object)
	}
	for _, name := range []string{"eventing-transformations-images", "eventing-integrations-images"} {
		list.Items = append(list.Items, placeholders(name, images[name]))
	}
	return list, nil
}

func read(file string) ([]unstructured.Unstructured, error) {
	content, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	var objects []unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(content, 4096); ; {
		var object unstructured.Unstructured
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(object.Object) > 0 { // not only a comment
			objects = append(objects, object)
		}
	}
}

// makeSmall gives each Deployment one pod, which requests no CPU: the CPUs of the
// cluster are for applications.
func makeSmall(object unstructured.Unstructured) {
	if object.GetKind() != "Deployment" {
		return
	}
	spec, _ := object.Object["spec"].(map[string]any)
	spec["replicas"] = int64(1)
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	for _, container := range containers {
		for _, kind := range []string{"requests", "limits"} {
			unstructured.RemoveNestedField(container.(map[string]any), "resources", kind, "cpu")
		}
	}
	_ = unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")
}

func placeholders(name string, keys []string) unstructured.Unstructured {
	data := map[string]any{}
	for _, key := range keys {
		data[key] = "not-in-this-cluster"
	}
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": Namespace},
		"data":     data,
	}}
}

// Deployments are the names of those that must become available.
func Deployments(list *unstructured.UnstructuredList) []string {
	var names []string
	for _, object := range list.Items {
		if object.GetKind() == "Deployment" {
			names = append(names, object.GetName())
		}
	}
	return names
}

// Name is a program's as a file or an image.
func Name(program string) string {
	return strings.NewReplacer("/", "-", "_", "-").Replace(program)
}
