package integration

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// earlierVersion writes the status of an object as an earlier version of Firesteel beside this one does: it hashes the spec
// otherwise, does not know the newer fields of the attempt, and words a condition otherwise. What this version writes it changes
// at once, until it is stopped. Then it returns the number of its writes.
func (s *env) earlierVersion(resource, name, condition string) (stop func() int) {
	s.Helper()
	objects := s.objects(resource)
	ctx, cancel := context.WithCancel(s.Context())
	changes, err := objects.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	s.must(err)
	writes, done := 0, make(chan struct{})
	wrote, first := s.untilCalled()
	go func() {
		defer close(done)
		for change := range changes.ResultChan() {
			object, ok := change.Object.(*unstructured.Unstructured)
			if !ok || object.GetDeletionTimestamp() != nil || !asEarlier(object, condition) {
				continue
			}
			switch _, err := objects.UpdateStatus(ctx, object, metav1.UpdateOptions{}); {
			case err == nil:
				writes++
				first()
			case ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
				s.Errorf("write as an earlier version: %v", err)
			}
		}
	}()
	stopped := func() int {
		cancel()
		changes.Stop()
		<-done
		return writes
	}
	s.Cleanup(func() { stopped() })
	s.untilClosed(wrote, "the first write of the earlier version")
	return stopped
}

// asEarlier makes a status as an earlier version would have it, and reports whether that differs.
func asEarlier(object *unstructured.Unstructured, condition string) (differs bool) {
	const words = "In the words of an earlier version."
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		fields := each.(map[string]any)
		if fields["type"] == condition && fields["message"] != words {
			fields["message"], differs = words, true
		}
	}
	hash := []string{"status", "firesteel", "attempt", "specHash"}
	if at(object, "attempt") == nil || at(object, "attempt", "specHash") != nil && !differs {
		return false
	}
	_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
	_ = unstructured.SetNestedField(object.Object, "of an earlier version", hash...)
	unstructured.RemoveNestedField(object.Object, "status", "firesteel", "attempt", "spec")
	return true
}

// atMost is the number of writes of an earlier version that a test bears. If each version restored its own words at once, there
// would be hundreds.
const atMost = 30

func TestEarlierVersionBesideThisOneChangesNothing(t *testing.T) {
	ofBothKinds(t, func(s *env, resource, name string, d *driver) {
		stop := s.earlierVersion(resource, name, "DriverReady")
		s.runNeighbour()
		s.runNeighbour()
		if writes := stop(); writes == 0 || writes > atMost {
			s.Errorf("the earlier version wrote %d times", writes)
		}
		d.succeed()
		over := s.untilRecord(resource, name, "end", func(o *unstructured.Unstructured) bool {
			all := at(o, "transitions").([]any)
			return all[len(all)-1].(map[string]any)["outcome"] == "Succeeded"
		})
		s.runNeighbour()
		after := s.raw(resource, name)
		if at(after, "sequence") != at(over, "sequence") || at(after, "attempt", "id") != int64(0) || at(after, "launch", "driverUID") != string(d.UID) {
			s.Errorf("it ran again:\n%s", described(at(after)))
		}
		interrupts := resource == kubeflowApplications // an edit of the other kind waits for the next attempt, which notes its spec
		if interrupts && (at(after, "attempt", "spec", "hash") == nil || at(after, "attempt", "specHash") != nil) {
			s.Errorf("the attempt is of %s", described(at(after, "attempt")))
		}
	})
}

func TestEarlierVersionBesideThisOneChangesNoCluster(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c"))
	was := s.statefulSet("c-worker")
	before := s.raw(sparkClusters, "c")
	conditions, _, _ := unstructured.NestedSlice(before.Object, "status", "conditions")
	stop := s.earlierVersion(sparkClusters, "c", conditions[0].(map[string]any)["type"].(string))
	s.runNeighbour()
	s.runNeighbour()
	if writes := stop(); writes == 0 || writes > atMost {
		t.Errorf("the earlier version wrote %d times", writes)
	}
	if after := s.raw(sparkClusters, "c"); at(after, "sequence") != at(before, "sequence") {
		t.Errorf("the record is %s", described(at(after)))
	}
	if is := s.statefulSet("c-worker"); is.UID != was.UID || is.Generation != was.Generation {
		t.Error("the workers are rolled out")
	}
}
