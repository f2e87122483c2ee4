package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/incluster"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/site"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// readers are service accounts with the rights of a tenant, of a tenant without logs, and of nobody.
const readers = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: viewer}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: applications}
  rules: [{apiGroups: [spark.apache.org], resources: [sparkapplications], verbs: [get, list]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: logs}
  rules: [{apiGroups: [""], resources: [pods/log], verbs: [get]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: applications}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: applications}
  subjects: [{kind: ServiceAccount, name: tenant}, {kind: ServiceAccount, name: viewer}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: logs}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: logs}
  subjects: [{kind: ServiceAccount, name: tenant}]
`

// inMemory is an archive of all namespaces. It is a console.Archives.
type inMemory struct{ *archive.Archive }

func (m inMemory) Of(context.Context, string) (*archive.Archive, error) { return m.Archive, nil }

// serveConsole serves an archive with the rights of the console's service account.
func (s *env) serveConsole(stored *archive.Archive, audiences ...string) *url.URL {
	s.Helper()
	address, _ := s.serveConsoleAnd(stored, "", audiences...)
	return address
}

// serveConsoleAnd is serveConsole with the address of a History Server; empty for none. uis is the origin of the Spark UIs.
func (s *env) serveConsoleAnd(stored *archive.Archive, historyServer string, audiences ...string) (address, uis *url.URL) {
	s.Helper()
	s.applyConfig("console/500-console.yaml")
	cluster, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, "console")
	s.must(err)
	kube.Configure(cluster)
	client, err := kubernetes.NewForConfig(cluster)
	s.must(err)
	reviewer := review.NewReviewer(client, func() []string { return audiences }, clock.RealClock{})
	key, _, err := session.LoadKey("")
	s.must(err)
	running, err := incluster.NewLive(s.Context(), cluster, config.Default, zap.NewNop().Sugar())
	s.must(err)
	running.Watch(nil)
	go running.Run(s.Context())
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { return running.HasSynced(), nil }))
	noAddress := func() string { return "" }
	clients := incluster.NewClients(cluster, nil)
	pages := site.New(site.Options{
		Source: running.Live, Views: running.Views, Clients: clients, Address: noAddress, Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(),
		Settings: func(context.Context) (*config.Config, error) { return config.Default(), nil },
		Actions:  func() bool { return false }, Drivers: site.Drivers{Live: running.Live}, SparkUIs: func() string { return "http://*.localhost:" + uis.Port() },
		HistoryServer: func() string { return historyServer }, Archived: func() bool { return true },
	})
	sessions := session.New(session.Options{Key: key, Users: incluster.NewUsers(incluster.NewNamespaces(client), reviewer, nil, nil), Pages: pages, Clock: clock.RealClock{}, Address: noAddress})
	ofAPI := console.NewHandler(sessions, inMemory{stored}, zap.NewNop().Sugar(), running.Routes()...)
	handler, ofUIs := pages.Handlers(sessions, ofAPI)
	serve := func(handler http.Handler) *url.URL {
		server := httptest.NewUnstartedServer(handler)
		s.Cleanup(server.Close)
		origin, err := url.Parse("http://" + server.Listener.Addr().String())
		s.must(err)
		server.Start()
		return origin
	}
	uis = serve(ofUIs)
	return serve(handler), uis
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(request)
}

// archiveOf stores an application with a log, in a namespace of a uid.
func (s *env) archiveOf(namespace archive.Namespace) (*archive.Archive, archive.LogID) {
	s.Helper()
	stored := archive.New(memblob.OpenBucket(nil))
	app := archive.Application{
		Namespace: namespace.Name, NamespaceUID: namespace.UID, Resource: "sparkapplications.spark.apache.org", APIVersion: "spark.apache.org/v1",
		Kind: "SparkApplication", Name: "etl", UID: "uid-1", State: "Failed",
	}
	s.must(stored.WriteApplication(s.Context(), app))
	log := archive.LogID{Pod: "etl-driver", PodUID: "p1", Container: "spark-kubernetes-driver"}
	attempt := stored.Attempt(app.ID(), 0)
	s.must(attempt.File("logs", log.Pod, string(log.PodUID), log.Container, "0").Append(s.Context(), 0, []byte("2026-01-01T00:00:00Z text\n")))
	const object = `{"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": {"namespace": %q, "name": "etl", "uid": "uid-1"},` +
		`"spec": {"mainClass": "org.example.Etl", "runtimeVersions": {"sparkVersion": "4.1.0"}}}`
	s.must(attempt.Put(s.Context(), fmt.Appendf(nil, object, namespace.Name), "objects", "application.json.gz"))
	_, err := attempt.WriteManifest(s.Context(), &archive.Manifest{
		Logs: []archive.Log{{LogID: log, Role: archive.RoleDriver}}, Objects: []archive.Object{{File: "application.json.gz", Kind: "SparkApplication", Name: "etl"}},
	})
	s.must(err)
	return stored, log
}

func TestConsoleServesWhatTheAPIServerAllows(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(readers, "create", "-f", "-")
	s.must(err)
	living := s.namespace()
	stored, log := s.archiveOf(living)
	address := s.serveConsole(stored)
	for account, want := range map[string][3]bool{"tenant": {true, true, true}, "viewer": {true, true, false}, "nobody": {}} {
		token, err := s.Token(t.Context(), s.ns, account)
		s.must(err)
		client := &api.Client{Base: address, HTTP: &http.Client{Transport: bearer(token)}}
		page, listed := client.List(t.Context(), s.ns, api.Filter{}, "")
		found, named := client.Named(t.Context(), s.ns, "sparkapplications.spark.apache.org", "etl")
		app := &api.Application{Namespace: s.ns, Resource: "sparkapplications.spark.apache.org", Name: "etl", UID: "uid-1"}
		stream, read := client.Log(t.Context(), app, 0, api.Log{Pod: log.Pod, PodUID: string(log.PodUID), Container: log.Container}, api.LogOptions{Tail: -1})
		if read == nil {
			s.must(stream.Close())
		}
		for i, got := range []error{listed, named, read} {
			if (got == nil) != want[i] || got != nil && !api.IsNotFound(got) {
				t.Errorf("%s, request %d: %v, want allowed: %t", account, i, got, want[i])
			}
		}
		if want[0] && (len(page.Items) != 1 || len(found.Items) != 1) {
			t.Errorf("%s: %v, %v", account, page, found)
		}
		if _, err := client.List(t.Context(), firesteel.SystemNamespace, api.Filter{}, ""); !api.IsNotFound(err) {
			t.Errorf("%s, in another namespace: %v", account, err)
		}
	}
	for what, token := range map[string]string{"forged": "forged", "for another audience": s.tokenFor("vault")} {
		client := &api.Client{Base: address, HTTP: &http.Client{Transport: bearer(token)}}
		if _, err := client.List(t.Context(), s.ns, api.Filter{}, ""); err == nil || !strings.Contains(err.Error(), "not authenticated") {
			t.Errorf("a token %s: %v", what, err)
		}
	}
}

func TestConsoleServesTheLivingNamespaceOnly(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	earlier := s.namespace()
	earlier.UID = "of-an-earlier-namespace"
	stored, _ := s.archiveOf(earlier)
	client := &api.Client{Base: s.serveConsole(stored), HTTP: &http.Client{Transport: bearer(s.Plane.Admin().BearerToken)}}
	page, err := client.List(t.Context(), s.ns, api.Filter{}, "")
	if err != nil || len(page.Items) != 0 {
		t.Errorf("an administrator sees %v (%v)", page, err)
	}
	if _, err := client.Named(t.Context(), s.ns, "sparkapplications.spark.apache.org", "etl"); !api.IsNotFound(err) {
		t.Error(err)
	}
}

func TestConsoleTakesTokensForItsAudiences(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	stored, _ := s.archiveOf(s.namespace())
	address := s.serveConsole(stored, "console", "dashboards")
	for audience, accepted := range map[string]bool{"console": true, "dashboards": true, "vault": false, "": false} {
		token := s.tokenFor()
		if audience != "" {
			token = s.tokenFor(audience)
		}
		client := &api.Client{Base: address, HTTP: &http.Client{Transport: bearer(token)}}
		_, err := client.List(t.Context(), s.ns, api.Filter{}, "")
		if got := api.IsNotFound(err); got != accepted { // the account has no rights
			t.Errorf("a token for %q: %v, want accepted: %t", audience, err, accepted)
		}
	}
}

// namespace returns the namespace of the env.
func (s *env) namespace() archive.Namespace {
	s.Helper()
	uid, err := s.kubectl("", "get", "namespace", s.ns, "-o", "jsonpath={.metadata.uid}")
	s.must(err)
	return archive.Namespace{Name: s.ns, UID: types.UID(strings.TrimSpace(uid))}
}
