package console

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// rightsOf are rights, such as "list sparkapplications.spark.apache.org/team-a".
type rightsOf []string

func (r rightsOf) Check(_ context.Context, right access.Right) error {
	name := right.Resource
	if right.Group != "" {
		name += "." + right.Group
	}
	if !slices.Contains(r, right.Verb+" "+name+"/"+right.Namespace) {
		return access.ErrNotAllowed
	}
	return nil
}

// follows are the rights to follow resources in a namespace.
func follows(namespace string, resources ...string) (r rightsOf) {
	for _, resource := range resources {
		r = append(r, "list "+resource+"/"+namespace, "watch "+resource+"/"+namespace)
	}
	return r
}

const apacheApps, kubeflowApps = "sparkapplications.spark.apache.org", "sparkapplications.sparkoperator.k8s.io"

// scopeOf returns the scope in a cluster that serves resources, as apiVersion/resource.
func scopeOf(t *testing.T, rights rightsOf, asked wanted, resources ...string) (*scope, error) {
	t.Helper()
	client := fake.NewClientset()
	for _, resource := range resources {
		at := strings.LastIndexByte(resource, '/')
		client.Resources = append(client.Resources, &metav1.APIResourceList{
			GroupVersion: resource[:at], APIResources: []metav1.APIResource{{Name: resource[at+1:]}},
		})
	}
	return newScope(t.Context(), rights, client.Discovery(), asked)
}

func TestAllNamespacesAreShownToThoseWhoMayListThem(t *testing.T) {
	served := []string{"spark.apache.org/v1/sparkapplications", "sparkoperator.k8s.io/v1beta2/sparkapplications"}
	everywhere, mine := follows("", kubeflowApps), follows("team-a", apacheApps)
	for name, test := range map[string]struct {
		rights rightsOf
		asked  wanted
		want   string
	}{
		"all, if some kind may be listed": {slices.Concat(everywhere, mine), wanted{namespace: "team-a"}, live.AllNamespaces},
		"else that of the kubeconfig":     {mine, wanted{namespace: "team-a"}, "team-a"},
		"that of the command line":        {slices.Concat(everywhere, mine), wanted{namespace: "team-a", explicit: true}, "team-a"},
		"all, for that flag":              {everywhere, wanted{namespace: "team-a", explicit: true, all: true}, live.AllNamespaces},
	} {
		if got, err := scopeOf(t, test.rights, test.asked, served...); err != nil || got.namespace != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for want, test := range map[string]struct {
		rights rightsOf
		asked  wanted
	}{
		"you may not see applications in all namespaces: that needs list and watch of " + apacheApps + " or of " + kubeflowApps: {mine, wanted{all: true}},
		"you may not see applications in all namespaces or in the namespace team-b: ":                                           {mine, wanted{namespace: "team-b"}},
		"in the namespace team-a: that needs list and watch":                                                                    {rightsOf{"list " + apacheApps + "/team-a"}, wanted{namespace: "team-a"}},
	} {
		if _, err := scopeOf(t, test.rights, test.asked, served...); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write -n NAMESPACE") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestClusterWithoutKindsIsExplained(t *testing.T) {
	for _, served := range [][]string{nil, {"apps/v1/deployments"}, {"spark.apache.org/v1/sparkclusters"}, {"spark.apache.org/v2/sparkapplications"}} {
		if _, err := scopeOf(t, nil, wanted{}, served...); err == nil || !strings.Contains(err.Error(), "this cluster has no kind of Spark applications: install") {
			t.Errorf("%q: %v", served, err)
		}
	}
}

type unavailable struct{}

func (unavailable) Check(context.Context, access.Right) error { return access.ErrUnavailable }

func TestWhatIsNotKnownIsNoRefusal(t *testing.T) {
	client := fake.NewClientset()
	client.Resources = []*metav1.APIResourceList{{GroupVersion: "spark.apache.org/v1", APIResources: []metav1.APIResource{{Name: "sparkapplications"}}}}
	if _, err := newScope(t.Context(), unavailable{}, client.Discovery(), wanted{}); !errors.Is(err, access.ErrUnavailable) {
		t.Error(err)
	}
}

func TestNoteNamesWhatIsLeftOut(t *testing.T) {
	rights := follows("team-a", apacheApps, "pods")
	s, err := scopeOf(t, rights, wanted{namespace: "team-a"}, "spark.apache.org/v1beta1/sparkapplications", "spark.apache.org/v1/sparkclusters", "sparkoperator.k8s.io/v1beta2/sparkapplications")
	if err != nil {
		t.Fatal(err)
	}
	if s.versions[apacheApps] != "v1beta1" || s.versions[kubeflowApps] != "v1beta2" {
		t.Errorf("the versions are %v", s.versions)
	}
	if s.Note() != "" {
		t.Errorf("before anything is known, the note is %q", s.Note())
	}
	if err := s.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "Shown is what there is in the namespace team-a. You may not list and watch there, so they are left out: sparkapplications.sparkoperator.k8s.io, " +
		"sparkclusters.spark.apache.org. This cluster does not have: "
	if !strings.HasPrefix(s.Note(), want) || !strings.Contains(s.Note(), "scheduledsparkapplications.firesteel.dev") || strings.Contains(s.Note(), "pods") {
		t.Errorf("the note is %q, want %q", s.Note(), want)
	}
}
