package submission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestTheTemplatesDriverContainer(t *testing.T) {
	const key = "spark.kubernetes.driver.podTemplateContainerName="
	for name, row := range map[string]struct {
		plan       Plan
		containers []string
		want       []string
	}{
		"is the first":                          {pi(), []string{"a", "b", "c"}, []string{"b", "c", "a"}},
		"is the one named":                      {pi(key + "b"), []string{"a", "b", "c"}, []string{"a", "c", "b"}},
		"is the first where none is named so":   {pi(key + "x"), []string{"a", "b"}, []string{"b", "a"}},
		"is the first where two are named so":   {pi(key + "b"), []string{"a", "b", "b"}, []string{"b", "b", "a"}},
		"is a new one where there is none":      {pi(), nil, []string{"spark-kubernetes-driver"}},
		"gets Spark's name where it has no own": {pi(), []string{"", "b"}, []string{"b", "spark-kubernetes-driver"}},
	} {
		t.Run(name, func(t *testing.T) {
			template := corev1.PodTemplateSpec{}
			for _, container := range row.containers {
				template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: container})
			}
			var got []string
			for _, container := range mustBuild(t, templated(row.plan, template)).Driver.Spec.Containers {
				got = append(got, container.Name)
			}
			wantEqual(t, "containers", got, row.want)
		})
	}
}

func TestTheTemplatesOtherFieldsAreKept(t *testing.T) {
	grace := int64(5)
	plan := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: &grace,
		PriorityClassName:             "high",
		InitContainers:                []corev1.Container{{Name: "init"}},
		Tolerations:                   []corev1.Toleration{{Key: "spot"}},
		Containers:                    []corev1.Container{{Image: "never", WorkingDir: "/w", TTY: true}},
	}})
	plan.DriverTemplate.Name, plan.DriverTemplate.Namespace = "theirs", "theirs"
	pod := mustBuild(t, plan).Driver
	wantEqual(t, "grace period", *pod.Spec.TerminationGracePeriodSeconds, grace)
	wantEqual(t, "priority", pod.Spec.PriorityClassName, "high")
	wantEqual(t, "init containers", len(pod.Spec.InitContainers), 1)
	wantEqual(t, "tolerations", len(pod.Spec.Tolerations), 1)
	wantEqual(t, "working directory", pod.Spec.Containers[0].WorkingDir, "/w")
	wantEqual(t, "image", pod.Spec.Containers[0].Image, "apache/spark:4.0.1")
	wantEqual(t, "name", pod.Namespace+"/"+pod.Name, "default/spark-pi-4c1f889aa56d6000-driver")
}

func TestTemplatesInFilesAreRefusedUnlessThereIsAnInlineOne(t *testing.T) {
	for _, key := range []string{driverTemplateKey, executorTemplateKey} {
		plan := pi(key + "=/tmp/template.yaml")
		wantRefused(t, plan, key, "/tmp/template.yaml")
		plan.DriverTemplate, plan.ExecutorTemplate = &corev1.PodTemplateSpec{}, &corev1.PodTemplateSpec{}
		properties := propertiesOf(t, mustBuild(t, plan))
		wantEqual(t, "driver's", properties[driverTemplateKey], "")
		wantEqual(t, "executor's", properties[executorTemplateKey], "/opt/spark/pod-template/pod-spec-template.yml")
	}
}

func TestATemplateOfTheImageIsForTheDriverToReadWhereTheStepIsExcluded(t *testing.T) {
	plan := version(pi(executorTemplateKey+"=/image/template.yaml", excludedStepsKey+"="+featurePackage+"PodTemplateConfigMapStep"), "4.1.1")
	wantEqual(t, "property", propertiesOf(t, mustBuild(t, plan))[executorTemplateKey], "/image/template.yaml")
}

func TestTheExecutorTemplateIsAWholePod(t *testing.T) {
	plan := pi("spark.kubernetes.executor.podTemplateContainerName=x")
	plan.ExecutorTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers:  []corev1.Container{{Name: "x"}},
		Tolerations: []corev1.Toleration{{Key: "spot"}},
	}}
	plan.ExecutorTemplate.Labels = map[string]string{"a": "b"}
	objects := mustBuild(t, plan)
	configMap := objects.Owned[1].(*corev1.ConfigMap)
	wantEqual(t, "name", configMap.Name, "spark-pi-4c1f889aa56d6000-driver-podspec-conf-map")
	wantEqual(t, "immutable", *configMap.Immutable, true)

	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(configMap.Data["podspec-configmap-key"]), &pod); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "kind", pod.APIVersion+" "+pod.Kind, "v1 Pod")
	wantEqual(t, "labels", pod.Labels, map[string]string{"a": "b"})
	wantEqual(t, "spec", pod.Spec, plan.ExecutorTemplate.Spec)
}

func TestVolumesOfOneNameAreRefused(t *testing.T) {
	for _, name := range []string{"spark-local-dir-1", "spark-conf-volume-driver"} {
		plan := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: name}}}})
		wantRefused(t, plan, "driverTemplate.spec.volumes", name, "choose another")
	}
}

// A Pod keeps its name for as long as it has a finalizer.
func TestFinalizersOfTemplatesReachNoPod(t *testing.T) {
	template := &corev1.PodTemplateSpec{}
	template.Finalizers = []string{"example.org/a"}
	plan := pi()
	plan.DriverTemplate, plan.ExecutorTemplate = template, template
	objects := mustBuild(t, plan)
	if given := objects.Driver.Finalizers; len(given) > 0 {
		t.Errorf("the driver has %v", given)
	}
	for _, object := range objects.Owned {
		if configMap, ok := object.(*corev1.ConfigMap); ok && strings.Contains(configMap.Data[PodTemplateKey], "finalizers") {
			t.Errorf("executors are made from\n%s", configMap.Data[PodTemplateKey])
		}
	}
	if len(template.Finalizers) != 1 {
		t.Error("the spec's template was changed")
	}
}
