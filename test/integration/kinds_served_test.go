package integration

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	kubekinds "github.com/firesteel-dev/firesteel/pkg/kube/kinds"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

const (
	crdOfApplications         = "300-sparkapplication.yaml"
	crdOfKubeflowApplications = "300-sparkoperator-sparkapplication.yaml"
	crdOfSchedules            = "300-scheduledsparkapplication.yaml"
	crdOfClusters             = "300-sparkcluster.yaml"

	kindIsAbsent = `"kind is absent, waiting for its CRD"`
	kindIsServed = `"kind is served"`
)

// Kinds appear and disappear while a controller runs and before it starts.
func TestKindsAppearAndDisappear(t *testing.T) {
	t.Parallel()
	s := ownPlane(t)
	_, err := s.Plane.Kubectl(t.Context(), "", "delete", "--all", "customresourcedefinitions")
	s.must(err)
	for _, step := range []struct {
		name string
		test func(*env)
	}{
		{"APIS chooses the CRDs that make deploy applies", chooseAPIs},
		{"while a controller runs", followKinds},
		{"without the right to watch CRDs", findKindByDiscovery},
	} {
		t.Run(step.name, func(t *testing.T) { step.test(s.in(t)) })
	}
}

// in returns the env for a subtest.
func (s *env) in(t *testing.T) *env { return &env{TB: t, suite: s.suite, ns: s.ns} }

// If only one API is installed, a name without a group stands for it.
func chooseAPIs(s *env) {
	if output, err := s.applyAPIs("sparkoperator.k8s.io,spark"); err == nil || !contains(output, `no API "spark"`) || !contains(output, "spark.apache.org") {
		s.Errorf("an unknown name is answered with %v: %s", err, output)
	}
	for _, test := range []struct {
		apis string
		want []string
	}{
		{"sparkoperator.k8s.io", words("scheduledsparkapplications.sparkoperator.k8s.io sparkapplications.sparkoperator.k8s.io")},
		{"", words(`scheduledsparkapplications.firesteel.dev scheduledsparkapplications.sparkoperator.k8s.io
			sparkapplications.spark.apache.org sparkapplications.sparkoperator.k8s.io sparkclusters.spark.apache.org`)},
	} {
		if output, err := s.applyAPIs(test.apis); err != nil {
			s.Fatalf("APIS=%s: %v\n%s", test.apis, err, output)
		}
		got, err := s.Plane.Kubectl(s.Context(), "", "get", "customresourcedefinitions", "-o", "jsonpath={.items[*].metadata.name}")
		s.must(err)
		if !slices.Equal(words(got), test.want) {
			s.Errorf("APIS=%s applies %v, want %v", test.apis, words(got), test.want)
		}
		if test.apis == "" {
			continue
		}
		app := s.kubeflowApplication(sparkPi("4.1.1"))
		if got, err := s.kubectl("", "get", "sparkapplications"); err != nil || !contains(got, app.Name) {
			s.Errorf("APIS=%s: kubectl get sparkapplications: %s (%v)", test.apis, got, err)
		}
	}
	_, err := s.Plane.Kubectl(s.Context(), "", "delete", "--all", "customresourcedefinitions")
	s.must(err)
}

// A controller starts without any CRD. It serves each kind once its CRD exists, also after the CRD was deleted and created again.
func followKinds(s *env) {
	r := s.replica()
	step := func(name string, test func(s *env)) {
		s.TB.(*testing.T).Run(name, func(t *testing.T) { test(s.in(t)) })
	}
	step("it is ready without any kind", func(s *env) {
		s.untilAnswered(r.probes+"/readiness", http.StatusOK)
		s.untilReady(r.Process)
	})
	step("an application runs once its kind is there", func(s *env) {
		s.applyCRD(crdOfApplications)
		s.create(App("pi"))
		s.run("pi", 0)
	})
	// At first the API server refuses what these own, since it reads the kinds of owners every 30 s.
	step("so does one of another kind, and the run of a schedule", func(s *env) {
		s.applyCRD(crdOfKubeflowApplications)
		s.applyCRD(crdOfSchedules)
		s.kubeflowApplication(sparkPi("4.1.1"))
		soon := s.schedules(variant.Apache, "soon", "@every 3s", nil)
		s.runPi().succeed()
		s.untilAllPublished(s.untilShown("spark-pi", v1beta2.CompletedState))
		soon.end(soon.untilStarted(""), true)
		soon.patch(`{"suspend": true}`)
		soon.untilCondition("Scheduled", metav1.ConditionFalse, "Suspended")
	})
	var running *driver
	var app *sparkv1.SparkApplication
	step("what is deleted with its kind is gone, and the kind may come again", func(s *env) {
		absent, served := s.logged(r, kindIsAbsent), s.logged(r, kindIsServed)
		_, err := s.Plane.Kubectl(s.Context(), "", "delete", "crd/sparkapplications.spark.apache.org")
		s.must(err)
		s.untilLoggedMore(r, kindIsAbsent, absent)
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), "pi-0-driver")
		s.applyCRD(crdOfApplications)
		s.untilLoggedMore(r, kindIsServed, served)
		app = s.create(App("pi"))
		running = s.run("pi", 0)
	})
	step("a 404 of a kind that is there deletes nothing from the cache", func(s *env) {
		before := s.logged(r, kindIsAbsent)
		lost := r.proxy.answerNotFound("/sparkapplications", 6)
		r.proxy.cutConnections()
		s.untilClosed(lost, "the 404s to be read")
		running.env = s
		running.succeed()
		s.untilState("pi", "ResourceReleased")
		s.untilPublished(app, plainRun...)
		if after := s.logged(r, kindIsAbsent); after != before {
			s.Errorf("a kind was found absent after 404s:\n%s", r.Tail(20))
		}
	})
	requests, err := s.audit.Requests()
	s.must(err)
	for _, request := range requests {
		if request.Forbidden {
			s.Errorf("the controller may not do what it does: %s", request)
		}
	}
	select {
	case <-r.Done():
		s.Errorf("the controller ended:\n%s", r.Tail(20))
	default:
	}
}

// A kind is found by discovery.
func findKindByDiscovery(s *env) {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "clusters"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{sparkv1.SchemeGroupVersion.Group}, Resources: []string{"sparkclusters"}, Verbs: []string{"list", "watch"},
		}},
	}
	_, err := s.Kube.RbacV1().ClusterRoles().Create(s.Context(), role, metav1.CreateOptions{})
	s.must(err)
	_, err = s.Plane.Kubectl(s.Context(), "", "create", "clusterrolebinding", role.Name, "--clusterrole="+role.Name, "--serviceaccount="+s.ns+":default")
	s.must(err)
	secret, err := s.Token(s.Context(), s.ns, "default")
	s.must(err)
	informer := s.clusterInformer(s.Plane.Config(secret))
	if !cache.WaitForCacheSync(s.Context().Done(), informer.HasSynced) {
		s.Fatal("the informer does not sync while the kind is absent")
	}
	seen := make(chan struct{}, 1)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen <- struct{}{} }})
	s.must(err)
	s.applyCRD(crdOfClusters)
	s.createCluster(Cluster("c"))
	s.untilClosed(seen, "the informer to see a cluster")
	requests, err := s.Plane.Audit("system:serviceaccount:" + s.ns + ":default").Requests()
	s.must(err)
	asked := false
	for _, request := range requests {
		if request.Resource == "customresourcedefinitions" {
			if asked = true; !request.Forbidden {
				s.Errorf("the right is there: %s", request)
			}
		}
	}
	if !asked {
		s.Error("the CRD was never asked for")
	}
}

// clusterInformer runs an informer of SparkClusters, as the controller does.
func (s *env) clusterInformer(config *rest.Config) cache.SharedIndexInformer {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	installed, err := kubekinds.New(config, 100*time.Millisecond)
	s.must(err)
	go installed.Run(ctx)
	wrapped := rest.CopyConfig(config)
	wrapped.Wrap(installed.Wrap)
	connections, err := rest.HTTPClientFor(wrapped)
	s.must(err)
	clients, err := kube.NewClients(wrapped, connections, codec.Firesteel)
	s.must(err)
	clusters := clients.SparkV1().SparkClusters(metav1.NamespaceAll)
	informer := cache.NewSharedIndexInformer(kube.NewSource(clients, clusters.List, clusters.Watch)(func(*metav1.ListOptions) {}), &sparkv1.SparkCluster{}, 0, cache.Indexers{})
	go informer.RunWithContext(ctx)
	return informer
}

// applyCRD applies a CRD of config, and waits until the API server serves its kind.
func (s *env) applyCRD(file string) {
	s.Helper()
	_, err := s.Plane.Kubectl(s.Context(), "", "apply", "--filename="+configFolder+"/"+file)
	s.must(err)
	s.must(s.Plane.AwaitDefinitions(s.Context(), "--filename="+configFolder+"/"+file))
}

// applyConfig applies a file of the folder config, as an admin does.
func (s *env) applyConfig(file string) {
	s.Helper()
	_, err := s.Plane.Kubectl(s.Context(), "", "apply", "--server-side", "--force-conflicts", "--filename="+configFolder+"/"+file)
	s.must(err)
	s.untilRightsAreKnown()
}

// untilClosed waits until a channel is closed, or has a value.
func (s *env) untilClosed(done <-chan struct{}, what string) {
	s.Helper()
	select {
	case <-done:
	case <-time.After(timeout):
		s.Fatalf("waited for %s", what)
	}
}

// logged returns how often a controller logged a text.
func (s *env) logged(r *replica, text string) int {
	s.Helper()
	log, err := os.ReadFile(r.Log)
	s.must(err)
	return strings.Count(string(log), text)
}

// untilLoggedMore waits until a controller logged a text more than so many times.
func (s *env) untilLoggedMore(r *replica, text string, than int) {
	s.Helper()
	deadline := time.After(timeout)
	for s.logged(r, text) <= than {
		select {
		case <-time.After(pollInterval):
		case <-deadline:
			s.Fatalf("waited for %s to be logged more than %d times:\n%s", text, than, r.Tail(20))
		}
	}
}

// applyAPIs applies CRDs as make deploy does.
func (s *env) applyAPIs(apis string) (output string, err error) {
	cmd := exec.CommandContext(s.Context(), "../../hack/crds.sh")
	cmd.Env = append(os.Environ(), "APIS="+apis, "KUBECONFIG="+s.Plane.Kubeconfig(), "PATH="+os.Getenv(controlplane.Assets)+":"+os.Getenv("PATH"))
	text, err := cmd.CombinedOutput()
	return string(text), err
}
