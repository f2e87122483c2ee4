package submission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestPlannedExecutors(t *testing.T) {
	for name, test := range map[string]struct {
		version, resource string
		conf              map[string]string
		count             int64
		cpu, memory       string
	}{
		"Spark's defaults": {count: 2, cpu: "1", memory: "1408Mi"},
		"as asked for": {
			conf: map[string]string{
				"spark.executor.instances": "5", "spark.executor.cores": "4", "spark.executor.memory": "512m",
				"spark.executor.memoryOverhead": "1g",
			},
			count: 5, cpu: "4", memory: "1536Mi",
		},
		"fewer cores requested than used": {
			conf:  map[string]string{"spark.executor.cores": "4", "spark.kubernetes.executor.request.cores": "500m"},
			count: 2, cpu: "500m", memory: "1408Mi",
		},
		"the executors' own factor":   {conf: map[string]string{"spark.executor.memory": "4g", "spark.executor.memoryOverheadFactor": "0.5"}, count: 2, cpu: "1", memory: "6Gi"},
		"the application's factor":    {conf: map[string]string{"spark.executor.memory": "4g", "spark.kubernetes.memoryOverheadFactor": "0.25"}, count: 2, cpu: "1", memory: "5Gi"},
		"Python's larger overhead":    {resource: "local:///a.py", conf: map[string]string{"spark.executor.memory": "4g"}, count: 2, cpu: "1", memory: "5734Mi"},
		"memory of Python's own":      {resource: "local:///a.py", conf: map[string]string{"spark.executor.pyspark.memory": "1g"}, count: 2, cpu: "1", memory: "2457Mi"},
		"that memory without Python":  {conf: map[string]string{"spark.executor.pyspark.memory": "1g"}, count: 2, cpu: "1", memory: "1408Mi"},
		"off-heap memory in bytes":    {conf: map[string]string{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1073741824"}, count: 2, cpu: "1", memory: "2432Mi"},
		"off-heap memory in GiB":      {conf: map[string]string{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"}, count: 2, cpu: "1", memory: "2432Mi"},
		"off-heap memory not enabled": {conf: map[string]string{"spark.memory.offHeap.size": "1g"}, count: 2, cpu: "1", memory: "1408Mi"},
		"a lower minimum":             {conf: map[string]string{"spark.executor.minMemoryOverhead": "100m"}, count: 2, cpu: "1", memory: "1126Mi"},
		"a minimum that 3.5 ignores":  {version: "3.5.9", conf: map[string]string{"spark.executor.minMemoryOverhead": "100m"}, count: 2, cpu: "1", memory: "1408Mi"},
		"allocated as they are needed": {
			conf:  map[string]string{"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "3"},
			count: 3, cpu: "1", memory: "1408Mi",
		},
		"allocated as they are needed, beginning with more": {
			conf: map[string]string{
				"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "3",
				"spark.dynamicAllocation.initialExecutors": "4", "spark.executor.instances": "6",
			},
			count: 6, cpu: "1", memory: "1408Mi",
		},
		"allocated as they are needed, beginning with none": {
			conf: map[string]string{"spark.dynamicAllocation.enabled": "true"}, cpu: "1", memory: "1408Mi",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := submission.Plan{SparkVersion: "4.1.1", Properties: test.conf, Resource: submission.Resource{URI: test.resource}}
			if test.version != "" {
				plan.SparkVersion = test.version
			}
			got, err := submission.PlannedExecutors(plan)
			if err != nil {
				t.Fatal(err)
			}
			cpu, memory := got.Requests[corev1.ResourceCPU], got.Requests[corev1.ResourceMemory]
			if got.Count != test.count || cpu.String() != test.cpu || memory.String() != test.memory {
				t.Errorf("got %d of %s and %s, want %d of %s and %s",
					got.Count, cpu.String(), memory.String(), test.count, test.cpu, test.memory)
			}
		})
	}
}

func TestPlannedExecutorsNamesWhatIsNoNumber(t *testing.T) {
	for key, value := range map[string]string{
		"spark.executor.memory": "1.5g", "spark.executor.cores": "0", "spark.executor.instances": "some",
		"spark.kubernetes.executor.request.cores": "many",
	} {
		_, err := submission.PlannedExecutors(submission.Plan{SparkVersion: "4.1.1", Properties: map[string]string{key: value}})
		if err == nil {
			t.Errorf("%s %q is taken", key, value)
		}
	}
}

func TestPlannedExecutorPodRequestsWhatExecutorsWill(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{PriorityClassName: "urgent", Containers: []corev1.Container{
		{Name: "sidecar", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}},
		{Name: "spark", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"ephemeral-storage": resource.MustParse("1Gi")}}},
	}}}
	pod, count, err := submission.PlannedExecutorPod(submission.Plan{SparkVersion: "4.1.1", ExecutorTemplate: template, Properties: map[string]string{
		"spark.executor.instances": "3", "spark.kubernetes.executor.podTemplateContainerName": "spark",
		"spark.kubernetes.executor.limit.cores": "2", "spark.executor.resource.gpu.amount": "2", "spark.executor.resource.gpu.vendor": "nvidia.com",
		"spark.executor.resource.gpu.discoveryScript": "/getGpus.sh",
	}})
	if err != nil || count != 3 || pod.Spec.PriorityClassName != "urgent" || len(pod.Spec.Containers) != 2 {
		t.Fatalf("%d of %+v, %v", count, pod, err)
	}
	got := pod.Spec.Containers[1].Resources
	want := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1408Mi")},
		Limits: corev1.ResourceList{
			"cpu": resource.MustParse("2"), "memory": resource.MustParse("1408Mi"), "nvidia.com/gpu": resource.MustParse("2"),
			"ephemeral-storage": resource.MustParse("1Gi"),
		},
	}
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("it requests %v", got)
	}
	if len(template.Spec.Containers[1].Resources.Limits) != 1 {
		t.Error("the template was changed")
	}
}

func TestPlannedExecutorPodHasTheImageThatSparkGivesExecutors(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark", Image: "of-the-template"}}}}
	for want, properties := range map[string]map[string]string{
		"default:4.1.1": {"spark.kubernetes.driver.container.image": "of-the-driver"},
		"both:4.1.1":    {"spark.kubernetes.container.image": "both:{{SPARK_VERSION}}"},
		"own:4.1.1": {
			"spark.kubernetes.executor.container.image": "${spark.registry}own:{{SPARK_VERSION}}", "spark.registry": "", "spark.kubernetes.container.image": "both",
		},
	} {
		plan := submission.Plan{SparkVersion: "4.1.1", DefaultImage: "default:{{SPARK_VERSION}}", ExecutorTemplate: template, Properties: properties}
		pod, _, err := submission.PlannedExecutorPod(plan)
		if err != nil || pod.Spec.Containers[0].Image != want || pod.Spec.Containers[0].Name != "spark" {
			t.Errorf("want the image %s: %+v, %v", want, pod, err)
		}
		plan.ExecutorTemplate = nil
		if pod, _, err = submission.PlannedExecutorPod(plan); err != nil || pod.Spec.Containers[0].Image != want || pod.Spec.Containers[0].Name != submission.DefaultExecutorContainer {
			t.Errorf("without a template, want the image %s: %+v, %v", want, pod, err)
		}
	}
}
