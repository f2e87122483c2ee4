package resources

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	imageKey     = "spark.kubernetes.container.image"
	schedulerKey = "spark.kubernetes.scheduler.name"
	namespaceKey = "spark.kubernetes.namespace"

	decommissionKey = "spark.decommission.enabled"
	masterUIKey     = "spark.master.ui.port"
	workerUIKey     = "spark.worker.ui.port"
	restKey         = "spark.master.rest.port"
)

// properties returns the Spark properties of master and workers.
func properties(cluster *sparkv1.SparkCluster) map[string]string {
	conf := map[string]string{
		"spark.shuffle.service.enabled": "true",
		// The master reports its own host name. Workers cannot reach that name if the Service is not headless, or if
		// another operator made the StatefulSet. The Service's name always works.
		"spark.worker.preferConfiguredMasterAddress": "true",
	}
	maps.Copy(conf, cluster.Spec.SparkConf)
	conf[namespaceKey] = cluster.Namespace
	if image, given := conf[imageKey]; given {
		conf[imageKey] = submission.WithVersion(image, cluster.Spec.RuntimeVersions.SparkVersion)
	}
	return conf
}

func imageOf(setting, version string) string {
	if setting == "" {
		setting = "apache/spark:" + version
	}
	return submission.WithVersion(setting, version)
}

// options formats properties as JVM options in one text. Spark's launcher splits it like a shell: it reads quotes and
// backslashes, and nothing else.
func options(conf map[string]string) string {
	var text []string
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		name := key
		if !plain.MatchString(key) {
			name = quoted(key)
		}
		text = append(text, fmt.Sprintf("-D%s=%s", name, quoted(conf[key])))
	}
	return strings.Join(text, " ")
}

var (
	plain = regexp.MustCompile(`^[-\w.:/]+$`)
	quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

func quoted(text string) string { return `"` + quote.Replace(text) + `"` }

// literal escapes a value, so that the kubelet expands no references in it.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// on reports whether a property is true.
func (b *builder) on(key string) bool {
	return submission.IsTrue(b.conf[key])
}

// port returns a port: from a property, else from a variable of the template's container, else the default. Values
// that Spark could not use are ignored: Spark reports them itself.
func (b *builder) port(key string, container *corev1.Container, name string, otherwise int32) int32 {
	if given := variable(container, name); given != nil {
		otherwise = portOf(given.Value, otherwise)
	}
	return portOf(b.conf[key], otherwise)
}

func portOf(text string, otherwise int32) int32 {
	number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || number < 1 || number > 65535 {
		return otherwise
	}
	return int32(number)
}
