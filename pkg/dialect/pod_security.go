package dialect

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// setPodSecurity completes the template of a plan's executors for the profile of the operator's settings. The driver makes executors
// without asking Firesteel, so they get it by their template. Build completes the driver.
func setPodSecurity(plan *submission.Plan, profile podsecurity.Profile) {
	if !profile.Restricted {
		return
	}
	template := plan.ExecutorTemplate.DeepCopy()
	if template == nil {
		template = &corev1.PodTemplateSpec{}
	}
	profile.Complete(&template.Spec, submission.ExecutorContainer(*plan, &template.Spec))
	plan.ExecutorTemplate = template
}

// completeDriver completes a driver Pod for a profile. spark is the name of Spark's container.
func completeDriver(driver *corev1.Pod, spark string, profile podsecurity.Profile) {
	at := slices.IndexFunc(driver.Spec.Containers, func(container corev1.Container) bool { return container.Name == spark })
	profile.Complete(&driver.Spec, max(at, 0))
}

// WarnOfPodSecurity warns of what breaks the profile of the operator's settings although Firesteel completed the Pods for it: what the
// application itself asks for.
func WarnOfPodSecurity(plan submission.Plan, driver *corev1.Pod, profile podsecurity.Profile, fields Fields) finding.List {
	var found finding.List
	if !profile.Restricted {
		return nil
	}
	warn := func(role string, violations []string) {
		if len(violations) > 0 {
			found.Add(podsecurity.Warning(role, fields.template(role), fields.Settings, violations))
		}
	}
	warn("driver", podsecurity.Violations(driver))
	var executors []string
	if template := plan.ExecutorTemplate; template != nil {
		executors = podsecurity.Violations(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
	}
	ofHostPath := func(key string) bool { return strings.HasPrefix(key, policy.ExecutorHostPathPrefix) }
	if slices.ContainsFunc(slices.Collect(maps.Keys(plan.Properties)), ofHostPath) {
		executors = append(executors, "hostPath volumes (properties "+policy.ExecutorHostPathPrefix+"*)")
	}
	warn("executor", executors)
	return found
}
