// The sparksubmit program stands in for spark-submit in cluster mode. It creates the driver Pod from the pod template and the
// properties, as Spark names and labels it, and what else identifies a driver. It fails if the property spark.test.refused is set.
package main

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	if err := submit(context.Background(), properties(os.Args[1:])); err != nil {
		log.Fatal(err)
	}
}

// properties returns the Spark properties among the arguments.
func properties(arguments []string) map[string]string {
	found := map[string]string{}
	for i, argument := range arguments {
		if argument == "--conf" && i+1 < len(arguments) {
			key, value, _ := strings.Cut(arguments[i+1], "=")
			found[key] = value
		}
	}
	return found
}

func submit(ctx context.Context, properties map[string]string) error {
	if reason := properties["spark.test.refused"]; reason != "" {
		log.Fatalf("Exception in thread \"main\" java.lang.IllegalArgumentException: %s", reason)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	driver, err := driver(properties)
	if err != nil {
		return err
	}
	_, err = kube.CoreV1().Pods(properties["spark.kubernetes.namespace"]).Create(ctx, driver, metav1.CreateOptions{})
	return err
}

func driver(properties map[string]string) (*corev1.Pod, error) {
	text, err := os.ReadFile(properties["spark.kubernetes.driver.podTemplateFile"])
	if err != nil {
		return nil, err
	}
	var template corev1.PodTemplateSpec
	if err := yaml.Unmarshal(text, &template); err != nil {
		return nil, err
	}
	driver := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	driver.Name = properties["spark.kubernetes.driver.pod.name"]
	driver.Labels = map[string]string{
		"spark-role": "driver", "spark-app-selector": "spark-" + strings.ReplaceAll(uuid.NewString(), "-", ""),
	}
	for key, value := range properties {
		if label, ok := strings.CutPrefix(key, "spark.kubernetes.driver.label."); ok {
			driver.Labels[label] = value
		}
	}
	driver.Spec.RestartPolicy = corev1.RestartPolicyNever
	driver.Spec.ServiceAccountName = properties["spark.kubernetes.authenticate.driver.serviceAccountName"]
	driver.Spec.Containers[0].Image = properties["spark.kubernetes.driver.container.image"]
	return driver, nil
}
