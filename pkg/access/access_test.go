package access_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

func TestRightsAreWordedAsRolesHaveThem(t *testing.T) {
	for want, right := range map[string]access.Right{
		"get of pods/log etl-driver in the namespace team-a":           {Verb: "get", Resource: "pods", Subresource: "log", Namespace: "team-a", Name: "etl-driver"},
		"list of sparkapplications.spark.apache.org in all namespaces": {Verb: "list", Group: "spark.apache.org", Resource: "sparkapplications"},
	} {
		if got := right.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
