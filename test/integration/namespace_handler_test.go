package integration

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

// asksForWorkloads gives the env's namespace the label.
func (s *env) asksForWorkloads() {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, namespaces.LabelWorkloads, namespaces.Enabled)
	_, err := s.Kube.CoreV1().Namespaces().Patch(s.Context(), s.ns, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// applyRights applies the rights and accounts of an overlay's handler namespace.
func (s *env) applyRights(overlay string) {
	s.Helper()
	built, err := s.Plane.Kubectl(s.Context(), "", "kustomize", filepath.Join(repository, "examples/kustomize", overlay))
	s.must(err)
	var rights bytes.Buffer
	for _, document := range strings.Split(built, "\n---\n") {
		object := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal([]byte(document), object))
		named := strings.HasSuffix(object.GetName(), "workload-namespaces") || strings.HasSuffix(object.GetName(), "handler-namespace")
		if named && slices.Contains([]string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount"}, object.GetKind()) {
			fmt.Fprintf(&rights, "%s\n---\n", document)
		}
	}
	_, err = s.Plane.Kubectl(s.Context(), rights.String(), "apply", "--filename=-")
	s.must(err)
}

func (s *env) untilBound() *rbacv1.RoleBinding {
	s.Helper()
	return until(s, s.Kube.RbacV1().RoleBindings(s.ns), namespaces.Binding, "exist", func(*rbacv1.RoleBinding) bool { return true })
}

// checkUntouched fails the test if the namespace has got anything, or if the controller has asked for RoleBindings.
func (s *env) checkUntouched() {
	s.Helper()
	bindings, err := s.Kube.RbacV1().RoleBindings(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	requests, err := s.audit.Requests()
	s.must(err)
	for _, request := range requests {
		if request.Resource == "rolebindings" {
			s.Errorf("the controller asks for RoleBindings while the handler is off: %s", request)
		}
	}
	if len(bindings.Items) > 0 {
		s.Errorf("while the handler is off, there is a RoleBinding: %v", bindings.Items)
	}
}

// foreignObjects are another owner's, with the names of what a namespace gets.
const foreignObjects = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: spark}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: spark-workloads}, spec: {hard: {pods: "9"}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: spark-workloads}, spec: {limits: [{type: Pod, max: {cpu: "9"}}]}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: spark-workloads}, spec: {podSelector: {}}}
`

func TestNamespaceHandlerMakesLabelledNamespacesReady(t *testing.T) {
	alone(t)
	s, plain, outside, last := newEnv(t), newEnv(t), newEnv(t), newEnv(t)
	s.configured("config-namespaces", "resource-quota", "hard: {pods: 50}")
	s.asksForWorkloads()
	foreign, err := s.Kube.CoreV1().ResourceQuotas(s.ns).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-workloads"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("77")}},
	}, metav1.CreateOptions{})
	s.must(err)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("before"))
	s.run("before", 0).succeed()
	s.untilState("before", "ResourceReleased")
	s.checkUntouched()

	s.applyRights("workload-namespaces")
	s.configured("config-handlers", namespaces.Handler, "in-process") // the controller starts again
	binding := s.untilBound()
	if binding.RoleRef.Name != "spark-driver" || !s.may("spark") || s.may("default") {
		t.Errorf("the binding is %+v; spark may create Pods: %t", binding.RoleRef, s.may("spark"))
	}
	after, err := s.Kube.CoreV1().ResourceQuotas(s.ns).Get(t.Context(), foreign.Name, metav1.GetOptions{})
	if err != nil || after.UID != foreign.UID || after.Spec.Hard.Pods().Value() != 77 {
		t.Errorf("the quota of another owner was changed (%v): %+v", err, after)
	}
	if event := s.untilKubeEvent(foreign.Name, corev1.EventTypeWarning, "ObjectLeft"); !strings.Contains(event.Message, "left as it is") {
		t.Errorf("the Event says %q", event.Message)
	}
	s.create(App("named").Conf(namedAccount, "spark"))
	s.run("named", 0).succeed()

	// A namespace that asks later, and one whose RoleBinding is deleted.
	plain.asksForWorkloads()
	plain.untilBound()
	s.must(s.Kube.RbacV1().RoleBindings(plain.ns).Delete(t.Context(), namespaces.Binding, metav1.DeleteOptions{}))
	plain.untilBound()
	if quota, err := s.Kube.CoreV1().ResourceQuotas(plain.ns).Get(t.Context(), "spark-workloads", metav1.GetOptions{}); err != nil || quota.Spec.Hard.Pods().Value() != 50 {
		t.Errorf("the quota is %+v (%v)", quota, err)
	}

	// Behind a Broker: two replicas get each event, with rights of their own.
	s.applyRights("workload-namespaces-eventing")
	s.configured("config-handlers", namespaces.Handler, "external")
	b := &broker{env: outside, replicas: map[string][]*handler{"namespace": {s.handler("namespace"), s.handler("namespace")}}}
	s.sink.SetAnswer(outside.ns, b.answer)
	s.configured("config-namespaces", "limit-range", "limits: [{type: Pod, max: {cpu: 4}}]")
	s.configured("config-namespaces", "network-policy", "podSelector: {}")
	_, err = outside.kubectl(foreignObjects, "apply", "--filename=-")
	s.must(err)
	outside.asksForWorkloads()
	outside.untilBound()
	for _, name := range []string{"spark", "spark-workloads"} {
		outside.untilKubeEvent(name, corev1.EventTypeWarning, "ObjectLeft")
	}
	if !outside.may("spark") || len(b.refused) > 0 {
		t.Errorf("spark may create Pods: %t; refused: %v", outside.may("spark"), b.refused)
	}

	s.untilLoggedAgain(process, "Starting controllers...", func() { s.configured("config-handlers", namespaces.Handler, "off") })
	last.asksForWorkloads()
	s.create(App("after"))
	s.run("after", 0).succeed()
	s.untilState("after", "ResourceReleased")
	if _, err := s.Kube.RbacV1().RoleBindings(last.ns).Get(t.Context(), namespaces.Binding, metav1.GetOptions{}); err == nil {
		t.Error("with the handler off, a namespace was made ready")
	}
	if heard, _ := s.sink.Events(outside.ns); len(heard) == 0 || heard[0].Type() != events.NamespaceRequestedType {
		t.Errorf("the sink got %v", heard)
	}
}
