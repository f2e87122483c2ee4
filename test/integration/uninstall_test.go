package integration

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/uninstall"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

// kept is what an uninstallation leaves of an object.
type kept struct {
	finalizers  []string
	annotations map[string]string
	content     map[string]any
}

// keptObjects returns all objects of kinds with finalizers, by kind and name.
func (s *env) keptObjects() map[string]kept {
	s.Helper()
	found := map[string]kept{}
	for _, kind := range uninstall.Kinds() {
		list, err := s.Dynamic.Resource(kind.Resource).Namespace(s.ns).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		for _, object := range list.Items {
			found[kind.Resource.Group+"/"+kind.Resource.Resource+"/"+object.GetName()] = kept{
				object.GetFinalizers(), object.GetAnnotations(), map[string]any{"spec": object.Object["spec"], "status": object.Object["status"]},
			}
		}
	}
	return found
}

// podVersions returns the resourceVersions of all Pods by name.
func (s *env) podVersions() map[string]string {
	s.Helper()
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	versions := map[string]string{}
	for _, pod := range pods.Items {
		versions[pod.Name] = pod.ResourceVersion
	}
	return versions
}

func TestUninstallReleasesAllFinalizers(t *testing.T) {
	t.Parallel()
	s := ownPlane(t)
	s.applyCRD(crdOfEarlyApplications)
	byLine, err := pages.Command(repository+"/docs/operators/uninstall.md", "for kind in ")
	s.must(err)
	for name, release := range map[string]func() (string, error){
		"by setup": func() (string, error) {
			command := exec.CommandContext(t.Context(), filepath.Join(s.programs, "setup"), "release-finalizers")
			command.Env = append(command.Environ(), "KUBECONFIG="+s.Plane.Kubeconfig())
			output, err := command.CombinedOutput()
			return string(output), err
		},
		"by kubectl": func() (string, error) {
			command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", byLine)
			command.Env = append(command.Environ(), "KUBECONFIG="+s.Plane.Kubeconfig(),
				"PATH="+os.Getenv(controlplane.Assets)+":"+os.Getenv("PATH"))
			output, err := command.CombinedOutput()
			return string(output), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &env{TB: t, suite: s.suite, ns: "uninstall-" + strings.ReplaceAll(name, " ", "-")}
			s.must(s.AddNamespace(t.Context(), s.ns))
			s.uninstalled(release)
		})
	}

	output, err := s.Plane.Kubectl(t.Context(), "", "delete", "--timeout="+timeout.String(), "crd", "-l", "app.kubernetes.io/part-of=firesteel")
	s.must(err)
	if strings.Count(output, "deleted") != 6 {
		t.Errorf("deleted of the CRDs: %s", output)
	}
}

// uninstalled has objects in many states, uninstalls Firesteel by a function, installs it again, and uninstalls it for good.
func (s *env) uninstalled(release func() (string, error)) {
	s.Helper()
	process := s.ownController(controller{sink: s.sink.URL()})
	s.untilReady(process)
	s.create(App("running"))
	s.create(App("deleted"))
	s.create(App("waits").Suspended())
	done := s.create(App("done"))
	driver := s.run("running", 0)
	s.run("deleted", 0)
	s.run("done", 0).succeed()
	s.untilPublished(done, plainRun...)
	until(s, s.apps(), "done", "have no finalizer", func(app *sparkv1.SparkApplication) bool { return len(app.Finalizers) == 0 })
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), "done-0-driver")
	s.submitted(sparkPi("4.1.0"))
	s.kubeflowDriver("spark-pi").start().ready()
	s.untilShown("spark-pi", v1beta2.RunningState)
	s.applyEarly(earlyPi("early"))
	s.runEarly("early")
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	until(s, s.clusters(), "c", "have a record", func(c *sparkv1.SparkCluster) bool { return c.Status.Firesteel != nil })
	hours := s.schedules(variant.Apache, "hours", hourly(), func(spec map[string]any) { spec["suspend"] = true })
	hours.until("have a record", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.Firesteel != nil })
	process.Kill()

	const audited = "example.com/audited"
	s.edit("running", func(app *sparkv1.SparkApplication) { app.Finalizers = append([]string{audited}, app.Finalizers...) })
	s.delete("deleted")
	before, pods := s.keptObjects(), s.podVersions()
	for range 2 { // the second finds nothing to do
		if output, err := release(); err != nil {
			s.Fatalf("release: %v: %s", err, output)
		}
		untilGone(s, s.apps(), "deleted")
	}
	after := s.keptObjects()
	for name, was := range before {
		if strings.HasSuffix(name, "/deleted") {
			continue
		}
		is := after[name]
		want := []string{}
		if strings.HasSuffix(name, "/running") {
			want = append(want, audited)
		}
		if !reflect.DeepEqual(append([]string{}, is.finalizers...), want) {
			s.Errorf("%s has the finalizers %v, want %v", name, is.finalizers, want)
		}
		if !maps.Equal(is.annotations, was.annotations) || !reflect.DeepEqual(is.content, was.content) {
			s.Errorf("%s changed from\n%v\nto\n%v", name, was, is)
		}
	}
	got := s.podVersions()
	delete(got, "deleted-0-driver") // the garbage collector deletes it after its application
	delete(pods, "deleted-0-driver")
	if !maps.Equal(got, pods) {
		s.Errorf("the Pods changed from %v to %v", pods, got)
	}

	// The next controller goes on.
	process = s.ownController(controller{sink: s.sink.URL()})
	s.untilReady(process)
	for kind, names := range map[int][]string{0: {"running", "waits"}, 1: {"spark-pi"}, 2: {"early"}, 3: {"c"}} {
		for _, name := range names {
			s.untilFinalizer(uninstall.Kinds()[kind], name)
		}
	}
	driver.succeed()
	s.untilState("running", "ResourceReleased")
	if drivers := s.untilHad("running", 1); len(drivers) != 1 {
		s.Errorf("it had %d drivers, want 1", len(drivers))
	}
	process.Kill()

	if output, err := release(); err != nil {
		s.Fatalf("release: %v: %s", err, output)
	}
	if pod, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), "spark-pi-driver", metav1.GetOptions{}); err != nil || pod.Status.Phase != corev1.PodRunning {
		s.Errorf("a driver does not go on: %v", err)
	}
	s.edit("running", func(app *sparkv1.SparkApplication) { app.Finalizers = nil })
	for _, kind := range []string{"sparkapplications.spark.apache.org", "sparkapplications.sparkoperator.k8s.io", "sparkapplications.spark-operator.k8s.io",
		"sparkclusters.spark.apache.org", "scheduledsparkapplications.firesteel.dev"} {
		if output, err := s.kubectl("", "delete", "--timeout="+timeout.String(), kind, "--all"); err != nil || !contains(output, "deleted") {
			s.Errorf("delete all %s: %v: %s", kind, err, output)
		}
	}
}

func (s *env) untilFinalizer(kind uninstall.Kind, name string) {
	s.Helper()
	until(s, s.Dynamic.Resource(kind.Resource).Namespace(s.ns), name, "have the finalizer "+kind.Finalizer, func(object *unstructured.Unstructured) bool {
		return slices.Contains(object.GetFinalizers(), kind.Finalizer)
	})
}
