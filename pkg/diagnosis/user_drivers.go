package diagnosis

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AwaitsUserDriver explains that an application waits for the driver that its user starts. The Pod must have the label, and the name if
// it is not empty.
func AwaitsUserDriver(label, value, name string) Explanation {
	explanation := Explanation{
		Status: metav1.ConditionUnknown, Reason: "AwaitsUserDriver",
		Summary: fmt.Sprintf("The application waits for the driver that you start: a Pod with the labels spark-role=driver and %s=%s.", label, value),
		Remedy:  fmt.Sprintf("With spark-submit, set spark.kubernetes.driver.label.%[1]s=%[2]s and spark.kubernetes.executor.label.%[1]s=%[2]s.", label, value),
	}
	if name != "" {
		explanation.Summary = fmt.Sprintf("The application waits for the driver that you start: the Pod %s with the labels spark-role=driver and %s=%s.",
			name, label, value)
		explanation.Remedy = ""
	}
	return explanation
}

// userDriverNeverForced is the remedy for a driver Pod that the user started and that stays terminating.
const userDriverNeverForced = "If its node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force: " +
	"Firesteel does not force the deletion of a driver that a user started."

// OtherUserDrivers explains that further driver Pods have the label of an application, which follows only one.
func OtherUserDrivers(followed, others string) Explanation {
	return conditionTrue("OtherUserDrivers", fmt.Sprintf("Driver Pods beside %s have the label of this application: %s. They are neither followed nor deleted.",
		followed, others))
}
