package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestArgumentsOfTheDriver(t *testing.T) {
	const file = "--properties-file"
	const path = "/opt/spark/conf/spark.properties"
	for name, row := range map[string]struct {
		resource  Resource
		arguments []string
		want      []string
		kind      string
	}{
		"a jar": {
			Resource{URI: "s3a://b/app.jar"}, []string{"a", "", "--b"},
			[]string{"driver", file, path, "--class", "Main", "s3a://b/app.jar", "a", "", "--b"}, "java",
		},
		"a class of the image": {
			Resource{}, nil, []string{"driver", file, path, "--class", "Main", "spark-internal"}, "java",
		},
		"Python, told by its suffix": {
			Resource{URI: "local:///a.py"}, nil,
			[]string{"driver", file, path, "--class", "org.apache.spark.deploy.PythonRunner", "local:///a.py"}, "python",
		},
		"R, told by its suffix": {
			Resource{URI: "local:///a.r"}, nil,
			[]string{"driver", file, path, "--class", "org.apache.spark.deploy.RRunner", "local:///a.r"}, "r",
		},
		"R of the image by its path": {
			Resource{URI: "/opt/a.R"}, nil,
			[]string{"driver", file, path, "--class", "org.apache.spark.deploy.RRunner", "file:/opt/a.R"}, "r",
		},
		"a kind that the suffix belies": {
			Resource{Kind: Java, URI: "local:///a.py"}, nil,
			[]string{"driver", file, path, "--class", "Main", "local:///a.py"}, "java",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := pi()
			plan.MainClass, plan.Resource, plan.Arguments = "Main", row.resource, row.arguments
			objects := mustBuild(t, plan)
			wantEqual(t, "arguments", driverOf(objects).Args, row.want)
			wantEqual(t, "kind", propertiesOf(t, objects)["spark.kubernetes.resource.type"], row.kind)
		})
	}
}

func TestArgumentsFollowTheTemplatesAndNameTheProxyUserFirst(t *testing.T) {
	plan := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Args: []string{"theirs"}, Command: []string{"sh"}}},
	}})
	plan.ProxyUser = "alice"
	driver := driverOf(mustBuild(t, plan))
	wantEqual(t, "arguments", driver.Args[:5], []string{"theirs", "driver", "--proxy-user", "alice", "--properties-file"})
	wantEqual(t, "command", driver.Command, []string{"sh"})
}

func TestPythonsOfADriver(t *testing.T) {
	const ofAll, ofDriver = "spark.pyspark.python=", "spark.pyspark.driver.python="
	for name, row := range map[string]struct {
		plan Plan
		want map[string]string
	}{
		"none":             {python(pi()), map[string]string{}},
		"one for all":      {python(pi(ofAll + "a")), map[string]string{"PYSPARK_PYTHON": "a", "PYSPARK_DRIVER_PYTHON": "a"}},
		"the driver's own": {python(pi(ofDriver + "b")), map[string]string{"PYSPARK_DRIVER_PYTHON": "b"}},
		"both":             {python(pi(ofAll+"a", ofDriver+"b")), map[string]string{"PYSPARK_PYTHON": "a", "PYSPARK_DRIVER_PYTHON": "b"}},
		"none for Java":    {pi(ofAll + "a"), map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, variable := range driverOf(mustBuild(t, row.plan)).Env {
				if variable.Name == "PYSPARK_PYTHON" || variable.Name == "PYSPARK_DRIVER_PYTHON" {
					got[variable.Name] = variable.Value
				}
			}
			wantEqual(t, "variables", got, row.want)
		})
	}
}

func TestTheVersionOfPythonIsThreeWhereSparkAsksForIt(t *testing.T) {
	const two = "spark.kubernetes.pyspark.pythonVersion=2"
	wantRefused(t, python(pi(two)), `spark.kubernetes.pyspark.pythonVersion "2"`, "write one of 3")
	for _, plan := range []Plan{pi(two), version(python(pi(two)), "4.1.1"), python(pi("spark.kubernetes.pyspark.pythonVersion=3"))} {
		mustBuild(t, plan)
	}
}
