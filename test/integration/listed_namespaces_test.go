package integration

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// listedInstallation is an installation that may read and write in listed namespaces only.
type listedInstallation struct {
	*installation
	// perNamespace is what it needs in each namespace, for the namespace team-a.
	perNamespace []byte
	audit        *controlplane.Audit
}

// installListed applies the objects of the overlay for listed namespaces, but CRDs and the Deployment. The chart renders the same.
func (s *env) installListed(namespace string) *listedInstallation {
	s.Helper()
	built, err := s.Plane.Kubectl(s.Context(), "", "kustomize", filepath.Join(repository, "examples/kustomize/listed-namespaces"))
	s.must(err)
	i := &listedInstallation{installation: &installation{namespace: namespace, env: s}}
	i.audit = s.Plane.Audit("system:serviceaccount:" + namespace + ":controller")
	var base bytes.Buffer
	for _, document := range bytes.Split([]byte(built), []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal(document, object))
		document = bytes.ReplaceAll(document, []byte(firesteel.SystemNamespace), []byte(namespace))
		switch {
		case object.GetNamespace() == "team-a":
			i.perNamespace = append(append(i.perNamespace, document...), "\n---\n"...)
		case object.GetKind() == "Namespace", object.GetNamespace() == firesteel.SystemNamespace && object.GetKind() != "Deployment":
			base.Write(append(document, "\n---\n"...))
		}
	}
	_, err = s.Plane.Kubectl(s.Context(), base.String(), "apply", "--filename=-")
	s.must(err)
	return i
}

// admitted gives the installation its rights in a namespace.
func (i *listedInstallation) admitted(to *env) {
	to.Helper()
	_, err := to.kubectl(string(bytes.ReplaceAll(i.perNamespace, []byte("namespace: team-a"), []byte("namespace: "+to.ns))), "apply", "--filename=-")
	to.must(err)
}

// named returns the env for another namespace of the same control plane, which need not exist.
func (s *env) named(namespace string) *env { return &env{TB: s.TB, suite: s.suite, ns: namespace} }

// runEachKind runs applications of both APIs, a run of a schedule and a cluster to their ends. Their names are the same in all namespaces.
func (s *env) runEachKind() {
	s.Helper()
	app, c := s.create(App("pi")), s.createCluster(Cluster("c"))
	s.submitted(sparkPi("4.0.1"))
	schedule := s.schedules(variant.Apache, "often", "@every 2s", nil)
	s.run("pi", 0).succeed()
	s.kubeflowDriver("spark-pi").start().ready().succeed()
	run := schedule.untilRuns(1)[0].GetName()
	schedule.patch(`{"suspend": true}`)
	schedule.end(run, true)
	s.untilClusterState("c", "Submitted")
	s.rollOut("c-master")
	s.must(s.clusters().Delete(s.Context(), "c", metav1.DeleteOptions{}))
	untilGone(s, s.clusters(), "c")
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, plainRun...)
	s.untilShown("spark-pi", v1beta2.CompletedState)
	s.untilClusterPublished(c, "Submitted", "ResourceReleased")
}

// runAnother runs one more application to its end.
func (s *env) runAnother(name string) {
	s.Helper()
	s.create(App(name))
	s.run(name, 0).succeed()
	s.untilState(name, "ResourceReleased")
}

// checkRequests fails the test for each kind of request outside the namespaces of an installation, and for each that is forbidden and not in
// a refusing namespace.
func (i *listedInstallation) checkRequests(namespaces, refusing []string) {
	i.env.Helper()
	requests, err := i.audit.Requests()
	i.env.must(err)
	if len(requests) == 0 {
		i.env.Errorf("%s made no request", i.namespace)
	}
	seen := map[string]bool{}
	for _, request := range requests {
		proxied := request.Subresource == "proxy" // a controller in the cluster asks masters directly
		switch {
		case seen[request.Kind()+request.Namespace] || proxied:
		case request.Namespace != i.namespace && !slices.Contains(namespaces, request.Namespace):
			i.env.Errorf("a request is outside the namespaces of %s: %s", i.namespace, request)
		case request.Forbidden && !slices.Contains(refusing, request.Namespace):
			i.env.Errorf("%s may not: %s", i.namespace, request)
		default:
			continue
		}
		seen[request.Kind()+request.Namespace] = true
	}
}

// Two installations, the first of two replicas, serve listed namespaces of a cluster in which they have no ClusterRole.
func TestListedNamespacesAreServedWithoutAClusterRole(t *testing.T) {
	alone(t)
	a, b, other, unlisted := newEnv(t), newEnv(t), newEnv(t), newEnv(t)
	later := a.named(a.ns[:min(len(a.ns), 55)] + "-later")
	first, second := a.installListed("firesteel-first"), a.installListed("firesteel-second")
	first.serves(strings.Join([]string{a.ns, b.ns, later.ns}, ", "))
	second.serves(other.ns)
	first.admitted(a)
	first.admitted(b)
	second.admitted(other)
	a.untilRightsAreKnown()
	a.must(a.ConfigureIn(t.Context(), first.namespace, "config-leader-election", map[string]string{"buckets": "2"}))

	cluster, err := a.ConfigOf(t.Context(), first.namespace, "controller")
	a.must(err)
	proxy, err := newFaultyServer(cluster, a.ns)
	a.must(err)
	t.Cleanup(proxy.close)
	cut := a.ownController(controller{config: proxy.config(), namespace: first.namespace, sink: a.sink.URL(), replica: true})
	replica := a.ownController(controller{namespace: first.namespace, sink: a.sink.URL(), replica: true})
	b.ownController(controller{namespace: second.namespace, sink: b.sink.URL()})
	a.untilReady(cut)
	a.untilReady(replica)
	a.untilLogged(cut, "only the listed namespaces are read")
	a.untilLogged(cut, `"namespace":"`+later.ns+`"`)

	a.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, map[string]string{"image": "example.org/theirs"})
	a.untilLogged(cut, "defaults of a namespace changed")
	a.untilLogged(replica, "defaults of a namespace changed")
	a.create(App("own"))
	if image := a.imageOf("own"); image != "example.org/theirs" {
		t.Errorf("the image of a listed namespace is %s", image)
	}
	ignored := unlisted.create(App("pi"))
	t.Run("in", func(t *testing.T) {
		for name, s := range map[string]*env{"one": a, "another": b, "one of another installation": other} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.in(t).runEachKind()
			})
		}
	})

	proxy.server.CloseClientConnections()
	a.runAnother("after-the-cut")
	b.runAnother("after-the-cut")

	a.must(a.Kube.CoreV1().Namespaces().Delete(t.Context(), b.ns, metav1.DeleteOptions{}))
	untilGone(a, a.Kube.CoreV1().Namespaces(), b.ns)
	a.must(a.AddNamespace(t.Context(), b.ns))
	first.admitted(b)
	b.runAnother("in-the-new-namespace")

	a.must(a.AddNamespace(t.Context(), later.ns))
	first.admitted(later)
	later.runAnother("pi")

	first.serves(b.ns)
	for _, process := range []*process.Process{cut, replica} {
		a.untilLogged(process, "Updating operator namespaces to ["+b.ns+"]")
	}
	b.runAnother("alone")
	left := a.create(App("left-out"))
	b.runAnother("afterwards")

	for s, app := range map[*env]*sparkv1.SparkApplication{unlisted: ignored, a: left} {
		if got := s.get(app.Name); got.ResourceVersion != app.ResourceVersion {
			t.Errorf("an application outside the listed namespaces was changed:\n%s", described(got))
		}
	}
	first.checkRequests([]string{a.ns, b.ns, later.ns}, []string{later.ns, b.ns})
	second.checkRequests([]string{other.ns}, nil)
}
