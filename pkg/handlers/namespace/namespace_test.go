package namespace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/namespace"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

var created = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)

func teamA(change func(*corev1.Namespace)) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "team-a", UID: "uid-of-a", Labels: map[string]string{namespaces.LabelWorkloads: "enabled"}, CreationTimestamp: metav1.NewTime(created),
	}}
	if change != nil {
		change(n)
	}
	return n
}

func requested(t *testing.T, name string, uid types.UID) cloudevents.Event {
	t.Helper()
	event, err := events.NewNamespaceRequestedEvent(events.NamespaceObject(name, uid), created)
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// settings has a quota in the template, and serves team-a only.
func settings(t *testing.T) func() *config.Config {
	t.Helper()
	c := config.Default()
	c.Namespaces.Quota = &corev1.ResourceQuotaSpec{}
	var err error
	c.Scope, err = config.NewScope(&corev1.ConfigMap{Data: map[string]string{"watched-namespaces": "team-a"}})
	if err != nil {
		t.Fatal(err)
	}
	return func() *config.Config { return c }
}

// creations returns what was created, in order.
func creations(client *dynamicfake.FakeDynamicClient) string {
	var kinds []string
	for _, action := range client.Actions() {
		switch verb := action.GetVerb(); verb {
		case "get":
		case "create":
			kinds = append(kinds, action.GetResource().Resource)
		default:
			kinds = append(kinds, verb+" "+action.GetResource().Resource)
		}
	}
	return strings.Join(kinds, " ")
}

const all = "serviceaccounts serviceaccounts resourcequotas rolebindings"

func TestObjectsAreCreatedInNamespacesThatAskForThem(t *testing.T) {
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: namespaces.Binding}}
	for name, test := range map[string]struct {
		objects []runtime.Object
		event   cloudevents.Event
		want    string
	}{
		"a namespace that asks":                {[]runtime.Object{teamA(nil)}, requested(t, "team-a", "uid-of-a"), all},
		"one that is ready":                    {[]runtime.Object{teamA(nil), binding}, requested(t, "team-a", "uid-of-a"), ""},
		"one that does not ask any more":       {[]runtime.Object{teamA(func(n *corev1.Namespace) { n.Labels = nil })}, requested(t, "team-a", "uid-of-a"), ""},
		"one with another value":               {[]runtime.Object{teamA(func(n *corev1.Namespace) { n.Labels[namespaces.LabelWorkloads] = "no" })}, requested(t, "team-a", "uid-of-a"), ""},
		"one that is being deleted":            {[]runtime.Object{teamA(func(n *corev1.Namespace) { n.DeletionTimestamp = &n.CreationTimestamp })}, requested(t, "team-a", "uid-of-a"), ""},
		"one that was created again":           {[]runtime.Object{teamA(nil)}, requested(t, "team-a", "uid-of-another"), ""},
		"one that does not exist":              {nil, requested(t, "team-a", "uid-of-a"), ""},
		"one that another installation serves": {[]runtime.Object{teamA(func(n *corev1.Namespace) { n.Name = "team-b" })}, requested(t, "team-b", "uid-of-a"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, test.objects...)
			handle := namespace.NewHandler(client, settings(t), clocktesting.NewFakePassiveClock(created))
			for range 2 { // a duplicate does nothing more
				if err := handle(t.Context(), test.event); err != nil {
					t.Fatal(err)
				}
			}
			if got := creations(client); got != test.want {
				t.Errorf("it created %q, want %q", got, test.want)
			}
		})
	}
}

func TestEventsOfOtherObjectsAreIgnored(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, teamA(nil))
	handle := namespace.NewHandler(client, settings(t), clocktesting.NewFakePassiveClock(created))
	event, err := events.NewExpiredEvent(events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication", Namespace: "team-a", Name: "team-a", UID: "uid-of-a",
	}, created)
	if err != nil {
		t.Fatal(err)
	}
	if err := handle(t.Context(), event); err != nil || len(client.Actions()) > 0 {
		t.Errorf("error %v, requests %v", err, client.Actions())
	}
	forged := requested(t, "team-a", "uid-of-a")
	forged.SetSource("/api/namespaces/../uid-of-a")
	if err := handle(t.Context(), forged); !events.IsPermanent(err) || len(client.Actions()) > 0 {
		t.Errorf("error %v, requests %v", err, client.Actions())
	}
}

// The RoleBinding comes last, so that a crash before the report is followed by another request.
func TestObjectOfAnotherOwnerIsReportedBeforeTheRoleBinding(t *testing.T) {
	foreign := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "spark-workloads", UID: "uid-of-quota"}}
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, teamA(nil), foreign)
	handle := namespace.NewHandler(client, settings(t), clocktesting.NewFakePassiveClock(created))
	away := errors.New("the API server is away")
	refuse := true
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) { return refuse, nil, away })
	if err := handle(t.Context(), requested(t, "team-a", "uid-of-a")); !errors.Is(err, away) || strings.Contains(creations(client), "rolebindings") {
		t.Errorf("without a report: error %v, created %s", err, creations(client))
	}
	refuse = false
	if err := handle(t.Context(), requested(t, "team-a", "uid-of-a")); err != nil || !strings.HasSuffix(creations(client), "resourcequotas events rolebindings") {
		t.Errorf("error %v, created %s", err, creations(client))
	}
	events, err := client.Resource(corev1.SchemeGroupVersion.WithResource("events")).Namespace("team-a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) != 1 || events.Items[0].GetName() != "spark-workloads.uid-of-quota" ||
		!strings.Contains(events.Items[0].Object["message"].(string), "ResourceQuota team-a/spark-workloads: left as it is") {
		t.Errorf("the Events are %v (%v)", events, err)
	}
}
