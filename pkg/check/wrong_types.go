package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// ExplainUndecodable returns the findings of Examine about a manifest in JSON. If they have only a decoder's text about a value of a wrong type,
// there is a finding about each such value in its place.
func ExplainUndecodable(found finding.List, manifest []byte) finding.List {
	at := slices.IndexFunc(found, isUndecodable)
	if at < 0 {
		return found
	}
	of, known := kindIn(manifest)
	if !known {
		return found
	}
	if wrong := of.wrongTypes(manifest); len(wrong) > 0 {
		return slices.Replace(slices.Clone(found), at, at+1, wrong...)
	}
	return found
}

// kindIn returns the kind of a manifest in JSON.
func kindIn(manifest []byte) (kind, bool) {
	var header metav1.TypeMeta
	if json.Unmarshal(manifest, &header) != nil {
		return kind{}, false
	}
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupKind == header.GroupVersionKind().GroupKind() })
	if at < 0 {
		return kind{}, false
	}
	return kinds[at], true
}

// IsUndecodable reports whether findings of Examine are about an object that cannot be decoded: then Examine knows nothing else of it.
func IsUndecodable(found finding.List) bool { return slices.ContainsFunc(found, isUndecodable) }

func isUndecodable(f finding.Finding) bool { return f.Reason == diagnosis.ReasonUndecodable }

// templates are the types of the templates of schedules, by the paths of their fields. The types of the schedules take anything there.
var templates = map[schema.GroupKind]map[string]reflect.Type{
	v1beta2.SchemeGroupVersion.WithKind("ScheduledSparkApplication").GroupKind(): {
		"spec.template": reflect.TypeFor[v1beta2.SparkApplicationSpec](),
	},
	firesteelv1alpha1.SchemeGroupVersion.WithKind("ScheduledSparkApplication").GroupKind(): {
		"spec.template.spec": reflect.TypeFor[sparkv1.ApplicationSpec](),
	},
}

// wrongTypes returns the values of a manifest that cannot become the fields of the kind.
func (k kind) wrongTypes(manifest []byte) finding.List {
	found := codec.WrongTypes(manifest, reflect.TypeOf(k.create()).Elem(), templates[k.GroupKind])
	return append(found, k.wrongQuantities(manifest)...)
}

// maxQuantities bounds the quantities that are reported of one object. Each is searched from the beginning.
const maxQuantities = 10

// wrongQuantities returns the quantities of a manifest that cannot be decoded.
func (k kind) wrongQuantities(manifest []byte) (found finding.List) {
	of := reflect.TypeOf(k.create()).Elem()
	for len(found) < maxQuantities {
		err := cmp.Or(quantity.Check(manifest, of), quantity.Locate(resource.ErrFormatWrong, manifest, of))
		var wrong *finding.Finding
		if !errors.As(err, &wrong) || wrong.Field == "" {
			break
		}
		f := *wrong
		f.Reason = finding.ReasonType
		found.Add(f)
		rest, err := changed(manifest, finding.List{f}, nothing)
		if err != nil || bytes.Equal(rest, manifest) {
			break
		}
		manifest = rest
	}
	return found
}
