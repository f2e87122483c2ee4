package parity

import "github.com/firesteel-dev/firesteel/pkg/objectdiff"

var serviceDefaults = Object{
	"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "publishNotReadyAddresses": false,
}

func defaultService(spec Object) {
	objectdiff.DropDefaults(spec, serviceDefaults)
	delete(spec, "clusterIPs")
	// Where both families are wanted and one is named the other follows.
	families, _ := spec["ipFamilies"].([]any)
	if policy := spec["ipFamilyPolicy"]; len(families) == 1 && (policy == "PreferDualStack" || policy == "RequireDualStack") {
		other := map[any]any{"IPv4": "IPv6", "IPv6": "IPv4"}[families[0]]
		spec["ipFamilies"] = append(families, other)
	}
	for _, port := range list(spec["ports"]) {
		objectdiff.DropDefaults(port, Object{"protocol": "TCP"})
	}
}
