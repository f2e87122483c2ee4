package sparkcluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

var (
	ours   = metav1.OwnerReference{Kind: "SparkCluster", Name: "c", UID: "uid", Controller: new(bool)}
	theirs = metav1.OwnerReference{Kind: "Team", Name: "a", UID: "other"}
)

func TestMergeKeepsFieldsOfOtherWriters(t *testing.T) {
	existing := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "c-master-svc", UID: "1", ResourceVersion: "7", Finalizers: []string{"theirs"},
		Labels: map[string]string{"mine": "too", "spark-version": "4.0.0"}, Annotations: map[string]string{"mine": "too"},
		OwnerReferences: []metav1.OwnerReference{theirs, {Kind: "SparkCluster", Name: "c", UID: "uid"}},
	}}
	wanted := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "c-master-svc", Labels: map[string]string{"spark-version": "4.1.0"},
		Annotations: map[string]string{resources.HashAnnotation: "h"}, OwnerReferences: []metav1.OwnerReference{ours},
	}}
	want := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "c-master-svc", UID: "1", ResourceVersion: "7", Finalizers: []string{"theirs"},
		Labels:          map[string]string{"mine": "too", "spark-version": "4.1.0"},
		Annotations:     map[string]string{"mine": "too", resources.HashAnnotation: "h"},
		OwnerReferences: []metav1.OwnerReference{theirs, ours},
	}}
	if diff := cmp.Diff(object(want), merge(existing, wanted, false)); diff != "" {
		t.Error(diff)
	}
}

func TestMergeKeepsTheClusterIP(t *testing.T) {
	existing := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.7", ClusterIPs: []string{"10.0.0.7"}}}
	merged := merge(existing, &corev1.Service{}, false).(*corev1.Service)
	if merged.Spec.ClusterIP != "10.0.0.7" || len(merged.Spec.ClusterIPs) != 1 {
		t.Errorf("it becomes %+v", merged.Spec)
	}
}

func TestClusterServiceWithAnotherClusterIPIsReplaced(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          bool
	}{
		{"None", "None", false}, {"10.0.0.7", "", false}, {"10.0.0.7", "10.0.0.7", false},
		{"None", "", true}, {"10.0.0.7", "None", true}, {"10.0.0.7", "10.0.0.8", true},
	} {
		service := func(address string) object { return &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: address}} }
		if got := needsReplacement(service(test.before), service(test.after)); got != test.want {
			t.Errorf("from %q to %q: %t", test.before, test.after, got)
		}
	}
}

func set(name string, replicas int32, image, hash string) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{resources.LabelCluster: "c"}},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "of " + image, PodManagementPolicy: "P" + appsv1.PodManagementPolicyType(image),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": image}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}},
		},
	}
	if hash != "" {
		s.Annotations = map[string]string{resources.HashAnnotation: hash}
	}
	return s
}

func TestMergeKeepsTheIdentityOfAStatefulSet(t *testing.T) {
	merged := merge(set("c-worker", 2, "old", "1"), set("c-worker", 3, "new", "2"), false).(*appsv1.StatefulSet)
	if merged.Spec.ServiceName != "of old" || merged.Spec.Selector.MatchLabels["a"] != "old" || merged.Spec.PodManagementPolicy != "Pold" {
		t.Errorf("it becomes %+v", merged.Spec)
	}
	if merged.Spec.Template.Spec.Containers[0].Image != "new" || *merged.Spec.Replicas != 3 {
		t.Errorf("it becomes %+v", merged.Spec)
	}
}

func TestMergeLeavesTheNumberOfWorkersToAnAutoscaler(t *testing.T) {
	for name, want := range map[string]int32{"c-worker": 2, "c-master": 3} {
		merged := merge(set(name, 2, "old", "1"), set(name, 3, "new", "2"), true).(*appsv1.StatefulSet)
		if *merged.Spec.Replicas != want {
			t.Errorf("%s has %d replicas, want %d", name, *merged.Spec.Replicas, want)
		}
	}
}

func TestMergeReplacesNoPodsOfAnAdoptedStatefulSet(t *testing.T) {
	existing := set("c-worker", 2, "old", "")
	merged := merge(existing, set("c-worker", 3, "new", "2"), false).(*appsv1.StatefulSet)
	if diff := cmp.Diff(existing.Spec, merged.Spec); diff != "" {
		t.Error(diff)
	}
	if merged.Annotations[resources.HashAnnotation] != "2" || merged.Annotations[resources.TakenOverAnnotation] == "" {
		t.Errorf("it would be adopted again, or would count as up to date: %v", merged.Annotations)
	}
	again := merge(merged, set("c-worker", 3, "new", "2"), false).(*appsv1.StatefulSet)
	if diff := cmp.Diff(merged, again); diff != "" {
		t.Errorf("orphaned and adopted again:\n%s", diff)
	}
	edited := merge(merged, set("c-worker", 4, "newer", "3"), false).(*appsv1.StatefulSet)
	if edited.Spec.Template.Spec.Containers[0].Image != "newer" || *edited.Spec.Replicas != 4 || takenOver(edited) {
		t.Errorf("after an edit it is %+v", edited)
	}
}

func TestClaimsEdited(t *testing.T) {
	claims := func(hash string, sizes ...string) *appsv1.StatefulSet {
		s := set("c-worker", 1, "a", hash)
		for i, size := range sizes {
			s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))},
				Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
				}},
			})
		}
		return s
	}
	with := func(change func(*corev1.PersistentVolumeClaim)) *appsv1.StatefulSet {
		s := claims("2", "1Gi")
		change(&s.Spec.VolumeClaimTemplates[0])
		return s
	}
	for name, test := range map[string]struct {
		before, after *appsv1.StatefulSet
		want          bool
	}{
		"what the API server adds": {with(func(c *corev1.PersistentVolumeClaim) {
			c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
			c.Status.Phase, c.Spec.VolumeMode = corev1.ClaimPending, ptr.To(corev1.PersistentVolumeFilesystem)
		}), claims("2", "1Gi"), false},
		"another class":       {claims("1", "1Gi"), with(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = ptr.To("fast") }), true},
		"another way to use":  {claims("1", "1Gi"), with(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{"a"} }), true},
		"another label":       {claims("1", "1Gi"), with(func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"a": "b"} }), true},
		"another volume mode": {claims("1", "1Gi"), with(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) }), true},
		"none":                {claims("1"), claims("2"), false},
		"the same":            {claims("1", "1Gi"), claims("2", "1024Mi"), false},
		"another size":        {claims("1", "1Gi"), claims("2", "2Gi"), true},
		"one more":            {claims("1", "1Gi"), claims("2", "1Gi", "1Gi"), true},
		"another operator's":  {claims("", "1Gi"), claims("2"), false},
		"one that is gone":    {claims("1", "1Gi"), claims("2"), true},
		"of no StatefulSet's": {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got bool
			if test.before == nil {
				got = claimsEdited(&corev1.Service{}, &corev1.Service{})
			} else {
				got = claimsEdited(test.before, test.after)
			}
			if got != test.want {
				t.Errorf("edited: %t", got)
			}
		})
	}
}

// Another version of Firesteel built the StatefulSet differently from the same spec: it is scaled, and its Pods are
// not replaced.
func TestMergeReplacesNoPodsIfTheSourcesAreTheSame(t *testing.T) {
	made := func(s *appsv1.StatefulSet, of string) *appsv1.StatefulSet {
		s.Annotations[resources.MadeOfAnnotation] = of + "-" + s.Annotations[resources.HashAnnotation]
		return s
	}
	existing := made(set("c-worker", 2, "old", "1"), "2-a-2")
	merged := merge(existing, made(set("c-worker", 3, "new", "2"), "2-a-3"), false).(*appsv1.StatefulSet)
	if merged.Spec.Template.Spec.Containers[0].Image != "old" || *merged.Spec.Replicas != 3 {
		t.Errorf("it becomes %+v", merged.Spec)
	}
	edited := merge(merged, made(set("c-worker", 3, "new", "3"), "2-b-3"), false).(*appsv1.StatefulSet)
	if edited.Spec.Template.Spec.Containers[0].Image != "new" {
		t.Errorf("after an edit it is %+v", edited.Spec)
	}
}
