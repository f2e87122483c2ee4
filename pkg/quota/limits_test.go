package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLimitsAreInTheOrderOfTheirNames(t *testing.T) {
	limits := Limits{}
	for _, name := range []string{"c", "a", "d", "b"} {
		limits.Set(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}})
	}
	limits.Set(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "other"}})
	limits.Remove("team-a", "d")
	var names []string
	for _, q := range limits.In("team-a") {
		names = append(names, q.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("quotas of the namespace (-want +got):\n%s", diff)
	}
	limits.Remove("team-b", "other")
	limits.Remove("team-c", "unknown")
	if _, stored := limits["team-b"]; stored || len(limits.In("team-b")) > 0 {
		t.Error("a namespace without quotas is stored")
	}
}
