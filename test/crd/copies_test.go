package crd

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/scheme"
)

// Readers share the informers' objects, so a change of a copy must not reach them.
func TestCopyOfEachKindSharesNothing(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(12).Funcs(
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{}`) },
	)
	for kind, structure := range scheme.Scheme.AllKnownTypes() {
		if !strings.Contains(structure.PkgPath(), "firesteel/pkg/apis") {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			object := reflect.New(structure).Interface().(runtime.Object)
			fill.Fill(object)
			copied := object.DeepCopyObject()
			if !reflect.DeepEqual(object, copied) {
				t.Fatal("the copy differs")
			}
			for _, path := range shared("", reflect.ValueOf(object), reflect.ValueOf(copied)) {
				t.Errorf("the copy shares %s", path)
			}
		})
	}
}

// shared returns the paths of what two equal values share.
func shared(path string, a, b reflect.Value) []string {
	var paths []string
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() {
			return nil
		}
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		return shared(path, a.Elem(), b.Elem())
	case reflect.Map:
		for _, key := range a.MapKeys() {
			paths = append(paths, shared(fmt.Sprintf("%s[%v]", path, key), a.MapIndex(key), b.MapIndex(key))...)
		}
	case reflect.Slice:
		for i := range a.Len() {
			paths = append(paths, shared(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))...)
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return nil // it shares its location, which never changes
		}
		for i := range a.NumField() {
			paths = append(paths, shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))...)
		}
	}
	return paths
}
