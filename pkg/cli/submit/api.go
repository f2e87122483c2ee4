package submit

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/convert"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// api is an API in which a submission can be written.
type api struct {
	// name is a value of --api. The group is another one.
	name     convert.API
	group    string
	manifest func(s *sparksubmit.Submission, name, namespace string) (sparksubmit.Object, finding.List)
	// holdsConfigMaps reports whether an application has a field for the ConfigMaps that it needs.
	holdsConfigMaps bool
}

// apis are all APIs, in the order of the choice. The spec of the first one consists of Spark's properties.
var apis = []api{
	{convert.Apache, "spark.apache.org", func(s *sparksubmit.Submission, name, namespace string) (sparksubmit.Object, finding.List) {
		return s.Apache(name, namespace), nil
	}, true},
	{convert.Kubeflow, "sparkoperator.k8s.io", func(s *sparksubmit.Submission, name, namespace string) (sparksubmit.Object, finding.List) {
		return s.Kubeflow(name, namespace), nil
	}, false},
	{convert.Early, "spark-operator.k8s.io", (*sparksubmit.Submission).Early, false},
}

// configMaps returns the ConfigMaps that must be created before the application of a submission.
func (a api) configMaps(s *sparksubmit.Submission, name, namespace string) []sparksubmit.Object {
	if a.holdsConfigMaps {
		return nil
	}
	return s.ConfigMaps(name, namespace)
}

// Manifest returns a submission as an application of an API, with the given name. It also returns the ConfigMaps that must be created before the
// application, and what the API cannot express.
func Manifest(
	submission *sparksubmit.Submission, of convert.API, name, namespace string,
) (application sparksubmit.Object, configMaps []sparksubmit.Object, lost finding.List) {
	at := slices.IndexFunc(apis, func(known api) bool { return known.name == of })
	application, lost = apis[at].manifest(submission, name, namespace)
	return application, apis[at].configMaps(submission, name, namespace), lost
}

func apiNames() (names []string) {
	for _, known := range apis {
		names = append(names, string(known.name))
	}
	return names
}

// chooseAPI returns the API of --api, else the first that the cluster serves, with the resource of its applications.
func (s *submitter) chooseAPI() (chosen api, resource schema.GroupVersionResource, err error) {
	var missing []string
	for _, known := range apis {
		if s.api != "" && s.api != string(known.name) && s.api != known.group {
			continue
		}
		kind := kindOf(known.group)
		if s.dryRun == cli.DryRunClient {
			return known, kind.WithVersion(kind.Versions[0]), nil
		}
		resource, served, err := s.served(kind)
		if served || err != nil {
			return known, resource, err
		}
		missing = append(missing, known.group)
	}
	if missing == nil {
		return api{}, resource, cli.Usage("--api %q is no API: write one of %s", s.api, strings.Join(apiNames(), ", "))
	}
	return api{}, resource, fmt.Errorf("this cluster has no CustomResourceDefinition of Spark applications of %s: apply it, or choose another --api or --context",
		strings.Join(missing, " or "))
}

// kindOf returns the kind of the applications of a group.
func kindOf(group string) actions.Kind {
	all := actions.KindsOf(overview.Application)
	return all[slices.IndexFunc(all, func(kind actions.Kind) bool { return kind.Group == group })]
}

// served returns the resource of a kind in the version that the API server has.
func (s *submitter) served(kind actions.Kind) (schema.GroupVersionResource, bool, error) {
	cluster, err := s.Cluster()
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	for _, version := range kind.Versions {
		resource := kind.WithVersion(version)
		list, err := client.ServerResourcesForGroupVersion(resource.GroupVersion().String())
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return resource, false, err
		case slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.Resource }):
			return resource, true, nil
		}
	}
	return schema.GroupVersionResource{}, false, nil
}
