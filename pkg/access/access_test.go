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

func TestBearerTokensAreReadFromTheHeader(t *testing.T) {
	for value, want := range map[string]string{
		"Bearer secret": "secret", "bearer  secret ": "secret", "Basic secret": "", "Bearer": "", "secret": "", "": "",
	} {
		if got := access.BearerToken(value); got != want {
			t.Errorf("%q has the token %q, want %q", value, got, want)
		}
	}
}
