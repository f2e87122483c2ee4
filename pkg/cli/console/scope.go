package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// rights are what is asked about a user.
type rights interface {
	Check(ctx context.Context, right access.Right) error
}

// scope is what is followed.
type scope struct {
	// namespace is the only one that is followed; live.AllNamespaces for all.
	namespace string
	// versions are those in which the kinds are served, by resource. A kind that is not served has none.
	versions map[string]string

	user      rights
	discovery discovery.DiscoveryInterface
	note      atomic.Pointer[string]
}

// wanted are the namespaces that a user asked for.
type wanted struct {
	// namespace is that of the command line or of the kubeconfig. explicit reports whether the command line names it.
	namespace string
	explicit  bool
	// all reports whether all namespaces are wanted, and nothing less.
	all bool
}

// candidates returns the scopes that would do, the best one first.
func (w wanted) candidates() []string {
	switch {
	case w.all:
		return []string{live.AllNamespaces}
	case w.explicit:
		return []string{w.namespace}
	default:
		return []string{live.AllNamespaces, w.namespace}
	}
}

// newScope returns the first of the wanted scopes in which the user may follow a kind of applications.
func newScope(ctx context.Context, user rights, client discovery.DiscoveryInterface, asked wanted) (*scope, error) {
	s := &scope{user: user, discovery: client}
	var err error
	if s.versions, err = served(client); err != nil {
		return nil, err
	}
	var names []string
	for _, kind := range actions.KindsOf(overview.Application) {
		if s.versions[kind.String()] != "" {
			names = append(names, kind.String())
		}
	}
	if len(names) == 0 {
		return nil, errors.New("this cluster has no kind of Spark applications: install Firesteel, or its CustomResourceDefinitions, or choose another cluster by --context")
	}
	for _, namespace := range asked.candidates() {
		s.namespace = namespace
		may, err := s.mayFollow(ctx, names)
		if err != nil {
			return nil, err
		}
		if slices.Contains(may, true) {
			return s, nil
		}
	}
	var tried []string
	for _, namespace := range asked.candidates() {
		tried = append(tried, inNamespace(namespace))
	}
	const remedy = "write -n NAMESPACE with a namespace in which you may, or ask for the right"
	return nil, fmt.Errorf("you may not see applications%s: that needs list and watch of %s: %s", strings.Join(tried, " or"), strings.Join(names, " or of "), remedy)
}

// served returns the versions in which the kinds are served, by resource.
func served(client discovery.DiscoveryInterface) (map[string]string, error) {
	groups, err := client.ServerGroups()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			known[version.GroupVersion] = true
		}
	}
	versions := map[string]string{}
	for _, kind := range actions.Kinds {
		for _, version := range kind.Versions {
			in := kind.WithVersion(version).GroupVersion().String()
			if !known[in] || versions[kind.String()] != "" {
				continue
			}
			resources, err := client.ServerResourcesForGroupVersion(in)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.Resource }) {
				versions[kind.String()] = version
			}
		}
	}
	return versions, nil
}

// maxReviews bounds the reviews under way.
const maxReviews = 8

// mayFollow returns whether the user may follow each resource.
func (s *scope) mayFollow(ctx context.Context, resources []string) ([]bool, error) {
	may := make([]bool, len(resources))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReviews)
	for i, resource := range resources {
		group.Go(func() error {
			list, err := access.Allowed(s.user.Check(ctx, access.RightOn("list", resource, s.namespace, "")))
			if err != nil || !list {
				return err
			}
			may[i], err = access.Allowed(s.user.Check(ctx, access.RightOn("watch", resource, s.namespace, "")))
			return err
		})
	}
	return may, group.Wait()
}

// Note returns what the pages show, and what they leave out.
func (s *scope) Note() string {
	if note := s.note.Load(); note != nil {
		return *note
	}
	return ""
}

// look finds out what is left out.
func (s *scope) look(ctx context.Context) error {
	versions, err := served(s.discovery)
	if err != nil {
		return err
	}
	resources := append(live.ResourceNames(), "pods")
	may, err := s.mayFollow(ctx, resources)
	if err != nil {
		return err
	}
	var absent, refused []string
	for i, resource := range resources {
		switch {
		case resource != "pods" && versions[resource] == "":
			absent = append(absent, resource)
		case !may[i]:
			refused = append(refused, resource)
		}
	}
	note := "Shown is what there is" + inNamespace(s.namespace) + "."
	if len(refused) > 0 {
		note += " You may not list and watch there, so they are left out: " + strings.Join(refused, ", ") + "."
	}
	if len(absent) > 0 {
		note += " This cluster does not have: " + strings.Join(absent, ", ") + "."
	}
	s.note.Store(&note)
	return nil
}

// lookEach is how often is looked what is left out: kinds and rights come and go.
const lookEach = time.Minute

// follow looks again until the context ends. While the API server gives no answer, the last note stays.
func (s *scope) follow(ctx context.Context, clock clock.Clock) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.After(lookEach):
			_ = s.look(ctx) // the pages report that the API server does not answer
		}
	}
}

// inNamespace returns where something is, in words.
func inNamespace(namespace string) string {
	if namespace == live.AllNamespaces {
		return " in all namespaces"
	}
	return " in the namespace " + namespace
}
