package migration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

func TestPageListsWhatIsIgnoredOfDrivers(t *testing.T) {
	page, err := os.ReadFile("../../docs/operators/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range Ignored {
		if row := fmt.Sprintf("| `%s` | %s |\n", field.Field, field.Why); !strings.Contains(string(page), row) {
			t.Errorf("docs/operators/moving-in.md lacks %s", row)
		}
	}
}

func driver() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", Labels: map[string]string{"spark-role": "driver", "spark-app-selector": "a"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "spark",
			Containers: []corev1.Container{{
				Name: "spark-kubernetes-driver", Image: "spark:4.1.1",
				Env:       []corev1.EnvVar{{Name: "STAGE", Value: "test"}, {Name: "DB_PASSWORD", Value: "hunter2-4711"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
			}},
		},
	}
}

func TestDriverDifferences(t *testing.T) {
	for name, test := range map[string]struct {
		change func(theirs *corev1.Pod)
		// want are parts of the differences; none if there is none.
		want []string
	}{
		"what the API server fills in": {change: func(p *corev1.Pod) {
			p.UID, p.ResourceVersion, p.Namespace = "u", "1", "team-a"
			p.Spec.SchedulerName, p.Spec.DNSPolicy, p.Spec.EnableServiceLinks = "default-scheduler", corev1.DNSClusterFirst, ptr.To(true)
			p.Spec.DeprecatedServiceAccount, p.Spec.Priority, p.Spec.NodeName = "spark", ptr.To[int32](0), "node-1"
			p.Spec.Containers[0].ImagePullPolicy, p.Spec.Containers[0].TerminationMessagePath = corev1.PullIfNotPresent, "/dev/termination-log"
			p.Spec.Volumes = []corev1.Volume{{Name: "kube-api-access-x"}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "kube-api-access-x", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
			p.Spec.Tolerations = []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", TolerationSeconds: ptr.To[int64](300)}}
		}},
		"another attempt": {change: func(p *corev1.Pod) {
			p.Name, p.Labels["spark-app-selector"], p.Labels["sparkoperator.k8s.io/submission-id"] = "pi-2-driver", "b", "c"
		}},
		"the order of variables": {change: func(p *corev1.Pod) {
			env := p.Spec.Containers[0].Env
			env[0], env[1] = env[1], env[0]
		}},
		"what a LimitRange gave": {change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{limitRanger: "LimitRanger plugin set: cpu limit"}
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		}},
		"an image":     {change: func(p *corev1.Pod) { p.Spec.Containers[0].Image = "spark:4.0.1" }, want: []string{"spec.containers[spark-kubernetes-driver].image: spark:4.0.1, spark:4.1.1, another image"}},
		"an account":   {change: func(p *corev1.Pod) { p.Spec.ServiceAccountName = "other" }, want: []string{"spec.serviceAccount: other, spark, the driver would have the rights", "spec.serviceAccountName: other"}},
		"a secret":     {change: func(p *corev1.Pod) { p.Spec.Containers[0].Env[1].Value = "hunter2-0815" }, want: []string{"env[DB_PASSWORD].value: *********(redacted), *********(redacted)"}},
		"a toleration": {change: func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "spot"}} }, want: []string{`spec.tolerations[{"key":"spot"}]: {"key":"spot"}, (none), the driver may run on other nodes`}},
		"a node selector": {change: func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "a", "zone": "b"} },
			want: []string{"spec.nodeSelector[pool]: a, (none)", "spec.nodeSelector[zone]: b, (none)"}},
		"an injected container": {change: func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "proxy", Image: "proxy:1", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "hunter2-1"}}})
		}, want: []string{"spec.containers[proxy]: image proxy:1, (none), a container that neither"}},
		"an injected variable": {change: func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "AGENT", Value: "on"})
		}, want: []string{`spec.containers[spark-kubernetes-driver].env[AGENT]: {"name":"AGENT","value":"on"}, (none), a variable that neither`}},
		"an injected volume": {change: func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "agent"}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "agent", MountPath: "/agent"}}
		}, want: []string{"spec.containers[spark-kubernetes-driver].volumeMounts[/agent]: ", "spec.volumes[agent]: "}},
		"a variable that is missing": {change: func(p *corev1.Pod) { p.Spec.Containers[0].Env = p.Spec.Containers[0].Env[1:] },
			want: []string{`spec.containers[spark-kubernetes-driver].env[STAGE]: (none), {"name":"STAGE","value":"test"}, `}},
		"a size": {change: func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2") },
			want: []string{"resources.requests[cpu]: 2, 1, requests or limits differ"}},
		"a grace period": {change: func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](60) }, want: []string{"spec.terminationGracePeriodSeconds: 60, (none), "}},
	} {
		theirs := driver()
		test.change(theirs)
		differences, err := CompareDrivers(theirs, driver(), redact.For([]byte(`{"spec":{}}`)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range differences {
			got = append(got, fmt.Sprintf("%s: %s, %s, %s", d.Field, d.Theirs, d.Ours, d.Meaning))
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: the differences are %q", name, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], test.want[i]) || strings.Contains(got[i], "hunter2") {
				t.Errorf("%s: %q does not hold %q", name, got[i], test.want[i])
			}
		}
	}
}

func TestAlikeFindingsAreOneItem(t *testing.T) {
	r := NewReport()
	for i := range 1000 {
		name := fmt.Sprintf("team-a/pi-%d", i)
		r.AddFindings("sparkapplications", name, false, finding.List{
			{Severity: finding.Warning, Field: fmt.Sprintf("spec.volumes[%d].name", i), Value: name, Message: "is too long", Remedy: "shorten it"},
			{Severity: finding.Error, Text: fmt.Sprintf(`pi-%d has the volume "v%d" %d times`, i, i, i)},
		})
		r.AddFindings("sparkapplications", name+"-ended", true, finding.List{{Field: "spec.mode", Message: "is wrong"}})
	}
	r.Finish()
	if r.Ready || len(r.Items) != 3 || r.Items[0].Severity != Blocks {
		t.Fatalf("ready %t, items %+v", r.Ready, r.Items)
	}
	for _, item := range r.Items {
		if item.Count != 1000 || len(item.Examples) != maxExamples {
			t.Errorf("%+v", *item)
		}
	}
}

func TestReportIsBounded(t *testing.T) {
	r := NewReport()
	for i := range 10 * maxItems {
		r.Add(fmt.Sprint(i), Item{Severity: Step, Message: strings.Repeat("x", 10*maxText)}, "a")
		r.AddNotRead(fmt.Sprint(i))
		r.CountsOf("k").Add(fmt.Sprint(i), false)
	}
	r.Finish()
	if len(r.Items) != maxItems || r.More != 9*maxItems || !r.Ready || len(r.NotRead) > maxItems || len(r.Kinds[0].States) > maxStates+1 || len(r.Items[0].Message) > maxText {
		t.Errorf("%d items, %d more, %d not read, %d states", len(r.Items), r.More, len(r.NotRead), len(r.Kinds[0].States))
	}
	r.Add("blocks", Item{Severity: Blocks}, "")
	if r.Finish(); r.Ready || len(r.Of(Blocks)) != 1 {
		t.Error("what blocks the move is not shown, since there are too many steps")
	}
}

func TestWebhooksThatSelectNoDriversAreNotReported(t *testing.T) {
	if !selectsDrivers(nil) || !selectsDrivers(&metav1.LabelSelector{MatchLabels: map[string]string{"spark-role": "driver"}}) {
		t.Error("a webhook of drivers is left out")
	}
	if selectsDrivers(&metav1.LabelSelector{MatchLabels: map[string]string{"spark-role": "executor"}}) {
		t.Error("a webhook of executors is reported")
	}
	for resource, want := range map[string]bool{"deployments": false, "sparkapplications": true, "*": true} {
		rules := []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, Resources: []string{resource}},
		}}
		if _, got := webhookOf(rules, nil, nil, nil, admissionregistrationv1.WebhookClientConfig{}); got != want {
			t.Errorf("whether a webhook of %s concerns drivers or applications: %t", resource, got)
		}
	}
	w := Webhook{namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{"mesh": "on"}}}
	if w.Selects("team-a", map[string]string{"mesh": "off"}) || !w.Selects("team-a", map[string]string{"mesh": "on"}) || !w.Selects("team-a", nil) {
		t.Error("the labels of namespaces do not count")
	}
}

func TestSettingsThatFiresteelRefusesAreReported(t *testing.T) {
	r := NewReport()
	r.AddKubeflow(InstalledOperator{Namespace: "a", Deployment: "b"}, []string{"--ingress-class-name=NO_CLASS", "--enable-batch-scheduler", "--default-batch-scheduler=volcano"})
	r.AddApache(InstalledOperator{Namespace: "c", Deployment: "d"}, map[string]string{"spark.kubernetes.operator.watchedNamespaces": "NO_NAMESPACE"})
	if len(r.Items) != 2 || !strings.Contains(r.Items[0].Message, "ingress-class-name") || r.Suggested["config-kubeflow"]["ingress-class-name"] != "" {
		t.Errorf("items %+v, settings %v", r.Items, r.Suggested)
	}
	if got := r.Suggested["config-kubeflow"]; got["default-batch-scheduler"] != "volcano" || got["batch-schedulers"] != "volcano, yunikorn" {
		t.Errorf("the settings are %v", got)
	}
}

func TestOwnersAndVersionsOfCRDsBecomeItems(t *testing.T) {
	for name, test := range map[string]struct {
		given Definition
		want  []string
	}{
		"Firesteel's":                {Definition{StoredVersions: []string{"v1"}, Versions: []string{"v1"}}, nil},
		"a stored version":           {Definition{StoredVersions: []string{"v0", "v1"}, Versions: []string{"v1"}}, []string{"error: The CRD x has objects stored in the version v0"}},
		"another owner":              {Definition{Owner: "Helm", Skew: "Apply it."}, []string{"note: The CRD belongs to Helm."}},
		"another version":            {Definition{Skew: "Apply it."}, []string{"warning: The CRD is not of this version. Apply it."}},
		"in another release, stored": {Definition{Release: "a/b"}, []string{"note: The Helm release a/b has CRDs that Firesteel needs"}},
	} {
		r := NewReport()
		test.given.Name = "x"
		r.AddDefinition(test.given)
		checkItems(t, name, r, test.want)
	}
}

func TestAccountsOfDriversBecomeItems(t *testing.T) {
	for name, test := range map[string]struct {
		given Account
		want  []string
	}{
		"with all rights": {Account{}, nil},
		"absent":          {Account{Absent: true, Users: "ns/pi"}, []string{"error: The service account ns/spark does not exist, with which the drivers of ns/pi would run"}},
		"of a release": {Account{Release: "a/b", MayNotCreatePods: true}, []string{
			"note: The service account belongs to the Helm release a/b", "warning: The service account ns/spark may not create Pods",
		}},
	} {
		r := NewReport()
		test.given.Namespace, test.given.Name = "ns", "spark"
		r.AddAccount(test.given)
		checkItems(t, name, r, test.want)
	}
}

// checkItems checks the severity and the beginning of the message of each item.
func checkItems(t *testing.T, name string, r *Report, want []string) {
	t.Helper()
	if len(r.Items) != len(want) {
		t.Errorf("%s: %d items, want %d", name, len(r.Items), len(want))
		return
	}
	for i, item := range r.Items {
		if got := string(item.Severity) + ": " + item.Message; !strings.HasPrefix(got, want[i]) {
			t.Errorf("%s: item %d is %q, want %q", name, i, got, want[i])
		}
	}
}
