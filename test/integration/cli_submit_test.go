package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// commandLine is what a command line of kubectl spark did.
const piJar = "local:///opt/spark/examples/jars/spark-examples.jar"

// piLine is Spark's own example, as its documentation submits it.
var piLine = []string{
	"--deploy-mode", "cluster", "--class", "org.apache.spark.examples.SparkPi", "--name", "pi", "--conf", "spark.executor.instances=5",
	"--conf", "spark.kubernetes.container.image=apache/spark:4.1.0", piJar,
}

func TestCommandLineOfSparkSubmitRunsItsDriver(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	master := "k8s://" + s.Plane.Admin().Host
	if got := s.cli(t.Context(), cli.Plugin, append([]string{"submit", "--master", master}, piLine...)...); got.code != 0 || got.out != "sparkapplications.spark.apache.org/pi created\n" || got.errOut != "" {
		t.Fatalf("submit: %+v", got)
	}
	d := s.driver("pi", 0)
	if args := strings.Join(d.Spec.Containers[0].Args, " "); !strings.HasSuffix(args, "--class org.apache.spark.examples.SparkPi "+piJar) {
		t.Errorf("the driver is started with %s", args)
	}
	for _, id := range []string{"pi", d.Name, s.ns + ":" + d.Name, "pi*"} {
		if got := s.cli(t.Context(), cli.Plugin, "submit", "--status", id, "--master", master); got.code != 0 || !strings.Contains(got.out, "pod name: "+d.Name) {
			t.Errorf("status of %s: %+v", id, got)
		}
	}
	if got := s.cli(t.Context(), cli.Plugin, append([]string{"submit"}, piLine...)...); got.code != 0 || !strings.Contains(got.errOut, "pi exists already, so this run is pi-") {
		t.Errorf("submitted again: %+v", got)
	}
	if got := s.cli(t.Context(), cli.Plugin, "submit", "--kill", "pi"); got.code != 0 || got.out != "Stopping application: sparkapplications.spark.apache.org/pi.\n" {
		t.Errorf("kill: %+v", got)
	}
	if got := s.cli(t.Context(), cli.Plugin, "submit", "--status", "none"); got.code != 1 || !strings.HasPrefix(got.errOut, "error: application not found: ") ||
		!strings.Contains(got.errOut, "kubectl spark list -n "+s.ns+" shows what there is") {
		t.Errorf("status of none: %+v", got)
	}
}

func TestSparkSubmitWaitsForTheEndAndReportsIt(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for _, test := range []struct {
		name string
		exit int32
		code int
	}{{"good", 0, 0}, {"bad", 1, 3}} {
		ended := make(chan commandLine, 1)
		args := append([]string{}, piLine...)
		args[5] = test.name
		go func() { ended <- s.cli(t.Context(), cli.SparkSubmit, args...) }()
		name := s.untilSubmitted(test.name)
		s.run(name, 0).exit(test.exit)
		got := <-ended
		if got.code != test.code || !strings.Contains(got.out, "RunningHealthy") || (test.code == 3) != strings.Contains(got.errOut, "failed: ") {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	if got := s.cli(t.Context(), cli.SparkSubmit, append([]string{"--conf", "spark.kubernetes.submission.waitAppCompletion=false"}, piLine...)...); got.code != 0 {
		t.Errorf("without waiting: %+v", got)
	}
}

func TestFollowingTheLogOfASubmissionEndsWithTheApplication(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	ended := make(chan commandLine, 1)
	go func() { ended <- s.cli(t.Context(), cli.Plugin, append([]string{"submit", "--logs"}, piLine...)...) }()
	s.run("pi", 0).exit(1)
	if got := <-ended; got.code != 3 || !strings.Contains(got.errOut, "pi failed") {
		t.Errorf("it is %+v", got)
	}
}

// untilSubmitted waits for an application whose name begins with a prefix, and returns the name.
func (s *env) untilSubmitted(prefix string) (name string) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		list, err := s.apps().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, prefix+"-") {
				name = list.Items[i].Name
			}
		}
		return name != "", nil
	}))
	return name
}

func TestAUserWhoStopsWaitingIsToldThatTheApplicationGoesOn(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for flag, name := range map[string]string{"--watch": "watched", "--wait": "awaited", "--logs": "logged"} {
		args := append([]string{"submit", flag}, piLine...)
		args[slices.Index(args, "pi")] = name
		ctx, stop := context.WithCancel(t.Context())
		submit := s.follows(ctx, args...)
		s.untilPrinted(submit, "created")
		d := s.driver(name, 0)
		stop()
		want := name + " goes on: kubectl spark get " + name + " -n " + s.ns + " shows it, kubectl spark wait " + name + " -n " + s.ns +
			" waits for its end, and kubectl spark stop " + name + " -n " + s.ns + " stops it"
		if code := <-submit.code; code != 130 || !strings.Contains(submit.String(), want) {
			t.Errorf("%s: exit code %d:\n%s\nwant %s", flag, code, submit, want)
		}
		s.run(name, 0).exit(0)
		if got := s.cli(t.Context(), cli.Plugin, "wait", name); got.code != 0 {
			t.Errorf("%s: the application of %s ends with %+v", flag, d.Name, got)
		}
	}
}

func TestManifestsAreSubmitted(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	file := filepath.Join(t.TempDir(), "apps.yaml")
	const apache = "apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {name: one}\nspec: {mainClass: Pi, jars: local:///pi.jar, runtimeVersions: {sparkVersion: 4.1.0}}\n"
	const kubeflow = "---\napiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {generateName: two-}\nspec: {type: Scala, mode: cluster, sparkVersion: 4.1.0, image: spark, mainClass: Pi, mainApplicationFile: local:///pi.jar, driver: {}, executor: {}}\n"
	s.must(os.WriteFile(file, []byte(apache+kubeflow), 0o600))
	if got := s.cli(t.Context(), cli.Plugin, "submit", "-f", file); got.code != 0 || !strings.HasPrefix(got.out, "sparkapplications.spark.apache.org/one created\nsparkapplications.sparkoperator.k8s.io/two-") {
		t.Errorf("the first time: %+v", got)
	}
	if got := s.cli(t.Context(), cli.Plugin, "submit", "-f", file); got.code != 1 || !strings.Contains(got.errOut, "one exists already in the namespace") {
		t.Errorf("the second time: %+v", got)
	}
}

// TestFoldersOfConfigurationReachTheDriverOfEachAPI sets variables of the process, so that it runs alone.
func TestFoldersOfConfigurationReachTheDriverOfEachAPI(t *testing.T) {
	s := newEnv(t).sharesController()
	for variable, file := range map[string]string{"HADOOP_CONF_DIR": "core-site.xml", "SPARK_CONF_DIR": "log4j2.properties"} {
		folder := t.TempDir()
		s.must(os.WriteFile(filepath.Join(folder, file), []byte(variable), 0o600))
		t.Setenv(variable, folder)
	}
	submit := func(api, name string) commandLine {
		args := append([]string{"submit", "--api", api}, piLine...)
		args[8] = name
		return s.cli(t.Context(), cli.Plugin, args...)
	}
	configMap := func(name string) *corev1.ConfigMap {
		found, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{})
		s.must(err)
		return found
	}
	for api, driverOf := range map[string]func(string) *driver{"apache": func(name string) *driver { return s.driver(name, 0) }, "kubeflow": s.kubeflowDriver} {
		name := "pi-" + api
		if got := submit(api, name); got.code != 0 {
			t.Fatalf("%s: %+v", api, got)
		}
		pod := driverOf(name).Pod
		for _, folder := range []struct{ configMap, path, file, content string }{
			{name + "-hadoop-config", "/opt/hadoop/conf", "core-site.xml", "HADOOP_CONF_DIR"},
			{name + "-spark-config", "/etc/firesteel/spark-conf", "log4j2.properties", "SPARK_CONF_DIR"},
		} {
			if owned := configMap(folder.configMap); len(owned.OwnerReferences) != 1 || owned.OwnerReferences[0].Name != name || owned.Data[folder.file] != folder.content {
				t.Errorf("%s: %s has %v and the owners %v", api, owned.Name, owned.Data, owned.OwnerReferences)
			}
			if mounted := mountedConfigMap(pod, folder.path); mounted != folder.configMap {
				t.Errorf("%s: at %s the driver mounts %q", api, folder.path, mounted)
			}
		}
	}
	s.must(s.Kube.CoreV1().ConfigMaps(s.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"}))
	got := submit("kubeflow", "pi-kubeflow")
	list, err := s.Kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=pi-kubeflow-hadoop-config"})
	s.must(err)
	if got.code != 0 || !strings.Contains(got.errOut, "pi-kubeflow exists already, so this run is pi-kubeflow-") || len(list.Items) > 0 {
		t.Errorf("with a name that is taken there are %d ConfigMaps of that name: %+v", len(list.Items), got)
	}
}

// mountedConfigMap returns the ConfigMap that Spark's container of a Pod mounts at a path.
func mountedConfigMap(pod *corev1.Pod, path string) string {
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if mount.MountPath == path && volume.Name == mount.Name && volume.ConfigMap != nil {
				return volume.ConfigMap.Name
			}
		}
	}
	return ""
}

func TestASubmissionOfEachAPIIsAcceptedByTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for api, group := range map[string]string{"apache": "spark.apache.org", "kubeflow": "sparkoperator.k8s.io"} {
		args := append([]string{"submit", "--dry-run=server", "--api", api}, piLine...)
		if got := s.cli(t.Context(), cli.Plugin, args...); got.code != 0 || got.out != "sparkapplications."+group+"/pi created (server dry run)\n" || got.errOut != "" {
			t.Errorf("%s: %+v", api, got)
		}
	}
	got := s.cli(t.Context(), cli.Plugin, append([]string{"submit", "--api", "apache", "--as", "nobody"}, piLine...)...)
	if got.code != 1 || !strings.Contains(got.errOut, "ask for the right, or choose another user") {
		t.Errorf("without rights: %+v", got)
	}
	got = s.cli(t.Context(), cli.Plugin, append([]string{"submit", "--master", "k8s://https://127.0.0.1:1"}, piLine...)...)
	if got.code != 1 || !strings.Contains(got.errOut, "the API server https://127.0.0.1:1 does not answer: nothing listens there") {
		t.Errorf("at another master: %+v", got)
	}
}
