package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// env is a cluster of fakes, and what a command printed.
type env struct {
	dynamic     *dynamicfake.FakeDynamicClient
	kube        *kubefake.Clientset
	out, errOut bytes.Buffer
}

func newEnv(t testing.TB, manifests []string, kubernetes ...runtime.Object) *env {
	t.Helper()
	var objects []runtime.Object
	for _, manifest := range manifests {
		objects = append(objects, fakeclient.Decode(t, manifest))
	}
	e := &env{
		dynamic: fakeclient.NewDynamic(map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList", connects: "SparkConnectList"}, objects...),
		kube:    kubefake.NewClientset(kubernetes...),
	}
	e.allow(true)
	return e
}

// allow has the API server say whether rights are there.
func (e *env) allow(allowed bool) {
	e.kube.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}}, nil
	})
	e.kube.PrependReactor("create", "localsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.LocalSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}}, nil
	})
}

// forbid refuses a verb on a resource; a star stands for all.
func (e *env) forbid(verb, resource string) {
	refuse := func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "x", fmt.Errorf("no"))
	}
	e.kube.PrependReactor(verb, resource, refuse)
	e.dynamic.PrependReactor(verb, resource, refuse)
}

// run runs a command line and returns its exit code.
func (e *env) run(ctx context.Context, line string) int {
	o := cli.NewOptions(cli.Plugin, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &e.out, ErrOut: &e.errOut})
	o.Now = func() time.Time { return now }
	root := &cobra.Command{Use: cli.Plugin, Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"}}
	root.AddCommand(commands(o, func() (*connection.Cluster, error) {
		return &connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, Namespace: "team-a"}, nil
	})...)
	return o.Run(ctx, root, strings.Fields(line))
}

// wants fails the test if the exit code is another, or if what is printed is not that of a file.
func (e *env) wants(t *testing.T, file, line string, code int) {
	t.Helper()
	if got := e.run(t.Context(), line); got != code {
		t.Errorf("%s: exit code %d, want %d: %s", line, got, code, e.errOut.String())
	}
	golden.Want(t, "testdata/"+file+".golden", e.out.String())
}

// kubeflowApp is an application that the Kubeflow operator runs.
func kubeflowApp(name, spec, state string) string {
	return fmt.Sprintf(`
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {namespace: team-a, name: %[1]s, uid: u-%[1]s, creationTimestamp: "2026-01-01T11:50:00Z"}
spec:
  type: Scala
  mode: cluster
  image: spark:4.1.1
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  sparkVersion: 4.1.1
  restartPolicy: {type: Never}
  driver: {cores: 1, memory: 512m, serviceAccount: spark, env: [{name: DB_PASSWORD, value: hunter2-4711}]}
  executor: {instances: 1, cores: 1, memory: 512m}
%[2]s
status:
  applicationState: {state: %[3]s}
  submissionID: 8b4e28ba-2fa1-11d2-883f-b9a761bde3fb
  executionAttempts: 1
  submissionAttempts: 1
  lastSubmissionAttemptTime: "2026-01-01T11:51:00Z"
  driverInfo: {podName: %[1]s-driver}
`, name, spec, state)
}

// operator is a Deployment of another operator.
func operator(chart, component, name string, args ...string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "spark-operator", Name: name, Labels: map[string]string{"app.kubernetes.io/name": chart, "app.kubernetes.io/component": component},
		},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "operator:1", Args: args}}}}},
	}
}

func serviceAccount(namespace, name, release string) *corev1.ServiceAccount {
	annotations := map[string]string{}
	if release != "" {
		annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = release, "spark-operator"
	}
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: annotations}}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
}

// podWebhook is a webhook for Pods of the Service sidecars/injector.
func podWebhook(configuration, name string) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: configuration},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "sidecars", Name: "injector"}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
}

// lease is that of a Kubeflow operator which runs.
func lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark-operator", Name: "spark-operator-controller-lock"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("spark-operator-controller-7d9f8b6c5-x2x4z_1b4e28ba"), LeaseDurationSeconds: ptr.To[int32](15),
			RenewTime: &metav1.MicroTime{Time: now},
		},
	}
}

// driverPod is the driver that a manifest in testdata holds.
func driverPod(t testing.TB, file string) *corev1.Pod {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(text, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

var kubeflowFlags = []string{
	"controller", "start", "--zap-log-level=debug", `--namespaces=team-a,team-b`, "--controller-threads=10", "--enable-ui-service=false",
	"--enable-batch-scheduler", "--kube-scheduler-names=mine", "--leader-election=true", "--max-tracked-executor-per-app=1000",
	"--feature-gates=DefaultTimeToLive=true,RestSubmitter=false", "--default-time-to-live-seconds=3600", "--enable-metrics=true", "--metrics-bind-address=:9191",
}

func TestClusterOfTheKubeflowOperatorThatIsReady(t *testing.T) {
	controller := operator("spark-operator", "controller", "spark-operator-controller", kubeflowFlags...)
	controller.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://user:hunter2-4711@proxy:3128"}}
	e := newEnv(t, []string{kubeflowApp("pi", "", "RUNNING"), kubeflowApp("done", "", "COMPLETED")}, controller,
		operator("spark-operator", "webhook", "spark-operator-webhook", "webhook", "start", "--zap-log-level=info", "--enable-resource-quota-enforcement=true"),
		serviceAccount("team-a", "spark", "spark-operator"), namespace("team-a"), driverPod(t, "testdata/kubeflow-driver.yaml"), lease(),
		podWebhook("spark-operator-webhook", "mutate--v1-pod.sparkoperator.k8s.io"), podWebhook("injector", "inject.example.org"),
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "sidecars", Name: "injector"}},
		&discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "sidecars", Name: "injector-x", Labels: map[string]string{discoveryv1.LabelServiceName: "injector"}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
		})
	e.wants(t, "kubeflow-ready", "migrate check -A", 0)
	e.out.Reset()
	e.wants(t, "kubeflow-ready-json", "migrate check -A -o json", 0)
	if strings.Contains(e.out.String(), "hunter2") {
		t.Error("a secret is printed")
	}
}

func TestClusterWithThingsInTheWay(t *testing.T) {
	var manifests []string
	for i := range 1000 {
		manifests = append(manifests, kubeflowApp(fmt.Sprintf("refused-%03d", i), fmt.Sprintf("  memoryOverheadFactor: \"-0.%d\"", i), "NEW"))
	}
	manifests = append(manifests, kubeflowApp("over", "  memoryOverheadFactor: \"-1\"", "COMPLETED"), `
apiVersion: sparkoperator.k8s.io/v1alpha1
kind: SparkConnect
metadata: {namespace: team-a, name: connect}
`, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: sparkapplications.sparkoperator.k8s.io
  annotations: {meta.helm.sh/release-name: spark-operator, meta.helm.sh/release-namespace: spark-operator}
status: {storedVersions: [v1beta2, v1]}
`)
	e := newEnv(t, manifests, podWebhook("injector", "inject.example.org"), namespace("team-a"))
	e.wants(t, "in-the-way", "migrate check -A", 1)
}

func TestObjectsThatTheApacheOperatorLeft(t *testing.T) {
	text, err := os.ReadFile("../../dialect/apache/testdata/left-by-apache-operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifests []string
	for _, document := range bytes.Split(text, []byte("\n---\n"))[1:] {
		manifests = append(manifests, strings.Replace(string(document), "metadata:\n", "metadata:\n  namespace: team-a\n", 1))
	}
	apache := operator("spark-kubernetes-operator", "operator-deployment", "spark-kubernetes-operator")
	apache.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "spark-kubernetes-operator-configuration"},
	}}}}
	running := driverPod(t, "testdata/apache-driver.yaml")
	e := newEnv(t, manifests, apache, running,
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "spark-operator", Name: "spark-kubernetes-operator-configuration"},
			Data: map[string]string{"spark-operator.properties": "spark.kubernetes.operator.watchedNamespaces=team-a\n" +
				"spark.kubernetes.operator.leaderElection.leaseDurationSeconds=30\nspark.kubernetes.operator.reconciler.intervalSeconds=60\n"},
		},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "spark-operator", Name: dynamicProperties},
			Data:       map[string]string{"spark.kubernetes.operator.watchedNamespaces": "team-a,team-c"},
		},
		serviceAccount("team-a", "default", ""), namespace("team-a"))
	e.wants(t, "apache", "migrate check", 0)
}

func TestWhatMayNotBeReadIsSaidAndTheRestGoesOn(t *testing.T) {
	e := newEnv(t, []string{kubeflowApp("pi", "", "RUNNING")})
	for _, resource := range []string{
		"deployments", "leases", "pods", "priorityclasses", "namespaces", "mutatingwebhookconfigurations", "customresourcedefinitions", "serviceaccounts",
		"sparkclusters", "scheduledsparkapplications", "sparkconnects",
	} {
		e.forbid("*", resource)
	}
	e.allow(false)
	e.wants(t, "without-rights", "migrate check", 0)
}

func TestErrorsAreOneLine(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		code int
		want string
		in   func(*env)
	}{
		"an unknown format":         {line: "-o sarif", code: 2, want: "-o sarif is no format: write text, json or yaml"},
		"a page without size":       {line: "--chunk-size 0", code: 2, want: "--chunk-size 0 is not above 0"},
		"an argument":               {line: "pi", code: 2, want: `"pi" is not expected`},
		"absent settings":           {line: "--settings absent", code: 1, want: "absent cannot be read"},
		"no right to read anything": {code: 1, want: "ask for the right", in: func(e *env) { e.forbid("*", "*") }},
	} {
		e := newEnv(t, nil)
		if test.in != nil {
			test.in(e)
		}
		if code := e.run(t.Context(), "migrate check "+test.line); code != test.code || !strings.Contains(e.errOut.String(), test.want) || strings.Count(e.errOut.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", name, code, e.errOut.String())
		}
	}
}

func TestAnInterruptionEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := newEnv(t, []string{kubeflowApp("pi", "", "RUNNING")})
	e.dynamic.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return true, nil, ctx.Err()
	})
	if code := e.run(ctx, "migrate check"); code != 130 || e.out.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, e.out.String())
	}
}

func TestHostileObjectsAreReportedWithinBounds(t *testing.T) {
	var manifests []string
	long := strings.Repeat("x", 100_000)
	for i := range 600 {
		manifests = append(manifests, kubeflowApp(fmt.Sprintf("a%d", i), fmt.Sprintf("  sparkConf: {%q: x}\n  unknown%d: 1", fmt.Sprintf("spark.kubernetes.driver.volumes.no%d.a.b", i), i), fmt.Sprintf("STATE-%d", i)))
	}
	manifests = append(manifests,
		kubeflowApp("long", fmt.Sprintf("  arguments: [%s]\n  mode: %s", long, long), long),
		"apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {namespace: team-a, name: text}\nspec: text\nstatus: 7\n",
		"apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {namespace: team-a, name: none}\n",
		"apiVersion: sparkoperator.k8s.io/v1beta2\nkind: ScheduledSparkApplication\nmetadata: {namespace: team-a, name: odd}\nspec: {schedule: 7, template: []}\n",
		"apiVersion: spark.apache.org/v1\nkind: SparkCluster\nmetadata: {namespace: team-a, name: odd}\nspec: {masterSpec: 7}\nstatus: {currentState: []}\n")
	e := newEnv(t, manifests)
	if code := e.run(t.Context(), "migrate check -o json"); code != 1 {
		t.Fatalf("exit code %d: %s", code, e.errOut.String())
	}
	var report migration.Report
	if err := json.Unmarshal(e.out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Items) > 3*400 || report.More == 0 || report.Ready || e.out.Len() > 1<<20 {
		t.Errorf("there are %d items and %d more in %d bytes", len(report.Items), report.More, e.out.Len())
	}
	if got := report.Kinds[1].Count + report.Kinds[0].Count; got < 600 {
		t.Errorf("%d objects are counted", got)
	}
}

// Pages of 10,000 objects are read one after the other. What is kept of them does not grow with their number.
func TestMemoryDoesNotGrowWithTheNumberOfObjects(t *testing.T) {
	const pages, perPage, measured = 50, 200, 10
	e := newEnv(t, nil)
	// What cannot be decoded costs the least time.
	item := fakeclient.Decode(t, "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {namespace: team-a, name: pi}\nspec: "+strings.Repeat("text ", 200))
	var most uint64
	page := 0
	e.dynamic.PrependReactor("list", "sparkapplications", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplicationList"}}
		if action.GetResource().Group != "sparkoperator.k8s.io" {
			return true, list, nil
		}
		if page++; page%measured == 0 {
			debug.FreeOSMemory()
			most = max(most, heap())
		}
		for i := range perPage {
			one := item.DeepCopy()
			one.SetName(fmt.Sprintf("pi-%d-%d", page, i))
			one.Object["spec"] = fmt.Sprint(item.Object["spec"], i) // none shares its text
			list.Items = append(list.Items, *one)
		}
		if page < pages {
			list.SetContinue("more")
		}
		return true, list, nil
	})
	debug.FreeOSMemory()
	before := heap()
	if code := e.run(t.Context(), "migrate check -A"); code != 1 {
		t.Fatalf("exit code %d: %s", code, e.errOut.String())
	}
	if page != pages || !strings.Contains(e.out.String(), "and 9997 more]") {
		t.Errorf("%d pages were read:\n%.2000s", page, e.out.String())
	}
	if grown := most - min(before, most); grown > 10<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}
