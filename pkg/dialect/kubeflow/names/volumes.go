package names

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The volumes of the config maps with configuration files of Spark and Hadoop, the paths at which these are mounted, and the
// environment variables with the paths.
const (
	SparkConfVolume       = "spark-configmap-volume"
	SparkConfDir          = "/etc/spark/conf"
	SparkConfDirVariable  = "SPARK_CONF_DIR"
	HadoopConfVolume      = "hadoop-configmap-volume"
	HadoopConfDir         = "/etc/hadoop/conf"
	HadoopConfDirVariable = "HADOOP_CONF_DIR"
)

// ConfigMapVolume returns the name of the volume of a config map.
func ConfigMapVolume(configMap string) string { return volumeName(configMap, "-vol") }

// SecretVolume returns the name of the volume of a secret. Spark uses the same name, if it is valid.
func SecretVolume(secret string) string { return volumeName(secret, "-volume") }

// volumeName returns a name for a volume, derived from the name of an object. That name may have dots and be longer.
func volumeName(name, suffix string) string {
	whole := name + suffix
	if len(validation.IsDNS1123Label(whole)) == 0 {
		return whole
	}
	const hash = 8
	kept := strings.ReplaceAll(name, ".", "-")
	kept = kept[:min(len(kept), maxName-len(suffix)-hash-1)]
	return fmt.Sprintf("%s-%s%s", strings.Trim(strings.ToLower(kept), "-"), hashOf(whole)[:hash], suffix)
}
