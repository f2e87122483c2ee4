package submission_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestImagesThatAreNoReferencesAreFound(t *testing.T) {
	const both, ofDriver, ofExecutors = "spark.kubernetes.container.image", "spark.kubernetes.driver.container.image", "spark.kubernetes.executor.container.image"
	containers := func(of ...corev1.Container) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: of}}
	}
	spark, other := corev1.Container{Name: "spark", Image: "Any"}, corev1.Container{Name: "other", Image: "Shipper"}
	for name, test := range map[string]struct {
		properties       map[string]string
		driver, executor *corev1.PodTemplateSpec
		want             []string
	}{
		"a name":                    {properties: map[string]string{both: "spark"}},
		"a port, a tag, a digest":   {properties: map[string]string{both: "example.com:5000/a/spark_x:v4.1.0@sha256:" + strings.Repeat("a", 64)}},
		"a placeholder":             {properties: map[string]string{both: "spark:{{SPARK_VERSION}}"}},
		"the address of a page":     {properties: map[string]string{both: "https://example.com/spark"}, want: []string{both}},
		"two tags":                  {properties: map[string]string{both: "spark:4.1:0"}, want: []string{both}},
		"capitals":                  {properties: map[string]string{ofDriver: "Spark", ofExecutors: "example.com/Spark"}, want: []string{ofDriver, ofExecutors}},
		"a short digest":            {properties: map[string]string{both: "spark@sha256:abcd"}, want: []string{both}},
		"more than a reference has": {properties: map[string]string{both: "spark:" + strings.Repeat("a", 1<<20)}, want: []string{both}},
		"executors that are not made": {properties: map[string]string{
			ofDriver: "spark", ofExecutors: "Spark", "spark.kubernetes.driver.master": "local[*]",
		}},
		"other containers": {
			properties: map[string]string{both: "spark"}, driver: containers(spark, other), executor: containers(spark, other),
			want: []string{"driverTemplate.spec.containers[1].image", "executorTemplate.spec.containers[1].image"},
		},
	} {
		plan := submission.Plan{SparkVersion: "4.1.0", Properties: test.properties, DriverTemplate: test.driver, ExecutorTemplate: test.executor}
		driver := &corev1.Pod{}
		if test.driver != nil { // Spark's container becomes the last
			driver.Spec.Containers = slices.Clone(test.driver.Spec.Containers)
			slices.Reverse(driver.Spec.Containers)
			driver.Spec.Containers[1].Image = submission.DriverImage(plan)
		}
		var fields []string
		for _, found := range submission.CheckImages(plan, driver) {
			fields = append(fields, found.Field)
		}
		if !slices.Equal(fields, test.want) {
			t.Errorf("%s: it warns of %q, want %q", name, fields, test.want)
		}
	}
}
