// Package crds applies the CustomResourceDefinitions of Firesteel's APIs to a cluster.
package crds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	manifests "github.com/firesteel-dev/firesteel/config"
	"github.com/firesteel-dev/firesteel/internal/version"
)

// groups holds the API groups whose CRDs belong to an API.
var groups = map[string][]string{
	"spark.apache.org":     {"spark.apache.org", "firesteel.dev"},
	"sparkoperator.k8s.io": {"sparkoperator.k8s.io"},
	// Applied only if it is asked for: where its CRD is, kubectl's sparkapplications means its kind.
	"spark-operator.k8s.io": {"spark-operator.k8s.io"},
}

// APIs returns the names of all APIs.
func APIs() []string { return slices.Sorted(maps.Keys(groups)) }

const (
	// fieldManager owns the fields of the CRDs.
	fieldManager = "firesteel-setup"
	partOf       = "app.kubernetes.io/part-of"
	owned        = "firesteel"
	// Helm marks what belongs to a release.
	helmRelease   = "meta.helm.sh/release-name"
	helmNamespace = "meta.helm.sh/release-namespace"
	// Helm keeps an object with this annotation if an upgrade of its release leaves the object out. An uninstallation does not look at
	// the object, but at the manifest that the release has stored.
	helmPolicy = "helm.sh/resource-policy"
	helmKeep   = "keep"

	period = 250 * time.Millisecond
)

// Of returns the CRDs of some APIs.
func Of(apis ...string) ([]*unstructured.Unstructured, error) {
	var wanted []string
	for _, api := range apis {
		if groups[api] == nil {
			return nil, fmt.Errorf("there is no API %q: write one of %s", api, strings.Join(APIs(), ", "))
		}
		wanted = append(wanted, groups[api]...)
	}
	var found []*unstructured.Unstructured
	err := each(func(text []byte) error {
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &crd.Object); err != nil {
			return err
		}
		group, _, err := unstructured.NestedString(crd.Object, "spec", "group")
		if err == nil && slices.Contains(wanted, group) {
			found = append(found, crd)
		}
		return err
	})
	return found, err
}

// each calls a function with the manifest of each CRD.
func each(do func(text []byte) error) error {
	return fs.WalkDir(manifests.CRDs, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := manifests.CRDs.ReadFile(file)
		if err != nil {
			return err
		}
		if err := do(text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}

// Apply applies CRDs on the server's side, and returns when the API server serves them. If one of them belongs to another owner, it
// changes nothing and names the owner, unless takeOver is set. No upgrade of a Helm release deletes a CRD that was applied.
//
// It returns the Helm releases, as <namespace>/<name>, whose uninstallation would delete a CRD, and with it all objects of its kind.
func Apply(ctx context.Context, client dynamic.Interface, takeOver bool, crds ...*unstructured.Unstructured) (releases []string, err error) {
	existing := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	var foreign []error
	for _, crd := range crds {
		live, err := existing.Get(ctx, crd.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read the CRD %s: %w", crd.GetName(), err)
		case !takeOver && Owner(live) != "":
			foreign = append(foreign, fmt.Errorf("the CRD %s belongs to %s", live.GetName(), Owner(live)))
		}
		if release := release(live); release != "" {
			releases = append(releases, release)
		}
	}
	if len(foreign) > 0 {
		return nil, fmt.Errorf("%w\nTake them over, by -take-over of setup or crds.takeOver=true of the chart: all objects of their kinds stay. "+
			"See docs/operators/moving-in.md", errors.Join(foreign...))
	}
	for _, crd := range crds {
		kept := crd.DeepCopy()
		annotations := map[string]string{helmPolicy: helmKeep}
		maps.Copy(annotations, crd.GetAnnotations())
		kept.SetAnnotations(annotations)
		if release := version.String(); len(validation.IsValidLabelValue(release)) == 0 {
			if err := unstructured.SetNestedField(kept.Object, release, "metadata", "labels", LabelVersion); err != nil {
				return nil, fmt.Errorf("set the version of the CRD %s: %w", crd.GetName(), err)
			}
		}
		// Earlier versions of Firesteel, kubectl and the owner of a CRD that is taken over own fields, too.
		if _, err := existing.Apply(ctx, crd.GetName(), kept, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
			return nil, fmt.Errorf("apply the CRD %s: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		if err := untilServed(ctx, existing, crd.GetName()); err != nil {
			return nil, err
		}
	}
	slices.Sort(releases)
	return slices.Compact(releases), nil
}

// release returns the Helm release with a CRD in its manifest, as <namespace>/<name>; empty if there is none. Helm does not put CRDs
// from the folder crds of a chart into the manifest, and does not mark them.
func release(crd metav1.Object) string {
	name := crd.GetAnnotations()[helmRelease]
	if name == "" {
		return ""
	}
	return crd.GetAnnotations()[helmNamespace] + "/" + name
}

// Owner describes the owner of a CRD that is not Firesteel's. It is empty if the CRD is Firesteel's.
func Owner(crd metav1.Object) string {
	if crd.GetLabels()[partOf] == owned {
		return ""
	}
	if release := release(crd); release != "" {
		return "the Helm release " + release
	}
	var managers []string
	for _, entry := range crd.GetManagedFields() {
		if entry.Subresource == "" {
			managers = append(managers, entry.Manager)
		}
	}
	if len(managers) == 0 {
		return "another owner"
	}
	slices.Sort(managers)
	return "another owner, which wrote it by " + strings.Join(slices.Compact(managers), ", ")
}

func untilServed(ctx context.Context, existing dynamic.ResourceInterface, name string) error {
	var conditions []any
	err := wait.PollUntilContextCancel(ctx, period, true, func(ctx context.Context) (bool, error) {
		live, err := existing.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		field, _, err := unstructured.NestedFieldNoCopy(live.Object, "status", "conditions")
		conditions, _ = field.([]any) // null in a new CRD
		return slices.ContainsFunc(conditions, func(condition any) bool {
			fields, ok := condition.(map[string]any)
			return ok && fields["type"] == string(apiextensionsv1.Established) && fields["status"] == string(apiextensionsv1.ConditionTrue)
		}), err
	})
	if err != nil {
		return fmt.Errorf("wait until the API server serves the CRD %s, whose conditions are %v: %w", name, conditions, err)
	}
	return nil
}
