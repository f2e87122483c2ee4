// Package kinds knows which of Firesteel's kinds the API server has. Their CustomResourceDefinitions may be created and
// deleted while the controller runs.
//
// A generated informer waits until its kind can be listed, and the controller waits for all informers. So a transport below
// the clients answers for a kind that is absent:
//
//	informer             transport                       API server
//	   | list, watch         |  the same request              |
//	   |-------------------->|------------------------------->|
//	   |                     |<-------------------------- 404 |
//	   |                     |  discovery, twice ------------>|  absent? otherwise the informer gets the 404
//	   |<---- an empty list  |                                |
//	   |                     |  watch the CRD, or else ------>|
//	   |                     |  discovery every 30 s          |
//	   |<-------- 410 Gone   |<------------------ it is there |
//	   | list, watch         |                                |
//	   |-------------------->|------------------------------->|
//
// While all kinds are there, none of this makes a request.
package kinds

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/scheme"
)

const (
	// DiscoveryPeriod is how often discovery is asked for an absent kind if its CRD cannot be watched.
	DiscoveryPeriod = 30 * time.Second

	// confirmAfter is the time between the two answers of discovery that make a kind absent. One replica of the API server
	// may be behind the others.
	confirmAfter = time.Second
	// discoveryLimit bounds the time of one request.
	discoveryLimit = 10 * time.Second
)

// all are the kinds that Firesteel has clients of: those of its groups of which there are lists.
func all() map[schema.GroupVersionResource]*kind {
	kinds := map[schema.GroupVersionResource]*kind{}
	for known := range scheme.Scheme.AllKnownTypes() {
		if known.Group != "" && scheme.Scheme.Recognizes(known.GroupVersion().WithKind(known.Kind+"List")) {
			resource, _ := meta.UnsafeGuessKindToResource(known)
			kinds[resource] = &kind{GroupVersionKind: known, resource: resource.Resource}
		}
	}
	return kinds
}

// Kinds knows which kinds are absent.
type Kinds struct {
	kinds     map[schema.GroupVersionResource]*kind
	discovery rest.Interface
	metadata  metadata.Interface
	period    time.Duration
	// discoveryOnly reports whether CRDs are not watched.
	discoveryOnly bool
	// absences holds each kind that was found absent, until Run takes it.
	absences chan *kind
	// reportForbidden guards the report that CRDs cannot be watched.
	reportForbidden sync.Once
}

// kind is one of Firesteel's kinds.
type kind struct {
	schema.GroupVersionKind
	resource string

	// mutex is held while discovery is asked, so that requests which find the kind missing at once ask together.
	mutex sync.Mutex
	// appeared is closed when the kind appears. It is nil while the kind is there.
	appeared chan struct{}
}

// crd is the name of the CustomResourceDefinition.
func (k *kind) crd() string { return k.resource + "." + k.Group }

// New makes a Kinds that takes every kind as present until a request finds it missing. period is DiscoveryPeriod, but in
// tests.
func New(cluster *rest.Config, period time.Duration) (*Kinds, error) {
	connections, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("make client of discovery: %w", err)
	}
	groups, err := discovery.NewDiscoveryClientForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("make client of discovery: %w", err)
	}
	crds, err := metadata.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("make client of CRDs: %w", err)
	}
	k := &Kinds{kinds: all(), discovery: groups.RESTClient(), metadata: crds, period: period}
	k.absences = make(chan *kind, len(k.kinds)) // a kind is in it once
	return k, nil
}

// DiscoveryOnly makes discovery the only way to find kinds that appear. CRDs are not watched, because the right to do that is missing.
// It is called before Run.
func (k *Kinds) DiscoveryOnly() { k.discoveryOnly = true }

// absent reports whether a kind is absent, and returns what is closed when it appears. It is to be asked when a request finds
// the kind missing.
//
// A 404 alone proves nothing: a proxy may have written it. A kind is absent if discovery answers twice and has it neither time.
func (k *Kinds) absent(ctx context.Context, kind *kind) (appeared <-chan struct{}, absent bool) {
	kind.mutex.Lock()
	defer kind.mutex.Unlock()
	if kind.appeared != nil {
		return kind.appeared, true
	}
	if served, err := k.serves(ctx, kind); served || err != nil {
		return nil, false
	}
	select {
	case <-ctx.Done():
		return nil, false
	case <-time.After(confirmAfter):
	}
	if served, err := k.serves(ctx, kind); served || err != nil {
		return nil, false
	}
	kind.appeared = make(chan struct{})
	k.absences <- kind
	return kind.appeared, true
}

// present ends the waits for a kind.
func (k *kind) present() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	close(k.appeared)
	k.appeared = nil
}

// serves reports whether discovery has a kind. The groups are read first: there the answer to a kind that is absent is a list,
// and not a 404.
func (k *Kinds) serves(ctx context.Context, kind *kind) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryLimit)
	defer cancel()
	var groups metav1.APIGroupList
	if err := k.discovery.Get().AbsPath("apis").Do(ctx).Into(&groups); err != nil {
		return false, fmt.Errorf("read the API groups: %w", err)
	}
	version := kind.GroupVersion().String()
	served := slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool {
		return slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == version })
	})
	if !served {
		return false, nil
	}
	var resources metav1.APIResourceList
	if err := k.discovery.Get().AbsPath("apis", kind.Group, kind.Version).Do(ctx).Into(&resources); err != nil {
		return false, fmt.Errorf("read the resources of %s: %w", version, err)
	}
	return slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.resource }), nil
}
