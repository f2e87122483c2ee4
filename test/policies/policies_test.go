// Package policies holds the NetworkPolicies of config against the Pods that config deploys.
package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const config = "../../config"

// installation is what is applied of config.
type installation struct {
	deployments []appsv1.Deployment
	policies    []networkingv1.NetworkPolicy
}

func read(t *testing.T, patterns ...string) (i installation) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(config, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no manifest is named %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			i.add(t, file, text)
		}
	}
	return i
}

func (i *installation) add(t *testing.T, file string, text []byte) {
	t.Helper()
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	buffer := make([]byte, 1<<20)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(buffer[:n], &kind); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var into any
		switch kind.Kind {
		case "Deployment":
			i.deployments = append(i.deployments, appsv1.Deployment{})
			into = &i.deployments[len(i.deployments)-1]
		case "NetworkPolicy":
			i.policies = append(i.policies, networkingv1.NetworkPolicy{})
			into = &i.policies[len(i.policies)-1]
		default:
			continue
		}
		if err := yaml.UnmarshalStrict(buffer[:n], into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// pod is who wants to reach a Pod.
type pod struct {
	namespace string
	labels    labels.Set
}

// allows reports whether the policies let a Pod reach a port of another one, as Kubernetes defines it.
func (i *installation) allows(t *testing.T, from pod, to *appsv1.Deployment, port *corev1.ContainerPort) bool {
	t.Helper()
	isolated := false
	for n := range i.policies {
		p := &i.policies[n]
		if p.Namespace != to.Namespace || !matches(t, &p.Spec.PodSelector, to.Spec.Template.Labels) ||
			!slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range p.Spec.Ingress {
			if ofPort(rule.Ports, port) && ofPeer(t, rule.From, from, p.Namespace) {
				return true
			}
		}
	}
	return !isolated
}

func ofPort(rules []networkingv1.NetworkPolicyPort, port *corev1.ContainerPort) bool {
	return len(rules) == 0 || slices.ContainsFunc(rules, func(rule networkingv1.NetworkPolicyPort) bool {
		if rule.Protocol != nil && *rule.Protocol != corev1.ProtocolTCP {
			return false
		}
		return rule.Port == nil || *rule.Port == intstr.FromString(port.Name) || *rule.Port == intstr.FromInt32(port.ContainerPort)
	})
}

func ofPeer(t *testing.T, peers []networkingv1.NetworkPolicyPeer, from pod, own string) bool {
	t.Helper()
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil {
			t.Fatal("this test knows no IP blocks")
		}
		namespace := labels.Set{corev1.LabelMetadataName: from.namespace}
		within := peer.NamespaceSelector == nil && from.namespace == own ||
			peer.NamespaceSelector != nil && matches(t, peer.NamespaceSelector, namespace)
		return within && (peer.PodSelector == nil || matches(t, peer.PodSelector, from.labels))
	})
}

func matches(t *testing.T, selector *metav1.LabelSelector, its labels.Set) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(its)
}

var (
	filter     = labels.Set{"eventing.knative.dev/brokerRole": "filter", "app": "broker-filter"}
	dispatcher = labels.Set{"messaging.knative.dev/channel": "in-memory-channel", "messaging.knative.dev/role": "dispatcher"}
)

// peers are Pods, and whether they are the Broker's, the console or drivers.
var peers = map[string]struct {
	pod
	broker, console, driver bool
}{
	"the Broker's filter":                     {pod: pod{"knative-eventing", filter}, broker: true},
	"the channel's dispatcher":                {pod: pod{"knative-eventing", dispatcher}, broker: true},
	"another Pod of Knative":                  {pod: pod{"knative-eventing", labels.Set{"app": "eventing-controller"}}},
	"a tenant":                                {pod: pod{"team-a", labels.Set{"app": "any"}}},
	"a driver":                                {pod: pod{"team-a", labels.Set{"spark-role": "driver"}}, driver: true},
	"a tenant with the labels of a filter":    {pod: pod{"team-a", filter}},
	"a tenant with the labels of a channel":   {pod: pod{"team-a", dispatcher}},
	"a neighbour":                             {pod: pod{"firesteel-system", labels.Set{"app": "any"}}},
	"a neighbour with the labels of a filter": {pod: pod{"firesteel-system", filter}},
	"the controller":                          {pod: pod{"firesteel-system", labels.Set{"app.kubernetes.io/name": "controller", "app.kubernetes.io/part-of": "firesteel"}}},
	"the console":                             {pod: pod{"firesteel-system", labels.Set{"app.kubernetes.io/name": "console", "app.kubernetes.io/part-of": "firesteel"}}, console: true},
	"a tenant with the labels of the console": {pod: pod{"team-a", labels.Set{"app.kubernetes.io/name": "console", "app.kubernetes.io/part-of": "firesteel"}}},
	"Prometheus":                              {pod: pod{"monitoring", labels.Set{"app": "prometheus"}}},
}

// ports are those of Firesteel's Pods. open says that every Pod may reach it; of the others, the Broker, the console or drivers may.
var ports = map[string]struct{ open, console, driver bool }{
	"archive/http":             {driver: true},
	"archive/health":           {open: true},
	"archive/metrics":          {open: true},
	"controller/metrics":       {open: true},
	"controller/health":        {open: true},
	"handler-archive/http":     {},
	"handler-archive/health":   {open: true},
	"handler-namespace/http":   {},
	"handler-namespace/health": {open: true},
	"handler-restart/http":     {},
	"handler-restart/health":   {open: true},
	"handler-schedule/http":    {},
	"handler-schedule/health":  {open: true},
	"handler-ttl/http":         {},
	"handler-ttl/health":       {open: true},
	"dead-letter/http":         {},
	"dead-letter/health":       {open: true},
	"console/http":             {open: true},
	"console/spark-uis":        {open: true},
	"console/health":           {open: true},
	"console/metrics":          {open: true},
	"history/health":           {open: true},
	"history/ui":               {console: true},
	"webhook/https":            {open: true},
	"webhook/metrics":          {open: true},
}

func TestEachPortIsOpenToItsPeersOnly(t *testing.T) {
	i := read(t, "*.yaml", "eventing/*.yaml", "archive-eventing/5*.yaml", "workload-namespaces-eventing/5*.yaml", "webhook/*.yaml", "console/*.yaml", "archive-service/*.yaml", "history/*.yaml")
	missing := maps.Clone(ports)
	for d := range i.deployments {
		deployment := &i.deployments[d]
		for _, container := range deployment.Spec.Template.Spec.Containers {
			for _, port := range container.Ports {
				name := deployment.Name + "/" + port.Name
				want, known := ports[name]
				if !known {
					t.Errorf("the port %s has no rule: give it one, and a line here", name)
					continue
				}
				delete(missing, name)
				for who, peer := range peers {
					if got := i.allows(t, peer.pod, deployment, &port); got != (want.open || want.console && peer.console || want.driver && peer.driver || !want.console && !want.driver && peer.broker) {
						t.Errorf("%s reaches %s: %t", who, name, got)
					}
				}
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("these ports are there no more: %v", slices.Collect(maps.Keys(missing)))
	}
}

func TestPortsWithoutRuleAreClosed(t *testing.T) {
	i := read(t, "*.yaml", "eventing/*.yaml", "archive-eventing/5*.yaml", "workload-namespaces-eventing/5*.yaml", "webhook/*.yaml", "console/*.yaml", "archive-service/*.yaml", "history/*.yaml")
	for d := range i.deployments {
		for who, peer := range peers {
			if i.allows(t, peer.pod, &i.deployments[d], &corev1.ContainerPort{Name: "later", ContainerPort: 9999}) {
				t.Errorf("%s reaches a port of %s that no rule is for", who, i.deployments[d].Name)
			}
		}
	}
}

// What users deploy beside Firesteel stays as reachable as it was.
func TestPodsOfOthersAreNotSelected(t *testing.T) {
	i := read(t, "*.yaml", "eventing/*.yaml", "../examples/functions/*/*.yaml")
	for d := range i.deployments {
		deployment := &i.deployments[d]
		if deployment.Spec.Template.Labels["app.kubernetes.io/part-of"] == "firesteel" {
			continue
		}
		if !i.allows(t, peers["the Broker's filter"].pod, deployment, &corev1.ContainerPort{Name: "http", ContainerPort: 8080}) {
			t.Errorf("the Broker does not reach %s", deployment.Name)
		}
	}
}

// The port for probes, the Service and the probes of a Deployment agree.
func TestProbesAskThePortForProbes(t *testing.T) {
	i := read(t, "eventing/*.yaml")
	for _, deployment := range i.deployments {
		container := deployment.Spec.Template.Spec.Containers[0]
		var named string
		for _, variable := range container.Env {
			if variable.Name == "PROBE_PORT" {
				named = variable.Value
			}
		}
		for _, port := range container.Ports {
			if port.Name == "health" && fmt.Sprint(port.ContainerPort) != named {
				t.Errorf("%s: PROBE_PORT is %q and the port health %d", deployment.Name, named, port.ContainerPort)
			}
		}
		for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
			if probe != nil && (probe.HTTPGet == nil || probe.HTTPGet.Port != intstr.FromString("health")) {
				t.Errorf("%s: a probe asks another port than health: %v", deployment.Name, probe)
			}
		}
	}
}

// What the scripts apply holds the policies: both folders are applied whole, but for the CRDs, and taken away by the same names.
func TestThePoliciesAreAppliedAndRemoved(t *testing.T) {
	script, err := os.ReadFile("../../hack/deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"hack/images.sh config/[!3]*.yaml >", "hack/images.sh config/eventing/ >", "remove config/eventing/500-*.yaml", "config/500-*.yaml",
	} {
		if !strings.Contains(string(script), part) {
			t.Errorf("hack/deploy.sh has no %q", part)
		}
	}
	for _, pattern := range []string{"500-network-policies.yaml", "eventing/500-network-policies.yaml"} {
		if i := read(t, pattern); len(i.policies) == 0 {
			t.Errorf("%s holds no policy", pattern)
		}
	}
}
