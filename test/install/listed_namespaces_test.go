package install

import (
	"fmt"
	"testing"
)

// The chart makes its Roles of the ClusterRoles in config.
func TestKustomizeForListedNamespacesIsWhatTheChartRenders(t *testing.T) {
	const values = "controller: {rbac: {scope: Namespaces}, driverLogs: %t}\neventing: {enable: %[1]t}\nspark: {jobNamespaces: [team-a, team-b]}"
	for overlay, options := range map[string]bool{"listed-namespaces": false, "listed-namespaces-eventing": true} {
		t.Run(overlay, func(t *testing.T) {
			built := build(t, "examples/kustomize/"+overlay)
			mustEqual(t, ofConfig(t, with(t, fmt.Sprintf(values, options))), built.without(byHelm))
			for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
				for name := range built.kind(kind) {
					t.Errorf("there is %s", name)
				}
			}
		})
	}
}
