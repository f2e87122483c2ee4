package submission

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// FuzzTemplates merges random templates of driver and executors with properties: what Spark has no say in stays as it
// is in the template, which itself stays as it is.
func FuzzTemplates(f *testing.F) {
	for seed := range 20 {
		f.Add(bytes.Repeat([]byte{byte(seed * 13), byte(seed), 0xff, 7}, 64), "main", seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, container string, moreProperties bool) {
		filler := randfill.NewFromGoFuzz(data).NilChance(0.5).NumElements(0, 2).MaxDepth(7).Funcs(
			func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
			func(quantity *resource.Quantity, c randfill.Continue) {
				*quantity = *resource.NewQuantity(c.Int63n(99), resource.DecimalSI)
			},
			func(*metav1.FieldsV1, randfill.Continue) {},
		)
		driver, executor := &corev1.PodTemplateSpec{}, &corev1.PodTemplateSpec{}
		filler.Fill(driver)
		filler.Fill(executor)
		plan := pi(driverTemplateContainer + "=" + container)
		plan.SparkVersion = "4.3.0"
		plan.DriverTemplate, plan.ExecutorTemplate = driver, executor
		if moreProperties {
			plan = with(plan, "spark.kubernetes.driver.label.a=b", "spark.kubernetes.driver.secrets.s=/s", "spark.kubernetes.scheduler.name=x",
				"spark.kubernetes.driver.volumes.emptyDir.v.mount.path=/v", "spark.kubernetes.driver.limit.cores=9999",
				"spark.kubernetes.node.selector.a=b", "spark.kubernetes.container.image.pullSecrets=p")
		}
		before, executorBefore := driver.DeepCopy(), executor.DeepCopy()
		objects, err := Build(plan)
		if !equality.Semantic.DeepEqual(before, driver) || !equality.Semantic.DeepEqual(executorBefore, executor) {
			t.Fatal("Build changed a template")
		}
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("a refusal without a word")
			}
			return
		}
		checkMerged(t, driver, objects.Driver, container)
		if _, err := json.Marshal(objects.Driver); err != nil {
			t.Errorf("the pod cannot be sent: %v", err)
		}
	})
}

// checkMerged compares a driver with its template, field by field of those that Spark has no say in.
func checkMerged(t *testing.T, template *corev1.PodTemplateSpec, pod *corev1.Pod, name string) {
	t.Helper()
	got := pod.Spec.DeepCopy()
	spec := template.Spec.DeepCopy()
	own, _ := takeDriverContainer(spec, name)
	driver := got.Containers[len(got.Containers)-1]
	got.Containers = got.Containers[:len(got.Containers)-1]
	if len(got.Volumes) < len(spec.Volumes) || len(got.ImagePullSecrets) < len(spec.ImagePullSecrets) {
		t.Fatal("volumes or secrets of the template are lost")
	}
	got.Volumes, got.ImagePullSecrets = got.Volumes[:len(spec.Volumes)], got.ImagePullSecrets[:len(spec.ImagePullSecrets)]
	// Spark's own.
	spec.RestartPolicy, spec.NodeSelector, spec.SchedulerName = got.RestartPolicy, got.NodeSelector, got.SchedulerName
	if !equality.Semantic.DeepEqual(spec, got) {
		t.Errorf("the pod differs from its template")
	}
	for key, value := range template.Labels {
		if pod.Labels[key] != value && !slices.Contains([]string{versionLabel, LabelApplicationID, appNameKeyLabel, roleLabel, "a"}, key) {
			t.Errorf("the label %q is lost", key)
		}
	}
	checkContainer(t, own, &driver)
}

func checkContainer(t *testing.T, template, driver *corev1.Container) {
	t.Helper()
	if len(driver.Env) < len(template.Env) || len(driver.Args) < len(template.Args) || len(driver.Ports) < len(template.Ports) ||
		len(driver.VolumeMounts) < len(template.VolumeMounts) {
		t.Fatal("parts of the template's container are lost")
	}
	driver.Env, driver.Args = driver.Env[:len(template.Env)], driver.Args[:len(template.Args)]
	driver.Ports, driver.VolumeMounts = driver.Ports[:len(template.Ports)], driver.VolumeMounts[:len(template.VolumeMounts)]
	if template.Name != "" && driver.Name != template.Name {
		t.Errorf("the container %q became %q", template.Name, driver.Name)
	}
	template.Name, template.Image, template.ImagePullPolicy = driver.Name, driver.Image, driver.ImagePullPolicy
	template.Resources, driver.Resources = corev1.ResourceRequirements{}, corev1.ResourceRequirements{}
	if template.SecurityContext == nil {
		template.SecurityContext = &corev1.SecurityContext{}
	}
	template.SecurityContext.AllowPrivilegeEscalation = driver.SecurityContext.AllowPrivilegeEscalation
	if !equality.Semantic.DeepEqual(template, driver) {
		t.Error("the driver's container differs from its template")
	}
}
