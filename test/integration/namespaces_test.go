package integration

import (
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/namespaces/provision"
)

// fullTemplate reads the template of a ConfigMap that has all objects.
func fullTemplate(s *env) namespaces.Template {
	s.Helper()
	template, err := config.NewNamespaces(&corev1.ConfigMap{Data: map[string]string{
		"resource-quota": "hard: {pods: 5}",
		"limit-range":    "limits: [{type: Container, defaultRequest: {cpu: 100m}}]",
		"network-policy": "podSelector: {}\ningress: [{from: [{podSelector: {}}]}]",
	}})
	s.must(err)
	return *template
}

// Two writers make the same namespace ready at the same time. Each object is created by one of them, and none is changed.
func TestNamespaceObjectsAreCreatedOnceByTwoWriters(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	template := fullTemplate(s)
	var both sync.WaitGroup
	var results [2][]provision.Result
	for i := range results {
		both.Go(func() {
			if err := provision.Create(t.Context(), s.Dynamic, func(result provision.Result) error {
				results[i] = append(results[i], result)
				return nil
			}, namespaces.Objects(template, s.ns)...); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	created := map[string]int{}
	for _, result := range append(results[0], results[1]...) {
		key := result.Object.GetKind() + " " + result.Object.GetName()
		switch result.Outcome {
		case provision.Created:
			created[key]++
		case provision.Left:
			t.Errorf("%s is taken for another owner's", key)
		}
	}
	if len(created) != 6 {
		t.Errorf("created were %v, want six objects", created)
	}
	for key, times := range created {
		if times != 1 {
			t.Errorf("%s was created %d times", key, times)
		}
	}
	if !s.may("spark") || s.may("default") {
		t.Errorf("spark may create Pods: %t; default: %t", s.may("spark"), s.may("default"))
	}
}

func TestNamespaceObjectOfAnotherOwnerStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	quotas := s.Kube.CoreV1().ResourceQuotas(s.ns)
	foreign, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-workloads"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("77")}},
	}, metav1.CreateOptions{})
	s.must(err)
	var left []string
	s.must(provision.Create(t.Context(), s.Dynamic, func(result provision.Result) error {
		if result.Outcome == provision.Left {
			left = append(left, result.String())
		}
		return nil
	}, namespaces.Objects(fullTemplate(s), s.ns)...))
	if len(left) != 1 || !strings.HasPrefix(left[0], "ResourceQuota "+s.ns+"/spark-workloads: left as it is") {
		t.Errorf("left were %q", left)
	}
	after, err := quotas.Get(t.Context(), foreign.Name, metav1.GetOptions{})
	if err != nil || after.UID != foreign.UID || after.Spec.Hard.Pods().Value() != 77 || len(after.Labels) > 0 {
		t.Errorf("the quota was changed (%v): %+v", err, after)
	}
}
