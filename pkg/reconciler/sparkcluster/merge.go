package sparkcluster

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// merge returns an existing object with the wanted content. It keeps immutable fields, the labels, annotations, finalizers and
// owners of others, and the replicas if an autoscaler decides them.
func merge(existing, wanted object, scaled bool) object {
	merged := wanted.DeepCopyObject().(object)
	merged.SetResourceVersion(existing.GetResourceVersion())
	merged.SetUID(existing.GetUID())
	merged.SetFinalizers(existing.GetFinalizers())
	merged.SetLabels(overlay(existing.GetLabels(), wanted.GetLabels()))
	merged.SetAnnotations(overlay(existing.GetAnnotations(), wanted.GetAnnotations()))
	merged.SetOwnerReferences(owners(existing.GetOwnerReferences(), wanted.GetOwnerReferences()))
	switch merged := merged.(type) {
	case *corev1.Service:
		keepAddress(existing.(*corev1.Service), merged)
	case *appsv1.StatefulSet:
		keepIdentity(existing.(*appsv1.StatefulSet), merged, scaled)
	}
	return merged
}

func overlay(base, top map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, base)
	maps.Copy(all, top)
	return all
}

// owners returns the existing owners, with the wanted one as the controller.
func owners(existing, wanted []metav1.OwnerReference) []metav1.OwnerReference {
	others := slices.DeleteFunc(slices.Clone(existing), func(owner metav1.OwnerReference) bool {
		return slices.ContainsFunc(wanted, func(w metav1.OwnerReference) bool { return w.UID == owner.UID })
	})
	return append(others, wanted...)
}

// needsReplacement reports whether a Service changes between headless and a clusterIP, or to another clusterIP. Such
// a change cannot be updated.
func needsReplacement(existing, wanted object) bool {
	before, isService := existing.(*corev1.Service)
	after, ok := wanted.(*corev1.Service)
	if !isService || !ok || before.Spec.ClusterIP == after.Spec.ClusterIP {
		return false
	}
	return after.Spec.ClusterIP != "" || before.Spec.ClusterIP == corev1.ClusterIPNone
}

// keepAddress keeps the assigned address of a Service.
func keepAddress(existing, merged *corev1.Service) {
	if merged.Spec.ClusterIP != existing.Spec.ClusterIP {
		merged.Spec.ClusterIP, merged.Spec.ClusterIPs = existing.Spec.ClusterIP, existing.Spec.ClusterIPs
	}
}

// keepIdentity keeps the immutable fields of a StatefulSet, and the number of Pods if an autoscaler sets it. If it
// was built from the same spec, only the number of Pods changes, whatever this version of Firesteel would build. If
// another operator made it, taking it over replaces no Pods: it stays unchanged, with an annotation, until the next
// edit of the spec.
func keepIdentity(existing, merged *appsv1.StatefulSet, scaled bool) {
	if hashOf(existing) == "" || takenOver(existing) && resources.Same(existing, merged) {
		merged.Spec = existing.Spec
		metav1.SetMetaDataAnnotation(&merged.ObjectMeta, resources.TakenOverAnnotation, "true")
		return
	}
	delete(merged.Annotations, resources.TakenOverAnnotation)
	if resources.SameButPods(existing, merged) {
		replicas := merged.Spec.Replicas
		merged.Spec = *existing.Spec.DeepCopy()
		merged.Spec.Replicas = replicas
	}
	merged.Spec.Selector = existing.Spec.Selector
	merged.Spec.ServiceName = existing.Spec.ServiceName
	merged.Spec.PodManagementPolicy = existing.Spec.PodManagementPolicy
	merged.Spec.VolumeClaimTemplates = existing.Spec.VolumeClaimTemplates
	if scaled && merged.Name == resources.WorkerName(merged.Labels[resources.LabelCluster]) {
		merged.Spec.Replicas = existing.Spec.Replicas
	}
}

func takenOver(o object) bool { return o.GetAnnotations()[resources.TakenOverAnnotation] != "" }

// claimsEdited reports whether the volumeClaimTemplates of a StatefulSet that Firesteel made are edited.
func claimsEdited(existing, wanted object) bool {
	before, isSet := existing.(*appsv1.StatefulSet)
	after, ok := wanted.(*appsv1.StatefulSet)
	if !isSet || !ok || hashOf(existing) == "" {
		return false
	}
	return !slices.EqualFunc(before.Spec.VolumeClaimTemplates, after.Spec.VolumeClaimTemplates, func(a, b corev1.PersistentVolumeClaim) bool {
		return equality.Semantic.DeepEqual(claimOf(a), claimOf(b))
	})
}

// claimOf returns what a template sets of a claim, with the default of the API server.
func claimOf(template corev1.PersistentVolumeClaim) corev1.PersistentVolumeClaim {
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: template.Name, Labels: template.Labels, Annotations: template.Annotations, Finalizers: template.Finalizers,
		},
		Spec: template.Spec,
	}
	claim.Spec.VolumeMode = cmp.Or(claim.Spec.VolumeMode, ptr.To(corev1.PersistentVolumeFilesystem))
	return claim
}
