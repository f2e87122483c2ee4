package dialect

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// setServiceAccount makes the driver of a plan use an account of the operator's settings, unless a property or the driver's
// template names one. It sets the property, so that executors use the account as they do if a user sets the property.
func setServiceAccount(plan *submission.Plan, account string) {
	template := plan.DriverTemplate
	if account == "" || plan.Properties[policy.DriverAccountKey] != "" || template != nil && accountOf(template.Spec) != "" {
		return
	}
	plan.Properties[policy.DriverAccountKey] = account
}

// WarnOfUnnamedAccount warns of a driver for which no service account is named. The default account of the namespace has no
// rights unless they are granted to it. If they are, every Pod there that names no account has them, too.
func WarnOfUnnamedAccount(driver *corev1.Pod, fields Fields) finding.List {
	if accountOf(driver.Spec) != "" {
		return nil
	}
	return finding.List{{
		Severity: finding.Warning, Field: fields.ServiceAccount,
		Text: fmt.Sprintf("Neither %s nor driver-service-account of %s names a service account, so the driver runs as %s/default, "+
			"which may have no right to make executors", fields.ServiceAccount, fields.Settings, driver.Namespace),
		Remedy: fmt.Sprintf("name one (%s creates those of drivers), or give it the right by %s",
			namespaces.Command(driver.Namespace), GrantCommand(driver.Namespace, "default")),
	}}
}

// accountOf returns the service account of a Pod, by either name of the field.
func accountOf(spec corev1.PodSpec) string {
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
}

// GrantCommand returns the command that gives a service account the rights of a driver.
func GrantCommand(namespace, account string) string {
	return fmt.Sprintf("kubectl -n %s create rolebinding spark-driver-%s --clusterrole=spark-driver --serviceaccount=%s:%s",
		namespace, account, namespace, account)
}
