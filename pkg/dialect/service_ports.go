package dialect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// MaxServicePorts is how many ports a Service may have that users write. The API server has no bound, and the time that it takes to refuse
// a Service grows with the square of the wrong ports.
const MaxServicePorts = 1000

// TooManyPorts refuses a Service with more ports than MaxServicePorts. The field is the path of its spec, which may be nil.
func TooManyPorts(field string, service *corev1.ServiceSpec) finding.List {
	if service == nil || len(service.Ports) <= MaxServicePorts {
		return nil
	}
	return finding.List{{
		Severity: finding.Error, Field: field + ".ports", Message: fmt.Sprintf("has %d entries", len(service.Ports)),
		Remedy: fmt.Sprintf("write at most %d", MaxServicePorts),
	}}
}
