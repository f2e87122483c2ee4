package diagnosis

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// NameNotFree explains why a launch waits for the name of an object. object names it with its kind and namespace; finalizers are
// those of the earlier object that has the name.
func NameNotFree(object string, finalizers []string) Explanation {
	explanation := Explanation{
		Status: metav1.ConditionUnknown, Reason: "NameNotFree",
		Summary: fmt.Sprintf("The launch waits for the name of %s, whose earlier object is not gone yet.", object), See: object,
	}
	if len(finalizers) > 0 {
		explanation.Remedy = "It is " + lifecycle.KeptByFinalizers(finalizers) + "."
	}
	return explanation
}

// ClusterNameNotFree explains why an object of a cluster is not created yet.
func ClusterNameNotFree(object string) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "NameNotFree",
		Summary: fmt.Sprintf("%s is not created yet: another object with its name is being deleted.", object), See: object,
	}
}

// EarlierDriverTerminating explains why a launch waits for the driver Pod of an earlier launch. The description of the driver already says how to
// remove its finalizers.
func EarlierDriverTerminating(driver *lifecycle.Driver) Explanation {
	explanation := Explanation{
		Status: metav1.ConditionUnknown, Reason: "DriverPodTerminating",
		Summary: fmt.Sprintf("The launch waits for the name of an earlier driver Pod, which was deleted and is not gone yet: %s.",
			driver.DescribeTerminating()),
		See: driver.Name,
	}
	switch {
	case len(driver.Finalizers) > 0:
		explanation.Reason = "DriverPodFinalizers"
	case driver.Node != "":
		explanation.Remedy = "If the node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force."
	}
	return explanation
}
