package diagnosis

import (
	"fmt"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// ReasonInvalidSpec is the reason of what is refused for its spec and has no reason of its own.
const ReasonInvalidSpec = "InvalidSpec"

// InvalidSpec explains why an attempt failed before anything was created: what its spec asks for cannot be built.
func InvalidSpec(err error) Explanation {
	return conditionFalse(ReasonInvalidSpec, finding.Of(err).String())
}

// PodTemplateUnavailable explains why an attempt has no driver yet, or failed: a pod template could not be read.
func PodTemplateUnavailable(problems finding.List) Explanation {
	return conditionFalse("PodTemplateUnavailable", problems.String())
}

// SettingRefused explains that a change of a ConfigMap has no effect. refusal is the error, with the key and the remedy.
func SettingRefused(refusal error) Explanation {
	return conditionFalse("SettingRefused", "The previous setting stays in effect. "+refusal.Error())
}

// SpecNotHonored explains that an object runs without a part of what its spec asks for. Each sentence is a finding with its remedy.
func SpecNotHonored(sentences []string) Explanation {
	return conditionTrue("SpecNotHonored", strings.Join(sentences, " "))
}

// TemplateNotHonored explains that a run of a schedule was created without all that the template asks for.
func TemplateNotHonored(sentences string) Explanation {
	return conditionTrue("TemplateNotHonored", sentences)
}

// DriverLabelsChanged explains that another writer changed the labels or the owner of a driver Pod. changes are the changes in words. labels are
// the labels to restore, as key=value.
func DriverLabelsChanged(namespace, pod string, changes, labels []string) Explanation {
	explanation := conditionTrue("LabelsChanged", fmt.Sprintf("Driver Pod %s/%s was changed: %s. Firesteel follows the Pod by its name, and stops it with the application.",
		namespace, pod, strings.Join(changes, ", ")))
	explanation.See = pod
	if len(labels) > 0 {
		explanation.Remedy = fmt.Sprintf("Restore the labels: kubectl --namespace %s label pod %s --overwrite %s", namespace, pod, strings.Join(labels, " "))
	}
	return explanation
}
