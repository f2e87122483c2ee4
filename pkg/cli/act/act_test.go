package act

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// now is the time of these tests: a Thursday.
var now = time.Date(2026, 3, 26, 12, 0, 30, 0, time.UTC)

// lists are the kinds of the lists of what the verbs read beside Spark's objects.
var lists = map[schema.GroupVersionResource]string{
	{Group: "", Version: "v1", Resource: "configmaps"}:                            "ConfigMapList",
	{Group: "", Version: "v1", Resource: "namespaces"}:                            "NamespaceList",
	{Group: "", Version: "v1", Resource: "serviceaccounts"}:                       "ServiceAccountList",
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}: "RoleBindingList",
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}: "ClusterRoleList",
}

// server is a fake API server with the objects of testdata/objects.yaml.
func server(t *testing.T) *dynamicfake.FakeDynamicClient {
	t.Helper()
	file, err := os.Open("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var objects []runtime.Object
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(u); err != nil {
			break
		}
		objects = append(objects, u)
	}
	const recorded = 12
	if len(objects) != recorded {
		t.Fatalf("there are %d objects", len(objects))
	}
	client := fakeclient.NewDynamic(lists, objects...)
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"userInfo": map[string]any{"username": "anna"}}}}, nil
	})
	return client
}

// run runs a command line, and returns the exit code and what is printed.
func run(t *testing.T, client *dynamicfake.FakeDynamicClient, line string) (code int, out, errOut string) {
	t.Helper()
	return runIn(t, &cluster{&connection.Cluster{Dynamic: client, Namespace: "team-a"}}, line)
}

// runIn is run with another connection.
func runIn(t *testing.T, c *cluster, line string) (code int, out, errOut string) {
	t.Helper()
	if c.Kube == nil {
		c.Kube = kubefake.NewClientset()
	}
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	o.Now = func() time.Time { return now }
	root := &cobra.Command{Use: "kubectl-spark", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"}}
	root.AddCommand(commands(&verbs{Options: o, connect: func() (*cluster, error) {
		return c, nil
	}})...)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // for what never ends by mistake
	defer stop()
	code = o.Run(ctx, root, strings.Fields(line))
	return code, stdout.String(), stderr.String()
}

// writes returns the writes that a fake API server got.
func writes(client *dynamicfake.FakeDynamicClient) string {
	var text strings.Builder
	for _, action := range client.Actions() {
		switch a := action.(type) {
		case clienttesting.PatchAction:
			fmt.Fprintf(&text, "patch %s/%s %s\n", a.GetResource().Resource, a.GetName(), a.GetPatch())
		case clienttesting.CreateAction:
			name := a.GetObject().(metav1.Object)
			fmt.Fprintf(&text, "create %s/%s\n", a.GetResource().Resource, name.GetName()+name.GetGenerateName())
		case clienttesting.DeleteActionImpl:
			fmt.Fprintf(&text, "delete %s/%s uid %s\n", a.GetResource().Resource, a.GetName(), *a.DeleteOptions.Preconditions.UID)
		}
	}
	return text.String()
}

// lines are the command lines of the golden file. Each runs on a server of its own.
var lines = []string{
	"suspend running", "suspend finished", "suspend legacy", "suspend legacy --dry-run", "suspend held", "suspend standalone", "suspend nightly", "suspend first",
	"stop running --reason=late", "stop running --dry-run", "stop held", "stop held --dry-run=server", "stop finished", "stop legacy", "stop mine", "stop stopped", "stop garbled", "stop nightly", "stop absent", "stop",
	"resume held", "resume running", "resume legacy", "suspend absent", "suspend", "suspend running legacy", "suspend running --dry-run=maybe",
	"rerun running --dry-run -o yaml --set driver.memory=4g --set driver.memoryOverhead=2g --set image=spark:4 --set mainClass=Main",
	"rerun legacy --dry-run -o yaml --set driver.memory=4g --set executor.instances=3 --set image=spark:4 --set sparkConf.spark.sql.shuffle.partitions=8",
	"rerun first --dry-run -o yaml --set driver.memoryOverhead=2g --set executor.cores=100m --set image=spark:4 --set executor.instances=3",
	`rerun legacy --name again --set arguments=["a","b"] --set spec.driver.coreLimit=2`, "rerun legacy --dry-run -o name",
	"rerun legacy --set driver.memry=4g", "rerun legacy --set nothing=1", "rerun legacy --set executor.instances=many", "rerun legacy --set driver=4g",
	"rerun legacy --set driver.memory.max=4g", "rerun legacy --set arguments=a", "rerun legacy --set image=", "rerun legacy --set memory",
	`rerun legacy --set driver={"memroy":"4g"}`, "rerun legacy --set sparkConf.=1", "rerun running --set applicationTolerations.restartConfig.maxRestartAttempts=2 -o name --name again",
	"rerun legacy --name Big_Name", "rerun legacy --name legacy", "rerun nightly", "rerun absent", "rerun running -o xml",
	"delete running --wait=false", "delete running --dry-run", "delete running", "delete absent", "delete running --timeout=-1s",
	"wait finished", "wait broken", "wait broken --for=delete --timeout=1ms", "wait running --for=state=runninghealthy", "wait running --for=condition=Succeeded=Unknown",
	"wait broken --for=condition=Succeeded", "wait finished --for=state=RunningHealthy", "wait running --timeout=1ms", "wait standalone", "wait running --for=tea",
	"wait running --for=state=", "wait running --for=state=Runing", "wait running --timeout=-1s", "wait absent",
	"schedule list", "schedule list -A -o name", "schedule list -l team=b", "schedule suspend nightly", "schedule resume nightly", "schedule suspend running",
	"schedule run nightly", "schedule run nightly --dry-run -o yaml", "schedule run exclusive", "schedule run exclusive --concurrent", "schedule run absent",
	"schedule next nightly", "schedule next exclusive", "schedule", "schedule pause",
	"cluster list", "cluster list -o jsonpath={.items[*].metadata.name}", "cluster scale standalone --workers 5", "cluster scale standalone --workers 3", "cluster scale standalone", "cluster scale standalone --workers=-2",
	"cluster scale running --workers 1", "cluster list extra", "cluster ui standalone", "cluster ui standalone --port=70000",
	"namespace team-b", "namespace team-b --dry-run", "namespace Team", "namespace team-b --dry-run=server", "namespace",
}

func TestOutputs(t *testing.T) {
	var all strings.Builder
	for _, line := range lines {
		client := server(t)
		code, out, errOut := run(t, client, line)
		fmt.Fprintf(&all, "$ kubectl spark %s\n%s%s[%d]\n%s\n", line, errOut, out, code, writes(client))
		if code != 0 && strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: the error is not one line: %q", line, errOut)
		}
	}
	golden.Want(t, "testdata/outputs.golden", all.String())
}

func TestAnyReasonStopsAnApplicationWhoeverTheUserIs(t *testing.T) {
	for reason, want := range map[string]string{"false": "false (by an unknown user)", "no": "no (by an unknown user)", " ": "by an unknown user"} {
		client := server(t)
		client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "selfsubjectreviews"}, "", nil)
		})
		s := &stopOptions{verbs: &verbs{Options: cli.NewOptions(cli.Plugin, genericiooptions.NewTestIOStreamsDiscard())}, reason: reason, dryRun: cli.DryRunNone}
		s.connect = func() (*cluster, error) {
			return &cluster{&connection.Cluster{Dynamic: client, Namespace: "team-a"}}, nil
		}
		if err := s.run(t.Context(), "running"); err != nil {
			t.Fatal(err)
		}
		found, err := actions.Kinds[0].Get(t.Context(), client, "team-a", "running")
		if err != nil {
			t.Fatal(err)
		}
		if got := found.GetAnnotations()[dialect.AnnotationStop]; got != want || !dialect.IsStopped(found) {
			t.Errorf("%q: the annotation is %q", reason, got)
		}
	}
}

func TestSuggestedCommandsNameTheNamespaceOfTheCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"wait broken": "kubectl spark why broken -n team-a says why", "wait running --timeout=1ms": "kubectl spark why running -n team-a says what keeps it",
		"suspend first": "kubectl spark stop first -n team-a ends it", "cluster ui standalone": "kubectl spark why standalone -n team-a says why",
	} {
		if _, _, errOut := runIn(t, &cluster{&connection.Cluster{Dynamic: server(t), Namespace: "team-a", Suggested: "team-a"}}, line); !strings.Contains(errOut, want) {
			t.Errorf("%s prints no %q: %s", line, want, errOut)
		}
	}
}

func TestAnErrorOfTheAPIServerIsReportedWithTheRemedy(t *testing.T) {
	client := server(t)
	client.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "spark.apache.org", Resource: "sparkapplications"}, "running", errors.New("no"))
	})
	if code, out, errOut := run(t, client, "suspend running"); code != 1 || out != "" || !strings.Contains(errOut, "ask for the right") {
		t.Errorf("it exits with %d and prints %q and %q", code, out, errOut)
	}
}

func TestWaitGoesOnUntilAnotherWriteChangesTheObject(t *testing.T) {
	client := server(t)
	resource := schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"}
	watching := make(chan struct{})
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		close(watching)
		return true, w, err
	})
	go func() {
		<-watching
		now, err := client.Resource(resource).Namespace("team-a").Get(context.Background(), "running", metav1.GetOptions{})
		if err == nil {
			err = unstructured.SetNestedField(now.Object, "RunningWithBelowThresholdExecutors", "status", "currentState", "currentStateSummary")
		}
		if err == nil {
			_, err = client.Resource(resource).Namespace("team-a").Update(context.Background(), now, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	}()
	code, out, errOut := run(t, client, "wait running --for=state=RunningWithBelowThresholdExecutors --timeout=1m")
	if code != 0 || out == "" {
		t.Errorf("it exits with %d and prints %q", code, errOut)
	}
}

func TestAManualRunIsNotTakenForAScheduledOne(t *testing.T) {
	// 01:00 in Berlin is an instant of the schedule.
	at := time.Date(2026, 3, 26, 0, 0, 0, 0, time.UTC)
	client := server(t)
	found, s, err := (&cluster{&connection.Cluster{Dynamic: client, Namespace: "team-a"}}).findSchedule(t.Context(), "nightly")
	if err != nil {
		t.Fatal(err)
	}
	kind := variant.KindOf(s)
	if !kind.PolicyOf(s, at).Clock.Fires(at) {
		t.Fatal("the schedule does not fire then")
	}
	got, err := actions.NewRun(found, s, at.Add(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	before, err := kind.NewRun(s, at.Add(-time.Second))
	if err != nil || got.GetName() != before.GetName() {
		t.Errorf("the run is %s, want that of the second before, %s (%v)", got.GetName(), before.GetName(), err)
	}
}

func TestAnAutoscalerDecidesHowManyWorkersThereAre(t *testing.T) {
	client := server(t)
	clusters := client.Resource(schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkclusters"}).Namespace("team-a")
	standalone, err := clusters.Get(t.Context(), "standalone", metav1.GetOptions{})
	if err == nil {
		standalone.Object["spec"].(map[string]any)["clusterTolerations"] = map[string]any{
			"instanceConfig": map[string]any{"initWorkers": int64(1), "minWorkers": int64(1), "maxWorkers": int64(9)},
		}
		standalone.Object["status"].(map[string]any)["workers"] = map[string]any{"registered": int64(4), "replicas": int64(5)}
		_, err = clusters.Update(t.Context(), standalone, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := run(t, client, "cluster list"); code != 0 || !regexp.MustCompile(`RunningHealthy +4 +5 `).MatchString(out) {
		t.Errorf("list: exit code %d\n%s%s", code, out, errOut)
	}
	want := "error: sparkclusters.spark.apache.org/standalone has an autoscaler, which decides between 1 and 9 workers: change minWorkers or maxWorkers of " +
		"spec.clusterTolerations.instanceConfig\n"
	if code, _, errOut := run(t, client, "cluster scale standalone --workers 3"); code != 1 || errOut != want {
		t.Errorf("scale: exit code %d\n%swant\n%s", code, errOut, want)
	}
}
