package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

// completePods completes the Pods of both roles for the profile of the operator's settings.
func (b *builder) completePods(objects *Objects) {
	for role, set := range map[string]*appsv1.StatefulSet{Master: objects.Master, Worker: objects.Worker} {
		pod := &set.Spec.Template.Spec
		b.podSecurity.Complete(pod, ContainerOf(pod.Containers, role))
	}
}

// profile returns the profile that the Pods get; nil for none.
func (b *builder) profile() *podsecurity.Profile {
	if !b.podSecurity.Restricted {
		return nil
	}
	return &b.podSecurity
}

// PodSecurityWarnings warns of what breaks the profile of the operator's settings although Build completed the Pods for it: what the
// cluster itself asks for.
func (o *Objects) PodSecurityWarnings(profile podsecurity.Profile) finding.List {
	if !profile.Restricted {
		return nil
	}
	var found finding.List
	for _, role := range []struct {
		name, field string
		set         *appsv1.StatefulSet
	}{{Master, "spec.masterSpec", o.Master}, {Worker, "spec.workerSpec", o.Worker}} {
		template := role.set.Spec.Template
		violations := podsecurity.Violations(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
		if len(violations) > 0 {
			found.Add(podsecurity.Warning(role.name, role.field+".statefulSetSpec.template", "config-defaults", violations))
		}
	}
	return found
}
