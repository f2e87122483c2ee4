package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// named is a manifest under another name.
func named(name, manifest string) string {
	return strings.Replace(manifest, "name: spark-pi", "name: "+name, 1)
}

// Settings with the meaning of the Kubeflow operator's flags have their effect. A change applies to later runs.
func TestKubeflowSettingsHaveTheirEffect(t *testing.T) {
	alone(t)
	s := newEnv(t)
	for key, value := range map[string]string{
		"spark-defaults.conf":          "spark.eventLog.dir s3a://logs\nspark.eventLog.enabled false\n",
		"ingress-url-format":           "spark.example.com/{{$appNamespace}}/{{ $appName }}",
		"ingress-class-name":           "nginx",
		"ingress-tls":                  `[{"hosts": ["spark.example.com"], "secretName": "spark-tls"}]`,
		"ingress-annotations":          `{"example.com/size": "8m"}`,
		"driver-pod-disruption-budget": "enabled",
		"max-tracked-executors":        "1",
		"denied-spark-properties":      "spark.kubernetes.driver.volumes.hostPath.*",
		"discouraged-spark-properties": "spark.speculation",
		"default-time-to-live":         "0s",
	} {
		s.configured("config-kubeflow", key, value)
	}
	s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), `{driverPodDisruptionBudget: true,
		sparkConf: {spark.eventLog.enabled: "true", spark.speculation: "true", spark.kubernetes.driver.master: "https://10.0.0.1"}}`))
	comes := s.comesOf("spark-pi")
	path := "/" + s.ns + "/spark-pi"
	for setting, part := range map[string]string{
		"spark-defaults.conf": `properties: {spark.eventLog.dir: "s3a://logs", spark.eventLog.enabled: "true"}`,
		"ingress-url-format": `{properties: {spark.ui.proxyBase: ` + path + `, spark.ui.proxyRedirectUri: /}, Ingress spark-pi-ui-ingress: {
			metadata: {annotations: {nginx.ingress.kubernetes.io/rewrite-target: /$2}}, spec: {rules: [{host: spark.example.com, http: {
			paths: [{path: "` + path + `(/|$)(.*)", pathType: ImplementationSpecific, backend: {service: {name: spark-pi-ui-svc, port: {number: 4040}}}}]}}]}}}`,
		"ingress-class-name":           `Ingress spark-pi-ui-ingress: {spec: {ingressClassName: nginx}}`,
		"ingress-tls":                  `Ingress spark-pi-ui-ingress: {spec: {tls: [{hosts: [spark.example.com], secretName: spark-tls}]}}`,
		"ingress-annotations":          `Ingress spark-pi-ui-ingress: {metadata: {annotations: {example.com/size: 8m}}}`,
		"driver-pod-disruption-budget": `PodDisruptionBudget spark-pi-driver: {spec: {minAvailable: 1}}`,
		"denied-spark-properties":      `properties: {spark.kubernetes.driver.master: "https://10.0.0.1"}`, // as these take the place of the default
		"discouraged-spark-properties": `warning: 'spec.sparkConf[spark.speculation] "true" works here, though'`,
	} {
		var want any
		s.must(yaml.Unmarshal([]byte(part), &want))
		if missing := lacking(comes, want, ""); missing != "" {
			t.Errorf("%s: %s", setting, missing)
		}
	}
	d := s.runPi()
	for number := range 3 {
		d.kubeflowExecutor(number + 1).start()
	}
	app := until(s, s.kubeflowApps(), "spark-pi", "show an executor", func(app *v1beta2.SparkApplication) bool { return len(app.Status.ExecutorState) > 0 })
	if info := app.Status.DriverInfo; info.WebUIIngressName != "spark-pi-ui-ingress" || info.WebUIIngressAddress != "http://spark.example.com"+path {
		t.Errorf("the UI is at %+v", info)
	}
	d.succeed()
	app = s.untilShown("spark-pi", v1beta2.CompletedState)
	if len(app.Status.ExecutorState) != 1 {
		t.Errorf("it shows the executors %v", app.Status.ExecutorState)
	}

	s.configured("config-kubeflow", "ui-service", "disabled")
	s.configured("config-kubeflow", "denied-spark-properties", "")
	s.configured("config-kubeflow", "default-time-to-live", "1s")
	untilGone(s, s.kubeflowApps(), "spark-pi")
	s.submitted(named("without-ui", withSpec(s, sparkPi("4.1.1"), "{timeToLiveSeconds: 3600}")))
	app = s.untilShown("without-ui", v1beta2.SubmittedState)
	if _, err := s.Kube.CoreV1().Services(s.ns).Get(t.Context(), "without-ui-ui-svc", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it has a Service: %v", err)
	}
	if want := (v1beta2.DriverInfo{PodName: "without-ui-driver"}); app.Status.DriverInfo != want {
		t.Errorf("the UI is at %+v", app.Status.DriverInfo)
	}
	s.submitted(named("denied", withSpec(s, sparkPi("4.1.1"), `{timeToLiveSeconds: 3600, sparkConf: {spark.kubernetes.driver.master: a}}`)))
	s.untilShown("denied", v1beta2.FailedState)
}

// If another operator also writes the status, Firesteel does not write against it, and the running driver stays the only one.
func TestInstallationLeavesKubeflowApplicationsOfAnotherOperatorAlone(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(sparkPi("4.1.1"))
	d := s.runPi()
	overwrite := func() {
		s.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			app, err := s.kubeflowApps().Get(s.Context(), "spark-pi", metav1.GetOptions{})
			if err != nil {
				return err
			}
			app.Status.Firesteel, app.Status.Conditions, app.Status.ObservedGeneration = nil, nil, 0
			app.Status.ExecutorState = map[string]v1beta2.ExecutorState{"spark-pi-exec-1": v1beta2.ExecutorPendingState}
			app.Status.SubmissionAttempts++
			_, err = s.kubeflowApps().UpdateStatus(s.Context(), app, metav1.UpdateOptions{})
			return err
		}))
	}
	overwrite()
	app := until(s, s.kubeflowApps(), "spark-pi", "tell of another operator", func(app *v1beta2.SparkApplication) bool {
		c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
		return c != nil && c.Reason == "AnotherOperatorActive"
	})
	if app.Status.ExecutorState["spark-pi-exec-1"] == "" || app.Status.AppState.State != v1beta2.RunningState {
		t.Errorf("what it wrote is gone:\n%s", described(app))
	}
	s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "AnotherOperatorActive")
	before := len(s.requestsAtRest())
	for range 3 {
		overwrite()
	}
	d.set(func(status *corev1.PodStatus) { status.Message = "something new" })
	if after := s.requestsAtRest()[before:]; len(after) > 0 {
		t.Errorf("beside another operator the controller asks for %v", after)
	}

	process.Kill()
	s.ownController(controller{sink: s.sink.URL()})
	s.untilKubeEvent("spark-pi", corev1.EventTypeNormal, "Adopted")
	d.succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
	if drivers := s.untilHad("spark-pi", 1); len(drivers) != 1 {
		t.Errorf("it had %d drivers", len(drivers))
	}
}

// Each of two installations serves the applications of its own namespaces.
func TestInstallationsShareTheKubeflowKind(t *testing.T) {
	alone(t)
	a, b := newEnv(t), newEnv(t)
	a.configured("config-scope", "watched-namespaces", a.ns)
	second := a.install("firesteel-kubeflow-two")
	second.serves(b.ns)
	second.mayServe(b.ns)
	a.must(a.ConfigureIn(t.Context(), second.namespace, "config-kubeflow", map[string]string{"ui-service": "disabled"}))
	a.ownController(controller{sink: a.sink.URL()})
	b.ownController(controller{sink: b.sink.URL(), namespace: second.namespace})
	for _, s := range []*env{a, b} {
		s.kubeflowApplication(sparkPi("4.1.1"))
		s.runPi().succeed()
		app := s.untilShown("spark-pi", v1beta2.CompletedState)
		if shown := app.Status.DriverInfo.WebUIServiceName != ""; shown != (s == a) {
			t.Errorf("%s: has a UI: %t", s.ns, shown)
		}
		s.untilAllPublished(app)
	}
}
