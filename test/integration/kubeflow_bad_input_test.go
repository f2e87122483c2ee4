package integration

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// What can never run is named on the object, in the Kubeflow operator's words where it has some, with the field, its
// value and what to do. It does not affect other applications.
func TestBadInputOfTheKubeflowKindIsReported(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.untilShown("spark-pi", v1beta2.SubmittedState)
	for name, c := range map[string]struct {
		spec, reason string
		says         []string
	}{
		"client-mode":       {"mode: client", "ClientModeUnsupported", []string{`spec.mode "client" is not supported`, "write cluster"}},
		"older-client-mode": {"{mode: null, deployMode: client}", "ClientModeUnsupported", []string{`spec.deployMode "client" is not supported`}},
		"account-by-property": {
			"sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: admin}", "DeniedProperty",
			[]string{`sparkConf key "spark.kubernetes.authenticate.driver.serviceAccountName" is not allowed: configure the service account via the CRD spec`, `"admin"`},
		},
		"master-by-property": {
			"sparkConf: {spark.master: local}", "DeniedProperty", []string{`sparkConf key "spark.master" is not allowed`, `"local"`},
		},
		"another-namespace": {
			"sparkConf: {spark.kubernetes.namespace: kube-system}", "DeniedProperty",
			[]string{`sparkConf key "spark.kubernetes.namespace" is not allowed: must equal the application namespace`, `"kube-system"`},
		},
		"two-fronts-of-an-address": {
			"driverIngressOptions: [{servicePort: 80, ingressURLFormat: a.example.com}, {servicePort: 81, ingressURLFormat: a.example.com}]",
			"InvalidDriverIngress", []string{"DriverIngressOptions has duplicate IngressURLFormat: a.example.com", "[1]"},
		},
		"an-address-that-is-no-host": {
			"driverIngressOptions: [{servicePort: 80, ingressURLFormat: UPPER_CASE}]", "Invalid", []string{"UPPER_CASE", "spec.rules[0].host"},
		},
		"memory-without-sense": {"driver: {memory: much}", "InvalidSpec", []string{"spec.driver.memory", `"much"`}},
		"memory-of-executors":  {"executor: {memory: much}", "InvalidSpec", []string{"spec.executor.memory", `"much"`}},
		"overhead":             {"driver: {memoryOverhead: some}", "InvalidSpec", []string{"spec.driver.memoryOverhead", `"some"`}},
		"overhead-factor":      {"memoryOverheadFactor: half", "InvalidSpec", []string{"spec.memoryOverheadFactor", `"half"`}},
		"memory-limit":         {"driver: {memoryLimit: some}", "InvalidSpec", []string{"spec.driver.memoryLimit", `"some"`, "2g"}},
		"memory-limit-too-low": {"driver: {memoryLimit: 600m}", "InvalidSpec", []string{"spec.driver.memoryLimit", `"600m"`, "is less than"}},
		"cores-of-the-driver":  {"driver: {coreLimit: all}", "InvalidSpec", []string{"spec.driver.coreLimit", `"all"`}},
		"a-limit-below":        {"driver: {coreRequest: '2', coreLimit: '1'}", "InvalidSpec", []string{"spec.driver.coreLimit", `"1" is less than the 2 that the driver requests`}},
		"a-file-of-the-client": {"mainApplicationFile: /home/me/my.jar", "InvalidSpec", []string{"spec.mainApplicationFile", `"/home/me/my.jar"`}},
		"scratch-without-volume": {
			"driver: {volumeMounts: [{name: spark-local-dir-1, mountPath: /scratch}]}", "InvalidSpec",
			[]string{"spec.driver.volumeMounts[0].name", `"spark-local-dir-1"`, "add the volume"},
		},
		"a-class-that-there-is-not": {"driver: {priorityClassName: royal}", "Forbidden", []string{"royal"}},
		"a-device-without-vendor":   {"driver: {gpu: {name: gpu, quantity: 1}}", "Invalid", []string{`"gpu"`}},
		"a-toleration-that-is-none": {"driver: {tolerations: [{key: a, operator: Sometimes}]}", "InvalidSpec", []string{"spec.driver.tolerations[0].operator", `"Sometimes"`}},
		"a-label-that-is-none":      {"driver: {labels: {a: 'b c'}}", "InvalidSpec", []string{"spec.driver.labels[a]", `"b c" is no label value`}},
		"an-executors-label":        {"executor: {labels: {a: 'b c'}}", "InvalidSpec", []string{"spec.executor.labels[a]", `"b c" is no label value`}},
		"an-executors-annotation": {
			"executor: {annotations: {'a b': c}}", "InvalidSpec", []string{"spec.executor.annotations[a b]", "is no annotation key"},
		},
		"an-image-of-the-driver-alone": {
			"{image: null, driver: {image: spark:4.1.1}}", "InvalidSpec", []string{"spec.executor.image is missing", "name the image of the executors"},
		},
		"a-volume-of-a-source-that-is-misspelt": {
			"{volumes: [{name: data, persistantVolumeClaim: {claimName: c}}], driver: {volumeMounts: [{name: data, mountPath: /data}]}}", "InvalidSpec",
			[]string{`spec.volumes[0] "data" has no source that is known`, "persistantVolumeClaim"},
		},
		"a-drivers-name": {"driver: {podName: The_Driver}", "InvalidSpec", []string{"spec.driver.podName", `"The_Driver"`}},
		"a-port-beyond":  {"driver: {ports: [{name: a, protocol: TCP, containerPort: 70000}]}", "InvalidSpec", []string{"70000"}},
		"two-mounts-at-a-path": {
			"{volumes: [{name: v, emptyDir: {}}], driver: {volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a}]}}", "InvalidSpec", []string{"spec.driver.volumeMounts[1].mountPath", `"/a" is the path of two volumes`},
		},
		"an-account-that-there-is-not": {"driver: {serviceAccount: nobody}", "ServiceAccountNotFound", []string{`"nobody" not found`, "spec.driver.serviceAccount", "kubectl spark namespace "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), c.spec))
			app := s.untilShown("spark-pi", v1beta2.FailedState)
			condition := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
			if condition.Reason != c.reason || condition.Status != metav1.ConditionFalse {
				t.Errorf("the condition is %s/%s, want %s", condition.Status, condition.Reason, c.reason)
			}
			for _, part := range c.says {
				for what, text := range map[string]string{"condition": condition.Message, "error message": app.Status.AppState.ErrorMessage} {
					if !strings.Contains(text, part) {
						t.Errorf("the %s says %q, and not %q", what, text, part)
					}
				}
			}
			s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "SparkApplicationFailed")
			pods, err := s.Kube.CoreV1().Pods(s.ns).List(t.Context(), metav1.ListOptions{LabelSelector: kubelet.DriverSelector})
			s.must(err)
			for _, pod := range pods.Items {
				if pod.DeletionTimestamp == nil {
					t.Errorf("there is a driver %s", pod.Name)
				}
			}
		})
	}
	t.Cleanup(func() {
		app, err := s.kubeflowApps().Get(context.Background(), "spark-pi", metav1.GetOptions{})
		if err != nil || app.Status.AppState.State != v1beta2.SubmittedState {
			t.Errorf("the good application is %v (%v)", app.Status.AppState, err)
		}
	})
}

// What no Kubeflow operator could run is refused by the API server, with no webhook.
func TestBadInputThatTheKubeflowOperatorCouldNotRunIsRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for name, c := range map[string]struct{ spec, says string }{
		"a type":              {"type: Go", `spec.type: Unsupported value: "Go"`},
		"a mode":              {"mode: somewhere", `spec.mode: Unsupported value: "somewhere"`},
		"a restart policy":    {"restartPolicy: {type: Sometimes}", `spec.restartPolicy.type: Unsupported value: "Sometimes"`},
		"negative retries":    {"restartPolicy: {onFailureRetries: -1}", "spec.restartPolicy.onFailureRetries"},
		"an interval of none": {"restartPolicy: {onFailureRetryInterval: 0}", "spec.restartPolicy.onFailureRetryInterval"},
		"no executors":        {"executor: {instances: 0}", "spec.executor.instances"},
		"cores of none":       {"driver: {cores: 0}", "spec.driver.cores"},
		"two fronts of a port": {
			"driverIngressOptions: [{servicePort: 80, ingressURLFormat: a.example.com}, {servicePort: 80, ingressURLFormat: b.example.com}]",
			"spec.driverIngressOptions[1]: Duplicate value",
		},
		"a front without port":    {"driverIngressOptions: [{ingressURLFormat: a.example.com}]", "spec.driverIngressOptions[0].servicePort: Required value"},
		"a front without address": {"driverIngressOptions: [{servicePort: 80}]", "spec.driverIngressOptions[0].ingressURLFormat: Required value"},
		"a Python":                {"pythonVersion: '4'", "spec.pythonVersion"},
		"a port of Prometheus":    {"monitoring: {exposeDriverMetrics: true, exposeExecutorMetrics: true, prometheus: {jmxExporterJar: j, port: 80}}", "spec.monitoring.prometheus.port"},
		"two node selectors":      {"{nodeSelector: {a: b}, driver: {nodeSelector: {c: d}}}", "node selector cannot be defined at both"},
		"an old Spark":            {"{sparkVersion: 2.4.5, driver: {template: {}}}", "2.4.5"},
		"a front with an empty address": {
			"driverIngressOptions: [{servicePort: 80, ingressURLFormat: ''}]", "spec.driverIngressOptions[0].ingressURLFormat: Invalid value",
		},
		"an unknown field": {"drivers: {}", `unknown field "spec.drivers"`},
		"a quantity":       {"batchSchedulerOptions: {resources: {cpu: some}}", "spec.batchSchedulerOptions.resources"},
	} {
		_, err := s.submit(withSpec(s, sparkPi("4.1.1"), c.spec))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: refused with %v, and not with %q", name, err, c.says)
		}
	}
	_, err := s.submit(strings.Replace(sparkPi("4.1.1"), "name: spark-pi", "name: "+strings.Repeat("n", 64), 1))
	if err == nil || !strings.Contains(err.Error(), "at most 63") {
		t.Errorf("a long name: %v", err)
	}
}

// An unknown value of an enum acts as the default, and the application reports it.
func TestBadInputOfAnUnknownValueIsReported(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), `{driver: {secrets: [{name: key, path: /etc/key, secretType: Generci}]},
		executor: {secrets: [{name: key, path: /etc/key, secretType: gcpserviceaccount}], ports: [{containerPort: 80, protocol: HTTP}]}}`))
	warning := s.untilKubeflowCondition("spark-pi", dialect.ConditionWarning, metav1.ConditionTrue, "SpecNotHonored")
	for _, part := range []string{
		`spec.driver.secrets[0].secretType "Generci" is not known`, `spec.executor.secrets[0].secretType "gcpserviceaccount" is not known`,
		"write one of [Generic GCPServiceAccount HadoopDelegationToken]", `spec.executor.ports[0].protocol "HTTP" is no value of the field`, "write one of TCP, UDP, SCTP",
	} {
		if !strings.Contains(warning.Message, part) {
			t.Errorf("the warning says %q, and not %q", warning.Message, part)
		}
	}
	s.runPi().succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
}

// An invalid template is reported on the object. The application starts once it is corrected.
func TestBadInputOfAKubeflowTemplateWaitsForItsCorrection(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "driver: {template: {spec: {containers: oops}}}"))
	if event := s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "Undecodable"); !strings.Contains(event.Message, "field PodSpec.spec.driver.template.spec.containers") {
		t.Errorf("the Event says %q", event.Message)
	}
	s.patched(kubeflowApplications, "spark-pi", `{"spec":{"driver":{"template":null}}}`)
	s.runPi().succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
}
