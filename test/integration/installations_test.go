package integration

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
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

// Two installations serve a namespace each. Each has its own setting, its own queue and its own leases.
func TestInstallationsSideBySideHaveQuotasOfTheirOwn(t *testing.T) {
	alone(t)
	a, b := newEnv(t), newEnv(t)
	first, second := &installation{firesteel.SystemNamespace, a}, a.install("firesteel-three")
	t.Cleanup(func() {
		a.must(a.Configure(context.Background(), "config-scope", map[string]string{"watched-namespaces": ""}))
	})
	first.serves(a.ns)
	second.serves(b.ns)
	second.mayServe(b.ns)
	a.configured("config-admission", "quota", "hold")
	second.quota("fail")
	a.ownController(controller{sink: a.sink.URL(), replica: true})
	process := b.ownController(controller{sink: b.sink.URL(), namespace: second.namespace, replica: true})

	jobs := map[*env]*sparkJob{}
	for _, s := range []*env{a, b} {
		s.limitedTo(corev1.ResourceList{"pods": resource.MustParse("3")})
		jobs[s] = &sparkJob{env: s, executors: 2}
		jobs[s].play()
		s.create(App("first"))
		s.untilState("first", "RunningHealthy")
		s.create(App("second"))
	}
	const only = "Place 1 of 1 in the queue."
	a.untilSays("second", diagnosis.ReasonWaitingForQuota, only)
	b.untilSays("second", diagnosis.ReasonQuotaWouldBeExceeded, "SparkApplication "+b.ns+"/second requests too much of pods (3 requested, 0 available)")
	second.quota("hold")
	second.serves("nowhere," + b.ns) // which is read after the other, and logged
	b.untilLogged(process, "Updating operator namespaces to [nowhere, "+b.ns+"]")
	b.create(App("third"))
	b.untilSays("third", diagnosis.ReasonWaitingForQuota, only)

	jobs[a].end("first-0-driver")
	a.untilState("second", "RunningHealthy")
	b.untilSays("third", diagnosis.ReasonWaitingForQuota, only)
	jobs[b].end("first-0-driver")
	b.untilState("third", "RunningHealthy")

	held, ofFirst := b.leasesIn(second.namespace), a.leasesIn(first.namespace)
	if len(held) == 0 {
		t.Error("the second installation holds no lease in its namespace")
	}
	for name, holder := range held {
		if ofFirst[name] == "" || ofFirst[name] == holder {
			t.Errorf("the lease %s has the holders %q and %q in the namespaces of the installations", name, ofFirst[name], holder)
		}
	}
}

func (i *installation) quota(mode string) {
	i.env.Helper()
	i.env.must(i.env.ConfigureIn(i.env.Context(), i.namespace, "config-admission", map[string]string{"quota": mode}))
}

// leasesIn returns the holders of the held leases in a namespace.
func (s *env) leasesIn(namespace string) map[string]string {
	s.Helper()
	leases, err := s.Kube.CoordinationV1().Leases(namespace).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	holders := map[string]string{}
	for _, lease := range leases.Items {
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
			holders[lease.Name] = *holder
		}
	}
	return holders
}
