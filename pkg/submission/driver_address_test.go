package submission

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func withoutService(plan Plan) Plan {
	plan.WithoutService = true
	return plan
}

// No property but these and no variable but this one differ, whatever else a line of Spark has.
func TestADriverWithoutServiceAdvertisesItsPodsAddress(t *testing.T) {
	for _, release := range []string{"3.5.9", "4.0.4", "4.1.4", "4.2.0", "4.3.0"} {
		t.Run(release, func(t *testing.T) {
			plan := version(pi(), release)
			headless, none := mustBuild(t, plan), mustBuild(t, withoutService(plan))
			kept := slices.DeleteFunc(names(headless), func(name string) bool { return name == "Service spark-pi-4c1f889aa56d6000-driver-svc" })
			wantEqual(t, "owned objects", names(none), kept)

			address := corev1.EnvVar{Name: "SPARK_LOCAL_HOSTNAME", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"},
			}}
			container := &none.Driver.Spec.Containers[0]
			if !slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == address.Name }) {
				t.Fatalf("the driver has the variables %v", container.Env)
			}
			container.Env = slices.DeleteFunc(container.Env, func(v corev1.EnvVar) bool {
				if v.Name == address.Name {
					wantEqual(t, "variable", v, address)
				}
				return v.Name == address.Name
			})
			wantEqual(t, "the rest of the Pod", none.Driver, headless.Driver)

			want := propertiesOf(t, headless)
			delete(want, "spark.driver.host")
			want["spark.kubernetes.driver.service.deleteOnTermination"] = "false"
			wantEqual(t, "properties", propertiesOf(t, none), want)
		})
	}
}

func TestTheDriversPortsAreFixedWithoutServiceToo(t *testing.T) {
	for name, row := range map[string]struct {
		plan          Plan
		rpc, blocks   string
		containerPort map[string]int32
	}{
		"Spark's own":                       {pi(), "7078", "7079", map[string]int32{"driver-rpc-port": 7078, "blockmanager": 7079, "spark-ui": 4040}},
		"all block managers' goes for this": {pi("spark.blockManager.port=17079"), "7078", "17079", map[string]int32{"driver-rpc-port": 7078, "blockmanager": 17079, "spark-ui": 4040}},
		"any free ones":                     {pi("spark.driver.port=0", "spark.driver.blockManager.port=0"), "0", "0", map[string]int32{"spark-ui": 4040}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, withoutService(row.plan))
			properties := propertiesOf(t, objects)
			wantEqual(t, "RPC", properties["spark.driver.port"], row.rpc)
			wantEqual(t, "blocks", properties["spark.driver.blockManager.port"], row.blocks)
			ofPod, _ := portNumbers(objects)
			wantEqual(t, "container's", ofPod, row.containerPort)
		})
	}
}

func TestADriverWhoseServiceStepIsExcludedAdvertisesItsPodsAddress(t *testing.T) {
	plan := withoutService(version(pi("spark.kubernetes.driver.pod.excludedFeatureSteps="+driverServiceStep), "4.1.4"))
	var variables []string
	for _, variable := range driverOf(mustBuild(t, plan)).Env {
		variables = append(variables, variable.Name)
	}
	if !slices.Contains(variables, "SPARK_LOCAL_HOSTNAME") {
		t.Errorf("the driver has the variables %v", variables)
	}
}

func TestTheDriverDeletesServicesIfThePropertySaysSo(t *testing.T) {
	const key = "spark.kubernetes.driver.service.deleteOnTermination"
	wantEqual(t, key, propertiesOf(t, mustBuild(t, withoutService(pi(key+"=true"))))[key], "true")
}

func TestAnotherHostnameOfADriverWithoutServiceIsRefused(t *testing.T) {
	const variable = "SPARK_LOCAL_HOSTNAME"
	inTemplate := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: variable, Value: "laptop"}}}},
	}})
	plans := map[string]Plan{
		"spark.kubernetes.driverEnv." + variable:                  pi("spark.kubernetes.driverEnv." + variable + "=laptop"),
		"spark.kubernetes.driver.secretKeyRef." + variable:        pi("spark.kubernetes.driver.secretKeyRef." + variable + "=laptop:host"),
		"driverTemplate.spec.containers[0].env[" + variable + "]": inTemplate,
	}
	for _, field := range slices.Sorted(maps.Keys(plans)) {
		t.Run(field, func(t *testing.T) {
			mustBuild(t, plans[field])
			wantRefused(t, withoutService(plans[field]), field, "laptop", "leave it out")
		})
	}
}
