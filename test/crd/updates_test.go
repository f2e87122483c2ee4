package crd

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// An object that was stored before a rule that it breaks existed still works: its status, its finalizers and its other
// fields can be written, as long as the invalid part does not become invalid in another way.
func TestObjectThatBreaksARuleCanBeUpdated(t *testing.T) {
	const (
		version = `{runtimeVersions: {sparkVersion: "4.1+mine"}}`
		route   = `{driverHttpRouteList: [{serviceMetadata: {}, serviceSpec: {}, httpRouteMetadata: {}, httpRouteSpec: {}}]}`
		config  = `{configMapSpecs: [{name: My_Map}]}`
	)
	status := func(object map[string]any) {
		object["status"] = map[string]any{"currentState": map[string]any{"currentStateSummary": "SchedulingFailure"}}
	}
	spec := func(fields string) func(map[string]any) {
		return func(object map[string]any) {
			for field, value := range decode(t, []byte(fields)) {
				object["spec"].(map[string]any)[field] = value
			}
		}
	}
	for name, test := range map[string]struct {
		stored string
		change func(map[string]any)
		want   string // part of the message; empty where it is accepted
	}{
		"the status of a version that is no label": {stored: version, change: status},
		"the status of a route without names":      {stored: route, change: status},
		"the status of a config map's name":        {stored: config, change: status},
		"a finalizer": {stored: version, change: func(object map[string]any) {
			object["metadata"].(map[string]any)["finalizers"] = []any{}
		}},
		"another field":                         {stored: version, change: spec(`{suspend: true}`)},
		"another field beside a route":          {stored: route, change: spec(`{suspend: true}`)},
		"another field beside a config map":     {stored: config, change: spec(`{suspend: true}`)},
		"a version that is one":                 {stored: version, change: spec(`{runtimeVersions: {sparkVersion: 4.1.4}}`)},
		"another version that is none":          {stored: version, change: spec(`{runtimeVersions: {sparkVersion: "4.2+mine"}}`), want: `"4.2+mine"`},
		"another name that a config map hasn't": {stored: config, change: spec(`{configMapSpecs: [{name: Your_Map}]}`), want: `"Your_Map"`},
		"a route that is changed without being named": {
			stored: route, change: spec(`{driverHttpRouteList: [{serviceMetadata: {}, serviceSpec: {a: b}, httpRouteMetadata: {}, httpRouteSpec: {}}]}`),
			want: "serviceMetadata.name",
		},
		"a route that gets its names": {
			stored: route, change: spec(`{driverHttpRouteList: [{serviceMetadata: {name: a}, serviceSpec: {}, httpRouteMetadata: {name: b},
				httpRouteSpec: {parentRefs: [{name: c}]}}]}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, served := range sparkVersions {
				resource := newResource(t, sparkApplications, served)
				stored, refusal := resource.admit(t, application(t, "stored", test.stored))
				if refusal == nil {
					t.Fatal("a new object like the stored one is not refused")
				}
				changed := runtime.DeepCopyJSON(stored)
				test.change(changed)
				switch refusal := resource.refuseUpdate(t, changed, stored); {
				case test.want == "" && refusal != nil:
					t.Errorf("%s refused it: %v", served, refusal)
				case test.want != "" && (refusal == nil || !strings.Contains(refusal.Error(), test.want)):
					t.Errorf("%s refused it with %v, want a message with %s", served, refusal, test.want)
				}
			}
		})
	}
}
