package apache_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// made is the result of a spec: the driver, its container, and the properties that the driver reads.
type made struct {
	driver     *corev1.Pod
	container  corev1.Container
	properties string
}

func builtDriver(t *testing.T, app *application) made {
	t.Helper()
	var m made
	for _, object := range objectsOf(t, app.Obj()) {
		switch object := object.(type) {
		case *corev1.Pod:
			m.driver, m.container = object, object.Spec.Containers[len(object.Spec.Containers)-1]
		case *corev1.ConfigMap:
			m.properties += object.Data["spark.properties"]
		}
	}
	return m
}

// What a spec says beside the main resource reaches the driver, placeholders filled in as the Apache operator and Spark do.
func TestEachFieldOfTheSpecReachesTheDriver(t *testing.T) {
	const placeholder = "example.org/spark:{{SPARK_VERSION}}"
	argument := func(want string) func(made) (string, string) {
		return func(m made) (string, string) { return strings.Join(m.container.Args, " "), want }
	}
	image := func(m made) (string, string) { return m.container.Image, "example.org/spark:4.0.1" }
	property := func(want string) func(made) (string, string) {
		return func(m made) (string, string) { return m.properties, want }
	}
	for name, test := range map[string]struct {
		app *application
		// says is where the value went, and what must be in it.
		says func(made) (string, string)
	}{
		"proxyUser": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) { s.ProxyUser = "ada" }), argument("--proxy-user ada"),
		},
		"the version in the image of all": {pi().Spark("4.0.1").Conf("spark.kubernetes.container.image", placeholder), image},
		"the version in the image of the driver": {
			pi().Spark("4.0.1").Conf("spark.kubernetes.driver.container.image", placeholder), image,
		},
		"the version in the image of executors, where Spark does not fill it in": {
			pi().Spark("4.0.1").Conf("spark.kubernetes.executor.container.image", placeholder),
			property(`spark.kubernetes.executor.container.image=example.org/spark\:4.0.1`),
		},
		"the version in the image of executors, where Spark does": {
			pi().Spark("4.1.4").Conf("spark.kubernetes.executor.container.image", placeholder),
			property(`spark.kubernetes.executor.container.image=example.org/spark\:{{SPARK_VERSION}}`),
		},
		"the version nowhere else": {
			pi().Spark("4.0.1").Conf("spark.note", "{{SPARK_VERSION}}"), property("spark.note={{SPARK_VERSION}}"),
		},
		"the application's id in an annotation": {
			pi().Conf("spark.kubernetes.driver.annotation.queue", "{{APP_ID}}"),
			func(m made) (string, string) { return m.driver.Annotations["queue"], "pi-0" },
		},
		"the application's id in a label": {
			pi().Conf("spark.kubernetes.driver.label.queue", "id-{{APP_ID}}"),
			func(m made) (string, string) { return m.driver.Labels["queue"], "id-pi-0" },
		},
		"the placeholders of executors, which the driver fills in": {
			pi().Conf("spark.kubernetes.executor.annotation.queue", "{{APP_ID}}-{{EXECUTOR_ID}}"),
			property("spark.kubernetes.executor.annotation.queue={{APP_ID}}-{{EXECUTOR_ID}}"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := test.says(builtDriver(t, test.app)); !strings.Contains(got, want) {
				t.Errorf("it is %q, and not %q", got, want)
			}
		})
	}
}
