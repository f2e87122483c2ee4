package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// sparkctl runs a command line of sparkctl in the env's namespace.
func (s *env) sparkctl(line string) commandLine {
	s.Helper()
	var out, errOut bytes.Buffer
	o := cli.NewOptions(cli.Sparkctl, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	code := o.Run(s.Context(), root.New(o), append(strings.Fields(line), "-k", s.Plane.Kubeconfig(), "-n", s.ns))
	return commandLine{code, out.String(), errOut.String()}
}

// sparkctlSays fails the test if a command line has another exit code, or does not print all parts.
func (s *env) sparkctlSays(line string, code int, parts ...string) {
	s.Helper()
	got := s.sparkctl(line)
	for _, part := range parts {
		if got.code != code || !strings.Contains(got.out+got.errOut, part) {
			s.Errorf("sparkctl %s: want exit code %d and %q: %+v", line, code, part, got)
		}
	}
}

func TestSparkctlCreatesAndShowsAndDeletes(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	file := filepath.Join(t.TempDir(), "pi.yaml")
	s.must(os.WriteFile(file, []byte("apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {name: pi}\n"+
		"spec: {mainClass: Pi, jars: local:///pi.jar, runtimeVersions: {sparkVersion: 4.1.0}}\n"), 0o600))
	s.sparkctlSays("create "+file+" --delete", 0, `SparkApplication "pi" created`)
	first := s.get("pi").UID
	d := s.run("pi", 0)
	s.sparkctlSays("list", 0, "| pi   | RunningHealthy |")
	s.sparkctlSays("status pi", 0, "| RunningHealthy | ", "| "+d.Name+" |", "| 1                  | 1                 |")
	s.sparkctlSays("event pi", 0, "| Transition | ", "RunningHealthy")
	s.sparkctlSays("log pi", 1, "the log of Pod "+d.Name+" cannot be read") // no kubelet serves it
	s.sparkctlSays("forward pi", 1, "cannot be forwarded")
	s.sparkctlSays("create "+file, 1, "pi exists already in the namespace "+s.ns)
	s.sparkctlSays("create "+file+" -d", 0, `SparkApplication "pi" created`)
	if again := s.get("pi"); again.UID == first {
		t.Error("create --delete leaves the old application")
	}
	d = s.run("pi", 0)
	d.exit(1)
	s.untilState("pi", "ResourceReleased")
	ended := make(chan commandLine, 1)
	old := s.get("pi").UID
	go func() { ended <- s.sparkctl("create " + file + " -d -l") }()
	s.must(wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		now, err := s.apps().Get(ctx, "pi", metav1.GetOptions{})
		return err == nil && now.UID != old, nil
	}))
	s.run("pi", 0).exit(1)
	if got := <-ended; got.code != 3 || !strings.Contains(got.out, `SparkApplication "pi" created`) || !strings.Contains(got.errOut, "pi failed") {
		t.Errorf("create -d -l: %+v", got)
	}
	s.sparkctlSays("delete pi", 0, `SparkApplication "pi" deleted`)
	untilGone(s, s.apps(), "pi")
	s.sparkctlSays("delete pi", 1, `there is no application "pi" in the namespace `+s.ns)
	s.sparkctlSays("status pi --as nobody", 1, "ask for the right")
}

func TestSparkctlCreatesARunOfASchedule(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	schedule := s.schedules(variant.Kubeflow, "nightly", "0 3 1 1 *", nil)
	schedule.untilCondition("Scheduled", metav1.ConditionTrue, "Scheduled")
	folder := t.TempDir()
	s.must(os.WriteFile(filepath.Join(folder, "core-site.xml"), []byte("<configuration/>"), 0o600))
	s.sparkctlSays("create now --from nightly", 0, `SparkApplication "now" created`)
	s.sparkctlSays("list", 0, "| now ")
	s.sparkctlSays("create now --from nightly", 1, "now exists already")
	s.sparkctlSays("create now --from absent", 1, `there is no schedule "absent"`)
	s.sparkctlSays("delete now", 0, `SparkApplication "now" deleted`)
}

func TestSparkctlMakesAConfigMapOfHadoopsConfiguration(t *testing.T) { // not parallel: it sets a variable
	s := newEnv(t)
	folder := t.TempDir()
	s.must(os.WriteFile(filepath.Join(folder, "core-site.xml"), []byte("<configuration/>"), 0o600))
	t.Setenv("HADOOP_CONF_DIR", folder)
	file := filepath.Join(t.TempDir(), "pi.yaml")
	s.must(os.WriteFile(file, []byte("apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {name: pi}\n"+
		"spec: {mainClass: Pi, jars: local:///pi.jar, runtimeVersions: {sparkVersion: 4.1.0}}\n"), 0o600))
	s.sparkctlSays("create "+file, 0, `SparkApplication "pi" created`)
	app := s.get("pi")
	made, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), app.Spec.SparkConf["spark.kubernetes.hadoop.configMapName"], metav1.GetOptions{})
	s.must(err)
	if made.Data["core-site.xml"] != "<configuration/>" || len(made.OwnerReferences) != 1 || made.OwnerReferences[0].UID != app.UID {
		t.Errorf("the ConfigMap is %+v", made)
	}
	s.sparkctlSays("create "+file, 1, "pi exists already")
	if list, err := s.Kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Errorf("after a refusal there are %d ConfigMaps: %v", len(list.Items), err)
	}
}
