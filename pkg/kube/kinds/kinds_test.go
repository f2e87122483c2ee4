package kinds

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"
)

// TestMain has errors of informers neither logged nor slowed down: their clock is shared by all tests, whose own clocks differ.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	m.Run()
}

// informers are the ways of informers to read what exists.
var informers = map[string]listOnly{"streaming informer": false, "listing informer": true}

// after lets time pass, until all rests again.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// expect checks whether an informer is synced, and how many objects it has.
func expect(t *testing.T, when string, informer cache.SharedIndexInformer, synced bool, objects int) {
	t.Helper()
	if got := informer.HasSynced(); got != synced {
		t.Errorf("%s the informer is synced: %t, want %t", when, got, synced)
	}
	if got := len(informer.GetStore().List()); got != objects {
		t.Errorf("%s the informer has %d objects, want %d", when, got, objects)
	}
}

// The times are those of the informer's back-off.
const (
	soon     = 5 * time.Second
	muchTime = 10 * time.Minute
)

func install(a *apiserver) { a.crd, a.served = a.crd+1, true }

func TestAnInformerSyncsWithoutItsKindAndListsItWhenItAppears(t *testing.T) {
	for name, lists := range informers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				informer := server.informer(t, lists)
				after(soon)
				expect(t, "without the kind", informer, true, 0)
				resting := server.countRequests(clustersPath)
				after(muchTime)
				if requests := server.countRequests(clustersPath); requests != resting {
					t.Errorf("%d requests were made for a kind that is absent", requests-resting)
				}
				server.set(install)
				after(soon)
				server.set(func(a *apiserver) { a.cluster = true })
				after(0)
				expect(t, "with the kind", informer, true, 1)
			})
		})
	}
}

func TestObjectsDisappearAndReturnWithTheirKind(t *testing.T) {
	for name, lists := range informers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 1, true, true })
				informer := server.informer(t, lists)
				after(soon)
				expect(t, "with the kind", informer, true, 1)
				if requests := server.countRequests(groupsPath) + server.countRequests(crdsPath); requests > 0 {
					t.Errorf("%d requests were made to find a kind that is there", requests)
				}
				// The informer misses that the object is deleted.
				server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 0, false, false })
				after(soon)
				expect(t, "without the kind", informer, true, 0)
				server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 2, true, true })
				after(10 * soon)
				expect(t, "with the kind again", informer, true, 1)
			})
		})
	}
}

func TestA404OfAKindThatIsThereDeletesNothingFromTheCache(t *testing.T) {
	for name, answers := range map[string]map[string][]int{
		"discovery has the kind":           {clustersPath: {404, 404, 404, 200}},
		"discovery is lost once":           {clustersPath: {404, 404, 404, 200}, versionPath: {404, 200}},
		"discovery is lost with the kind":  {clustersPath: {404, 404, 404, 200}, groupsPath: {404}},
		"discovery is refused":             {clustersPath: {404, 404, 404, 200}, groupsPath: {403}},
		"discovery fails, then comes back": {clustersPath: {404, 404, 404, 200}, groupsPath: {500, 500, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 1, true, true })
				informer := server.informer(t, false)
				deleted := 0
				if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { deleted++ }}); err != nil {
					t.Fatal(err)
				}
				after(soon)
				server.set(func(a *apiserver) { a.answers, a.cuts = answers, 1 })
				for range 20 {
					after(soon)
					expect(t, "after a 404", informer, true, 1)
				}
				if deleted > 0 {
					t.Errorf("the informer reports %d deletions", deleted)
				}
				if server.countRequests(clustersPath) < 5 {
					t.Errorf("the watch was not begun again after %d requests", server.countRequests(clustersPath))
				}
			})
		})
	}
}

// A replica of the API server may not know the kind yet, and answer once.
func TestAKindThatDiscoveryMissesOnceKeepsItsObjectsInTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 1, true, true })
		server.answers[crdsPath] = []int{http.StatusForbidden}
		informer := server.informer(t, false)
		after(soon)
		server.set(func(a *apiserver) {
			a.hidden, a.answers[clustersPath], a.cuts = 1, []int{404, 404, 404, 404, 404, 404, 200}, 1
		})
		for range 20 {
			after(soon)
			expect(t, "after a 404", informer, true, 1)
		}
		if requests := server.countRequests(groupsPath); requests < 2 {
			t.Errorf("discovery was asked %d times", requests)
		}
	})
}

func TestAKindIsAbsentIfDiscoverySaysSoTwice(t *testing.T) {
	for name, test := range map[string]struct {
		// groups are what discovery answers when it is asked the first times.
		groups []int
		absent bool
	}{
		"twice":                           {nil, true},
		"not if it is unavailable":        {[]int{http.StatusServiceUnavailable}, false},
		"not if it is unavailable later":  {[]int{http.StatusOK, http.StatusServiceUnavailable}, false},
		"not if it is not there, either":  {[]int{http.StatusNotFound}, false},
		"not if it is not there, later":   {[]int{http.StatusOK, http.StatusNotFound}, false},
		"once it is available once again": {[]int{http.StatusServiceUnavailable, http.StatusServiceUnavailable, http.StatusOK}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				server.answers[groupsPath] = test.groups
				informer := server.informer(t, false)
				after(4 * soon)
				expect(t, "after a while", informer, test.absent, 0)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.set(func(a *apiserver) { a.cluster = true })
		informer := server.informer(t, false)
		after(confirmAfter / 2)
		server.set(install)
		after(confirmAfter / 2)
		if server.countRequests(groupsPath) < 2 || server.countRequests(crdsPath) > 0 {
			t.Errorf("discovery was asked %d times, and the CRD %d times", server.countRequests(groupsPath), server.countRequests(crdsPath))
		}
		after(soon)
		expect(t, "after discovery took it back", informer, true, 1)
	})
}

func TestAKindIsFoundByDiscoveryIfItsCRDCannotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.answers[crdsPath] = []int{http.StatusForbidden}
		informer := server.informer(t, false)
		after(soon)
		expect(t, "without the kind", informer, true, 0)
		crds, groups := server.countRequests(crdsPath), server.countRequests(groupsPath)
		after(10 * DiscoveryPeriod)
		if requests := server.countRequests(crdsPath); requests != crds {
			t.Errorf("CRDs were asked for %d times more", requests-crds)
		}
		if requests := server.countRequests(groupsPath) - groups; requests != 10 {
			t.Errorf("discovery was asked %d times in 10 periods", requests)
		}
		server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 1, true, true })
		after(DiscoveryPeriod + soon)
		expect(t, "with the kind", informer, true, 1)
		groups = server.countRequests(groupsPath)
		after(10 * DiscoveryPeriod)
		if requests := server.countRequests(groupsPath) - groups; requests != 0 {
			t.Errorf("discovery was asked %d times for a kind that is there", requests)
		}
	})
}

func TestCRDsAreNotAskedForIfDiscoveryIsTheOnlyWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.discoveryOnly = true
		informer := server.informer(t, false)
		after(soon)
		expect(t, "without the kind", informer, true, 0)
		groups := server.countRequests(groupsPath)
		after(10 * DiscoveryPeriod)
		if requests := server.countRequests(groupsPath) - groups; requests != 10 {
			t.Errorf("discovery was asked %d times in 10 periods", requests)
		}
		server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 1, true, true })
		after(DiscoveryPeriod + soon)
		expect(t, "with the kind", informer, true, 1)
		if requests := server.countRequests(crdsPath); requests > 0 {
			t.Errorf("CRDs were asked for %d times", requests)
		}
	})
}

// The API server has a CRD before it serves the kind; a CRD of another operator may not have the version at all.
func TestAKindIsServedSomeTimeAfterItsCRDIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		informer := server.informer(t, false)
		after(soon)
		server.set(func(a *apiserver) { a.crd, a.cluster = 1, true })
		after(soon)
		server.set(func(a *apiserver) { a.served = true })
		after(3 * soon)
		expect(t, "some time later", informer, true, 1)
	})
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.set(func(a *apiserver) { a.crd = 1 })
		informer := server.informer(t, false)
		after(2 * time.Minute)
		groups := server.countRequests(groupsPath)
		after(muchTime)
		if requests := server.countRequests(groupsPath); requests != groups {
			t.Errorf("discovery was asked %d times while nothing changed", requests-groups)
		}
		server.set(func(a *apiserver) { a.crd, a.served, a.cluster = 2, true, true })
		after(soon)
		expect(t, "once the CRD has the version", informer, true, 1)
	})
}

func TestOnlyListsAndWatchesOfAKindAreAnsweredForTheAPIServer(t *testing.T) {
	for target, want := range map[string]bool{
		"GET /apis/spark.apache.org/v1/sparkclusters":                                        true,
		"GET /apis/spark.apache.org/v1/sparkclusters?watch=true":                             true,
		"GET /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters":                      true,
		"GET /k8s/clusters/c-1/apis/spark.apache.org/v1/sparkclusters":                       true,
		"GET /apis/firesteel.dev/v1alpha1/scheduledsparkapplications":                        true,
		"GET /apis/sparkoperator.k8s.io/v1beta2/namespaces/a/sparkapplications":              true,
		"GET /apis/spark.apache.org/v1alpha1/sparkclusters":                                  false,
		"GET /apis/spark.apache.org/v1/sparkclusters/c":                                      false,
		"GET /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters/c":                    false,
		"GET /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters/c/status":             false,
		"POST /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters":                     false,
		"DELETE /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters":                   false,
		"GET /api/v1/namespaces/team-a/pods":                                                 false,
		"GET /apis/spark.apache.org/v1":                                                      false,
		"GET /apis/gateway.networking.k8s.io/v1/httproutes":                                  false,
		"PATCH /apis/spark.apache.org/v1/namespaces/team-a/sparkclusters/c?fieldManager=ctl": false,
	} {
		t.Run(target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				method, url, _ := strings.Cut(target, " ")
				installed, err := New(&rest.Config{Host: "http://apiserver", Transport: server}, DiscoveryPeriod)
				if err != nil {
					t.Fatal(err)
				}
				request, err := http.NewRequestWithContext(t.Context(), method, "http://apiserver"+url, nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := installed.Wrap(nothing{}).RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				if err := response.Body.Close(); err != nil {
					t.Error(err)
				}
				if got := response.StatusCode == http.StatusOK; got != want {
					t.Errorf("the answer is %s", response.Status)
				}
			})
		})
	}
}

// nothing is a server without any kind.
type nothing struct{}

func (nothing) RoundTrip(request *http.Request) (*http.Response, error) {
	response := okResponse(request, text("404 page not found"))
	response.Status, response.StatusCode = "404 Not Found", http.StatusNotFound
	return response, nil
}

// The names of the kinds' CRDs are those of the CRDs in config, and those that the controller may watch.
func TestTheKindsAreThoseOfTheManifests(t *testing.T) {
	var kinds []string
	for _, kind := range all() {
		kinds = append(kinds, kind.crd())
	}
	slices.Sort(kinds)
	var crds, watched []string
	for _, pattern := range []string{"300-*.yaml", "*/300-*.yaml"} {
		for _, manifest := range manifests(t, pattern) {
			crds = append(crds, manifest.Metadata.Name)
		}
	}
	for _, manifest := range manifests(t, "200-clusterrole.yaml") {
		for _, rule := range manifest.Rules {
			if slices.Contains(rule.Resources, "customresourcedefinitions") {
				watched = append(watched, rule.ResourceNames...)
			}
		}
	}
	slices.Sort(crds)
	slices.Sort(watched)
	if len(kinds) == 0 || !slices.Equal(kinds, crds) {
		t.Errorf("the kinds are %v, and the CRDs %v", kinds, crds)
	}
	if !slices.Equal(kinds, watched) {
		t.Errorf("the kinds are %v, and those whose CRDs the controller may watch %v", kinds, watched)
	}
}

// manifest is a part of an object of config.
type manifest struct {
	Metadata metav1.ObjectMeta   `json:"metadata"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
}

func manifests(t *testing.T, pattern string) (found []manifest) {
	t.Helper()
	files, err := filepath.Glob("../../../config/" + pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var m manifest
			if err := yaml.Unmarshal([]byte(document), &m); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			found = append(found, m)
		}
	}
	return found
}
