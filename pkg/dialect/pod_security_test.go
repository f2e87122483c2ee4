package dialect_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

var restricted = podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}

func earlyApplication(t *testing.T, spec string) dialect.Application {
	app := &earlyv1alpha1.SparkApplication{ObjectMeta: named()}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatal(err)
	}
	return app
}

// dialectsWith returns the dialects with a profile.
func dialectsWith(profile podsecurity.Profile) (ofApache, ofKubeflow, ofEarly dialect.Dialect) {
	common := dialect.Settings{PodSecurity: profile}
	forKubeflow, forEarly := settings.NewDefaults(), early.NewSettings()
	forKubeflow.Settings, forEarly.Settings = common, common
	return apache.New(apache.Defaults{Settings: common}), kubeflow.New(forKubeflow), early.New(forEarly)
}

// launched returns the plan and the driver of an attempt, as a launch makes them.
func launched(t *testing.T, d dialect.Dialect, app dialect.Application) (submission.Plan, *corev1.Pod) {
	t.Helper()
	plan, err := d.Plan(app, v1alpha1.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	dialect.ApplySettings(&plan, app, v1alpha1.Attempt{}, d.Settings())
	objects, err := dialect.Build(d, app, plan)
	if err != nil {
		t.Fatal(err)
	}
	return plan, objects.Driver
}

func TestPodSecurityIsCompleteForAllAPIsAndLinesOfSpark(t *testing.T) {
	ofApache, ofKubeflow, ofEarly := dialectsWith(restricted)
	for _, version := range []string{"3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0"} {
		for name, test := range map[string]struct {
			dialect.Dialect
			app dialect.Application
		}{
			"spark.apache.org": {ofApache, apacheApplication(t, fmt.Sprintf(`
mainClass: Pi
jars: local:///pi.jar
runtimeVersions: {sparkVersion: %s}
driverSpec: {podTemplateSpec: {spec: {containers: [{name: sidecar, image: log}, {name: spark-kubernetes-driver}], initContainers: [{name: init, image: fetch}]}}}
sparkConf: {spark.kubernetes.driver.podTemplateContainerName: spark-kubernetes-driver}
`, version))},
			"sparkoperator.k8s.io": {ofKubeflow, kubeflowApplication(t, fmt.Sprintf(`
mainClass: Pi
mainApplicationFile: local:///pi.jar
image: spark:%[1]s
sparkVersion: %[1]s
driver: {initContainers: [{name: init, image: fetch}], sidecars: [{name: sidecar, image: log}], securityContext: {readOnlyRootFilesystem: true}}
executor: {sidecars: [{name: sidecar, image: log}], podSecurityContext: {fsGroup: 185}}
`, version))},
			"spark-operator.k8s.io": {ofEarly, earlyApplication(t, fmt.Sprintf(
				`{mainClass: Main, mainApplicationFile: "local:///main.jar", driver: {image: "spark:%[1]s"}, executor: {image: "spark:%[1]s"}}`, version))},
		} {
			t.Run(name+" "+version, func(t *testing.T) {
				plan, driver := launched(t, test.Dialect, test.app)
				executor := &corev1.Pod{Spec: plan.ExecutorTemplate.Spec}
				for role, pod := range map[string]*corev1.Pod{"driver": driver, "executor": executor} {
					if left := podsecurity.Violations(pod); len(left) > 0 {
						t.Errorf("the %s breaks the profile: %q", role, left)
					}
					for _, container := range pod.Spec.Containers {
						user := container.SecurityContext.RunAsUser
						if ofSpark := container.Name == "spark-kubernetes-"+role; ofSpark != (user != nil && *user == 185) {
							t.Errorf("the container %s of the %s has the user %v", container.Name, role, user)
						}
					}
				}
				if found := dialect.WarnOfPodSecurity(plan, driver, restricted, dialect.Fields{}); len(found) > 0 {
					t.Errorf("it is warned of %s", found)
				}
				texts := []string{}
				for _, spec := range []corev1.PodSpec{driver.Spec, executor.Spec} {
					text, err := yaml.Marshal(securityOf(spec))
					if err != nil {
						t.Fatal(err)
					}
					texts = append(texts, string(text))
				}
				if version == "4.3.0" {
					golden.Want(t, filepath.Join("testdata", "restricted-"+name+".yaml"), strings.Join(texts, "---\n"))
				}
			})
		}
	}
}

// securityOf returns what a Pod has of the profile.
func securityOf(spec corev1.PodSpec) corev1.PodSpec {
	of := func(containers []corev1.Container) []corev1.Container {
		var kept []corev1.Container
		for _, container := range containers {
			kept = append(kept, corev1.Container{Name: container.Name, SecurityContext: container.SecurityContext})
		}
		return kept
	}
	return corev1.PodSpec{SecurityContext: spec.SecurityContext, InitContainers: of(spec.InitContainers), Containers: of(spec.Containers)}
}

func TestPodSecurityChangesNothingUnlessItIsSet(t *testing.T) {
	ofApache, ofKubeflow, _ := dialectsWith(podsecurity.Profile{User: 185})
	for name, test := range map[string]struct {
		dialect.Dialect
		app dialect.Application
	}{
		"spark.apache.org":     {ofApache, apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1}}`)},
		"sparkoperator.k8s.io": {ofKubeflow, kubeflowApplication(t, `{mainClass: Pi, mainApplicationFile: "local:///pi.jar", image: "spark:4.0.1", sparkVersion: 4.0.1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			plan, driver := launched(t, test.Dialect, test.app)
			if plan.ExecutorTemplate != nil || driver.Spec.SecurityContext != nil {
				t.Errorf("the driver has %v, executors %v", driver.Spec.SecurityContext, plan.ExecutorTemplate)
			}
			if found := dialect.WarnOfPodSecurity(plan, driver, podsecurity.Profile{User: 185}, dialect.Fields{}); len(found) > 0 {
				t.Errorf("it is warned of %s", found)
			}
		})
	}
}

func TestPodSecurityThatTheUserBreaksIsKeptAndWarnedOf(t *testing.T) {
	ofApache, _, _ := dialectsWith(restricted)
	app := apacheApplication(t, `
mainClass: Pi
jars: local:///pi.jar
runtimeVersions: {sparkVersion: 4.0.1}
driverSpec: {podTemplateSpec: {spec: {hostNetwork: true, containers: [{name: spark, securityContext: {runAsUser: 0}}]}}}
sparkConf: {spark.kubernetes.executor.volumes.hostPath.data.mount.path: /data, spark.kubernetes.executor.volumes.hostPath.data.options.path: /data}
`)
	plan, driver := launched(t, ofApache, app)
	if user := driver.Spec.Containers[0].SecurityContext.RunAsUser; !driver.Spec.HostNetwork || user == nil || *user != 0 {
		t.Errorf("the driver lost what its user set: %v", driver.Spec)
	}
	found := dialect.WarnOfPodSecurity(plan, driver, restricted, apache.API.Fields)
	if got := fieldsOf(found, 1); !slices.Equal(got, []string{"spec.driverSpec.podTemplateSpec", "spec.executorSpec.podTemplateSpec"}) {
		t.Errorf("warnings are about %q", got)
	}
	warning := strings.Join(found.Sentences(), " ")
	for _, part := range []string{"Pod of the driver", "pod-security of config-defaults", "hostNetwork=true", "runAsUser=0", "Pod of the executor", "hostPath volumes"} {
		if !strings.Contains(warning, part) {
			t.Errorf("%q lacks %q", warning, part)
		}
	}
}
