package admission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	firesteelfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

// quotaEnv is a validator with quotas in the namespace team-a.
type quotaEnv struct {
	*testing.T
	*admission.Validator
	kube   *fake.Clientset
	spark  *firesteelfake.Clientset
	quotas *admission.Quotas
}

func newQuotaEnv(t *testing.T, mode config.QuotaMode, objects ...runtime.Object) *quotaEnv {
	e := &quotaEnv{T: t, kube: fake.NewClientset(), spark: firesteelfake.NewSimpleClientset()}
	for _, object := range objects {
		if err := e.kube.Tracker().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	store := storeWith(t, map[string]map[string]string{"config-admission": {"quota": string(mode)}, "config-defaults": {"driver-service-account": "spark"}, "config-kubeflow": {"driver-service-account": "spark"}})
	now := func() time.Time { return time.Unix(0, 0) }
	e.quotas = admission.NewQuotas(t.Context(), e.kube, e.spark, zap.NewNop().Sugar(), now)
	e.quotas.Configure(store.Load(), store.Load)
	e.Validator = &admission.Validator{Settings: store.Load, Installation: installation, Quotas: e.quotas.Of, Admitted: e.quotas.Admitted, Now: now}
	if mode != config.QuotaOff {
		e.until("quotas are known", func() bool { _, known := e.quotas.Of("team-a"); return known })
		e.until("all that is listed is watched", func() bool { return fakeclient.WatchesAll(&e.kube.Fake) && fakeclient.WatchesAll(&e.spark.Fake) })
	}
	return e
}

func (e *quotaEnv) until(what string, holds func() bool) {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		e.Fatalf("waited until %s: %v", what, err)
	}
}

// limits is a quota of which something is used.
func limits(name string, hard, used map[corev1.ResourceName]string) *corev1.ResourceQuota {
	list := func(texts map[corev1.ResourceName]string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for name, text := range texts {
			list[name] = resource.MustParse(text)
		}
		return list
	}
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: list(hard)},
		Status: corev1.ResourceQuotaStatus{Hard: list(hard), Used: list(used)},
	}
}

type amounts = map[corev1.ResourceName]string

// example is the application of two executors that requests 3 CPUs and 3712 MiB, with more properties.
func example(properties string) string {
	return `{"mainClass":"Pi","jars":"local:///pi.jar","runtimeVersions":{"sparkVersion":"4.0.1"},"sparkConf":{
		"spark.driver.memory":"512m","spark.executor.memory":"1g","spark.executor.instances":"2"` + properties + `}}`
}

func edited(before, after string) *admissionv1.AdmissionRequest {
	request := applied(after)
	request.Operation, request.OldObject.Raw = admissionv1.Update, []byte(manifestOf(before))
	return request
}

// kubeflow is the application of the Kubeflow API of two executors that requests 3 CPUs.
const kubeflow = `{"type":"Scala","mainClass":"Pi","mainApplicationFile":"local:///pi.jar","image":"spark","sparkVersion":"4.0.1",
	"driver":{"cores":1,"memory":"512m"},"executor":{"cores":1,"instances":2,"memory":"1g"}}`

// with is a spec with more fields.
func with(spec, fields string) string { return strings.TrimSuffix(spec, "}") + "," + fields + "}" }

// ofKubeflow is an edit of an application of the Kubeflow API.
func ofKubeflow(before, after string) *admissionv1.AdmissionRequest {
	request := edited(before, after)
	request.Kind.Group, request.Kind.Version, request.Resource.Group, request.Resource.Version = "sparkoperator.k8s.io", "v1beta2", "sparkoperator.k8s.io", "v1beta2"
	for _, raw := range []*[]byte{&request.Object.Raw, &request.OldObject.Raw} {
		*raw = []byte(strings.Replace(string(*raw), "spark.apache.org/v1", "sparkoperator.k8s.io/v1beta2", 1))
	}
	return request
}

func running(request *admissionv1.AdmissionRequest, state lifecycle.State) *admissionv1.AdmissionRequest {
	record := fmt.Sprintf(`,"status":{"firesteel":{"attempt":{"id":0,"since":null},"sequence":1,"acknowledged":0,"transitions":[{"sequence":1,"state":%q,"time":null,"attempt":0}]}}}`, state)
	for _, raw := range []*[]byte{&request.Object.Raw, &request.OldObject.Raw} {
		*raw = []byte(strings.TrimSuffix(string(*raw), "}") + record)
	}
	return request
}

func TestQuotasAreComparedByTheSetting(t *testing.T) {
	const tooLarge = `failed to validate resource quota "team-a/q": SparkApplication team-a/pi requests `
	full := amounts{"requests.cpu": "3", "requests.memory": "3712Mi"}
	schedule := func(text string) *admissionv1.AdmissionRequest {
		request := applied("")
		request.Kind.Kind, request.Resource.Group, request.Resource.Resource = "ScheduledSparkApplication", "firesteel.dev", "scheduledsparkapplications"
		request.Object.Raw = []byte(`{"apiVersion":"firesteel.dev/v1alpha1","kind":"ScheduledSparkApplication","metadata":{"name":"pi"},"spec":{"schedule":"@daily","template":{"spec":` + text + `}}}`)
		return request
	}
	cluster := applied("")
	cluster.Kind.Kind, cluster.Resource.Resource = "SparkCluster", "sparkclusters"
	cluster.Object.Raw = []byte(`{"apiVersion":"spark.apache.org/v1","kind":"SparkCluster","metadata":{"name":"pi"},"spec":{"runtimeVersions":{"sparkVersion":"4.0.1"},
		"clusterTolerations":{"instanceConfig":{"initWorkers":3,"minWorkers":3,"maxWorkers":3}}}}`)
	resumed, larger, suspended := applied(""), applied(""), applied("")
	for _, request := range []*admissionv1.AdmissionRequest{resumed, larger, suspended} {
		request.Operation, request.Kind.Kind, request.Resource.Resource = admissionv1.Update, "SparkCluster", "sparkclusters"
	}
	resumed.Object.Raw = cluster.Object.Raw
	resumed.OldObject.Raw = []byte(strings.Replace(string(cluster.Object.Raw), `"spec":{`, `"spec":{"suspend":true,`, 1))
	larger.Object.Raw = cluster.Object.Raw
	larger.OldObject.Raw = []byte(strings.ReplaceAll(string(cluster.Object.Raw), "3", "2"))
	suspended.Object.Raw, suspended.OldObject.Raw = resumed.OldObject.Raw, resumed.Object.Raw
	for name, test := range map[string]struct {
		mode    config.QuotaMode
		quota   *corev1.ResourceQuota
		request *admissionv1.AdmissionRequest
		// refused begins the message; empty if it is admitted. warned is in the warnings; empty if there are none.
		refused, warned string
	}{
		"D1: it fits": {mode: config.QuotaFail, quota: limits("q", amounts{"memory": "3800Mi", "cpu": "3"}, nil), request: applied(example(""))},
		"D1: too much memory": {
			mode: config.QuotaFail, quota: limits("q", amounts{"memory": "3700Mi"}, nil), request: applied(example("")),
			refused: tooLarge + "too much memory (3712Mi requested, 3700Mi available).",
		},
		"D3: a number of memory without a unit is of MiB": {
			mode: config.QuotaFail, quota: limits("q", amounts{"memory": "3711Mi"}, nil),
			request: applied(strings.Replace(example(""), "1g", "1024", 1)),
			refused: tooLarge + "too much memory (3712Mi requested, 3711Mi available).",
		},
		"D2: too many cores": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "2"}, nil), request: applied(example("")),
			refused: tooLarge + "too many cores (3.000 cores requested, 2.000 available).",
		},
		"D2 with hold: exceeds hard by itself": {
			mode: config.QuotaHold, quota: limits("q", amounts{"requests.cpu": "2"}, nil), request: applied(example("")),
			refused: tooLarge + "too many cores (3.000 cores requested, 2.000 available).",
		},
		"used by others, with fail": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "2"}), request: applied(example("")),
			refused: tooLarge + "too many cores (3.000 cores requested, 2.000 available).",
		},
		"used by others, with hold": {
			mode: config.QuotaHold, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "2"}), request: applied(example("")),
			warned: "It will wait for room: ResourceQuota team-a/q lacks requests.cpu (3 requested, 2 available of 4).",
		},
		"off": {mode: config.QuotaOff, quota: limits("q", amounts{"requests.cpu": "1"}, nil), request: applied(example(""))},
		"D4: dynamic allocation that may ask for more than there is": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "11"}, nil),
			request: applied(example(`,"spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.minExecutors":"1","spark.dynamicAllocation.maxExecutors":"100"`)),
			warned:  "Dynamic allocation may ask for 100 executors, and there is never room for as many",
		},
		"D4: dynamic allocation with too large a minimum": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "11"}, nil),
			request: applied(example(`,"spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.minExecutors":"20","spark.dynamicAllocation.maxExecutors":"100"`)),
			refused: tooLarge + "too much of pods (21 requested, 11 available)",
		},
		"D5: an edit that asks for no more": {
			mode: config.QuotaFail, quota: limits("q", full, full),
			request: running(edited(example(""), example(`,"spark.app.name":"x"`)), lifecycle.RunningHealthy), warned: "spark.app.name",
		},
		"D5: an edit that adds an executor": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(edited(example(""), strings.Replace(example(""), `instances":"2"`, `instances":"3"`, 1)), lifecycle.RunningHealthy),
			refused: tooLarge + "too many cores (1.000 cores requested, 0.000 available).",
		},
		"an edit of one that has ended, which never runs again": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(edited(example(""), example(`,"spark.app.name":"x"`)), lifecycle.ResourceReleased), warned: "spark.app.name",
		},
		"an edit that runs one again that has ended": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(ofKubeflow(kubeflow, strings.Replace(kubeflow, `"1g"`, `"2g"`, 1)), lifecycle.ResourceReleased),
			refused: tooLarge + "too many cores (3.000 cores requested, 0.000 available).",
		},
		"an edit of one that has ended, and stays so": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(ofKubeflow(kubeflow, with(kubeflow, `"timeToLiveSeconds":60`)), lifecycle.ResourceReleased),
		},
		"a harmless edit of a suspended one that has become too large": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "2"}, nil),
			request: running(ofKubeflow(with(kubeflow, `"suspend":true`), with(kubeflow, `"suspend":true,"timeToLiveSeconds":60`)), lifecycle.Suspended),
		},
		"it is resumed": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(ofKubeflow(with(kubeflow, `"suspend":true`), kubeflow), lifecycle.Suspended),
			refused: tooLarge + "too many cores (3.000 cores requested, 0.000 available).",
		},
		"it is resumed before its first launch": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: edited(with(example(""), `"suspend":true`), example("")),
			refused: tooLarge + "too many cores (3.000 cores requested, 0.000 available).",
		},
		"it is resumed while it waits for its launch": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(edited(with(example(""), `"suspend":true`), example("")), lifecycle.Submitted),
			refused: tooLarge + "too many cores (3.000 cores requested, 0.000 available).",
		},
		"its suspension is taken back while it runs": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: running(edited(with(example(""), `"suspend":true`), example("")), lifecycle.RunningHealthy),
		},
		"a cluster is resumed": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "4"}, amounts{"pods": "3"}), request: resumed,
			refused: `failed to validate resource quota "team-a/q": SparkCluster team-a/pi requests too much of pods (4 requested, 1 available)`,
		},
		"an edit that creates a cluster again that has ended": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "4"}, amounts{"pods": "3"}), request: running(larger, lifecycle.ResourceReleased),
			refused: `failed to validate resource quota "team-a/q": SparkCluster team-a/pi requests too much of pods (4 requested, 1 available)`,
		},
		"a cluster that has ended, and is only suspended": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "4"}, amounts{"pods": "3"}), request: running(suspended, lifecycle.ResourceReleased),
		},
		"a cluster waits for room": {
			mode: config.QuotaHold, quota: limits("q", amounts{"pods": "4"}, amounts{"pods": "3"}), request: resumed,
			warned: "It will wait for room: ResourceQuota team-a/q lacks pods (4 requested, 1 available of 4).",
		},
		"a schedule is compared with hard only": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}), request: schedule(example("")),
		},
		"a schedule that never fits": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "2"}, nil), request: schedule(example("")),
			refused: `failed to validate resource quota "team-a/q": ScheduledSparkApplication team-a/pi requests too many cores`,
		},
		"a suspended application is compared with hard only": {
			mode: config.QuotaFail, quota: limits("q", amounts{"requests.cpu": "4"}, amounts{"requests.cpu": "4"}),
			request: applied(strings.Replace(example(""), `{"mainClass"`, `{"suspend":true,"mainClass"`, 1)),
		},
		"a cluster": {
			mode: config.QuotaFail, quota: limits("q", amounts{"pods": "3"}, nil), request: cluster,
			refused: `failed to validate resource quota "team-a/q": SparkCluster team-a/pi requests too much of pods (4 requested, 3 available)`,
		},
		"no quota in the namespace": {mode: config.QuotaFail, quota: func() *corev1.ResourceQuota {
			q := limits("q", amounts{"pods": "1"}, nil)
			q.Namespace = "team-b"
			return q
		}(), request: applied(example(""))},
		"D6: a scope of others": {mode: config.QuotaFail, quota: func() *corev1.ResourceQuota {
			q := limits("q", amounts{"pods": "1"}, nil)
			q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
			return q
		}(), request: applied(example(""))},
		"D6: a scope of Spark's Pods": {mode: config.QuotaFail, quota: func() *corev1.ResourceQuota {
			q := limits("q", amounts{"pods": "1"}, nil)
			q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotTerminating}
			return q
		}(), request: applied(example("")), refused: tooLarge + "too much of pods"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newQuotaEnv(t, test.mode, test.quota)
			response := e.Admit(t.Context(), test.request)
			switch {
			case response.Allowed != (test.refused == ""):
				t.Errorf("the answer is %v", response)
			case !response.Allowed && (response.Result.Code != 403 || !strings.HasPrefix(response.Result.Message, test.refused)):
				t.Errorf("it is refused with %d %s, want %s", response.Result.Code, response.Result.Message, test.refused)
			case test.warned == "" && len(response.Warnings) > 0, !strings.Contains(fmt.Sprint(response.Warnings), test.warned):
				t.Errorf("the warnings are %v, want %s", response.Warnings, test.warned)
			}
			if test.mode == config.QuotaOff && len(e.kube.Actions())+len(e.spark.Actions()) > 0 {
				t.Errorf("it reads %v %v", e.kube.Actions(), e.spark.Actions())
			}
		})
	}
}

// store creates or changes an application of the example in a state.
func (e *quotaEnv) store(name string, state lifecycle.State, change func(*sparkv1.SparkApplication)) {
	e.Helper()
	app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	app.Spec.MainClass, app.Spec.Jars, app.Spec.RuntimeVersions.SparkVersion = "Pi", "local:///pi.jar", "4.0.1"
	app.Spec.SparkConf = map[string]string{"spark.executor.instances": "2"}
	if state != "" {
		app.Status.Firesteel = &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: string(state)}}}
	}
	change(app)
	apps := e.spark.SparkV1().SparkApplications("team-a")
	if _, err := apps.Update(e.Context(), app, metav1.UpdateOptions{}); err == nil {
		return
	}
	if _, err := apps.Create(e.Context(), app, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
}

// reserved is how many Pods are about to be created in the namespace.
func (e *quotaEnv) reserved() (pods int64) {
	known, _ := e.quotas.Of("team-a")
	for _, app := range known.Reserved {
		for _, pods2 := range app.Claim.Pods {
			pods += pods2.Count
		}
	}
	return pods
}

func TestUnfinishedApplicationsCountUntilTheirPodsExist(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaFail, limits("q", amounts{"pods": "6"}, nil))
	plain := func(*sparkv1.SparkApplication) {}
	for _, step := range []struct {
		name   string
		state  lifecycle.State
		change func(*sparkv1.SparkApplication)
		want   int64
	}{
		{"a", "", plain, 3},
		{"b", lifecycle.Submitted, plain, 6},
		{"b", lifecycle.DriverRequested, plain, 5},
		{"b", lifecycle.RunningHealthy, plain, 3},
		{"b", lifecycle.RunningWithBelowThresholdExecutors, plain, 3},
		{"b", lifecycle.ScheduledToRestart, plain, 6},
		{"b", lifecycle.ResourceReleased, plain, 3},
		{"c", "", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = true }, 3},
		{"c", "", plain, 6},
		{"c", "", func(app *sparkv1.SparkApplication) { now := metav1.Now(); app.DeletionTimestamp = &now }, 3},
		// It is refused.
		{"d", "", func(app *sparkv1.SparkApplication) { app.Spec.DeploymentMode = sparkv1.ClientMode; app.Spec.Jars = "" }, 3},
		{"e", lifecycle.DriverRequested, func(app *sparkv1.SparkApplication) {
			app.Status.Firesteel.Quota = &v1alpha1.QuotaClaim{Pods: []v1alpha1.QuotaPods{{Count: 1}, {Count: 7}}}
		}, 10},
		{"e", lifecycle.Failed, plain, 3},
	} {
		e.store(step.name, step.state, step.change)
		e.until(fmt.Sprintf("%d Pods are about to be created after %s is %q", step.want, step.name, step.state),
			func() bool { return e.reserved() == step.want })
	}
	if response := e.Admit(t.Context(), applied(example(""))); !response.Allowed {
		t.Errorf("beside one it does not fit: %v", response)
	}
	e.store("b", "", plain)
	e.until("both count", func() bool { return e.reserved() == 6 })
	if response := e.Admit(t.Context(), applied(example(""))); response.Allowed || !strings.Contains(response.Result.Message, "pods (3 requested, 0 available)") {
		t.Errorf("beside both it fits: %v", response)
	}
	if err := e.spark.SparkV1().SparkApplications("team-a").Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.until("one is gone", func() bool { return e.reserved() == 3 })
}

func TestClustersCountUntilRoomIsReservedForThem(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaFail, limits("q", amounts{"pods": "6"}, nil))
	client := e.spark.SparkV1().SparkClusters("team-a")
	c := &sparkv1.SparkCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c"}}
	c.Spec.RuntimeVersions.SparkVersion = "4.0.1"
	c.Spec.ClusterTolerations.InstanceConfig = sparkv1.WorkerInstanceConfig{InitWorkers: 3, MinWorkers: 3, MaxWorkers: 3}
	if _, err := client.Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	now := metav1.NowMicro()
	for _, step := range []struct {
		name   string
		change func(*sparkv1.SparkCluster)
		want   int64
	}{
		{"it is new", func(*sparkv1.SparkCluster) {}, 4},
		{"it is suspended", func(c *sparkv1.SparkCluster) { c.Spec.Suspend = true }, 0},
		{"it waits", func(c *sparkv1.SparkCluster) {
			c.Spec.Suspend = false
			c.Status.Firesteel = &v1alpha1.Record{
				Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: "Submitted"}}, Quota: &v1alpha1.QuotaClaim{},
			}
		}, 4},
		{"its room is reserved", func(c *sparkv1.SparkCluster) { c.Status.Firesteel.Quota.Reserved = &now }, 0},
		{"it waits again", func(c *sparkv1.SparkCluster) { c.Status.Firesteel.Quota.Reserved = nil }, 4},
		{"it runs", func(c *sparkv1.SparkCluster) { c.Status.Firesteel.Transitions[0].State = "RunningHealthy" }, 0},
	} {
		step.change(c)
		if _, err := client.Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		e.until(fmt.Sprintf("%d Pods are about to be created when %s", step.want, step.name), func() bool { return e.reserved() == step.want })
	}
}

func TestQuotasCountPodsAsTheAPIServerAdmitsThem(t *testing.T) {
	ofClass := limits("q", amounts{"pods": "2"}, nil)
	ofClass.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
		{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"usual"}},
	}}
	overhead := with(example(""), `"driverSpec":{"podTemplateSpec":{"spec":{"runtimeClassName":"micro-vm"}}}`)
	for name, test := range map[string]struct {
		quota *corev1.ResourceQuota
		spec  string
		// refused is in the message; empty if it is admitted.
		refused string
	}{
		"the default priority class is in the scope of a quota": {ofClass, example(""), "too much of pods (3 requested, 2 available)"},
		"the overhead of a runtime class counts": {
			limits("q", amounts{"requests.cpu": "3"}, nil), overhead, "too many cores (3.250 cores requested, 3.000 available)",
		},
		"a Pod without a runtime class has none": {limits("q", amounts{"requests.cpu": "3"}, nil), example(""), ""},
	} {
		e := newQuotaEnv(t, config.QuotaFail, test.quota, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, GlobalDefault: true}, &nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "micro-vm"}, Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("250m")}},
		})
		response := e.Admit(t.Context(), applied(test.spec))
		if response.Allowed != (test.refused == "") || !response.Allowed && !strings.Contains(response.Result.Message, test.refused) {
			t.Errorf("%s: the answer is %v", name, response)
		}
	}
}

func TestQuotasAreReadOnlyWhileTheSettingNeedsThem(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaHold, limits("q", amounts{"pods": "6"}, nil))
	e.store("a", "", func(*sparkv1.SparkApplication) {})
	e.until("it counts", func() bool { return e.reserved() == 3 })
	off := storeWith(t, nil)
	e.quotas.Configure(off.Load(), off.Load)
	if _, known := e.quotas.Of("team-a"); known {
		t.Error("quotas are known while the setting is off")
	}
	// An object that is compared meanwhile passes with a warning.
	if response := e.Admit(t.Context(), applied(example(""))); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "has not compared") {
		t.Errorf("the answer is %v", response)
	}
}

func TestQuotasThatMayNotBeReadAreUnknown(t *testing.T) {
	kube := fake.NewClientset()
	kube.PrependReactor("list", "resourcequotas", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("resourcequotas"), "", nil)
	})
	kube.PrependWatchReactor("resourcequotas", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("resourcequotas"), "", nil)
	})
	store := storeWith(t, map[string]map[string]string{"config-admission": {"quota": "fail"}, "config-defaults": {"driver-service-account": "spark"}})
	now := func() time.Time { return time.Unix(0, 0) }
	core, logs := observer.New(zapcore.WarnLevel)
	e := &quotaEnv{T: t, quotas: admission.NewQuotas(t.Context(), kube, firesteelfake.NewSimpleClientset(), zap.New(core).Sugar(), now)}
	e.Validator = &admission.Validator{Settings: store.Load, Installation: installation, Quotas: e.quotas.Of, Admitted: e.quotas.Admitted, Now: now}
	e.quotas.Configure(store.Load(), store.Load)
	e.until("it is logged", func() bool {
		return logs.FilterMessage("quota of config-admission needs the right to list and watch").Len() == 1
	})
	if response := e.Admit(t.Context(), applied(example(""))); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "has not compared") {
		t.Errorf("the answer is %v", response)
	}
}

func TestAPanicOnAnApplicationDoesNotEndTheProcess(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaOff, limits("q", amounts{"pods": "6"}, nil))
	on := storeWith(t, map[string]map[string]string{"config-admission": {"quota": "fail"}})
	e.store("a", "", func(*sparkv1.SparkApplication) {})
	e.quotas.Configure(on.Load(), func() *config.Config { panic("of the test") })
	e.until("quotas are known", func() bool { _, known := e.quotas.Of("team-a"); return known })
	if reserved := e.reserved(); reserved != 0 {
		t.Errorf("%d Pods are about to be created", reserved)
	}
}

func TestQuotasAreComparedInTheOrderOfTheirNames(t *testing.T) {
	var quotas []runtime.Object
	for _, name := range []string{"c", "a", "e", "b", "d"} {
		quotas = append(quotas, limits(name, amounts{"pods": "1"}, nil))
	}
	e := newQuotaEnv(t, config.QuotaFail, quotas...)
	for range 20 {
		if response := e.Admit(t.Context(), applied(example(""))); response.Allowed || !strings.Contains(response.Result.Message, `"team-a/a"`) {
			t.Fatalf("the answer is %v", response)
		}
	}
}
