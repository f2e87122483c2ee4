package sparkctl

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
)

const (
	hadoopVariable = "HADOOP_CONF_DIR"
	// maxConf bounds what a ConfigMap holds.
	maxConf = 1 << 20
)

// hadoopFields are the fields of applications that name a ConfigMap with Hadoop's configuration, by the group of their API.
var hadoopFields = map[string][]string{
	"spark.apache.org":      {"spec", "sparkConf", "spark.kubernetes.hadoop.configMapName"},
	"sparkoperator.k8s.io":  {"spec", "hadoopConfigMap"},
	"spark-operator.k8s.io": {"spec", "hadoopConfigMap"},
}

// hadoopConf returns a ConfigMap with the files of a folder, for an application that names none; nil without a folder.
func hadoopConf(object *unstructured.Unstructured, folder string) (*corev1.ConfigMap, error) {
	if folder == "" {
		return nil, nil
	}
	field := hadoopFields[object.GroupVersionKind().Group]
	if field == nil || object.GetKind() != application {
		return nil, fmt.Errorf("$%s %q is for applications, and %s is none: unset it", hadoopVariable, folder, object.GetKind())
	}
	if name, _, _ := unstructured.NestedString(object.Object, field...); name != "" { // what is no text was refused
		return nil, fmt.Errorf("$%s %q and the manifest's ConfigMap %q are two configurations of Hadoop: leave one of them out", hadoopVariable, folder, name)
	}
	made, err := configMapOf(folder)
	if err != nil {
		return nil, fmt.Errorf("$%s %q cannot be used (%w): name a folder with Hadoop's configuration, or unset it", hadoopVariable, folder, err)
	}
	made.Namespace, made.GenerateName = object.GetNamespace(), object.GetName()+"-hadoop-config-"
	return made, nil
}

// application is the kind of applications, in all APIs.
const application = "SparkApplication"

// configMapOf returns a ConfigMap with the files of a folder.
func configMapOf(folder string) (*corev1.ConfigMap, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	made := &corev1.ConfigMap{Immutable: ptr.To(true), Data: map[string]string{}, BinaryData: map[string][]byte{}}
	size := 0
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		info, err := os.Stat(name) //nolint:gosec // the user names its folder, in which Kubernetes mounts files as links
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(validation.IsConfigMapKey(entry.Name())) > 0 {
			return nil, fmt.Errorf("its file %q has no name that a ConfigMap can hold", entry.Name())
		}
		text, err := readFile(name)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxConf {
			return nil, fmt.Errorf("it has more than %d bytes, which is all that a ConfigMap holds", maxConf)
		}
		if utf8.Valid(text) {
			made.Data[entry.Name()] = string(text)
		} else {
			made.BinaryData[entry.Name()] = text
		}
	}
	if size == 0 {
		return nil, fmt.Errorf("it has no file")
	}
	return made, nil
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the user names its folder
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxConf+1))
}

// setHadoopConf has an application mount a ConfigMap.
func setHadoopConf(object *unstructured.Unstructured, name string) error {
	field := hadoopFields[object.GroupVersionKind().Group]
	if err := unstructured.SetNestedField(object.Object, name, field...); err != nil {
		return fmt.Errorf("%s cannot be set in the manifest: %w", strings.Join(field, "."), err)
	}
	return nil
}
