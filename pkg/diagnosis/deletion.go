package diagnosis

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// DriverDeletedByForce explains that a driver Pod was deleted by force: its node has not confirmed that it ended.
func DriverDeletedByForce(pod string) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "DriverDeletedByForce",
		Summary: fmt.Sprintf("Driver Pod %s was deleted and did not disappear in time, so it is deleted by force. If its node is cut off but "+
			"still runs, the driver may run beside the next one: make sure that the node is down.", pod),
		See: pod,
	}
}

// DriverLeftTerminating explains that the deletion of an application left a driver Pod that is still terminating. The transition that
// released the application names the Pod.
func DriverLeftTerminating(record *v1alpha1.Record) Explanation {
	return Explanation{Status: metav1.ConditionUnknown, Reason: "DriverLeftTerminating", Summary: outbox.Current(record).Message}
}
