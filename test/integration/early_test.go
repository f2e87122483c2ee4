package integration

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	earlyclient "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	crdOfEarlyApplications = "early/300-early-sparkapplication.yaml"
	// host is the node of all drivers, and nodePort the only node port of the cluster.
	host     = "192.0.2.7"
	nodePort = 30000
)

// earlyPi is a manifest as the users of the early operator wrote it, with an image of today.
func earlyPi(name string) string {
	return fmt.Sprintf(`
apiVersion: spark-operator.k8s.io/v1alpha1
kind: SparkApplication
metadata:
  name: %s
spec:
  type: Scala
  mode: cluster
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  driver:
    image: docker.io/library/spark:4.1.1
    cores: "0.1"
    memory: null
  executor:
    image: docker.io/library/spark:4.1.1
    instances: 1
    memory: 512m
`, name)
}

func (s *env) earlyApps() earlyclient.SparkApplicationInterface {
	return s.Spark.EarlyV1alpha1().SparkApplications(s.ns)
}

func (s *env) applyEarly(manifest string) {
	s.Helper()
	_, err := s.kubectl(manifest, "apply", "--filename=-")
	s.must(err)
}

// untilEarly waits for a state of an application, and returns the application in it.
func (s *env) untilEarly(name string, state v1alpha1.ApplicationStateType) *v1alpha1.SparkApplication {
	s.Helper()
	return until(s, s.earlyApps(), name, "be "+string(state), func(app *v1alpha1.SparkApplication) bool { return app.Status.AppState.State == state })
}

// runEarly lets the driver of an application run on its node.
func (s *env) runEarly(name string) *driver {
	s.Helper()
	s.untilEarly(name, v1alpha1.SubmittedState)
	d := s.kubeflowDriver(name)
	d.set(onNode).start()
	s.untilEarly(name, v1alpha1.RunningState)
	return d
}

// earlyExecutor makes an executor of a driver, as the driver would.
func (d *driver) earlyExecutor(name string) *driver {
	d.env.Helper()
	made, err := d.env.Kube.CoreV1().Pods(d.env.ns).Create(d.env.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(d.Pod)},
			Labels: map[string]string{
				"spark-role": "executor", submission.LabelExecutorID: "1", "spark-app-selector": d.Labels["spark-app-selector"],
				early.LabelAppID: d.Labels[early.LabelAppID], early.LabelApplication: d.Labels[early.LabelApplication],
			},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark"}}},
	}, metav1.CreateOptions{})
	d.env.must(err)
	return &driver{Pod: made, env: d.env}
}

// startEarly starts the control plane of the test: one node port, and no CRD of this API. The test has the namespace of the examples.
func startEarly(t *testing.T) *env {
	t.Helper()
	controlPlanes.reserve(t)
	s := &env{TB: t, suite: &suite{dir: t.TempDir(), programs: controlPlanes.programs}, ns: metav1.NamespaceDefault}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		s.suite.stop()
	})
	s.must(s.suite.startWith(ctx, controlplane.Options{
		Dir: filepath.Join(s.dir, "plane"), ServerArguments: []string{fmt.Sprintf("--service-node-port-range=%d-%d", nodePort, nodePort)},
	}))
	until(s, s.Kube.CoreV1().ServiceAccounts(s.ns), "default", "exist", func(*corev1.ServiceAccount) bool { return true })
	return s
}

// Applications of the early API live as those of the others do. Its CRD comes while the controller runs.
func TestEarlyApplications(t *testing.T) {
	t.Parallel()
	s := startEarly(t)
	s.configured("config-kubeflow", "ui-service-type", "NodePort")
	s.configured("config-defaults", "ui-service-type", "NodePort")
	s.configured("config-admission", "quota", "hold")
	step := func(name string, test func(s *env)) {
		requireStep(t, name, func(t *testing.T) { test(s.in(t)) })
	}
	step("without the CRD kubectl means spark.apache.org", func(s *env) {
		s.create(App("apache"))
		if got, err := s.kubectl("", "get", "sparkapplications", "-o", "name"); err != nil || strings.TrimSpace(got) != "sparkapplication.spark.apache.org/apache" {
			s.Errorf("kubectl get sparkapplications: %s (%v)", got, err)
		}
		s.must(s.apps().Delete(s.Context(), "apache", metav1.DeleteOptions{})) // no controller runs yet
	})
	r := s.replica()
	step("without the CRD the controller is ready", func(s *env) {
		s.untilAnswered(r.probes+"/readiness", http.StatusOK)
		s.untilReady(r.Process)
	})
	step("with the CRD an application runs, and kubectl means its kind", func(s *env) {
		s.applyCRD(crdOfEarlyApplications)
		s.applyEarly(earlyPi("first"))
		s.runEarly("first").succeed()
		s.untilEarly("first", v1alpha1.CompletedState)
		until(s, s.earlyApps(), "first", "hold no finalizer", func(app *v1alpha1.SparkApplication) bool { return len(app.Finalizers) == 0 })
		if got, err := s.kubectl("", "get", "sparkapplications", "-o", "name"); err != nil || !contains(got, "sparkapplication.spark-operator.k8s.io/first") {
			t.Errorf("kubectl get sparkapplications: %s (%v)", got, err)
		}
	})
	step = func(name string, test func(s *env)) {
		requireStep(t, name, func(t *testing.T) {
			s := s.in(t)
			s.untilNodePortIsFree()
			test(s)
		})
	}
	step("quotas hold it, and fail it", limitEarly) // before others leave Pods that use the quota
	step("the API server's policies refuse it", ruleEarly)
	step("a life has its budget, and its UI a node port", liveEarly)
	step("a driver that fails", failEarly)
	step("an edit runs it again", editEarly)
	step("a deletion stops the driver", deleteEarly)
	step("a stop ends it", stopEarly)
	step("without a free node port it runs with a warning", exhaustEarly)
	step("without a free node port the other kinds run with a warning", exhaustOthers)
	step("the manifest of the first documentation", documentEarly)
	step("another mode is refused", refuseEarly)
	step("the driver that its user starts is followed to its end", followEarly)
	step("the driver that it names is followed", followInCluster)
	step("an edit waits for the end of the driver that its user started", editFollowed)
	step("an edit leaves the driver to the user", leaveToUser)
	step("a driver of the user is not stopped", stopFollowed)
	step("a driver of the user without its label is followed on", relabelFollowed)
	step("a deletion stops the driver that its user started", deleteFollowed)
	step("behind a Gateway the UI has a route, which a driver of the user must know", routeEarly)
	s.applyEarly(byUser("left", "submissionByUser: true"))
	left := s.awaitingUser("left")
	r.Kill()
	s.startAsUser(left, "left-driver").succeed()
	t.Run("a controller that is killed around the launch starts one driver, and follows one", func(t *testing.T) { crashEarly(s.in(t)) })
	for _, request := range s.forbidden() {
		t.Errorf("the controller may not do what it does: %s", request)
	}
}

// requireStep runs a step, and ends the test if it fails: a later step would wait for the node port that it left in use.
func requireStep(t *testing.T, name string, step func(*testing.T)) {
	t.Helper()
	if !t.Run(name, step) {
		t.FailNow()
	}
}

// untilNodePortIsFree waits until a Service gets the only node port, and gives it back. The API server frees the port of a deleted
// Service after watchers see the deletion, and before it answers the request for it.
func (s *env) untilNodePortIsFree() {
	s.Helper()
	services := s.Kube.CoreV1().Services(s.ns)
	probe := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		_, err := services.Create(ctx, probe, metav1.CreateOptions{})
		if apierrors.IsInternalError(err) { // "range is full"
			return false, nil
		}
		return err == nil, err
	}))
	s.must(services.Delete(s.Context(), probe.Name, metav1.DeleteOptions{}))
}

// requestsSince returns what the controller has requested after its first requests, once no more comes. What it still writes to
// applications of earlier steps is left out.
func (s *env) requestsSince(first int, app string) []controlplane.Request {
	s.Helper()
	return slices.DeleteFunc(s.requestsAtRest()[first:], func(r controlplane.Request) bool {
		return r.Resource == "sparkapplications" && r.Name != "" && r.Name != app
	})
}

// forbidden returns the requests of the controller that were forbidden.
func (s *env) forbidden() []controlplane.Request {
	s.Helper()
	requests, err := s.audit.Requests()
	s.must(err)
	return slices.DeleteFunc(requests, func(r controlplane.Request) bool { return !r.Forbidden })
}

func liveEarly(s *env) {
	before := len(s.requestsAtRest())
	began := time.Now()
	const owner = "example.com/owner"
	s.applyEarly(strings.Replace(earlyPi("life"), "metadata:\n", "metadata:\n  annotations: {"+owner+": team-a}\n", 1))
	d := s.runEarly("life")
	running := until(s, s.earlyApps(), "life", "show its UI", func(app *v1alpha1.SparkApplication) bool { return app.Status.DriverInfo.WebUIURL != "" })
	info, want := running.Status.DriverInfo, fmt.Sprintf("%s:%d", host, nodePort)
	if info.WebUIURL != want || info.WebUIAddress != want || info.WebUIPort != nodePort || info.PodName != "life-driver" || info.WebUIServiceName != early.UIServiceName(running) {
		s.Errorf("the status shows %+v", info)
	}
	if running.Status.AppID != early.AppID(running) || running.Status.SubmissionTime.IsZero() || !running.Status.CompletionTime.IsZero() {
		s.Errorf("the status is %+v", running.Status)
	}
	service, err := s.Kube.CoreV1().Services(s.ns).Get(s.Context(), info.WebUIServiceName, metav1.GetOptions{})
	s.must(err)
	if service.Spec.Type != corev1.ServiceTypeNodePort || service.Labels[early.LabelAppID] != running.Status.AppID ||
		!labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(d.Labels)) || !metav1.IsControlledBy(service, d.Pod) {
		s.Errorf("the Service of the UI is %+v %+v", service.ObjectMeta, service.Spec)
	}
	change := time.Now()
	d.earlyExecutor("life-exec-1").start()
	until(s, s.earlyApps(), "life", "show its executor", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.ExecutorState["life-exec-1"] == v1alpha1.ExecutorRunningState
	})
	changing := time.Since(change)
	d.succeed()
	completed := s.untilEarly("life", v1alpha1.CompletedState)
	if completed.Status.ExecutorState["life-exec-1"] != v1alpha1.ExecutorCompletedState || completed.Status.CompletionTime.IsZero() {
		s.Errorf("completed it shows %+v", completed.Status)
	}
	untilGone(s, s.Kube.CoreV1().Services(s.ns), info.WebUIServiceName)
	released := until(s, s.earlyApps(), "life", "hold no finalizer", func(app *v1alpha1.SparkApplication) bool { return len(app.Finalizers) == 0 })
	if released.Annotations[owner] != "team-a" {
		s.Errorf("at the end it has the annotations %q", released.Annotations)
	}
	for _, reason := range []string{"SparkApplicationSubmitted", "SparkApplicationCompleted"} {
		s.untilKubeEvent("life", corev1.EventTypeNormal, reason)
	}
	s.untilUIAddress("life", true)
	allowed := kubeflowBudget()
	allowed["delete services"] = 1
	allowed["update sparkapplications/status"] += int(changing/time.Second) + int(time.Since(began)/(30*time.Second))
	s.wantWithinBudget(allowed, s.requestsSince(before, "life"))
}

func failEarly(s *env) {
	s.applyEarly(earlyPi("fails"))
	d := s.runEarly("fails")
	d.exit(3)
	failed := s.untilEarly("fails", v1alpha1.FailedState)
	if message := failed.Status.AppState.ErrorMessage; !strings.Contains(message, "3") || failed.Status.CompletionTime.IsZero() {
		s.Errorf("it failed by %q: %+v", message, failed.Status)
	}
	untilGone(s, s.Kube.CoreV1().Services(s.ns), early.UIServiceName(failed))
	if pod, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), d.Name, metav1.GetOptions{}); err != nil || pod.UID != d.UID {
		s.Errorf("the driver is kept for its log: %v", err)
	}
}

func editEarly(s *env) {
	s.applyEarly(strings.Replace(earlyPi("edited"), "spec:\n", "spec:\n  deps: {jarFiles: [\"local:///a.jar\"]}\n", 1))
	first := s.runEarly("edited")
	s.applyEarly(strings.Replace(earlyPi("edited"), "spec:\n", "spec:\n  deps: {jars: [\"local:///a.jar\"]}\n", 1))
	respelt := until(s, s.earlyApps(), "edited", "observe another spelling", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.ObservedGeneration == app.Generation && app.Spec.Deps.Jars != nil
	})
	if respelt.Status.AppState.State != v1alpha1.RunningState || respelt.Status.Firesteel.Attempt.ID != 0 {
		s.Errorf("another spelling made of it: %+v", respelt.Status)
	}
	s.applyEarly(strings.Replace(earlyPi("edited"), "spec:\n", "spec:\n  arguments: [\"7\"]\n", 1))
	untilOther := until(s, s.Kube.CoreV1().Pods(s.ns), "edited-driver", "be another", func(pod *corev1.Pod) bool {
		return pod.UID != first.UID && pod.Spec.NodeName != ""
	})
	if untilOther.DeletionTimestamp != nil {
		s.Fatal("the second driver is deleted")
	}
	s.runEarly("edited").succeed()
	s.untilEarly("edited", v1alpha1.CompletedState)
	if drivers := s.untilHad("edited", 2); len(drivers) != 2 {
		s.Errorf("it had %d drivers", len(drivers))
	}
}

func deleteEarly(s *env) {
	s.applyEarly(earlyPi("deleted"))
	d := s.runEarly("deleted")
	s.must(s.earlyApps().Delete(s.Context(), "deleted", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "deleted")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	services, err := s.Kube.CoreV1().Services(s.ns).List(s.Context(), metav1.ListOptions{LabelSelector: early.LabelAppID + "=" + d.Labels[early.LabelAppID]})
	s.must(err)
	for i := range services.Items {
		untilGone(s, s.Kube.CoreV1().Services(s.ns), services.Items[i].Name)
	}
}

func exhaustEarly(s *env) {
	s.applyEarly(earlyPi("has-it"))
	first := s.runEarly("has-it")
	s.applyEarly(earlyPi("lacks-it"))
	second := s.runEarly("lacks-it")
	warned := until(s, s.earlyApps(), "lacks-it", "have a warning", func(app *v1alpha1.SparkApplication) bool {
		return meta.IsStatusConditionTrue(app.Status.Conditions, "Warning")
	})
	if message := meta.FindStatusCondition(warned.Status.Conditions, "Warning").Message; !strings.Contains(message, early.UIServiceName(warned)) || !strings.Contains(message, "nodePort") {
		s.Errorf("the warning is %q", message)
	}
	if warned.Status.DriverInfo.WebUIURL != "" {
		s.Errorf("it shows %+v", warned.Status.DriverInfo)
	}
	second.succeed()
	s.untilEarly("lacks-it", v1alpha1.CompletedState)
	first.succeed()
	s.untilEarly("has-it", v1alpha1.CompletedState)
	s.untilNodePortIsFree()
	s.applyEarly(earlyPi("has-it-now"))
	third := s.runEarly("has-it-now") // finished applications use no node port
	until(s, s.earlyApps(), "has-it-now", "show its UI", func(app *v1alpha1.SparkApplication) bool { return app.Status.DriverInfo.WebUIURL != "" })
	third.succeed()
	s.untilEarly("has-it-now", v1alpha1.CompletedState)
}

// exhaustOthers has applications of the other APIs ask for the only node port while an application of the early API has it, and after that.
func exhaustOthers(s *env) {
	s.applyEarly(earlyPi("holds-it"))
	holder := s.runEarly("holds-it")
	wantWarning := func(service string, conditions []metav1.Condition) {
		s.Helper()
		found := meta.FindStatusCondition(conditions, "Warning")
		if found == nil || !strings.Contains(found.Message, "Service "+s.ns+"/"+service) || !strings.Contains(found.Message, "nodePort") {
			s.Errorf("the warning is %+v", found)
		}
	}
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.untilShown("spark-pi", v1beta2.SubmittedState)
	kubeflow := s.kubeflowDriver("spark-pi").start().ready()
	shown := s.untilShown("spark-pi", v1beta2.RunningState)
	wantWarning("spark-pi-ui-svc", shown.Status.Conditions)
	if shown.Status.DriverInfo.WebUIServiceName != "" {
		s.Errorf("it shows %+v", shown.Status.DriverInfo)
	}
	kubeflow.succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)

	s.create(App("lacks-it"))
	apache := s.driver("lacks-it", 0).start().ready()
	lacks := s.untilState("lacks-it", "RunningHealthy")
	wantWarning("lacks-it-spark-ui", lacks.Status.Conditions)
	apache.succeed()
	s.untilState("lacks-it", "ResourceReleased")
	s.untilUIAddress("lacks-it", false)

	holder.succeed()
	s.untilEarly("holds-it", v1alpha1.CompletedState)
	s.untilNodePortIsFree()
	s.create(App("has-it"))
	owner := s.driver("has-it", 0).set(onNode).start().ready()
	s.untilState("has-it", "RunningHealthy")
	owner.succeed()
	s.untilState("has-it", "ResourceReleased")
	s.untilUIAddress("has-it", true)
}

// onNode puts a Pod on the node of all drivers.
func onNode(status *corev1.PodStatus) {
	status.HostIP, status.HostIPs = host, []corev1.HostIP{{IP: host}}
}

// untilUIAddress waits for the last event of an application. The events of its running driver have the address of the UI, if it has one.
func (s *env) untilUIAddress(name string, has bool) {
	s.Helper()
	heard := s.untilDelivered("the last event of "+name, func(heard []eventlog.Entry) bool {
		return slices.ContainsFunc(heard, func(e eventlog.Entry) bool {
			return e.Name() == name && e.Taken && e.Attributes["sparkfinal"] == "true"
		})
	})
	with := 0
	for _, e := range heard {
		if e.Name() != name {
			continue
		}
		address := strings.Contains(e.Body, fmt.Sprintf(`"uiAddress":"%s:%d"`, host, nodePort))
		if want := has && lifecycle.State(e.Attributes["sparkstate"]).DriverRuns(); address != want || !want && strings.Contains(e.Body, "uiAddress") {
			s.Errorf("the address of the UI is %t in the event %s", want, e.Body)
		}
		if address {
			with++
		}
	}
	if has && with == 0 {
		s.Errorf("no event of %s has the address of its UI", name)
	}
}

func documentEarly(s *env) {
	apply := func() {
		_, err := s.kubectl("", "create", "--filename=../../pkg/dialect/early/testdata/seed.yaml")
		s.must(err)
	}
	apply()
	refused := s.untilEarly("spark-app-example", v1alpha1.FailedState)
	succeeded := meta.FindStatusCondition(refused.Status.Conditions, "Succeeded")
	if succeeded == nil || succeeded.Reason != "ImageTooOld" || !strings.Contains(succeeded.Message, "kubespark/spark-driver:v2.2.0-kubernetes-0.5.0") ||
		!strings.Contains(refused.Status.AppState.ErrorMessage, "image-replacements") {
		s.Errorf("it is refused by %+v, %q", succeeded, refused.Status.AppState.ErrorMessage)
	}
	if _, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), "spark-app-example-driver", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		s.Errorf("a driver was created: %v", err)
	}
	s.must(s.earlyApps().Delete(s.Context(), "spark-app-example", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "spark-app-example")

	s.must(s.Configure(s.Context(), "config-early", map[string]string{"image-replacements": "kubespark/*=docker.io/library/spark:3.5.7"}))
	defer func() { s.must(s.Configure(s.Context(), "config-early", map[string]string{"image-replacements": ""})) }()
	s.untilEarlyIsAccepted(apply)
	d := s.runEarly("spark-app-example")
	if image := d.Spec.Containers[0].Image; image != "docker.io/library/spark:3.5.7" || d.Spec.Containers[0].Resources.Requests.Cpu().String() != "100m" {
		s.Errorf("the driver is %+v", d.Spec.Containers[0])
	}
	d.succeed()
	s.untilEarly("spark-app-example", v1alpha1.CompletedState)

	_, err := s.kubectl("", "create", "--filename=../../pkg/dialect/early/testdata/manifests/gcp-service-account.yaml")
	s.must(err)
	const withSecret = "spark-app-example-with-secret-mounting"
	d = s.runEarly(withSecret)
	mounted := slices.ContainsFunc(d.Spec.Containers[0].VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.MountPath == "/mnt/secrets" })
	variable := corev1.EnvVar{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: "/mnt/secrets/key.json"}
	if !mounted || !slices.Contains(d.Spec.Containers[0].Env, variable) || d.Annotations["spark-operator.k8s.io/GCPServiceAccount.gcp-service-account"] != "/mnt/secrets" {
		s.Errorf("the driver is %+v %+v", d.Annotations, d.Spec.Containers[0])
	}
	d.succeed()
	s.untilEarly(withSecret, v1alpha1.CompletedState)
}

// untilEarlyIsAccepted applies the example until the controller has read the settings.
func (s *env) untilEarlyIsAccepted(apply func()) {
	s.Helper()
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		apply()
		app := until(s, s.earlyApps(), "spark-app-example", "be seen", func(app *v1alpha1.SparkApplication) bool { return app.Status.AppState.State != "" })
		if app.Status.AppState.State != v1alpha1.FailedState {
			return
		}
		s.must(s.earlyApps().Delete(s.Context(), app.Name, metav1.DeleteOptions{}))
		untilGone(s, s.earlyApps(), app.Name)
	}
	s.Fatal("the setting has no effect")
}

// crashEarly kills the controller before the driver is created, after that, and before the next write. The early operator would have
// submitted again.
func crashEarly(s *env) {
	m := &crashEnv{env: s}
	config, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, "controller")
	s.must(err)
	m.apiServer, err = newFaultyServer(config, s.ns)
	s.must(err)
	t := s.TB.(*testing.T)
	t.Cleanup(m.apiServer.close)
	m.use(t)
	m.startAgain()
	t.Cleanup(func() { m.controller.Kill() })
	m.untilEarly("left", v1alpha1.CompletedState) // its driver ended while no controller ran
	for _, at := range []trap{{at: 2}, {at: 2, answered: true}, {at: 3}} {
		m.use(t)
		at.spring = m.restartController
		m.apiServer.setTrap(m.name, at)
		m.applyEarly(earlyPi(m.name))
		d := m.runEarly(m.name)
		if !m.untilDead() {
			t.Error("the controller was not killed")
		}
		d.succeed()
		m.untilEarly(m.name, v1alpha1.CompletedState)
		if drivers := m.untilHad(m.name, 1); len(drivers) != 1 {
			t.Errorf("%s had %d drivers", m.name, len(drivers))
		}
	}
	crashFollowed(m, t)
}

// limitEarly has applications ask for two Pods in a quota for two, of which another Pod uses one. The setting is hold at first.
func limitEarly(s *env) {
	asks := func(name string) asking {
		s.applyEarly(earlyPi(name))
		return asking{"sparkapplications.spark-operator.k8s.io", name, "Succeeded", name + "-driver"}
	}
	another := s.limitedToAlmost(2)
	held := asks("held")
	s.untilReason(held, diagnosis.ReasonWaitingForQuota, "ResourceQuota "+s.ns+"/team lacks pods (2 requested, 1 available of 2). Place 1 of 1 in the queue.")
	s.wantNothingLaunched(another, "first-driver")
	none := int64(0)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), another, metav1.DeleteOptions{GracePeriodSeconds: &none}))
	s.runEarly(held.name).succeed()
	s.untilEarly(held.name, v1alpha1.CompletedState)

	another = s.usesRoom()
	s.must(s.Configure(s.Context(), "config-admission", map[string]string{"quota": "fail"}))
	refused := asks("refused")
	s.untilReason(refused, diagnosis.ReasonQuotaWouldBeExceeded, fmt.Sprintf("failed to validate resource quota %q: ", s.ns+"/team"))
	s.untilEarly(refused.name, v1alpha1.FailedState)
	s.wantNothingLaunched(another, "first-driver", held.driver)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), another, metav1.DeleteOptions{GracePeriodSeconds: &none}))
	s.unlimited()
	s.must(s.Configure(s.Context(), "config-admission", map[string]string{"quota": "hold"})) // which costs the others nothing
}

// ruleEarly has the policies of the API server refuse what is applied, and warn of it.
func ruleEarly(s *env) {
	for _, folder := range []string{"admission", "admission-accounts", "admission-warnings"} {
		s.applyPolicies(folder)
	}
	s.setRules(map[string]string{"max-executors": "1", "denied-spark-properties": "spark.kubernetes.driver.label.*"})
	for _, command := range []string{
		"create role writer --verb=create --resource=sparkapplications.spark-operator.k8s.io", "create rolebinding writer --role=writer --user=writer",
	} {
		_, err := s.kubectl("", strings.Fields(command)...)
		s.must(err)
	}
	writer := s.as("writer")
	with := func(property string) string {
		return strings.Replace(earlyPi("ruled"), "spec:\n", "spec:\n  sparkConf: {"+property+"}\n", 1)
	}
	for words, manifest := range map[string]string{
		`spec.executor.instances "2" is not at most 1, as max-executors of config-admission demands`: strings.Replace(earlyPi("ruled"), "instances: 1", "instances: 2", 1),
		"spec.sparkConf[spark.kubernetes.driver.labels] is denied by denied-spark-properties":        with(`spark.kubernetes.driver.labels: "a=b"`),
		`"other" is a service account that you may not use`:                                          with("spark.kubernetes.authenticate.driver.serviceAccountName: other"),
		"spec.sparkConf[spark.kubernetes.initContainer.image] has no effect":                         with("spark.kubernetes.initContainer.image: a"),
	} {
		var said string
		if err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			err := writer.try(manifest)
			said = fmt.Sprint(err, writer.warnings.take())
			return (err == nil || apierrors.IsForbidden(err)) && strings.Contains(said, words), nil
		}); err != nil {
			s.Errorf("no message says %q: %s", words, said)
		}
	}
	if err := writer.try(earlyPi("ruled")); err != nil || writer.warnings.take() != "" {
		s.Errorf("what breaks no rule is refused: %v", err)
	}
	s.must(s.Kube.CoreV1().ConfigMaps(s.ns).Delete(s.Context(), "config-admission", metav1.DeleteOptions{}))
}

func refuseEarly(s *env) {
	for name, field := range map[string]string{"client": "mode: client", "in-cluster": "mode: in-cluster-client"} {
		manifest := strings.Replace(strings.Replace(earlyPi(name), "  mode: cluster\n", "", 1), "spec:\n", "spec:\n  "+field+"\n", 1)
		s.applyEarly(manifest)
		failed := s.untilEarly(name, v1alpha1.FailedState)
		if message := failed.Status.AppState.ErrorMessage; !strings.Contains(message, "spec."+strings.Split(field, ":")[0]) {
			s.Errorf("%s failed by %q", name, message)
		}
		if drivers := s.driverHistory.driversOf(s.ns, name); len(drivers) > 0 {
			s.Errorf("%s has drivers", name)
		}
		services, err := s.Kube.CoreV1().Services(s.ns).List(s.Context(), metav1.ListOptions{LabelSelector: early.LabelAppID + "=" + early.AppID(failed)})
		s.must(err)
		if len(services.Items) > 0 {
			s.Errorf("%s has the Service %s", name, services.Items[0].Name)
		}
	}
	for spellings, fields := range map[string]string{
		"sparkConigMap and sparkConfigMap": "sparkConigMap: a, sparkConfigMap: b",
		"type and secretType":              "executor: {executorSecrets: [{name: a, path: /a, type: Generic, secretType: GCPServiceAccount}]}",
	} {
		manifest := "{apiVersion: spark-operator.k8s.io/v1alpha1, kind: SparkApplication, metadata: {name: twice}, spec: {" + fields + "}}"
		_, err := s.kubectl(manifest, "apply", "--filename=-")
		if err == nil || !strings.Contains(err.Error(), spellings+" are two spellings of one field") {
			s.Errorf("two spellings with two values: %v", err)
		}
	}
}
