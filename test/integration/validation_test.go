package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	certresources "knative.dev/pkg/webhook/certificates/resources"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// The parts share a control plane, and run one after the other: some change the webhook or the settings.
func TestWebhookValidatesWhatUsersApply(t *testing.T) {
	w := newWebhookEnv(t)
	w.untilValidating()
	w.inOrder(t, []webhookPart{
		{"each kind is refused with all causes, and warned", (*webhookEnv).eachKindIsValidated},
		{"what exists keeps its spec, and all else of it can change", (*webhookEnv).existingObjectsPass},
		{"other namespaces than those of the scope", (*webhookEnv).validatesItsScopeOnly},
		{"defaults of a namespace are known, and checked", (*webhookEnv).defaultsOfNamespaces},
		{"settings are refused before they are stored", (*webhookEnv).settingsAreRefused},
		{"quotas are compared by the setting", (*webhookEnv).quotasAreCompared},
		{"a large manifest", (*webhookEnv).largeManifest},
		{"a certificate that has run out is replaced", (*webhookEnv).certificateRunsOut},
		{"another replica answers", (*webhookEnv).anotherReplica},
		{"Fail, while it hangs or is down: users are refused, Firesteel is not", (*webhookEnv).failsWhileDown},
		{"Ignore, and it ends while applications are created", (*webhookEnv).endsUnderLoad},
	})
}

// refusable is a manifest of a kind that is refused, with a warning.
type refusable struct{ version, kind, spec string }

const (
	badApache   = "mainClass: Pi\njars: local:///pi.jar\nruntimeVersions: {sparkVersion: 4.1.1}\nsparkConf: {spark.driver.memory: 1.5g, spark.executor.memory: 1.5g, spark.app.name: x}\n"
	badKubeflow = "type: Scala\nmainClass: Pi\nmainApplicationFile: local:///pi.jar\nimage: spark\nsparkVersion: 4.1.1\ndriver: {memory: 1.5g}\nexecutor: {memory: 1.5g}\nsparkConf: {spark.app.name: x}\n"
)

// ofTemplate is a spec under a key.
func ofTemplate(key, spec string) string {
	return key + ":\n  " + strings.ReplaceAll(strings.TrimSuffix(spec, "\n"), "\n", "\n  ") + "\n"
}

func (w *webhookEnv) object(r refusable, name string) *unstructured.Unstructured {
	w.Helper()
	object := map[string]any{}
	w.must(yaml.Unmarshal([]byte(r.spec), &object))
	o := &unstructured.Unstructured{Object: map[string]any{"spec": object}}
	o.SetAPIVersion(r.version)
	o.SetKind(r.kind)
	o.SetName(name)
	return o
}

func (w *webhookEnv) apply(r refusable, name string, options ...string) error {
	w.Helper()
	object := w.object(r, name)
	_, err := w.user.resource(object).Create(w.Context(), object, metav1.CreateOptions{DryRun: options})
	return err
}

// causes are the fields for which an error refuses an object.
func causes(err error) (fields []string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

// untilValidating waits until the API server asks the webhook about manifests.
func (w *webhookEnv) untilValidating() {
	w.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		last = w.apply(refusable{"spark.apache.org/v1", "SparkApplication", badApache}, "asks", metav1.DryRunAll)
		return len(causes(last)) > 0, nil
	})
	if err != nil {
		w.Fatalf("%v: %v\n%s", err, last, w.Tail(20))
	}
}

func (w *webhookEnv) eachKindIsValidated() {
	ofApache := []string{"spec.sparkConf[spark.driver.memory]", "spec.sparkConf[spark.executor.memory]"}
	ofKubeflow := []string{"spec.driver.memory", "spec.executor.memory"}
	in := func(path string, fields []string) (all []string) {
		for _, field := range fields {
			all = append(all, strings.Replace(field, "spec.", path, 1))
		}
		return all
	}
	for _, test := range []struct {
		refusable
		want []string
	}{
		{refusable{"spark.apache.org/v1", "SparkApplication", badApache}, ofApache},
		{refusable{"spark.apache.org/v1beta1", "SparkApplication", badApache}, ofApache},
		{refusable{"sparkoperator.k8s.io/v1beta2", "SparkApplication", badKubeflow}, ofKubeflow},
		{refusable{"sparkoperator.k8s.io/v1beta1", "SparkApplication", badKubeflow}, ofKubeflow},
		{refusable{"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "schedule: '@daily'\n" + ofTemplate("template", badKubeflow)}, in("spec.template.", ofKubeflow)},
		{refusable{"firesteel.dev/v1alpha1", "ScheduledSparkApplication", "schedule: 0 0 30 2 *\n" + ofTemplate("template", ofTemplate("spec", badApache))},
			append([]string{"spec.schedule"}, in("spec.template.spec.", ofApache)...)},
	} {
		err := w.apply(test.refusable, "bad", metav1.DryRunAll)
		if diff := cmp.Diff(test.want, causes(err)); !apierrors.IsInvalid(err) || diff != "" {
			w.Errorf("%s %s: %v (-want +got): %s", test.version, test.kind, err, diff)
		}
		w.user.warnings.take()
		test.spec = strings.NewReplacer("1.5g", "1536m", "30 2", "28 2").Replace(test.spec)
		if err := w.apply(test.refusable, "good", metav1.DryRunAll); err != nil {
			w.Errorf("%s %s: %v", test.version, test.kind, err)
		}
		if given := w.user.warnings.take(); !strings.Contains(given, "sparkConf[spark.app.name]") {
			w.Errorf("%s %s: the warnings are %q", test.version, test.kind, given)
		}
	}
	cluster := refusable{"spark.apache.org/v1", "SparkCluster",
		"runtimeVersions: {sparkVersion: 4.1.1}\nclusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 3, maxWorkers: 2}}\n"}
	w.user.warnings.take()
	w.must(w.apply(cluster, "cluster", metav1.DryRunAll))
	if given := w.user.warnings.take(); !strings.Contains(given, "spec.clusterTolerations.instanceConfig.minWorkers 3 is above maxWorkers 2") {
		w.Errorf("the warnings are %q", given)
	}
	// kubectl prints all causes.
	text, err := yaml.Marshal(w.object(refusable{"spark.apache.org/v1", "SparkApplication", badApache}, "printed").Object)
	w.must(err)
	printed, err := w.kubectl(string(text), "apply", "--dry-run=server", "--filename=-")
	for _, part := range []string{`The SparkApplication "printed" is invalid`, `spec.sparkConf[spark.driver.memory]: "1.5g" is`, `spec.sparkConf[spark.executor.memory]: "1.5g" is`} {
		if err == nil || !strings.Contains(printed+err.Error(), part) {
			w.Errorf("kubectl does not print %q: %s %v", part, printed, err)
		}
	}
}

// scope sets the namespaces of the scope, and waits until that holds for the webhook.
func (w *webhookEnv) scope(namespaces string, validates bool) {
	w.Helper()
	w.must(w.Configure(context.WithoutCancel(w.Context()), "config-scope", map[string]string{"watched-namespaces": namespaces}))
	w.must(wait.PollUntilContextTimeout(context.WithoutCancel(w.Context()), pollInterval, timeout, true, func(context.Context) (bool, error) {
		err := w.apply(refusable{"spark.apache.org/v1", "SparkApplication", badApache}, "scope", metav1.DryRunAll)
		return (len(causes(err)) > 0) == validates, nil
	}))
}

func (w *webhookEnv) validatesItsScopeOnly() {
	w.scope("elsewhere", false)
	w.scope("elsewhere,"+w.ns, true)
	w.scope("", true)
}

func (w *webhookEnv) existingObjectsPass() {
	w.scope("elsewhere", false)
	w.create(App("refused").Conf("spark.driver.memory", "1.5g"))
	w.scope("", true)
	patch := func(body string, subresources ...string) error {
		_, err := w.apps().Patch(w.Context(), "refused", types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
		return err
	}
	if calls := w.called("SparkApplication", func() {
		w.must(patch(`{"metadata":{"finalizers":["example.com/a"],"labels":{"a":"b"},"annotations":{"firesteel.dev/launch":"x"}}}`))
		w.must(patch(`{"status":{"currentState":{"currentStateSummary":"Failed"}}}`, "status"))
	}); calls != 0 {
		w.Errorf("the webhook was called %d times", calls)
	}
	w.must(patch(`{"spec":{"driverArgs":["1"]}}`))
	if err := patch(`{"spec":{"sparkConf":{"spark.executor.memory":"1.5g"}}}`); !slices.Equal(causes(err), []string{"spec.sparkConf[spark.executor.memory]"}) {
		w.Errorf("an edit that adds an error: %v", err)
	}
	w.delete("refused")
	w.must(patch(`{"metadata":{"finalizers":[]},"spec":{"driverArgs":["2"]}}`))
	untilGone(w.env, w.apps(), "refused")
}

func (w *webhookEnv) defaultsOfNamespaces() {
	configMaps := w.user.kube.CoreV1().ConfigMaps(w.ns)
	defaults := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "firesteel-defaults", Labels: map[string]string{"firesteel.dev/defaults": "enabled"}},
		Data:       map[string]string{"spark-defaults.conf": "spark.executor.memory 1.5g", "driver-service-account": "any"},
	}
	_, err := configMaps.Create(w.Context(), defaults, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "remove it, since only config-defaults may set it") {
		w.Errorf("the error is %v", err)
	}
	delete(defaults.Data, "driver-service-account")
	_, err = configMaps.Create(w.Context(), defaults, metav1.CreateOptions{})
	w.must(err)
	refused := func() bool {
		err := w.apply(refusable{"spark.apache.org/v1", "SparkApplication", strings.ReplaceAll(badApache, "spark.executor.memory: 1.5g, ", "")}, "defaults", metav1.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "the operator's default spark.executor.memory")
	}
	until := func(want bool) {
		w.Helper()
		w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { return refused() == want, nil }))
	}
	until(true)
	w.must(configMaps.Delete(w.Context(), defaults.Name, metav1.DeleteOptions{}))
	until(false)
}

func (w *webhookEnv) settingsAreRefused() {
	for name, data := range map[string]map[string]string{
		"config-scope":           {"watched-namespaces": "A_B"},
		"config-admission":       {"quota": "maybe"},
		"config-kubeflow":        {"no-such-key": "x"},
		"config-leader-election": {"buckets": "many"},
	} {
		err := w.Configure(w.Context(), name, data)
		for key, value := range data {
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), key) {
				w.Errorf("%s with %s: %s: the error is %v", name, key, value, err)
			}
		}
	}
	if calls := w.called("ConfigMap", func() {
		w.must(w.ConfigureIn(w.Context(), w.ns, w.plainConfigMap("config-scope"), map[string]string{"watched-namespaces": "A_B"}))
	}); calls != 0 {
		w.Errorf("for another namespace the webhook was called %d times", calls)
	}
	w.must(w.Configure(w.Context(), "config-admission", map[string]string{"quota": "hold"}))
	w.must(w.Configure(w.Context(), "config-admission", map[string]string{"quota": ""}))
}

// plainConfigMap creates an empty ConfigMap in the namespace of the test.
func (w *webhookEnv) plainConfigMap(name string) string {
	w.Helper()
	_, err := w.Kube.CoreV1().ConfigMaps(w.ns).Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	w.must(err)
	return name
}

func (w *webhookEnv) quotasAreCompared() {
	good := func(instances int) refusable {
		return refusable{"spark.apache.org/v1", "SparkApplication",
			fmt.Sprintf("mainClass: Pi\njars: local:///pi.jar\nruntimeVersions: {sparkVersion: 4.1.1}\nsparkConf: {spark.executor.instances: '%d'}\n", instances)}
	}
	// answer is what the user reads: an error or a warning.
	answer := func(instances int) string {
		w.user.warnings.take()
		if err := w.apply(good(instances), "compared", metav1.DryRunAll); err != nil {
			return err.Error()
		}
		return "admitted: " + w.user.warnings.take()
	}
	until := func(instances int, parts ...string) {
		w.Helper()
		var last string
		if err := wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			last = answer(instances)
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(last, part) }), nil
		}); err != nil {
			w.Fatalf("with %d executors no message says %q: %s", instances, parts, last)
		}
	}
	w.limitedTo(corev1.ResourceList{"pods": resource.MustParse("6")})
	w.Cleanup(func() {
		w.must(w.Kube.CoreV1().ResourceQuotas(w.ns).Delete(context.Background(), "team", metav1.DeleteOptions{}))
		w.must(w.Configure(context.Background(), "config-admission", map[string]string{"quota": ""}))
	})
	until(9, "admitted")
	w.must(w.Configure(w.Context(), "config-admission", map[string]string{"quota": "hold"}))
	tooLarge := fmt.Sprintf("failed to validate resource quota %q: SparkApplication %s/compared requests too much of pods (10 requested, 6 available)", w.ns+"/team", w.ns)
	until(9, tooLarge)
	until(2, "admitted")
	// No controller runs: it stays unfinished.
	w.must(w.apply(good(3), "unfinished"))
	until(2, "admitted", "It will wait for room: ResourceQuota "+w.ns+"/team lacks pods (3 requested, 2 available of 6)")
	w.must(w.Configure(w.Context(), "config-admission", map[string]string{"quota": "fail"}))
	until(2, "requests too much of pods (3 requested, 2 available)")
	until(1, "admitted")
	w.delete("unfinished")
	until(2, "admitted")
}

func (w *webhookEnv) largeManifest() {
	large := func(bytes int) error {
		return w.apply(refusable{"spark.apache.org/v1", "SparkApplication", badApache + "driverArgs: [" + strings.Repeat("x", bytes) + "]\n"}, "large")
	}
	if err := large(1 << 20); !slices.Contains(causes(err), "spec.sparkConf[spark.driver.memory]") {
		w.Errorf("1 MiB: %.300v", err)
	}
	if err := large(3<<20 - 1<<10); err == nil {
		w.Error("3 MiB are stored")
	}
	w.untilValidating()
}

func (w *webhookEnv) certificateRunsOut() {
	before := w.authority()
	key, certificate, authority, err := certresources.CreateCerts(w.Context(), "webhook", firesteel.SystemNamespace, time.Now().Add(-time.Hour))
	w.must(err)
	secrets := w.Kube.CoreV1().Secrets(firesteel.SystemNamespace)
	secret, err := secrets.Get(w.Context(), "webhook-certificates", metav1.GetOptions{})
	w.must(err)
	secret.Data = map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: certificate, certresources.CACert: authority}
	_, err = secrets.Update(w.Context(), secret, metav1.UpdateOptions{})
	w.must(err)
	w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		now := w.authority()
		return now != before && now != string(authority), nil
	}))
	w.untilValidating()
}

// authority is the certificate of the authority in the configuration.
func (w *webhookEnv) authority() string {
	w.Helper()
	found, err := w.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(w.Context(), firesteel.ValidationConfiguration, metav1.GetOptions{})
	w.must(err)
	for i := range found.Webhooks {
		if string(found.Webhooks[i].ClientConfig.CABundle) != string(found.Webhooks[0].ClientConfig.CABundle) {
			w.Errorf("%s has another authority", found.Webhooks[i].Name)
		}
	}
	return string(found.Webhooks[0].ClientConfig.CABundle)
}

func (w *webhookEnv) anotherReplica() {
	replica, err := w.Replica(context.WithoutCancel(w.Context()), "webhook-replica")
	w.must(err)
	w.processes.add(replica.Process)
	w.logOnFailure(replica.Process)
	w.must(replica.Route(w.Context()))
	w.untilValidating()
	w.Webhook.Kill()
	w.untilValidating()
	w.Webhook = replica
}

func (w *webhookEnv) failurePolicy(policy admissionregistrationv1.FailurePolicyType) {
	w.Helper()
	w.must(w.ChangeValidation(context.WithoutCancel(w.Context()), func(c *admissionregistrationv1.ValidatingWebhookConfiguration) { c.Webhooks[0].FailurePolicy = &policy }))
}

// restart starts the webhook again after it was killed.
func (w *webhookEnv) restart() {
	w.Helper()
	restarted, err := w.Webhook.Restart()
	w.must(err)
	w.processes.add(restarted)
	w.Webhook.Process = restarted
	w.untilValidating()
}

func (w *webhookEnv) failsWhileDown() {
	process := w.ownController(controller{sink: w.sink.URL()})
	w.untilReady(process)
	w.create(App("before"))
	w.create(App("hanging"))
	schedule := refusable{
		"firesteel.dev/v1alpha1", "ScheduledSparkApplication",
		"schedule: '@every 1s'\n" + ofTemplate("template", ofTemplate("spec", strings.ReplaceAll(badApache, "1.5g", "1536m"))),
	}
	w.must(w.apply(schedule, "each"))
	w.failurePolicy(admissionregistrationv1.Fail)
	untilRefused := func(words string) {
		w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
			_, err := w.apps().Create(ctx, App("waits").Obj(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "manifests.firesteel.dev") && strings.Contains(err.Error(), words), nil
		}))
	}
	w.must(w.Signal(syscall.SIGSTOP))
	w.answersWithin(1)
	untilRefused("deadline exceeded")
	w.run("hanging", 0)
	w.Webhook.Kill()
	untilRefused("connection refused")
	runs := func() int {
		found, err := w.apps().List(w.Context(), metav1.ListOptions{LabelSelector: "firesteel.dev/schedule=each"})
		w.must(err)
		return len(found.Items)
	}
	// The handler of another installation has another account.
	run, controls := App("of-another-handler").Obj(), true
	run.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: schedule.version, Kind: schedule.kind, Name: "each", UID: "1", Controller: &controls,
	}}
	_, err := w.apps().Create(w.Context(), run, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	w.must(err)
	before := runs()
	w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { return runs() > before, nil }))
	w.must(w.user.resource(w.object(schedule, "each")).Delete(w.Context(), "each", metav1.DeleteOptions{}))
	w.run("before", 0) // with its finalizers and statuses
	w.delete("before")
	untilGone(w.env, w.apps(), "before")
	w.delete("hanging")
	w.failurePolicy(admissionregistrationv1.Ignore)
	w.answersWithin(30)
	w.untilAdmitted(func(ctx context.Context, tried metav1.CreateOptions) error {
		_, err := w.apps().Create(ctx, App("waits").Obj(), tried)
		return err
	})
	w.restart()
}

// answersWithin sets for how many seconds the API server waits for an answer about a manifest.
func (w *webhookEnv) answersWithin(seconds int32) {
	w.Helper()
	w.must(w.ChangeValidation(context.WithoutCancel(w.Context()), func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
		c.Webhooks[0].TimeoutSeconds = &seconds
	}))
}

func (w *webhookEnv) endsUnderLoad() {
	process := w.ownController(controller{sink: w.sink.URL()})
	w.untilReady(process)
	const count, killedAt = 12, 4
	for i := range count {
		if i == killedAt {
			w.Webhook.Kill()
		}
		w.create(App(fmt.Sprintf("load-%d", i)))
	}
	// What the webhook would refuse passes, and fails by the controller's word.
	w.create(App("bad").Conf("spark.driver.memory", "1.5g"))
	failed := w.untilState("bad", "ResourceReleased")
	if text := fmt.Sprint(failed.Status.Conditions); !strings.Contains(text, "InvalidSpec") || !strings.Contains(text, "spark.driver.memory") {
		w.Errorf("its conditions are %s", text)
	}
	for i := range count {
		w.run(fmt.Sprintf("load-%d", i), 0)
	}
	w.restart()
	for i := range count {
		w.delete(fmt.Sprintf("load-%d", i))
	}
	w.delete("bad")
}
