// Package eventing tests delivery through a real Knative Broker: subscribers that fail in every way, brokers and handlers
// that go away in the middle. hack/e2e.sh deploys what it needs. The applications have drivers that only end.
package eventing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// system is where Firesteel and its Broker are.
const system = "firesteel-system"

// patience bounds what is waited for.
const patience = 3 * time.Minute

// interval is the time between two reads of what is waited for.
const interval = 200 * time.Millisecond

// env is a namespace of applications.
type env struct {
	*cluster.Cluster
	t     *testing.T
	image string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s := &env{Cluster: cluster.New(t), t: t}
	image, err := s.Kube.CoreV1().ConfigMaps(system).Get(t.Context(), "driver-image", metav1.GetOptions{})
	cluster.Must(t, err)
	s.image = image.Data["image"]
	return s
}

// kubectl runs in the Broker's namespace.
func (s *env) kubectl(args ...string) string {
	s.t.Helper()
	return s.Run(s.t, "", "kubectl", append([]string{"-n", system}, args...)...)
}

// finally is kubectl for when the test is over.
func (s *env) finally(args ...string) {
	command := exec.CommandContext(context.WithoutCancel(s.t.Context()), "kubectl", append([]string{"-n", system}, args...)...)
	if output, err := command.CombinedOutput(); err != nil {
		s.t.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

const application = `
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata:
  name: %s
spec:
  mainClass: none.Such
  jars: local:///none.jar
  driverArgs: ["%d"]
  sparkConf:
    spark.kubernetes.container.image: %s
    spark.driver.memory: 512m
    spark.kubernetes.driver.request.cores: 10m
    spark.kubernetes.authenticate.driver.serviceAccountName: spark
  applicationTolerations:
    restartConfig:
      restartPolicy: OnFailure
      maxRestartAttempts: 5
      restartBackoffMillis: 500
  runtimeVersions:
    sparkVersion: 4.1.4
`

// submit has an application run that fails in so many attempts and then succeeds.
func (s *env) submit(name string, failures int) {
	s.t.Helper()
	s.ApplyText(s.t, fmt.Sprintf(application, name, failures, s.image))
}

// untilSucceeded waits for the end of an application, which is the success of that attempt.
func (s *env) untilSucceeded(name string, attempt int64) {
	s.t.Helper()
	app := s.Await(s.t, name, "released", cluster.InState("ResourceReleased"))
	if app.Status.CurrentAttemptSummary.AttemptInfo.ID != attempt {
		s.t.Errorf("%s ended in attempt %d, want %d", name, app.Status.CurrentAttemptSummary.AttemptInfo.ID, attempt)
	}
	if !slices.ContainsFunc(app.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == "Succeeded" && c.Status == metav1.ConditionTrue
	}) {
		s.t.Errorf("%s has not succeeded: %+v", name, app.Status.Conditions)
	}
	s.expectOneDriverEach(name)
}

// expectOneDriverEach fails if an attempt had more than one driver: the scheduler records a Kubernetes Event for each Pod.
func (s *env) expectOneDriverEach(name string) {
	s.t.Helper()
	scheduled, err := s.Kube.CoreV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{FieldSelector: "reason=Scheduled"})
	cluster.Must(s.t, err)
	drivers := map[string]string{}
	for _, event := range scheduled.Items {
		pod := event.InvolvedObject
		if !strings.HasPrefix(pod.Name, name+"-") {
			continue
		}
		if other, ok := drivers[pod.Name]; ok && other != string(pod.UID) {
			s.t.Errorf("there were two Pods %s", pod.Name)
		}
		drivers[pod.Name] = string(pod.UID)
	}
}

// trigger leads the events of the env's applications to the test's subscriber, or another Service, until the test ends.
type trigger struct {
	name, service, path string
	// filter is added to the namespace.
	filter map[string]string
	// delivery in place of the Broker's, as JSON.
	delivery string
}

// quick is a delivery that gives up soon.
const quick = `{"retry": 1, "backoffPolicy": "linear", "backoffDelay": "PT0.1S", "timeout": "PT3S",
	"deadLetterSink": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "dead-letter", "namespace": "firesteel-system"}}}`

func (s *env) subscribe(triggers ...trigger) {
	s.t.Helper()
	for _, tr := range triggers {
		s.add(tr)
	}
}

// changing is held while a Trigger comes or goes. Knative keeps the subscribers of a channel in one list, and edits it by
// positions that it has read before: of two that go at once, one may stay.
var changing sync.Mutex

func (s *env) add(tr trigger) {
	s.t.Helper()
	changing.Lock()
	defer changing.Unlock()
	name := s.Namespace + "-" + tr.name
	attributes := map[string]string{"sparknamespace": s.Namespace}
	for key, value := range tr.filter {
		attributes[key] = value
	}
	if tr.service == "" {
		tr.service = "subscriber"
		defer s.untilReached(tr.path, attributes)
	}
	spec := map[string]any{
		"broker": "firesteel",
		"filter": map[string]any{"attributes": attributes},
		"subscriber": map[string]any{
			"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": tr.service},
			"uri": tr.path,
		},
	}
	if tr.delivery != "" {
		spec["delivery"] = json.RawMessage(tr.delivery)
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "eventing.knative.dev/v1", "kind": "Trigger",
		"metadata": map[string]any{"name": name, "namespace": system}, "spec": spec,
	})
	cluster.Must(s.t, err)
	s.Run(s.t, string(manifest), "kubectl", "apply", "-f", "-")
	s.t.Cleanup(func() { s.drop(name) })
	s.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "trigger/"+name)
}

// drop deletes a Trigger and waits until its channel has forgotten it.
func (s *env) drop(name string) {
	changing.Lock()
	defer changing.Unlock()
	s.finally("delete", "trigger", name)
	ctx := context.WithoutCancel(s.t.Context())
	err := wait.PollUntilContextTimeout(ctx, interval, time.Minute, true, func(ctx context.Context) (bool, error) {
		subscribers, err := exec.CommandContext(ctx, "kubectl", "-n", system, "get", "inmemorychannels", "-o",
			"jsonpath={.items[*].spec.subscribers[*].subscriberUri}").Output()
		return err == nil && !strings.Contains(string(subscribers), "/"+name+"/"), nil
	})
	if err != nil {
		s.t.Errorf("the channel does not forget the Trigger %s", name)
	}
}

// probe is the type of the events that find out whether a Trigger delivers.
const probe = "test.probe"

// untilReached waits until a Trigger delivers: a Trigger says that it is ready before the Broker's processes know of it.
func (s *env) untilReached(path string, attributes map[string]string) {
	s.t.Helper()
	key := strings.Split(path, "/")[1]
	err := s.until(func(ctx context.Context) bool {
		request := s.Kube.CoreV1().RESTClient().Post().Namespace("knative-eventing").Resource("services").Name("broker-ingress:80").
			SubResource("proxy").Suffix(system, "firesteel").SetHeader("Content-Type", "application/json").SetHeader("Ce-Specversion", "1.0").
			SetHeader("Ce-Id", path).SetHeader("Ce-Source", "/test").SetHeader("Ce-Type", probe).Body([]byte("{}"))
		for name, value := range attributes {
			request = request.SetHeader("Ce-"+name, value)
		}
		_ = request.Do(ctx).Error() // what arrives counts
		return slices.ContainsFunc(s.all(key), func(d delivery) bool { return d.Event.ID() == path })
	})
	if err != nil {
		s.t.Fatalf("the Trigger to %s delivers nothing", path)
	}
}

// delivery is an event as the subscriber got it.
type delivery struct {
	Arrived time.Time         `json:"arrived"`
	Event   cloudevents.Event `json:"event"`
}

// taken returns what the subscriber got under a key, oldest first.
func (s *env) taken(key string) []delivery {
	s.t.Helper()
	return slices.DeleteFunc(s.all(s.key(key)), func(d delivery) bool { return d.Event.Type() == probe })
}

// all is that with the probes.
func (s *env) all(key string) []delivery {
	s.t.Helper()
	var deliveries []delivery
	cluster.Must(s.t, s.until(func(ctx context.Context) bool {
		text, err := s.Kube.CoreV1().Services(system).ProxyGet("http", "subscriber", "80", key, nil).DoRaw(ctx)
		return err == nil && json.Unmarshal(text, &deliveries) == nil
	}))
	return deliveries
}

// key is one of this env alone.
func (s *env) key(name string) string { return s.Namespace + "." + name }

// path leads to the subscriber, which answers as asked.
func (s *env) path(key, answer string) string { return "/" + s.key(key) + "/" + answer }

func of(deliveries []delivery, app string) []delivery {
	var its []delivery
	for _, d := range deliveries {
		if d.Event.Extensions()["sparkname"] == app {
			its = append(its, d)
		}
	}
	return its
}

// untilWhole waits until every transition of an application was taken under a key, up to the final one. What came twice
// must have been the same.
func (s *env) untilWhole(key, app string) []delivery {
	s.t.Helper()
	var its []delivery
	var missing string
	err := s.until(func(context.Context) bool {
		its = of(s.taken(key), app)
		missing = gap(its)
		return missing == ""
	})
	if err != nil {
		s.t.Fatalf("of %s the subscriber lacks %s; it took\n%s", app, missing, story(its))
	}
	seen := map[string]cloudevents.Event{}
	for _, d := range its {
		if first, again := seen[d.Event.ID()]; again && (!bytes.Equal(first.Data(), d.Event.Data()) || !first.Time().Equal(d.Event.Time())) {
			s.t.Errorf("event %s came with different content", d.Event.ID())
		}
		seen[d.Event.ID()] = d.Event
	}
	return its
}

// gap names a missing transition, or is empty.
func gap(its []delivery) string {
	sequences, last := map[int]bool{}, 0
	for _, d := range its {
		text, ok := d.Event.Extensions()["sequence"].(string)
		if !ok {
			continue
		}
		sequence, err := strconv.Atoi(text)
		if err != nil {
			return "a sequence that is a number"
		}
		sequences[sequence] = true
		if d.Event.Extensions()["sparkfinal"] == "true" {
			last = sequence
		}
	}
	if last == 0 {
		return "the final transition"
	}
	for sequence := 1; sequence <= last; sequence++ {
		if !sequences[sequence] {
			return fmt.Sprintf("transition %d of %d", sequence, last)
		}
	}
	return ""
}

func story(its []delivery) string {
	var text strings.Builder
	for _, d := range its {
		e := d.Event
		fmt.Fprintf(&text, "%s %v %s attempt %v %v\n", d.Arrived.Format("15:04:05.000"), e.Extensions()["sequence"], e.ID(),
			e.Extensions()["sparkattempt"], e.Extensions()["sparkstate"])
	}
	return text.String()
}

// untilDeadLetter waits until the dead-letter service has printed an event of an application with this error code, whose
// state is that.
func (s *env) untilDeadLetter(app, state, code string) {
	s.t.Helper()
	err := s.until(func(context.Context) bool {
		for line := range strings.Lines(s.kubectl("logs", "deployment/dead-letter", "--since=10m")) {
			var event cloudevents.Event
			if json.Unmarshal([]byte(line), &event) != nil {
				continue
			}
			its := event.Extensions()
			if its["sparknamespace"] == s.Namespace && its["sparkname"] == app && its["sparkstate"] == state &&
				fmt.Sprint(its["knativeerrorcode"]) == code {
				return true
			}
		}
		return false
	})
	if err != nil {
		s.t.Errorf("%s of %s never became a dead letter with error %s", state, app, code)
	}
}

// until waits for a condition.
func (s *env) until(is func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(s.t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		return is(ctx), nil
	})
}

// untilState waits until an application was in a state of that attempt, be it in another by now.
func (s *env) untilState(name, state string, attempt int64) {
	s.t.Helper()
	s.Await(s.t, name, fmt.Sprintf("%s in attempt %d", state, attempt), func(app *sparkv1.SparkApplication) bool {
		return app.Status.CurrentAttemptSummary != nil && app.Status.CurrentAttemptSummary.AttemptInfo.ID >= attempt &&
			app.Status.CurrentState != nil && app.Status.CurrentState.CurrentStateSummary == state
	})
}
