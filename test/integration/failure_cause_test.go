package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// The cause of a failure is in conditions and Kubernetes Events. Published events have a driver's output only if a setting allows it.
func TestFailureCauseIsReported(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	description, event := s.failureOf("pi")
	const exit = "spark-kubernetes-driver exited with code 1 (Error)"
	for _, part := range append(quotes, exit) {
		if !strings.Contains(description, part) {
			t.Errorf("kubectl describe does not say %q:\n%s", part, description)
		}
	}
	if !strings.Contains(event, exit) {
		t.Errorf("the event does not say %q:\n%s", exit, event)
	}
	for _, part := range append(quotes, "hunter2") {
		if strings.Contains(event, part) {
			t.Errorf("the event quotes the driver: %q in\n%s", part, event)
		}
	}
	if strings.Contains(description, "hunter2") {
		t.Errorf("kubectl describe shows a secret:\n%s", description)
	}
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "Failed")
}

func TestFailureCauseIsInEventsIfTheSettingAllows(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-events", "failure-messages", "enabled")
	s.ownController(controller{sink: s.sink.URL()})
	_, event := s.failureOf("pi")
	for _, part := range quotes {
		if !strings.Contains(event, part) {
			t.Errorf("the event does not quote %q:\n%s", part, event)
		}
	}
	if strings.Contains(event, "hunter2") {
		t.Errorf("the event shows a secret:\n%s", event)
	}
}

// quotes are the texts of a driver of failureOf about its end.
var quotes = []string{
	"org.apache.spark.SparkException: Job aborted", "Caused by: java.io.IOException: no bucket", "Termination message: the last words",
}

// failureOf runs an application whose driver fails with texts. It returns the output of kubectl describe and the event.
func (s *env) failureOf(name string) (description, event string) {
	app := s.create(App(name))
	d := s.run(name, 0)
	_, err := s.Kube.CoreV1().Pods(s.ns).Patch(s.Context(), d.Name, types.MergePatchType, []byte(
		`{"metadata":{"annotations":{"spark.exit-exception":"org.apache.spark.SparkException: Job aborted: password=hunter2\n\tat A.a\nCaused by: java.io.IOException: no bucket"}}}`),
		metav1.PatchOptions{})
	s.must(err)
	d.set(func(status *corev1.PodStatus) {
		kubelet.Ended(status, 1)
		status.ContainerStatuses[0].State.Terminated.Message = "the last words: jdbc:x://me:hunter2@db"
	})
	s.untilState(name, "ResourceReleased")
	description, err = s.kubectl("", "describe", "sparkapp/"+name)
	s.must(err)
	heard := s.untilDelivered("the end", func(heard []eventlog.Entry) bool { return len(firstAccepted(heard, app)) > 5 })
	return description, firstAccepted(heard, app)[5].Body
}

func TestFailureCauseOutOfMemoryNamesTheProperty(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	s.run("pi", 0).set(func(status *corev1.PodStatus) {
		kubelet.Ended(status, 137)
		status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	})
	c := s.untilCondition("pi", "Succeeded", metav1.ConditionFalse, "OOMKilled")
	if !contains(c.Message, "raise spark.driver.memoryOverhead") {
		t.Errorf("the condition says %q", c.Message)
	}
}

// The last lines of a driver's log are reported if the operator's settings and roles allow it.
func TestFailureCauseHasTheLastLinesOfTheLog(t *testing.T) {
	alone(t)
	s := newEnv(t)
	_, err := s.Plane.Kubectl(t.Context(), "", "apply", "-f", configFolder+"/driver-logs")
	s.must(err)
	s.untilRightsAreKnown()
	s.configured("config-defaults", "driver-log-lines", "3")
	s.node(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/containerLogs/"+s.ns+"/") {
			http.NotFound(w, r) // drivers of other envs are on this node, too
			return
		}
		if r.URL.Path != "/containerLogs/"+s.ns+"/pi-0-driver/spark-kubernetes-driver" || r.FormValue("tailLines") != "3" {
			t.Errorf("the node is asked for %s", r.URL)
		}
		fmt.Fprint(w, "INFO one\nERROR two\n")
	})
	s.ownController(controller{sink: s.sink.URL()})
	app := s.create(App("pi"))
	s.run("pi", 0).exit(1)
	s.untilState("pi", "ResourceReleased")
	c := s.condition("pi", "Succeeded")
	if !strings.HasSuffix(c.Message, "\nLast lines of the log: INFO one\nERROR two") {
		t.Errorf("the condition says %q", c.Message)
	}
	s.untilPublished(app, words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed ResourceReleased")...)
}

// node is a kubelet with these responses, to which all Pods are bound during the test.
func (s *env) node(kubelet http.HandlerFunc) {
	s.Helper()
	server := httptest.NewTLSServer(kubelet)
	s.Cleanup(func() {
		server.CloseClientConnections() // of logs that are followed
		server.Close()
	})
	address := server.Listener.Addr().(*net.TCPAddr)
	nodes := s.Kube.CoreV1().Nodes()
	node, err := nodes.Create(s.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() { s.check(nodes.Delete(context.Background(), "node", metav1.DeleteOptions{})) })
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(address.Port)
	_, err = nodes.UpdateStatus(s.Context(), node, metav1.UpdateOptions{})
	s.must(err)
}
