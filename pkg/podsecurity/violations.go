package podsecurity

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// evaluator is made when it is first used: Kubernetes sorts its checks by version, which takes long.
var evaluator = lazy.Value(func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(fmt.Sprintf("the checks of Kubernetes contradict each other: %v", err))
	}
	return evaluator
})

// Violations returns what of a Pod breaks the restricted profile, in the words of the API server.
func Violations(pod *corev1.Pod) []string {
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	var found []string
	for _, result := range evaluator().EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
		switch {
		case result.Allowed:
		case result.ForbiddenDetail == "":
			found = append(found, result.ForbiddenReason)
		default:
			found = append(found, fmt.Sprintf("%s (%s)", result.ForbiddenReason, result.ForbiddenDetail))
		}
	}
	return found
}

// Warning warns of the violations of a Pod. field holds the Pod's template, and settings is the ConfigMap that asks for the profile.
func Warning(role, field, settings string, violations []string) finding.Finding {
	return finding.Finding{
		Severity: finding.Warning, Field: field,
		Text: fmt.Sprintf("The Pod of the %s breaks the Pod Security profile restricted, which pod-security of %s asks for: %s",
			role, settings, strings.Join(violations, "; ")),
		Remedy: "leave that out, or run it in a namespace that allows it",
	}
}
