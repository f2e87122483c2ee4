package submission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/internal/cost"
)

// buildCost is what Build costs, with its error.
func buildCost(plan Plan) (cost.Cost, error) {
	var err error
	spent := cost.Least(3, func() { _, err = Build(plan) })
	return spent, err
}

// inALine are properties each of which refers to the next as often as it may.
func inALine(first string, length, times int, last string) []string {
	properties := []string{first + "=${spark.x0}"}
	for i := range length {
		properties = append(properties, fmt.Sprintf("spark.x%d=%s", i, strings.Repeat(fmt.Sprintf("${spark.x%d}", i+1), times)))
	}
	return append(properties, fmt.Sprintf("spark.x%d=%s", length, last))
}

func TestReferencesAreBounded(t *testing.T) {
	const image, long = "spark.kubernetes.container.image", 400 << 10
	everywhere := []string{"spark.long=" + strings.Repeat("x", long)}
	for _, key := range []string{image, driverImageKey, "spark.driver.memory", driverCoresKey, limitCoresKey, requestCoresKey, uiPortKey,
		"spark.kubernetes.driver.scheduler.name", "spark.kubernetes.container.image.pullSecrets", "spark.kubernetes.hadoop.configMapName",
		"spark.pyspark.python", "spark.executor.instances", userStepsKey, excludedStepsKey} {
		everywhere = append(everywhere, key+"=${spark.long}${spark.long}")
	}
	for name, row := range map[string]struct {
		properties []string
		says       string
	}{
		"a long one many times":      {[]string{image + "=" + strings.Repeat("${spark.long}", 90), "spark.long=" + strings.Repeat("x", long)}, image},
		"a long one everywhere":      {everywhere, "bytes"},
		"doublings":                  {inALine(image, 30, 2, "boom"), image},
		"doublings of a long one":    {inALine(image, 6, 2, strings.Repeat("x", long)), image},
		"a line without branches":    {inALine(image, 5000, 1, "boom"), image},
		"a hundred times, nested":    {inALine(image, 50, 100, strings.Repeat("x", 100)), image},
		"sources that there are not": {[]string{image + "=" + strings.Repeat("${env:HOME}${system:a}${x:y}${spark:z}${none}${spark.none}", 10_000)}, image},
		"references that never end":  {[]string{image + "=" + strings.Repeat("${", 400_000)}, ""},
		"references within others":   {[]string{image + "=" + strings.Repeat("${spark.", 100_000) + strings.Repeat("}", 100_000)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spent, err := buildCost(pi(row.properties...))
			if spent.Bytes > 64<<20 || spent.CPU > time.Second {
				t.Errorf("it took %s and %d MiB", spent.CPU, spent.Bytes>>20)
			}
			if row.says == "" {
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.says) || len(err.Error()) > 32<<10 {
				t.Errorf("refused with %.2000v", err)
			}
		})
	}
}

// What is within the bounds is expanded as ever.
func TestReferencesWithinTheBoundsAreReplaced(t *testing.T) {
	long := strings.Repeat("x", 9000)
	plan := python(pi("spark.pyspark.python=/usr/bin/"+strings.Repeat("${spark.a}", 99), "spark.a="+long))
	for _, variable := range driverOf(mustBuild(t, plan)).Env {
		if variable.Name == "PYSPARK_PYTHON" && len(variable.Value) != len("/usr/bin/")+99*len(long) {
			t.Errorf("it is of %d characters", len(variable.Value))
		}
	}
}

func TestPlaceholdersAreBounded(t *testing.T) {
	longVersion := pi("spark.kubernetes.container.image=" + strings.Repeat("{{SPARK_VERSION}}", 40_000))
	longVersion.SparkVersion = strings.Repeat("4", 700<<10)
	for name, plan := range map[string]Plan{
		"a version in an image": longVersion,
		"a claim on demand": pi("spark.kubernetes.driver.volumes.persistentVolumeClaim.a.mount.path=/a",
			"spark.kubernetes.driver.volumes.persistentVolumeClaim.a.options.claimName="+strings.Repeat("OnDemand", 180_000)),
	} {
		spent, err := buildCost(plan)
		if spent.Bytes > 64<<20 || spent.CPU > time.Second {
			t.Errorf("%s took %s and %d MiB", name, spent.CPU, spent.Bytes>>20)
		}
		if err == nil || len(err.Error()) > 32<<10 {
			t.Errorf("%s is refused with %.2000v", name, err)
		}
	}
}

// many are manifests of any size, each of one thing many times.
var many = map[string]func(n int) Plan{
	"volumes": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, volume(fmt.Sprintf("emptyDir.v%d", i), fmt.Sprintf("mount.path=/v%d", i), "options.sizeLimit=1.5e9")...)
		}
		return pi(properties...)
	},
	"claims with labels": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, volume(fmt.Sprintf("persistentVolumeClaim.v%d", i), fmt.Sprintf("mount.path=/v%d", i),
				"options.claimName=OnDemand", "options.storageClass=fast", "options.sizeLimit=1Gi", "label.a=b", "annotation.a=b")...)
		}
		return pi(properties...)
	},
	"executors' volumes": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.kubernetes.executor.volumes.hostPath.v%d.mount.path=/v", i),
				fmt.Sprintf("spark.kubernetes.executor.volumes.hostPath.v%d.options.path=/v", i))
		}
		return pi(properties...)
	},
	"labels of one claim": func(n int) Plan {
		properties := volume("persistentVolumeClaim.v", "mount.path=/v", "options.claimName=OnDemand", "options.storageClass=fast", "options.sizeLimit=1Gi")
		for i := range n {
			properties = append(properties, volume("persistentVolumeClaim.v", fmt.Sprintf("label.l%d=a", i))...)
		}
		return pi(properties...)
	},
	"volumes of no kind": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.kubernetes.driver.volumes.none.v%d.mount.path=/v", i))
		}
		return pi(properties...)
	},
	"jars": func(n int) Plan {
		plan := pi("spark.jars=" + numbered("local:///a%d.jar", n))
		plan.Resource.URI = numbered("local:///b%d.jar", n)
		return plan
	},
	"steps": func(n int) Plan {
		return pi(userStepsKey+"="+numbered("a.Step%d", n), excludedStepsKey+"="+numbered("b.Step%d", n))
	},
	"the same step": func(n int) Plan {
		return pi(userStepsKey+"="+strings.Repeat(",a", 5*n), excludedStepsKey+"="+strings.Repeat(",a", 5*n))
	},
	"pod groups": func(n int) Plan {
		return pi(userStepsKey+"="+strings.Repeat(volcanoStep+",", n), podGroupJSONKey+"={spec: {minMember: ["+strings.Repeat("1,", 20*n)+"1]}}")
	},
	"packages":    func(n int) Plan { return pi("spark.jars.packages=" + numbered("none%d", n)) },
	"directories": func(n int) Plan { return pi("spark.local.dir=" + numbered("/a%d", n)) },
	"secrets": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.kubernetes.driver.secrets.s%d=/s%d", i, i), fmt.Sprintf("spark.kubernetes.driver.secretKeyRef.S%d=s:k", i))
		}
		return pi(properties...)
	},
	"devices": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.driver.resource.g%d.amount=1", i), fmt.Sprintf("spark.driver.resource.g%d.vendor=a.com", i))
		}
		return pi(properties...)
	},
	"labels, annotations and variables": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.kubernetes.driver.label.l%d=a", i), fmt.Sprintf("spark.kubernetes.driver.annotation.a%d={{APP_ID}}", i),
				fmt.Sprintf("spark.kubernetes.driverEnv.V%d=a", i), fmt.Sprintf("spark.kubernetes.node.selector.n%d=a", i))
		}
		return pi(properties...)
	},
	"bad labels": func(n int) Plan {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf("spark.kubernetes.driver.label.l%d=a b", i))
		}
		return pi(properties...)
	},
}

func numbered(form string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(items, ",")
}

// What is there eight times as often costs about eight times as much, and not sixty-four times.
func TestBuildIsLinear(t *testing.T) {
	const some, times = 1000, 8
	for name, planOf := range many {
		t.Run(name, func(t *testing.T) {
			few, err := buildCost(planOf(some))
			lots, _ := buildCost(planOf(times * some))
			if err != nil && len(err.Error()) > 64<<10 {
				t.Errorf("the refusal is of %d bytes", len(err.Error()))
			}
			// What hardly costs anything says nothing.
			if floor := 100 * time.Millisecond; lots.CPU > 3*times*max(few.CPU, floor/times) {
				t.Errorf("%d take %s, and %d take %s", some, few.CPU, times*some, lots.CPU)
			}
			if lots.Bytes > 3*times*few.Bytes {
				t.Errorf("%d take %d KiB, and %d take %d KiB", some, few.Bytes>>10, times*some, lots.Bytes>>10)
			}
		})
	}
}
