package sparksubmit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	hadoopConfVariable = "HADOOP_CONF_DIR"
	sparkConfVariable  = "SPARK_CONF_DIR"
	hadoopConfKey      = "spark.kubernetes.hadoop.configMapName"
	// maxFiles bounds the files of a folder.
	maxFiles = 1000
)

// takeHadoopConf reads the folder of Hadoop's configuration. As with spark-submit, it becomes a ConfigMap.
func (r *resolver) takeHadoopConf() {
	folder := r.Environment(hadoopConfVariable)
	if folder == "" {
		return
	}
	if name, named := r.s.Properties[hadoopConfKey]; named {
		r.found.Add(finding.Finding{
			Text:   fmt.Sprintf("$%s %q and %s %q are two configurations of Hadoop.", hadoopConfVariable, text.Clip(folder, maxShown), r.s.origins[hadoopConfKey], text.Clip(name, maxShown)),
			Remedy: "Do not specify both",
		})
		return
	}
	files, err := r.readFolder(hadoopConfVariable, folder)
	if err != nil {
		r.refuse("$"+hadoopConfVariable, folder, fmt.Sprintf("cannot be read (%v)", err), "name a folder with Hadoop's configuration, or unset it")
		return
	}
	r.s.HadoopConf = files
}

// readFolder returns the files of the folder of a variable.
func (r *resolver) readFolder(variable, folder string) (map[string]string, error) {
	names, err := r.ReadFolder(folder)
	if err != nil {
		return nil, err
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("it has %d files", len(names))
	}
	files := map[string]string{}
	for _, name := range names {
		if variable == sparkConfVariable && ofSubmission(name) {
			continue
		}
		file, err := r.ReadFile(inFolder(folder, name))
		switch {
		case err != nil:
			return nil, err
		case len(file) > MaxBytes:
			return nil, fmt.Errorf("%s has more than %d bytes", name, MaxBytes)
		case !utf8.Valid(file):
			r.warn("$"+variable, name, "is no text, so it is left out", "put it into the image")
		case len(validation.IsConfigMapKey(name)) > 0:
			r.warn("$"+variable, name, "is no name that a ConfigMap can hold, so it is left out", "rename it")
		default:
			files[name] = string(file)
		}
	}
	return files, nil
}

// ofSubmission reports whether only spark-submit reads a file of Spark's configuration.
func ofSubmission(name string) bool {
	return name == "spark-defaults.conf" || name == "spark-env.sh" || name == "spark.properties" || strings.HasSuffix(name, ".template")
}

// takeSparkConf reads the folder of Spark's configuration. As with spark-submit, the driver gets its files.
func (r *resolver) takeSparkConf() {
	folder := r.sparkConfFolder()
	if folder == "" {
		return
	}
	files, err := r.readFolder(sparkConfVariable, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("$"+sparkConfVariable, folder, fmt.Sprintf("cannot be read (%v)", err), "make it readable, or unset it")
		return
	}
	for _, key := range []string{driverTemplateKey, executorTemplateKey} {
		if url, set := r.s.Properties[key]; set && len(files) > 0 {
			r.warn(r.s.origins[key], url, "cannot be changed here, so that the files of $"+sparkConfVariable+" do not reach the Pods", "write the template into a file of this machine, or put the files into the image's /opt/spark/conf")
			return
		}
	}
	r.s.SparkConf = files
}

// sparkConfFolder returns the folder of Spark's configuration; empty if no variable names it.
func (r *resolver) sparkConfFolder() string {
	return cmp.Or(r.Environment("SPARK_CONF_DIR"), inFolder(r.Environment("SPARK_HOME"), "conf"))
}

func inFolder(folder, name string) string {
	if folder == "" {
		return ""
	}
	return path.Join(folder, name)
}
