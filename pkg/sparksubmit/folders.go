package sparksubmit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	hadoopConfVariable = "HADOOP_CONF_DIR"
	hadoopConfKey      = "spark.kubernetes.hadoop.configMapName"
	// maxFiles bounds the files of a folder.
	maxFiles = 1000
)

// takeHadoopConf reads the folder of Hadoop's configuration, of which spark-submit makes a config map.
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
	files, err := r.readFolder(folder)
	if err != nil {
		r.refuse("$"+hadoopConfVariable, folder, fmt.Sprintf("cannot be read (%v)", err), "name a folder with Hadoop's configuration, or unset it")
		return
	}
	r.s.HadoopConf = files
}

func (r *resolver) readFolder(folder string) (map[string]string, error) {
	names, err := r.ReadFolder(folder)
	if err != nil {
		return nil, err
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("it has %d files", len(names))
	}
	files := map[string]string{}
	for _, name := range names {
		file, err := r.ReadFile(inFolder(folder, name))
		switch {
		case err != nil:
			return nil, err
		case len(file) > MaxBytes:
			return nil, fmt.Errorf("%s has more than %d bytes", name, MaxBytes)
		case !utf8.Valid(file):
			r.warn("$"+hadoopConfVariable, name, "is no text, so it is left out", "put it into the image")
		default:
			files[name] = string(file)
		}
	}
	return files, nil
}

// checkSparkConf warns of files in the folder of Spark's configuration that spark-submit gives to the driver.
func (r *resolver) checkSparkConf() {
	folder := r.sparkConf()
	if folder == "" {
		return
	}
	names, err := r.ReadFolder(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("$SPARK_CONF_DIR", folder, fmt.Sprintf("cannot be read (%v)", err), "make it readable, or unset it")
	}
	for _, name := range names {
		if name != "spark-defaults.conf" && name != "spark-env.sh" && !strings.HasSuffix(name, ".template") {
			r.warn("the file", inFolder(folder, name), "does not reach the driver", "put it into the image's /opt/spark/conf")
		}
	}
}
