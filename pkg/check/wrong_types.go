package check

import (
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// ExplainUndecodable returns the findings of Examine about a manifest in JSON. If they have only a decoder's text about a value of a wrong type,
// there is a finding about each such value in its place.
func ExplainUndecodable(found finding.List, manifest []byte) finding.List {
	at := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Reason == diagnosis.ReasonUndecodable })
	var header metav1.TypeMeta
	if at < 0 || json.Unmarshal(manifest, &header) != nil {
		return found
	}
	of := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupKind == header.GroupVersionKind().GroupKind() })
	if of < 0 {
		return found
	}
	if wrong := kinds[of].wrongTypes(manifest); len(wrong) > 0 {
		return slices.Replace(slices.Clone(found), at, at+1, wrong...)
	}
	return found
}

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
	return codec.WrongTypes(manifest, reflect.TypeOf(k.create()).Elem(), templates[k.GroupKind])
}
