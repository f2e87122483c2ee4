package provision_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/namespaces/provision"
)

func template() namespaces.Template {
	t := namespaces.DefaultTemplate()
	t.Quota = &corev1.ResourceQuotaSpec{}
	return t
}

// create creates objects, and returns the results.
func create(t *testing.T, client dynamic.Interface) (results []provision.Result, err error) {
	t.Helper()
	err = provision.Create(t.Context(), client, func(result provision.Result) error {
		results = append(results, result)
		return nil
	}, namespaces.Objects(template(), "team-a")...)
	return results, err
}

func lines(results []provision.Result) string {
	var texts []string
	for _, result := range results {
		texts = append(texts, result.String())
	}
	return strings.Join(texts, "\n")
}

const created = `ServiceAccount team-a/spark: created
ServiceAccount team-a/spark-operator-spark: created
ResourceQuota team-a/spark-workloads: created
RoleBinding team-a/spark-driver-accounts: created`

func TestCreateTwiceChangesNothing(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme)
	for _, want := range []string{created, strings.ReplaceAll(created, "created", "exists")} {
		results, err := create(t, client)
		if got := lines(results); err != nil || got != want {
			t.Errorf("it did (%v)\n%s\nwant\n%s", err, got, want)
		}
	}
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "create" && verb != "get" {
			t.Errorf("it sent %s", verb)
		}
	}
}

func TestCreateLeavesAnObjectOfAnotherOwnerAndSaysSo(t *testing.T) {
	foreign := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "spark-workloads"}}
	results, err := create(t, dynamicfake.NewSimpleDynamicClient(scheme.Scheme, foreign))
	want := "ResourceQuota team-a/spark-workloads: left as it is, since it has no label app.kubernetes.io/part-of=firesteel; delete it, or " +
		"rename it, to get the one of the template"
	if got := lines(results); err != nil || !strings.Contains(got, want) || !strings.Contains(got, "RoleBinding team-a/spark-driver-accounts: created") {
		t.Errorf("it did (%v)\n%s", err, got)
	}
}

func TestCreateMakesNoRoleBindingAfterAnError(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme)
	client.PrependReactor("create", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the API server is away")
	})
	results, err := create(t, client)
	if got := lines(results); got != "ResourceQuota team-a/spark-workloads: created" || err == nil ||
		!strings.Contains(err.Error(), "create ServiceAccount team-a/spark-operator-spark: the API server is away") {
		t.Errorf("it did (%v)\n%s", err, got)
	}
}

// Who watches for the last object must find the reports of all others.
func TestCreateMakesNoRoleBindingAfterAReportThatFailed(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme)
	err := provision.Create(t.Context(), client, func(result provision.Result) error {
		if result.Object.GetName() == "spark" {
			return errors.New("no report")
		}
		return nil
	}, namespaces.Objects(template(), "team-a")...)
	bindings := 0
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "rolebindings" {
			bindings++
		}
	}
	if err == nil || err.Error() != "no report" || bindings > 0 {
		t.Errorf("error is %v, and %d requests were for the binding", err, bindings)
	}
}
