package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// Bad input is reported on the object, with the problem and the remedy, and does not affect other applications.
func TestBadInputIsReportedAndAffectsNoOtherApplication(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad *application
		// before is what exists when the bad application is created; the good one runs by then.
		before func(*env)
		// reason is the condition's, says are parts of its message, and event is the reason of the Kubernetes Event.
		reason string
		says   []string
		event  string
	}{
		"nothing to run": {
			bad: App("bad").Main("", ""), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"mainClass is missing", "name the class"},
		},
		"a file that only the submitter has": {
			bad: App("bad").Main("Main", "/home/me/my.jar"), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{`"/home/me/my.jar"`, "write local:///path"},
		},
		"a label that the submission sets": {
			bad: App("bad").Conf("spark.kubernetes.driver.label.spark-role", "boss"), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spark.kubernetes.driver.label.spark-role", `"boss"`, "leave it out"},
		},
		"an address that the submission sets": {
			bad: App("bad").Conf("spark.driver.bindAddress", "0.0.0.0"), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spark.driver.bindAddress", `"0.0.0.0"`, "leave it out"},
		},
		"references that produce more than memory holds": {
			bad:    App("bad").Conf("spark.kubernetes.container.image", strings.Repeat("${spark.x}", 90)).Conf("spark.x", strings.Repeat("x", 400<<10)),
			reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spark.kubernetes.container.image", "${spark.x}", "refers to others whose values", "write the value itself"},
		},
		"references that double": {
			bad: doublings(App("bad"), 40), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spark.kubernetes.container.image", "holds too many references", "write the value itself"},
		},
		"more volumes than a config map holds": {
			bad: volumes(App("bad"), 8000, "emptyDir", "mount.path=/v#", "options.sizeLimit=1Gi"), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spec.sparkConf", "a config map holds 1048576", "put what is large into files"},
		},
		"more claims than are made": {
			bad:    volumes(App("bad"), 300, "persistentVolumeClaim", "mount.path=/v#", "options.claimName=OnDemand", "options.storageClass=a", "options.sizeLimit=1Gi"),
			reason: "InvalidSpec", event: "SchedulingFailure", says: []string{"spec asks for 30", "256 can be made", "ask for fewer"},
		},
		"a quantity of a property that is not bounded": {
			bad: App("bad").Conf("spark.kubernetes.driver.limit.cores", "1e999999999"), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spark.kubernetes.driver.limit.cores", `"1e999999999"`, "write one such as 500m"},
		},
		"a config map in the place of the driver's own": {
			bad: App("bad").ConfigMap("bad-0-spark-drv-conf-map", "spark.properties", ""), reason: "InvalidSpec", event: "SchedulingFailure",
			says: []string{"spec.configMapSpecs[0].name", `"bad-0-spark-drv-conf-map"`, "choose another"},
		},
		"client mode": {
			bad: App("bad").Client(), reason: "ClientModeUnsupported", event: "Failed",
			says: []string{"Client mode is not supported", "Remove spec.deploymentMode"},
		},
		"an Ingress that the API server refuses": {
			bad:    App("bad").Ingress("bad", &networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "*"}}}),
			reason: "Invalid", event: "SchedulingFailure", says: []string{"Ingress", "bad", "spec.rules[0].host"},
		},
		"a PodGroup where there is no Volcano": {
			bad: App("bad").Conf("spark.kubernetes.driver.pod.featureSteps", "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep").
				Conf("spark.kubernetes.scheduler.name", "volcano"),
			reason: "NotInstalled", event: "SchedulingFailure", says: []string{"PodGroup", "install what defines it"},
		},
		"an image of the driver alone, where none is the executors'": {
			bad:    App("bad").Conf("spark.kubernetes.driver.container.image", "spark:4.1.1").Conf("spark.kubernetes.executor.container.image", ""),
			reason: "InvalidSpec", event: "SchedulingFailure", says: []string{"spec.sparkConf[spark.kubernetes.executor.container.image] is missing"},
		},
		"a template that the API server refuses": {
			bad:    App("bad").Driver(corev1.PodSpec{Hostname: "Not_A_Name"}),
			reason: "Invalid", event: "SchedulingFailure", says: []string{"bad-0-driver", "spec.hostname", `"Not_A_Name"`},
		},
		"a template that the API server would refuse": {
			bad:    App("bad").Driver(corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: "Sometimes"}}}),
			reason: "InvalidSpec", event: "SchedulingFailure", says: []string{"spec.driverSpec.podTemplateSpec.spec.tolerations[0].operator", `"Sometimes"`},
		},
		"a service account that does not exist": {
			bad:    App("bad").Conf("spark.kubernetes.authenticate.driver.serviceAccountName", "nobody"),
			reason: "ServiceAccountNotFound", event: "SchedulingFailure", says: []string{"bad-0-driver", `"nobody" not found`, "kubectl spark namespace "},
		},
		"a quota on pods": {
			bad: App("bad"), before: func(s *env) { s.limit("pods", "1") },
			reason: "QuotaExceeded", event: "SchedulingFailure", says: []string{"Pod", "bad-0-driver", "exceeded quota: quota", "limited: pods=1"},
		},
		"a quota on the Service after the Pod": {
			bad: App("bad"), before: func(s *env) { s.limit("services", "1") },
			reason: "QuotaExceeded", event: "SchedulingFailure", says: []string{"Service", "bad-0-driver-svc", "exceeded quota: quota", "limited: services=1"},
		},
		"an admission policy": {
			bad: App("bad"), before: func(s *env) { s.forbid("bad-0-driver", "no bad drivers here") },
			reason: "Invalid", event: "SchedulingFailure", says: []string{"Pod", "bad-0-driver", "no bad drivers here"},
		},
		"a Pod of its name that another user made": {
			bad: App("bad"), before: func(s *env) { s.foreignPod("bad-0-driver") },
			reason: "NameTaken", event: "SchedulingFailure", says: []string{"Pod", "bad-0-driver", "belongs to", "rename it or the application"},
		},
		"a Service of its name that another user made": {
			bad: App("bad"), before: func(s *env) { s.foreignService("bad-0-driver-svc") },
			reason: "NameTaken", event: "SchedulingFailure", says: []string{"Service", "bad-0-driver-svc", "belongs to", "rename it or the application"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			good := s.create(App("good"))
			s.untilState("good", "DriverRequested")
			if c.before != nil {
				c.before(s)
			}
			bad := s.create(c.bad)
			condition := s.untilCondition("bad", "Succeeded", metav1.ConditionFalse, c.reason)
			event := s.untilKubeEvent("bad", corev1.EventTypeWarning, c.event)
			for _, part := range c.says {
				for what, text := range map[string]string{"condition": condition.Message, "Event": event.Message} {
					if !strings.Contains(text, part) {
						t.Errorf("the %s says %q, and not %q", what, text, part)
					}
				}
			}
			s.untilState("bad", "ResourceReleased")
			s.untilDelivered("the bad application's end", func(heard []eventlog.Entry) bool {
				its := firstAccepted(heard, bad)
				return len(its) > 0 && its[len(its)-1].Attributes["sparkfinal"] == "true"
			})
			s.untilNoDriverOf("bad")

			s.run("good", 0).succeed()
			s.untilState("good", "ResourceReleased")
			s.untilPublished(good, plainRun...)
		})
	}
}

// doublings are properties each of which refers to the next twice.
func doublings(a *application, count int) *application {
	a.Conf("spark.kubernetes.container.image", "${spark.x0}")
	for i := range count {
		a.Conf(fmt.Sprintf("spark.x%d", i), strings.Repeat(fmt.Sprintf("${spark.x%d}", i+1), 2))
	}
	return a.Conf(fmt.Sprintf("spark.x%d", count), "boom")
}

// volumes are so many volumes of the driver of a kind; # in properties is a volume's number.
func volumes(a *application, count int, kind string, properties ...string) *application {
	for i := range count {
		for _, property := range properties {
			key, value, _ := strings.Cut(strings.ReplaceAll(property, "#", fmt.Sprint(i)), "=")
			a.Conf(fmt.Sprintf("spark.kubernetes.driver.volumes.%s.v%d.%s", kind, i, key), value)
		}
	}
	return a
}

// A manifest that can never run is refused when it is applied. One with fields without effect runs with a warning.
func TestBadInputThatCanNeverRunIsRefusedByTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for name, c := range map[string]struct{ spec, says string }{
		"a version that is no label": {
			`{runtimeVersions: {sparkVersion: 4.1+mine}}`, `"4.1+mine" cannot be the label spark-version: write letters`,
		},
		"a route to nowhere": {
			`{runtimeVersions: {sparkVersion: 4.1.1}, driverHttpRouteList: [
			  {serviceMetadata: {name: a}, serviceSpec: {}, httpRouteMetadata: {name: a}, httpRouteSpec: {}}]}`,
			`spec.driverHttpRouteList[0].httpRouteSpec.parentRefs: Required value: name the Gateway`,
		},
		"a field that does not exist": {`{runtimeVersions: {sparkVersion: 4.1.1}, mainclass: Main}`, `unknown field "spec.mainclass"`},
	} {
		_, err := s.submit(fmt.Sprintf("{apiVersion: spark.apache.org/v1, kind: SparkApplication, metadata: {name: never}, spec: %s}", c.spec))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: refused with %v, and not with %q", name, err, c.says)
		}
	}
	s.create(App("odd").ConfigMap("twice", "a", "b").ConfigMap("twice", "c", "d"))
	s.run("odd", 0).succeed()
	warning := s.untilCondition("odd", "Warning", metav1.ConditionTrue, "SpecNotHonored")
	if want := `spec.configMapSpecs[0] "twice" is not made`; !strings.Contains(warning.Message, want) {
		t.Errorf("the warning is %q, and not %q", warning.Message, want)
	}
}

// limit sets a quota, and waits until it is enforced. Who counts what there is counts once, and may not know of all yet:
// then the quota is set again.
func (s *env) limit(kind corev1.ResourceName, count string) {
	s.Helper()
	quotas := s.Kube.CoreV1().ResourceQuotas(s.ns)
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		limit, err := quotas.Get(ctx, "quota", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = quotas.Create(ctx, quota(kind, count), metav1.CreateOptions{})
		}
		if err != nil {
			return false, err
		}
		used, counted := limit.Status.Used[kind]
		if counted && used.String() != count {
			return false, quotas.Delete(ctx, limit.Name, metav1.DeleteOptions{})
		}
		return counted, nil
	}))
	if kind == corev1.ResourceServices {
		s.untilRefused("exceeded quota", func(ctx context.Context, tried metav1.CreateOptions) error {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "one-more"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
			_, err := s.Kube.CoreV1().Services(s.ns).Create(ctx, service, tried)
			return err
		})
		return
	}
	s.untilRefused("exceeded quota", s.creating(plainPod("one-more")))
}

// creating tries to create a Pod.
func (s *env) creating(pod *corev1.Pod) func(context.Context, metav1.CreateOptions) error {
	return func(ctx context.Context, tried metav1.CreateOptions) error {
		_, err := s.Kube.CoreV1().Pods(s.ns).Create(ctx, pod, tried)
		return err
	}
}

// untilRefused waits until the API server, which caches quotas and policies, refuses what is tried without effect.
func (s *env) untilRefused(because string, create func(context.Context, metav1.CreateOptions) error) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		err := create(ctx, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), because), nil
	}))
}

// untilAdmitted waits until the API server admits what is tried without effect.
func (s *env) untilAdmitted(create func(context.Context, metav1.CreateOptions) error) {
	s.Helper()
	var err error
	if wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		err = create(ctx, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, nil
	}) != nil {
		s.Fatal(err)
	}
}

// forbid has an admission policy refuse a Pod of that name, and waits until it does.
func (s *env) forbid(pod, because string) {
	s.Helper()
	s.admitPodsIf(fmt.Sprintf("object.metadata.name != %q", pod), because, plainPod(pod))
}

// admitPodsIf has an admission policy refuse the Pods that a rule in CEL does not hold for, and waits until it refuses one.
func (s *env) admitPodsIf(rule, because string, refused *corev1.Pod) {
	s.Helper()
	_, err := s.kubectl(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules:
      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
    - {expression: '%[2]s', message: %[3]s}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, s.ns, rule, because), "create", "-f", "-")
	s.must(err)
	s.untilRefused(because, s.creating(refused))
}

func plainPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"mine": "true"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
}

func (s *env) foreignPod(name string) {
	s.Helper()
	_, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), plainPod(name), metav1.CreateOptions{})
	s.must(err)
}

func (s *env) foreignService(name string) {
	s.Helper()
	_, err := s.Kube.CoreV1().Services(s.ns).Create(s.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"mine": "true"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	s.must(err)
}

// untilNoDriverOf waits until an application has no driver: one that has stopped is released before its Pod is gone.
func (s *env) untilNoDriverOf(app string) {
	s.Helper()
	selector := metav1.ListOptions{LabelSelector: kubelet.DriverSelector + ",spark.operator/spark-app-name=" + app}
	var left []corev1.Pod
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		pods, err := s.Kube.CoreV1().Pods(s.ns).List(ctx, selector)
		if err != nil {
			return false, nil
		}
		left = pods.Items
		return len(left) == 0, nil
	})
	if err != nil {
		s.Errorf("its drivers stay: %s", described(left))
	}
}

func TestBadInputOfAMissingImageIsReported(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Conf("spark.kubernetes.container.image", "example.com/no/such:image"))
	d := s.driver("pi", 0)
	for _, reason := range []string{"ErrImagePull", "ImagePullBackOff"} {
		d.set(func(status *corev1.PodStatus) {
			waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
			status.ContainerStatuses[0].State = waiting
		})
	}
	condition := s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "ImagePullFailed")
	for _, part := range []string{`"example.com/no/such:image"`, "correct the image's name or its pull secret"} {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the condition says %q, and not %q", condition.Message, part)
		}
	}
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "ImagePullFailed")
}

// An undecodable application is reported on the object, and starts once it is corrected.
func TestUndecodableApplicationStartsWhenItIsCorrected(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	_, err := s.kubectl(`
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata:
  name: bad
spec:
  mainClass: org.apache.spark.examples.SparkPi
  driverSpec:
    podTemplateSpec:
      spec:
        containers: oops
  runtimeVersions:
    sparkVersion: 4.1.1
`, "create", "-f", "-")
	s.must(err)
	s.create(App("good"))
	s.run("good", 0)
	event := s.untilKubeEvent("bad", corev1.EventTypeWarning, "Undecodable")
	if !strings.Contains(event.Message, "containers") {
		t.Errorf("the Event says %q, and not which field", event.Message)
	}
	_, err = s.kubectl("", "wait", "--for=jsonpath={.status.conditions[0].reason}=Undecodable", "--timeout="+timeout.String(), "sparkapplications.spark.apache.org/bad")
	s.must(err)

	_, err = s.apps().Patch(t.Context(), "bad", types.MergePatchType, []byte(`{"spec":{"driverSpec":null}}`), metav1.PatchOptions{})
	s.must(err)
	s.run("bad", 0).succeed()
	s.untilCondition("bad", "Succeeded", metav1.ConditionTrue, "Succeeded")
}
