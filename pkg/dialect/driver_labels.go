package dialect

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// LabelLaunch is on every object of an attempt. Its value differs between launches.
const LabelLaunch = "firesteel.dev/launch-id"

// SelectsDrivers returns the parsed DriverSelector.
func (a *API) SelectsDrivers() labels.Selector { return parsed(a.DriverSelector) }

func parsed(selector string) labels.Selector {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return labels.Nothing() // cannot happen: it is made of constants and label values
	}
	return parsed
}

// DriverLabelKeys returns the labels that identify a driver Pod, its application and its executors. own are those with a
// different value for each driver. common are those that many drivers share.
func (a *API) DriverLabelKeys() (own, common []string) {
	requirements, _ := a.SelectsDrivers().Requirements()
	for _, requirement := range requirements {
		common = append(common, requirement.Key())
	}
	return []string{LabelLaunch, submission.LabelApplicationID, a.LabelApplication}, common
}

// ChangedLabels explains how the labels and the owner of a launch's driver Pod were changed, and how to restore them. It is nil
// if they were not changed. driverLabels is the result of the dialect's DriverLabels.
func (a *API) ChangedLabels(app Application, driverLabels string, launch *v1alpha1.Launch, pod *corev1.Pod) *diagnosis.Explanation {
	changes, remedy := changedLabels(a.wantedLabels(driverLabels, launch), pod.Labels)
	if !launch.ByUser && !Owns(app, pod) {
		changes = append(changes, fmt.Sprintf("the owner reference to %s %s is missing", a.Kind, app.GetName()))
	}
	if len(changes) == 0 {
		return nil
	}
	explanation := diagnosis.DriverLabelsChanged(pod.Namespace, pod.Name, changes, remedy)
	return &explanation
}

// wantedLabels returns the labels of a launch's driver. An empty value stands for any value. A driver that the user started needs only
// those by which it is watched.
func (a *API) wantedLabels(driverLabels string, launch *v1alpha1.Launch) map[string]string {
	wanted, selectors := map[string]string{}, []labels.Selector{a.SelectsDrivers()}
	if !launch.ByUser {
		selectors = append(selectors, parsed(driverLabels))
	}
	for _, selector := range selectors {
		requirements, _ := selector.Requirements()
		for _, requirement := range requirements {
			wanted[requirement.Key()] = ""
			if requirement.Operator() != selection.Exists {
				wanted[requirement.Key()] = requirement.Values().UnsortedList()[0]
			}
		}
	}
	if launch.ByUser {
		return wanted
	}
	wanted[submission.LabelApplicationID] = launch.ApplicationID
	if launch.ID != "" {
		wanted[LabelLaunch] = launch.ID
	}
	return wanted
}

// changedLabels returns the differences as text, and the arguments of kubectl that undo them.
func changedLabels(wanted, found map[string]string) (changes, remedy []string) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		want := wanted[key]
		got, labelled := found[key]
		switch {
		case labelled && (want == "" || got == want):
			continue
		case labelled:
			changes = append(changes, fmt.Sprintf("label %s is %q instead of %q", key, got, want))
		default:
			changes = append(changes, fmt.Sprintf("label %s is missing", key))
		}
		remedy = append(remedy, key+"="+want)
	}
	return changes, remedy
}
