package integration

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// installation is a second Firesteel in the cluster, in a namespace of its own. It may change nothing outside the
// namespaces that it is allowed into.
type installation struct {
	namespace string
	env       *env
}

// install applies what of config an installation needs, with its own namespace, and its own names where the cluster
// is what the names are in.
func (s *env) install(namespace string) *installation {
	s.Helper()
	_, err := s.Kube.CoreV1().Namespaces().Create(s.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	s.must(err)
	var manifests bytes.Buffer
	files, err := controlplane.Manifests(configFolder, "200-*.yaml", "201-*.yaml", "400-*.yaml")
	s.must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		s.must(err)
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			s.translate(&manifests, document, namespace)
		}
	}
	_, err = s.Plane.Kubectl(s.Context(), manifests.String(), "apply", "-f", "-")
	s.must(err)
	s.Cleanup(func() {
		_, err := s.Plane.Kubectl(context.Background(), "", "delete", "--wait=false", "namespace/"+namespace,
			"clusterrolebinding/firesteel-controller-watch-"+namespace)
		if err != nil {
			s.Error(err)
		}
	})
	return &installation{namespace: namespace, env: s}
}

func (s *env) translate(to *bytes.Buffer, document []byte, namespace string) {
	s.Helper()
	object := &unstructured.Unstructured{}
	s.must(yaml.Unmarshal(document, object))
	switch {
	case object.GetKind() == "ClusterRole", object.GetKind() == "ClusterRoleBinding" && object.GetName() == "firesteel-controller":
		return
	case object.GetKind() == "ClusterRoleBinding":
		object.SetName(object.GetName() + "-" + namespace)
	}
	text, err := yaml.Marshal(object)
	s.must(err)
	to.WriteString("---\n")
	to.Write(bytes.ReplaceAll(text, []byte("namespace: "+firesteel.SystemNamespace), []byte("namespace: "+namespace)))
}

// mayServe allows an installation into a namespace.
func (i *installation) mayServe(namespace string) {
	i.env.Helper()
	_, err := i.env.Plane.Kubectl(i.env.Context(), "", "create", "rolebinding", i.namespace, "--namespace="+namespace,
		"--clusterrole=firesteel-controller", "--serviceaccount="+i.namespace+":controller")
	i.env.must(err)
}

// serves sets the namespaces that an installation watches.
func (i *installation) serves(namespaces string) {
	i.env.Helper()
	i.env.must(i.env.ConfigureIn(i.env.Context(), i.namespace, "config-scope", map[string]string{"watched-namespaces": namespaces}))
}

// Two installations share a cluster. What one lets go of while it is being deleted, the other takes to its end.
func TestInstallationTakesOverWhatAnotherReleases(t *testing.T) {
	alone(t)
	a, b := newEnv(t), newEnv(t)
	first, second := &installation{firesteel.SystemNamespace, a}, a.install("firesteel-two")
	t.Cleanup(func() {
		a.must(a.Configure(context.Background(), "config-scope", map[string]string{"watched-namespaces": ""}))
	})
	first.serves(a.ns)
	second.serves(b.ns)
	second.mayServe(a.ns)
	second.mayServe(b.ns)
	a.must(a.Configure(t.Context(), "config-events", map[string]string{"deletion-grace": "1h"}))
	t.Cleanup(func() {
		a.must(a.Configure(context.Background(), "config-events", map[string]string{"deletion-grace": deletionGrace.String()}))
	})
	a.ownController(controller{sink: a.sink.URL()})
	b.ownController(controller{sink: b.sink.URL(), namespace: second.namespace})

	apps := map[*env]func(){}
	for _, s := range []*env{a, b} {
		app := s.create(App("pi"))
		s.run("pi", 0)
		apps[s] = func() {
			s.untilPublished(app, words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy ResourceReleased")...)
		}
	}
	a.sink.SetAnswer(a.ns, func(*http.Request, eventlog.Entry) int { return http.StatusServiceUnavailable })
	a.delete("pi")
	a.untilState("pi", "ResourceReleased") // and waits until its end is published
	first.serves("nowhere")
	second.serves(a.ns + "," + b.ns)
	a.sink.SetAnswer(a.ns, sink.Accept)
	untilGone(a, a.apps(), "pi")
	b.delete("pi")
	untilGone(b, b.apps(), "pi")
	for s, untilPublished := range apps {
		untilPublished()
		s.untilNothingIsLeft()
	}
}
