package verify

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/applications"
)

// The package has a list of its own: functions of users are not to be linked with the clients of all APIs.
func TestObjectsOfEachAPIAreReadInTheVersionOfTheAPI(t *testing.T) {
	for _, api := range applications.APIs() {
		if got := apiVersions[api.Group]; got != api.Version {
			t.Errorf("objects of %s are read in the version %q, want %q", api.Group, got, api.Version)
		}
	}
}
