// Package crds applies the CustomResourceDefinitions of Firesteel's APIs to a cluster.
package crds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	manifests "github.com/firesteel-dev/firesteel/config"
	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// groups holds the API groups whose CRDs belong to an API, by the group of its applications. The Apache API has Firesteel's schedules, too.
var groups = groupsOf(applications.APIs())

func groupsOf(apis []*dialect.API) map[string][]string {
	groups := map[string][]string{}
	for _, api := range apis {
		groups[api.Group] = []string{api.Group}
	}
	groups[apache.API.Group] = append(groups[apache.API.Group], firesteel.GroupName)
	return groups
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

// Options say what Apply may replace.
type Options struct {
	// TakeOver replaces CRDs of another owner.
	TakeOver bool
	// Downgrade replaces CRDs of a newer version of Firesteel.
	Downgrade bool
	// Version is the version of the CRDs to apply. Empty is that of the program.
	Version string
}

// Result is what Apply found.
type Result struct {
	// Releases are the Helm releases, as <namespace>/<name>, whose uninstallation would delete a CRD, and with it all objects of its kind.
	Releases []string
	// Newer has the CRDs that are of a newer version, and were left as they are.
	Newer []Newer
}

// Newer is a CRD in the cluster that is of a newer version than the CRDs to apply.
type Newer struct{ Name, Version string }

// Apply applies CRDs on the server's side, and returns when the API server serves them. If one of them belongs to another owner, it
// changes nothing and names the owner, unless it may take over. A CRD of a newer version stays, unless it may downgrade: another installation
// of that version may need it. No upgrade of a Helm release deletes a CRD that was applied.
func Apply(ctx context.Context, client dynamic.Interface, options Options, crds ...*unstructured.Unstructured) (Result, error) {
	existing := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	if options.Version == "" {
		options.Version = version.String()
	}
	var result Result
	var foreign []error
	var wanted []*unstructured.Unstructured
	for _, crd := range crds {
		live, err := existing.Get(ctx, crd.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			wanted = append(wanted, crd)
			continue
		case err != nil:
			return Result{}, fmt.Errorf("read the CRD %s: %w", crd.GetName(), err)
		case !options.TakeOver && Owner(live) != "":
			foreign = append(foreign, fmt.Errorf("the CRD %s belongs to %s", live.GetName(), Owner(live)))
		case !options.Downgrade && Owner(live) == "" && Compare(live, options.Version) > 0:
			result.Newer = append(result.Newer, Newer{live.GetName(), live.GetLabels()[LabelVersion]})
		default:
			wanted = append(wanted, crd)
		}
		if release := Release(live); release != "" {
			result.Releases = append(result.Releases, release)
		}
	}
	if len(foreign) > 0 {
		return Result{}, fmt.Errorf("%w\nTake them over, by -take-over of setup or crds.takeOver=true of the chart: all objects of their kinds stay. "+
			"See docs/operators/moving-in.md", errors.Join(foreign...))
	}
	for _, crd := range wanted {
		kept := crd.DeepCopy()
		annotations := map[string]string{helmPolicy: helmKeep}
		maps.Copy(annotations, crd.GetAnnotations())
		kept.SetAnnotations(annotations)
		if len(validation.IsValidLabelValue(options.Version)) == 0 {
			if err := unstructured.SetNestedField(kept.Object, options.Version, "metadata", "labels", LabelVersion); err != nil {
				return Result{}, fmt.Errorf("set the version of the CRD %s: %w", crd.GetName(), err)
			}
		}
		// Earlier versions of Firesteel, kubectl and the owner of a CRD that is taken over own fields, too.
		if _, err := existing.Apply(ctx, crd.GetName(), kept, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
			return Result{}, fmt.Errorf("apply the CRD %s: %w", crd.GetName(), err)
		}
	}
	for _, crd := range wanted {
		if err := untilServed(ctx, existing, crd.GetName()); err != nil {
			return Result{}, err
		}
	}
	slices.Sort(result.Releases)
	result.Releases = slices.Compact(result.Releases)
	return result, nil
}

// betweenTags matches the version of a source tree between two tags. Semantic versions order these by chance.
var betweenTags = regexp.MustCompile(`-g[0-9a-f]{7,}(-dirty)?$`)

// Compare returns how the version of a CRD is ordered relative to another one: 1 if it is newer, -1 if it is older, and 0 if it is the same or if
// that is not known.
func Compare(crd metav1.Object, other string) int {
	release := crd.GetLabels()[LabelVersion]
	is, err := utilversion.ParseSemantic(release)
	own, err2 := utilversion.ParseSemantic(other)
	switch {
	case err != nil || err2 != nil || betweenTags.MatchString(release) || betweenTags.MatchString(other):
		return 0
	case own.LessThan(is):
		return 1
	case is.LessThan(own):
		return -1
	}
	return 0
}

// Skew says which version a CRD is of that is not the running one, and the remedy.
func Skew(crd metav1.Object, running string) string {
	const older = "The API server drops fields that this version knows. Apply the CRDs of %s."
	release := crd.GetLabels()[LabelVersion]
	order := Compare(crd, running)
	switch {
	case Owner(crd) != "":
		return fmt.Sprintf("It belongs to %s. "+older, Owner(crd), running)
	case crd.GetAnnotations()[AnnotationSchema] == "":
		return fmt.Sprintf("It is of an older version of Firesteel. "+older, running)
	case order < 0:
		return fmt.Sprintf("It is of %s, which is older. "+older, release, running)
	case order > 0:
		return fmt.Sprintf("It is of %s, which is newer than %s. Fields that only that version knows have no effect. Upgrade the controller.", release, running)
	default:
		return fmt.Sprintf("It is of another version of Firesteel than %s. Apply the CRDs and the controller of one version.", running)
	}
}

// Release returns the Helm release with an object in its manifest, as <namespace>/<name>; empty if there is none. Helm does not put CRDs
// from the folder crds of a chart into the manifest, and does not mark them.
func Release(object metav1.Object) string {
	name := object.GetAnnotations()[helmRelease]
	if name == "" {
		return ""
	}
	return object.GetAnnotations()[helmNamespace] + "/" + name
}

// Owner describes the owner of a CRD that is not Firesteel's. It is empty if the CRD is Firesteel's.
func Owner(crd metav1.Object) string {
	if crd.GetLabels()[partOf] == owned {
		return ""
	}
	if release := Release(crd); release != "" {
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
