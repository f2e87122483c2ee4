package submission

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const (
	templateMapName   = "spark-pi-4c1f889aa56d6000-driver-podspec-conf-map"
	propertiesMapName = "spark-drv-e07b259aa56d6029-conf-map"
)

// oneConfigMap returns the plan with one config map for the properties and the executors' template.
func oneConfigMap(plan Plan) Plan {
	plan.OneConfigMap = true
	return plan
}

// configMapOf returns the source of a volume of the driver.
func configMapOf(t *testing.T, pod *corev1.Pod, volume string) *corev1.ConfigMapVolumeSource {
	t.Helper()
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
	if i < 0 || pod.Spec.Volumes[i].ConfigMap == nil {
		t.Fatalf("the driver has no ConfigMap as its volume %s", volume)
	}
	return pod.Spec.Volumes[i].ConfigMap
}

// No object but these two and nothing in the Pod but the name in this volume differ.
func TestOneConfigMapHasThePropertiesAndTheExecutorsTemplate(t *testing.T) {
	for _, release := range []string{"3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0"} {
		t.Run(release, func(t *testing.T) {
			plan := version(everything(), release)
			separate, one := mustBuild(t, plan), mustBuild(t, oneConfigMap(plan))
			kept := slices.DeleteFunc(names(separate), func(name string) bool { return name == "ConfigMap "+templateMapName })
			wantEqual(t, "owned objects", names(one), kept)

			last := len(separate.Owned) - 1
			want := separate.Owned[last].(*corev1.ConfigMap)
			want.Data[PodTemplateKey] = separate.Owned[last-1].(*corev1.ConfigMap).Data[PodTemplateKey]
			wantEqual(t, "config map", one.Owned[last-1], Object(want))

			configMapOf(t, separate.Driver, "pod-template-volume").Name = propertiesMapName
			wantEqual(t, "the rest of the Pod", one.Driver, separate.Driver)
		})
	}
}

// What is in Spark's folder of configuration is copied to executors.
func TestTheExecutorsTemplateIsNotInTheFolderOfConfiguration(t *testing.T) {
	mode := int32(0o644)
	wantEqual(t, "files", configMapOf(t, mustBuild(t, oneConfigMap(everything())).Driver, "spark-conf-volume-driver").Items, []corev1.KeyToPath{
		{Key: "spark.properties", Path: "spark.properties", Mode: &mode},
	})
}

func TestOneConfigMapChangesNothingWithoutATemplate(t *testing.T) {
	wantEqual(t, "objects", mustBuild(t, oneConfigMap(pi())), mustBuild(t, pi()))
}

func TestTwoConfigMapsHoldWhatDoesNotFitIntoOne(t *testing.T) {
	sized := func(size int) Plan {
		plan := pi("spark.x=" + strings.Repeat("x", size))
		plan.ExecutorTemplate = &corev1.PodTemplateSpec{}
		return oneConfigMap(plan)
	}
	free := maxConfigMap
	for _, value := range mustBuild(t, sized(0)).Owned[1].(*corev1.ConfigMap).Data {
		free -= len(value)
	}
	wantEqual(t, "what just fits", names(mustBuild(t, sized(free)))[1:], []string{"ConfigMap " + propertiesMapName})
	above := mustBuild(t, sized(free+1))
	wantEqual(t, "what does not", names(above)[1:], []string{"ConfigMap " + templateMapName, "ConfigMap " + propertiesMapName})
	wantEqual(t, "volume", configMapOf(t, above.Driver, "pod-template-volume").Name, templateMapName)
}
