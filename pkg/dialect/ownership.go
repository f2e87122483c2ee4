package dialect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Owns reports whether a driver Pod belongs to this application, and not to an earlier one with the same name. A deleted
// application may have lost its dependents already, if the deletion orphans them.
func Owns(app Application, driver *corev1.Pod) bool {
	owners := driver.OwnerReferences
	orphaned := len(owners) == 0 && app.GetDeletionTimestamp() != nil
	return orphaned || slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return owner.UID == app.GetUID() })
}

// JustCreated reports whether nothing has happened to an application yet.
func JustCreated(record *v1alpha1.Record) bool {
	return record.Sequence == 1 && lifecycle.CurrentState(record) == lifecycle.Submitted
}
