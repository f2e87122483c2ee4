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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

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
	c.Apply(t, resolve(t, c, "../../harness/s3/versitygw", "testdata/s3.yaml"))
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

// small are options of a small application with one executor, whose log is printed.
func small(name string) []string {
	return []string{
		"--logs", "--spark-version", manifested, "--name", name, "--driver-memory", "512m", "--executor-memory", "512m", "--num-executors", "1",
		"--conf", "spark.kubernetes.driver.request.cores=200m", "--conf", "spark.kubernetes.executor.request.cores=200m",
		"--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=spark",
	}
}

const greeted = "executors say ['good morning, ada', 'good morning, grace']"

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
	u.says(t, 0, []string{"greet.py uploaded", "greeting.py uploaded", "names.csv uploaded", s.inside + "/team/sha256/", greeted}, "submit", append(
		small("greet"), "--upload-to", "s3://"+bucket+"/team?use_path_style=true&region="+s3Region+"&endpoint="+s.outside, "--upload-as", s.inside+"/team",
		"--py-files", filepath.Join(folder, "greeting.py"), "--files", filepath.Join(folder, "names.csv"), filepath.Join(folder, "greet.py"),
	)...)
	u.says(t, 0, []string{"Succeeded"}, "get", "greet")
}

// The application file is stored in a claim, which the driver mounts. A second run stores nothing, and no Pod stays.
func TestCommandLineUploadsToAClaim(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	newClaim(t, u.Cluster, "uploads")
	greet := filepath.Join(t.TempDir(), "greet.py")
	cluster.Must(t, os.WriteFile(greet, []byte(`
from pyspark.sql import SparkSession

sc = SparkSession.builder.getOrCreate().sparkContext
print("executors say", sc.parallelize(["ada", "grace"], 2).map(lambda name: f"good morning, {name}").collect())
sc.stop()
`), 0o600))
	const volume = "spark.kubernetes.driver.volumes.persistentVolumeClaim.uploads."
	line := append(small("claimed"), "--upload-to", "pvc://uploads/apps", "--upload-image", "apache/spark:"+manifested,
		"--conf", volume+"options.claimName=uploads", "--conf", volume+"mount.path=/uploads", greet)
	u.says(t, 0, []string{"greet.py uploaded", "local:///uploads/apps/sha256/", greeted}, "submit", line...)
	u.says(t, 0, []string{"greet.py is there already", greeted}, "submit", line...)
	pods, err := u.Kube.CoreV1().Pods(u.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=kubectl-spark-upload"})
	cluster.Must(t, err)
	if len(pods.Items) > 0 {
		t.Errorf("%s is not removed", pods.Items[0].Name)
	}
}

// newClaim creates a claim of a folder of the node, which Pods of any user may write.
func newClaim(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	volume := makeVolume(t, c, name, corev1.ReadWriteMany)
	folder := "/tmp/" + c.Namespace
	cluster.Must(t, os.MkdirAll(folder, 0o700))
	cluster.Must(t, os.Chmod(folder, 0o777)) // Spark's user writes into it
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	_, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("made-beforehand"), VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	cluster.Must(t, err)
}
