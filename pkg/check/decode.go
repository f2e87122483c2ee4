package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Object is an object of a kind that Firesteel serves.
type Object interface {
	metav1.Object
	runtime.Object
}

// kind is a kind that Firesteel serves.
type kind struct {
	schema.GroupKind
	// versions are those that are served. They have the same fields.
	versions []string
	create   func() Object
}

var kinds = []kind{
	{sparkv1.SchemeGroupVersion.WithKind("SparkApplication").GroupKind(), apacheVersions, func() Object { return &sparkv1.SparkApplication{} }},
	{sparkv1.SchemeGroupVersion.WithKind("SparkCluster").GroupKind(), apacheVersions, func() Object { return &sparkv1.SparkCluster{} }},
	{v1beta2.SchemeGroupVersion.WithKind("SparkApplication").GroupKind(), kubeflowVersions, func() Object { return &v1beta2.SparkApplication{} }},
	{
		v1beta2.SchemeGroupVersion.WithKind("ScheduledSparkApplication").GroupKind(), kubeflowVersions,
		func() Object { return &v1beta2.ScheduledSparkApplication{} },
	},
	{
		earlyv1alpha1.SchemeGroupVersion.WithKind("SparkApplication").GroupKind(), []string{"v1alpha1"},
		func() Object { return &earlyv1alpha1.SparkApplication{} },
	},
	{
		firesteelv1alpha1.SchemeGroupVersion.WithKind("ScheduledSparkApplication").GroupKind(), []string{"v1alpha1"},
		func() Object { return &firesteelv1alpha1.ScheduledSparkApplication{} },
	},
}

var (
	apacheVersions   = []string{"v1", "v1beta1", "v1alpha1"}
	kubeflowVersions = []string{"v1beta2", "v1beta1", "v1alpha1"}
)

// Served returns the kinds that Firesteel serves, in each version.
func Served() []schema.GroupVersionKind {
	var served []schema.GroupVersionKind
	for _, kind := range kinds {
		for _, version := range kind.versions {
			served = append(served, kind.WithVersion(version))
		}
	}
	return served
}

// Decode decodes a manifest in JSON. An object whose spec cannot be decoded is no error: Examine reports it.
func Decode(manifest []byte) (Object, error) {
	var header metav1.TypeMeta
	if err := json.Unmarshal(manifest, &header); err != nil {
		return nil, &finding.Finding{Text: "the manifest is no object with apiVersion and kind", Remedy: "begin it with apiVersion: and kind:"}
	}
	wanted := header.GroupVersionKind()
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupKind == wanted.GroupKind() })
	if at < 0 {
		return nil, unknownKind(header)
	}
	if !slices.Contains(kinds[at].versions, wanted.Version) {
		served := kinds[at].printed()
		for _, other := range kinds {
			if other.Kind == wanted.Kind && slices.Contains(other.versions, wanted.Version) {
				served = append(served, other.WithVersion(wanted.Version).GroupVersion().String())
			}
		}
		return nil, unknown("apiVersion", header.APIVersion, fmt.Sprintf("is no version in which Firesteel serves the kind %s", header.Kind), served)
	}
	object := kinds[at].create()
	if err := json.Unmarshal(manifest, object); err != nil {
		if found := kinds[at].wrongTypes(manifest); len(found) > 0 {
			return nil, found.Err()
		}
		return nil, &finding.Finding{Field: "metadata", Message: fmt.Sprintf("cannot be decoded (%v)", err), Remedy: "correct it"}
	}
	return object, nil
}

// UnknownError reports that Firesteel does not serve the kind or the version of a manifest.
type UnknownError struct{ finding.Finding }

func (e *UnknownError) Error() string { return e.Finding.Error() }

func (e *UnknownError) Unwrap() error { return &e.Finding }

func unknown(field, value, message string, served []string) error {
	f := finding.Finding{Field: field, Value: value, Message: message, Remedy: "write one of " + strings.Join(served, ", ")}
	if value == "" {
		f.Value, f.Message = nil, finding.Missing
	}
	if len(served) == 1 {
		f.Remedy = "write " + served[0]
	}
	return &UnknownError{f}
}

// unknownKind is about a manifest whose group or kind is not served. If only one of both is wrong, the remedy has the values of the other.
func unknownKind(header metav1.TypeMeta) error {
	group := header.GroupVersionKind().Group
	var inGroup, groups, all []string
	for _, kind := range kinds {
		if kind.Group == group {
			inGroup = append(inGroup, kind.Kind)
		}
		if kind.Kind == header.Kind {
			groups = append(groups, kind.Group+"/"+kind.versions[0])
		}
		all = append(all, fmt.Sprintf("%s of %s/%s", kind.Kind, kind.Group, kind.versions[0]))
	}
	switch {
	case inGroup != nil:
		return unknown("kind", header.Kind, fmt.Sprintf("is no kind of %s that Firesteel serves", header.APIVersion), inGroup)
	case groups != nil:
		return unknown("apiVersion", header.APIVersion, fmt.Sprintf("has no kind %s that Firesteel serves", header.Kind), groups)
	default:
		return unknown("kind", header.Kind, fmt.Sprintf("is no kind of %s that Firesteel serves", header.APIVersion), all)
	}
}

// IsNamedAlike reports whether an object is of no group that Firesteel serves, but of a kind with the name of one that it does.
func IsNamedAlike(given schema.GroupVersionKind) bool {
	served := func(same func(k kind) bool) bool { return slices.ContainsFunc(kinds, same) }
	return served(func(k kind) bool { return k.Kind == given.Kind }) && !served(func(k kind) bool { return k.Group == given.Group })
}

func (k kind) printed() (all []string) {
	for _, version := range k.versions {
		all = append(all, k.Group+"/"+version)
	}
	return all
}
