package features

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const (
	s3Key, s3Secret, s3Region = "firesteel", "hunter2-of-the-test", "us-east-1"
	bucket                    = "apps"
)

// s3 is a server of the S3 protocol in the namespace of a test. Anybody in the cluster may read what is in its bucket, since most images of
// Spark lack the classes of s3a.
type s3 struct {
	// outside is its address for the machine of the test, and inside that for Pods.
	outside, inside string
}

// newS3 runs versitygw, built from its Go module, as a Pod.
func newS3(t *testing.T, c *cluster.Cluster) *s3 {
	t.Helper()
	ko := strings.TrimSpace(c.Run(t, "", "go", "tool", "-n", "-modfile=../../../tools/go.mod", "ko"))
	manifest, err := filepath.Abs("testdata/s3.yaml")
	cluster.Must(t, err)
	resolved := filepath.Join(t.TempDir(), "s3.yaml")
	c.Run(t, "", "sh", "-c", `cd ../../upload/versitygw && "$0" resolve --filename="$1" >"$2"`, ko, manifest, resolved)
	c.Apply(t, resolved)
	c.Run(t, "", "kubectl", "-n", c.Namespace, "wait", "--for=condition=Ready", "pod/s3", "--timeout=2m")
	address, stop, err := forward(t.Context(), c, "s3", "7070")
	cluster.Must(t, err)
	t.Cleanup(stop)
	s := &s3{outside: "http://" + address, inside: "http://s3." + c.Namespace + ".svc:7070/" + bucket}
	s.put(t, "/"+bucket, "")
	s.put(t, "/"+bucket+"?policy=", fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::%s/*"}]}`, bucket))
	return s
}

// put stores an object, or makes a bucket.
func (s *s3) put(t *testing.T, path, content string) {
	t.Helper()
	s.send(t, http.MethodPut, path, content)
}

// send sends a signed request until it succeeds, and returns the answer.
func (s *s3) send(t *testing.T, method, path, content string) (body []byte) {
	t.Helper()
	var problem error
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, method, s.outside+path, strings.NewReader(content))
		if err != nil {
			return false, err
		}
		request.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		answer, err := http.DefaultClient.Do(signer.SignV4(*request, s3Key, s3Secret, "", s3Region))
		if problem = err; err != nil {
			return false, nil
		}
		defer answer.Body.Close()
		if problem = unless(answer.StatusCode < http.StatusMultipleChoices, "%s", answer.Status); problem == nil {
			body, problem = io.ReadAll(answer.Body)
		}
		return problem == nil, nil
	})
	if err != nil {
		t.Fatalf("%s %s: %v (%v)", method, path, err, problem)
	}
	return body
}

// The files are of this machine. A driver fetches them from where they are uploaded.
func TestCommandLineUploadsTheFilesOfAnApplication(t *testing.T) {
	u := newUser(t)
	s := newS3(t, u.Cluster)
	t.Setenv("AWS_ACCESS_KEY_ID", s3Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3Secret)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"greeting.py": "def of(name):\n    return f'good morning, {name}'\n",
		"names.csv":   "ada\ngrace\n",
		"greet.py": `
from pyspark import SparkFiles
from pyspark.sql import SparkSession

import greeting

sc = SparkSession.builder.getOrCreate().sparkContext
with open(SparkFiles.get("names.csv")) as names:
    print("executors say", sc.parallelize(names.read().split(), 2).map(greeting.of).collect())
sc.stop()
`,
	} {
		cluster.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	greet := filepath.Join(folder, "greet.py")
	u.says(t, 0, []string{
		"greet.py uploaded", "greeting.py uploaded", "names.csv uploaded", s.inside + "/team/sha256/", "executors say ['good morning, ada', 'good morning, grace']",
	}, "submit",
		"--upload-to", "s3://"+bucket+"/team?use_path_style=true&region="+s3Region+"&endpoint="+s.outside, "--upload-as", s.inside+"/team", "--logs",
		"--spark-version", manifested, "--name", "greet", "--driver-memory", "512m", "--executor-memory", "512m", "--num-executors", "1",
		"--conf", "spark.kubernetes.driver.request.cores=200m", "--conf", "spark.kubernetes.executor.request.cores=200m",
		"--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=spark",
		"--py-files", filepath.Join(folder, "greeting.py"), "--files", filepath.Join(folder, "names.csv"), greet)
	u.says(t, 0, []string{"Succeeded"}, "get", "greet")
}
