package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// No status, Event, CloudEvent or log contains the value of a secret.
func TestSecretsAppearNowhere(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	for name, c := range map[string]struct {
		// app is an Apache application's spec beside what it runs; reason is its condition's, and says are parts of the message.
		app, reason string
		says        []string
	}{
		"driver-token": {
			"sparkConf: {spark.kubernetes.authenticate.driver.oauthToken: hunter2}", "InvalidSpec",
			[]string{"spark.kubernetes.authenticate.driver.oauthToken", "serviceAccountName"},
		},
		"label-by-property": {
			"sparkConf: {spark.kubernetes.driver.label.api-token: hunter2 hunter2}", "InvalidSpec",
			[]string{"spark.kubernetes.driver.label.api-token", "redacted"},
		},
		"secret-in-place-of-its-key": {
			"sparkConf: {spark.kubernetes.driver.secretKeyRef.PASSWORD: hunter2}", "InvalidSpec",
			[]string{"spark.kubernetes.driver.secretKeyRef.PASSWORD", "<secret>:<key>"},
		},
		"value-that-matches": {
			"sparkConf: {spark.driver.memory: my password is hunter2}", "InvalidSpec", []string{"spark.driver.memory", "redacted"},
		},
		"own-pattern": {
			"sparkConf: {spark.redaction.regex: '(?i)pin$', spark.kubernetes.driver.label.pin: hunter2 hunter2}", "InvalidSpec",
			[]string{"spark.kubernetes.driver.label.pin", "redacted"},
		},
		"user-in-a-url": {
			"sparkConf: {spark.kubernetes.driver.podTemplateFile: 'https://me:hunter2@example.com/t.yaml'}", "InvalidSpec",
			[]string{"spark.kubernetes.driver.podTemplateFile", "example.com"},
		},
		"user-in-a-bad-url": {
			"sparkConf: {spark.kubernetes.driver.podTemplateFile: 'https://me:hunter2%zz@example.com:x/t.yaml'}", "InvalidSpec",
			[]string{"spark.kubernetes.driver.podTemplateFile"},
		},
		// What the API server refuses it repeats, and knows of no secrets.
		"repeated-by-the-server": {
			"driverSpec: {podTemplateSpec: {spec: {nodeName: hunter2_hunter2, containers: [{name: x, env: [{name: DB_PASSWORD, value: hunter2_hunter2}]}]}}}",
			"Invalid", []string{"redacted"},
		},
		"undecodable": {
			"driverSpec: {podTemplateSpec: {metadata: {creationTimestamp: hunter2-hunter2}, spec: {containers: [{name: x, env: [{name: PASSWORD, value: hunter2-hunter2}]}]}}}",
			"Undecodable", []string{"redacted"},
		},
	} {
		_, err := s.kubectl(fmt.Sprintf("apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {name: %s}\nspec:\n"+
			"  mainClass: Main\n  jars: local:///a.jar\n  runtimeVersions: {sparkVersion: 4.1.1}\n  %s\n", name, c.app), "create", "-f", "-")
		s.must(err)
		s.untilMessage("sparkapplications.v1.spark.apache.org", name, "Succeeded", c.reason, c.says)
	}

	overruled := withSpec(s, sparkPi("4.1.1"),
		"{sparkConf: {spark.kubernetes.driverEnv.PASSWORD: hunter2a}, driver: {envVars: {PASSWORD: hunter2b}}, arguments: [--auth-token, hunter2-argument]}")
	s.kubeflowApplication(overruled)
	s.untilMessage("sparkapplications.v1beta2.sparkoperator.k8s.io", "spark-pi", "Warning", "SpecNotHonored",
		[]string{"spark.kubernetes.driverEnv.PASSWORD", "spec.driver.envVars[PASSWORD]", "redacted"})
	s.kubeflowDriver("spark-pi").set(func(status *corev1.PodStatus) {
		kubelet.Ended(status, 1)
		status.ContainerStatuses[0].State.Terminated.Message = "java.lang.IllegalStateException: hunter2-argument is expired; jdbc:x://h?password=hunter2, " +
			`{"value":"hunter2","name":"PASSWORD"}, https:\/\/me:hunter2@h\/x` + "\n- value: hunter2\n  name: DB_PASSWORD\npassword: |\n  a\n  hunter2\nend"
	})
	s.untilShown("spark-pi", v1beta2.FailedState)
	s.untilMessage("sparkapplications.v1beta2.sparkoperator.k8s.io", "spark-pi", "Succeeded", "Failed",
		[]string{"java.lang.IllegalStateException", "is expired", "redacted", "PASSWORD", `@h\/x`, "\nend"})

	_, err := s.kubectl(`
apiVersion: spark.apache.org/v1
kind: SparkCluster
metadata: {name: cluster}
spec:
  runtimeVersions: {sparkVersion: 4.1.1}
  sparkConf: {spark.kubernetes.namespace: 'the token is hunter2'}
  clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}
  masterSpec: {statefulSetSpec: {template: {metadata: {labels: {api-token: hunter2 hunter2}}}}}
`, "create", "-f", "-")
	s.must(err)
	s.untilDelivered("the cluster's end", func(heard []eventlog.Entry) bool {
		for _, d := range heard {
			if strings.Contains(d.Type(), ".cluster.failed.") {
				return true
			}
		}
		return false
	})
	_, err = s.kubectl(`
apiVersion: firesteel.dev/v1alpha1
kind: ScheduledSparkApplication
metadata: {name: schedule}
spec:
  schedule: 'every token=hunter2'
  template: {spec: {mainClass: Main}}
`, "create", "-f", "-")
	s.must(err)
	s.untilMessage("scheduledsparkapplications.v1alpha1.firesteel.dev", "schedule", "Scheduled", "InvalidSchedule", []string{"spec.schedule", "redacted"})
	s.wantNoSecretInLog(process)
}

// untilMessage waits for a condition, and holds that its message has all parts.
func (s *env) untilMessage(resource, name, kind, reason string, says []string) {
	s.Helper()
	_, err := s.kubectl("", "wait", fmt.Sprintf(`--for=jsonpath={.status.conditions[?(@.type=="%s")].reason}=%s`, kind, reason), "--timeout=90s",
		resource+"/"+name)
	if err != nil {
		now, _ := s.kubectl("", "get", resource+"/"+name, "-o", "jsonpath={.status}")
		s.Fatalf("%s: %v\n%s", name, err, now)
	}
	message, err := s.kubectl("", "get", resource+"/"+name, "-o", fmt.Sprintf(`jsonpath={.status.conditions[?(@.type=="%s")].message}`, kind))
	s.must(err)
	for _, part := range says {
		if !strings.Contains(message, part) {
			s.Errorf("%s does not say %q: %s", name, part, message)
		}
	}
}

// wantNoSecretInLog checks that no log, event or message of an env contains the beginning of a secret.
func (s *env) wantNoSecretInLog(process *process.Process) {
	s.Helper()
	texts := map[string]string{}
	for _, resource := range []string{
		"sparkapplications.v1.spark.apache.org", "sparkclusters.v1.spark.apache.org", "sparkapplications.v1beta2.sparkoperator.k8s.io",
		"scheduledsparkapplications.v1alpha1.firesteel.dev",
	} {
		text, err := s.kubectl("", "get", resource, "-o", "json")
		s.must(err)
		var list unstructured.UnstructuredList
		s.must(json.Unmarshal([]byte(text), &list))
		for _, item := range list.Items {
			status, err := json.Marshal(item.Object["status"])
			s.must(err)
			texts["the status of "+item.GetName()] = string(status)
		}
	}
	events, err := s.Kube.CoreV1().Events(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	for _, event := range events.Items {
		if event.Source.Component == "firesteel-controller" {
			texts["the Event "+event.Reason+" of "+event.InvolvedObject.Name] = event.Message
		}
	}
	heard, _ := s.sink.Events(s.ns)
	for _, d := range heard {
		texts["the CloudEvent "+d.ID()] = d.Bytes()
	}
	log, err := os.ReadFile(process.Log)
	s.must(err)
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "hunter2") {
			texts["the log"] = line
		}
	}
	if len(events.Items) == 0 || len(heard) == 0 || len(log) == 0 {
		s.Errorf("there are %d Events, %d CloudEvents, and %d bytes of log", len(events.Items), len(heard), len(log))
	}
	for where, text := range texts {
		if strings.Contains(text, "hunter2") {
			s.Errorf("%s contains a secret: %s", where, text)
		}
	}
}
