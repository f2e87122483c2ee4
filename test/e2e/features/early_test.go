package features

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const crdOfEarlyApplications = "../../../config/early/300-early-sparkapplication.yaml"

// installEarly applies the CRD of the early operator's API until the end of the test. With it, kubectl takes the bare word
// sparkapplications for its kind.
func installEarly(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	finally(t, "delete", "--wait", "-f", crdOfEarlyApplications)
	c.Run(t, "", "kubectl", "apply", "--server-side", "-f", crdOfEarlyApplications)
	// kubectl cannot wait for a condition before the object has any conditions. This field comes with the first.
	c.Run(t, "", "kubectl", "wait", "--for=jsonpath={.status.acceptedNames.kind}", "--timeout=60s", "-f", crdOfEarlyApplications)
	c.Run(t, "", "kubectl", "wait", "--for=condition=Established", "--timeout=60s", "-f", crdOfEarlyApplications)
}

// finally runs kubectl at the end of the test.
func finally(t *testing.T, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if output, err := exec.CommandContext(context.WithoutCancel(t.Context()), "kubectl", args...).CombinedOutput(); err != nil {
			t.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
		}
	})
}

// The object that the early operator's documentation prints, with its images of Spark 2.2, runs to its result on the Spark that the settings
// name in their place. It is not edited: it runs in the namespace default.
func TestFirstManifestOfTheEarlyAPIRunsUnedited(t *testing.T) {
	const manifest, name = "../../../pkg/dialect/early/testdata/seed.yaml", "spark-app-example"
	c := *cluster.New(t)
	c.Namespace = metav1.NamespaceDefault
	set := func(configMap, value, before string) {
		finally(t, "-n", "firesteel-system", "patch", "configmap/"+configMap, "--type=merge", "-p", before)
		c.Run(t, "", "kubectl", "-n", "firesteel-system", "patch", "configmap/"+configMap, "--type=merge", "-p", value)
	}
	installEarly(t, &c)
	set("config-early", `{"data":{"image-replacements":"kubespark/*=apache/spark:3.5.9"}}`, `{"data":{"image-replacements":null}}`)
	set("config-kubeflow", `{"data":{"driver-service-account":"spark"}}`, `{"data":{"driver-service-account":null}}`)
	finally(t, "-n", c.Namespace, "delete", "--ignore-not-found", "serviceaccount/spark", "serviceaccount/spark-operator-spark", "rolebinding/spark-driver-accounts")
	c.Run(t, "", "../../../hack/namespace.sh", c.Namespace)
	c.Apply(t, manifest)

	running := c.AwaitEarly(t, name, "running, with the address of its UI", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.AppState.State == v1alpha1.RunningState && app.Status.DriverInfo.WebUIAddress != ""
	})
	log := c.FollowLog(t, running.Status.DriverInfo.PodName)
	expectUI(t, running.Status.DriverInfo.WebUIAddress)
	completed := c.AwaitEarly(t, name, "completed", cluster.InEarlyState(v1alpha1.CompletedState))
	if text := <-log; !strings.Contains(text, "Pi is roughly") {
		t.Errorf("the log of the driver has no result:\n%.4000s", text)
	}
	for executor, state := range completed.Status.ExecutorState {
		if state != v1alpha1.ExecutorCompletedState {
			t.Errorf("the executor %s is %s", executor, state)
		}
	}
	if len(completed.Status.ExecutorState) != 1 {
		t.Errorf("the executors are %v", completed.Status.ExecutorState)
	}
	pod, err := c.Kube.CoreV1().Pods(c.Namespace).Get(t.Context(), completed.Status.DriverInfo.PodName, metav1.GetOptions{})
	cluster.Must(t, err)
	if image := containerOf(t, *pod, "spark-kubernetes-driver").Image; image != "apache/spark:3.5.9" {
		t.Errorf("the driver runs %s", image)
	}
}

// A Python program, its module and a file by https, and what each role mounts and sees, in the spellings of the API's first days. The images of
// these tests have no R, so what R applications submit is tested without a run.
func TestPythonApplicationOfTheEarlyAPIHasItsFilesAndVariables(t *testing.T) {
	c := cluster.New(t)
	installEarly(t, c)
	trust := serveByHTTPS(t, c, map[string]string{
		"main.py": `
import os, sys
import greeting
from pyspark import SparkFiles
from pyspark.sql import SparkSession

def seen(role):
    files = ["/mnt/gcp/key.json", "/mnt/token/hadoop.token", "/mnt/trust/trust.p12", "/etc/tuning/level", "/etc/hadoop/conf/core-site.xml",
             "/etc/spark/conf/metrics.properties"]
    variables = ["GOOGLE_APPLICATION_CREDENTIALS", "HADOOP_TOKEN_FILE_LOCATION", "HADOOP_CONF_DIR", "SPARK_CONF_DIR", "STAGE"]
    return "%s: %s misses %s and has %s" % (
        greeting.text(), role, [f for f in files if not os.path.getsize(f)], [os.environ.get(v) for v in variables])

context = SparkSession.builder.getOrCreate().sparkContext
print(seen("the driver"))
print(context.parallelize([0], 1).map(lambda _: seen("an executor")).first())
print("the file has", open(SparkFiles.get("words.txt")).read())
print("Hadoop has", context._jsc.hadoopConfiguration().get("example.site"))
print("the arguments are", sys.argv[1:])
`,
		"greeting.py": "def text():\n    return 'good morning'\n",
		"words.txt":   "some words",
	})
	for name, data := range map[string]map[string]string{
		"tuning": {"level": "high"}, "spark-files": {"metrics.properties": "# none\n"},
		"hadoop-files": {"core-site.xml": "<configuration><property><name>example.site</name><value>here</value></property></configuration>"},
	} {
		_, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
		cluster.Must(t, err)
	}
	makeSecret(t, c, "gcp", map[string][]byte{"key.json": []byte("{}")})
	makeSecret(t, c, "token", map[string][]byte{"hadoop.token": []byte("HDTS\x00\x00\x00")}) // Hadoop's form of no tokens
	makeSecret(t, c, "trust", map[string][]byte{"trust.p12": trust})
	secrets := "[{name: gcp, path: /mnt/gcp, secretType: GCPServiceAccount}, {name: token, path: /mnt/token, secretType: HDFSDelegationToken}, " +
		"{name: trust, path: /mnt/trust, secretType: Generic}]"
	c.ApplyText(t, fmt.Sprintf(`
apiVersion: spark-operator.k8s.io/v1alpha1
kind: SparkApplication
metadata: {name: python}
spec:
  type: Python
  mainApplicationFile: https://%[1]s/main.py
  arguments: [a, "b c"]
  deps: {pyFiles: ["https://%[1]s/greeting.py"], files: ["https://%[1]s/words.txt"]}
  sparkConigMap: spark-files
  hadoopConigMap: hadoop-files
  sparkConf:
    spark.kubernetes.authenticate.driver.serviceAccountName: spark
    spark.driver.extraJavaOptions: -Djavax.net.ssl.trustStore=/mnt/trust/trust.p12 -Djavax.net.ssl.trustStorePassword=changeit
  driver:
    image: apache/spark:3.5.9
    cores: "0.1"
    memory: 512m
    driverConigMaps: [{name: tuning, path: /etc/tuning}]
    driverSecrets: %[2]s
    driverEnvVars: {STAGE: prod}
  executor:
    image: apache/spark:3.5.9
    instances: 1
    cores: "0.1"
    memory: 512m
    executorConigMaps: [{name: tuning, path: /etc/tuning}]
    executorSecrets: %[2]s
    executorEnvVars: {STAGE: prod}
`, filesHost(c), secrets))
	c.AwaitEarly(t, "python", "completed", cluster.InEarlyState(v1alpha1.CompletedState))
	environment := "['/mnt/gcp/key.json', '/mnt/token/hadoop.token', '/etc/hadoop/conf', '/etc/spark/conf', 'prod']"
	expectLog(t, c, "python-driver", "good morning: the driver misses [] and has "+environment, "good morning: an executor misses [] and has "+environment,
		"the file has some words", "Hadoop has here", "the arguments are ['a', 'b c']")
}

func filesHost(c *cluster.Cluster) string { return "files." + c.Namespace + ".svc" }

// serveByHTTPS serves files in the cluster. It returns a trust store with the server's certificate, which Java reads with the password
// changeit.
func serveByHTTPS(t *testing.T, c *cluster.Cluster, files map[string]string) []byte {
	t.Helper()
	certificate, key := selfSigned(t, filesHost(c))
	makeSecret(t, c, "files", map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key})
	_, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "files"}, Data: files}, metav1.CreateOptions{})
	cluster.Must(t, err)
	c.ApplyText(t, `
apiVersion: v1
kind: Service
metadata: {name: files}
spec: {selector: {app: files}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: v1
kind: Pod
metadata: {name: files, labels: {app: files}}
spec:
  containers:
    - name: files
      image: apache/spark:3.5.9
      command: [python3, -c]
      args:
        - |
          import functools, http.server, ssl
          handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="/files")
          server = http.server.ThreadingHTTPServer(("", 8443), handler)
          context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
          context.load_cert_chain("/tls/tls.crt", "/tls/tls.key")
          server.socket = context.wrap_socket(server.socket, server_side=True)
          server.serve_forever()
      readinessProbe: {httpGet: {path: /, port: 8443, scheme: HTTPS}, periodSeconds: 1}
      volumeMounts: [{name: files, mountPath: /files}, {name: tls, mountPath: /tls}]
  volumes: [{name: files, configMap: {name: files}}, {name: tls, secret: {secretName: files}}]
`)
	c.Run(t, "", "kubectl", "-n", c.Namespace, "wait", "--for=condition=Ready", "--timeout=120s", "pod/files")
	encoded := c.Run(t, "", "kubectl", "-n", c.Namespace, "exec", "files", "--", "sh", "-c",
		"keytool -importcert -noprompt -alias files -file /tls/tls.crt -keystore /tmp/trust.p12 -storetype PKCS12 -storepass changeit >/tmp/keytool 2>&1 "+
			"|| { cat /tmp/keytool; exit 1; }; base64 -w0 /tmp/trust.p12")
	trust, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	cluster.Must(t, err)
	return trust
}

func makeSecret(t *testing.T, c *cluster.Cluster, name string, data map[string][]byte) {
	t.Helper()
	_, err := c.Kube.CoreV1().Secrets(c.Namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
	cluster.Must(t, err)
}

// selfSigned returns a certificate for a host that lasts a day, and its key, in PEM.
func selfSigned(t *testing.T, host string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	cluster.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	cluster.Must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	cluster.Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// expectUI asks for the page of Spark's UI until it is there: the driver serves it some seconds after its start.
func expectUI(t *testing.T, address string) {
	t.Helper()
	var answer string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answer = err.Error()
			return false, nil
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		answer = response.Status + " " + string(body)
		return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), "Spark"), nil
	})
	if err != nil {
		t.Errorf("the UI at %s answers: %.500s", address, answer)
	}
}
