package features

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const (
	objectStorage = "../../../examples/object-storage/"
	// untilGoOn has a program work until the test has seen its metrics and stores an object.
	untilGoOn = `
go_on = spark._jvm.org.apache.hadoop.fs.Path("s3a://` + bucket + `/go-on")
storage = go_on.getFileSystem(spark._jsc.hadoopConfiguration())
while not storage.exists(go_on):
    spark.range(1000000).count()
spark.stop()
`
	s3Credentials = `
apiVersion: v1
kind: Secret
metadata: {name: s3-credentials}
stringData: {access-key: ` + s3Key + `, secret-key: ` + s3Secret + `}
`
)

// The program, what it reads and what it writes are in the bucket.
func TestSparkImageReadsAndWritesS3AndExportsMetrics(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	image := sparkImage(t)
	s := newS3(t, c)
	program, err := os.ReadFile(objectStorage + "word_count.py")
	cluster.Must(t, err)
	s.put(t, "/"+bucket+"/word_count.py", strings.Replace(string(program), "spark.stop()\n", untilGoOn, 1))
	s.put(t, "/"+bucket+"/texts/a.txt", "a new nation, conceived in Liberty\n")
	s.put(t, "/"+bucket+"/texts/b.txt", "whether that nation can long endure\n")
	c.ApplyText(t, s3Credentials)
	manifest, err := os.ReadFile(objectStorage + "s3-compatible-kubeflow.yaml")
	cluster.Must(t, err)
	c.ApplyText(t, strings.NewReplacer(
		"registry.example.com/firesteel/spark:4.1.4-object-storage", image,
		"http://s3.example.com:7070", strings.TrimSuffix(s.inside, "/"+bucket), "example-bucket", bucket,
	).Replace(string(manifest)))

	const name = "s3-compatible-word-count"
	c.AwaitKubeflow(t, name, "running with an executor", func(app *v1beta2.SparkApplication) bool { return running(app) == 1 })
	for role, metric := range map[string]string{"driver": "spark_driver_jvm_", "executor": "spark_executor_jvm_"} {
		pod := c.AwaitPods(t, "spark-role="+role, "there", func(pods []corev1.Pod) bool { return len(pods) > 0 })[0]
		expectMetric(t, c, pod.Name, "8090", "/metrics", metric, fmt.Sprintf("app_namespace=%q", c.Namespace))
	}
	s.put(t, "/"+bucket+"/go-on", "")
	c.AwaitKubeflow(t, name, "completed", completed)
	if counts := s.content(t, "counts/"); !strings.Contains(counts, "nation,2\n") || !strings.Contains(counts, "liberty,1\n") {
		t.Errorf("it counted:\n%s", counts)
	}
}

// sparkImage has make build the image and push it to KO_DOCKER_REPO, and returns its name.
func sparkImage(t *testing.T) string {
	t.Helper()
	build := exec.CommandContext(t.Context(), "make", "--no-print-directory", "spark-image")
	build.Dir, build.Stderr = "../../..", os.Stderr
	printed, err := build.Output()
	cluster.Must(t, err)
	return strings.TrimSpace(string(printed))
}

// content returns the text of all objects below a prefix of the bucket.
func (s *s3) content(t *testing.T, prefix string) string {
	t.Helper()
	var list struct{ Contents []struct{ Key string } }
	cluster.Must(t, xml.Unmarshal(s.send(t, http.MethodGet, "/"+bucket+"?list-type=2&prefix="+url.QueryEscape(prefix), ""), &list))
	var text strings.Builder
	for _, object := range list.Contents {
		text.Write(s.send(t, http.MethodGet, "/"+bucket+"/"+object.Key, ""))
	}
	return text.String()
}
