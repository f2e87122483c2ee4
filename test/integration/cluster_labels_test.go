package integration

import (
	"context"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// ofCluster are the objects of the cluster c, by kind and name.
func (s *env) ofCluster() map[string]*unstructured.Unstructured {
	s.Helper()
	objects := map[string]*unstructured.Unstructured{}
	for _, resource := range clusterObjectKinds {
		list, err := s.Dynamic.Resource(resource).Namespace(s.ns).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		for i := range list.Items {
			if object := &list.Items[i]; object.GetName() != "kubernetes" {
				objects[resource.Resource+" "+object.GetName()] = object
			}
		}
	}
	return objects
}

// relabelObjects patches the metadata of all objects of the cluster c.
func (s *env) relabelObjects(metadata string) {
	s.Helper()
	for _, resource := range clusterObjectKinds {
		client := s.Dynamic.Resource(resource).Namespace(s.ns)
		list, err := client.List(s.Context(), metav1.ListOptions{})
		s.must(err)
		for _, object := range list.Items {
			_, err := client.Patch(s.Context(), object.GetName(), types.MergePatchType, []byte(`{"metadata":`+metadata+`}`), metav1.PatchOptions{})
			s.must(err)
		}
	}
}

func TestClusterLabelsAreRestored(t *testing.T) {
	t.Parallel()
	for name, metadata := range map[string]string{
		"the cluster's label is removed":  `{"labels":{"spark.operator/spark-cluster-name":null}}`,
		"the cluster's label is another":  `{"labels":{"spark.operator/spark-cluster-name":"other"}}`,
		"the operator's label is removed": `{"labels":{"spark.operator/name":null}}`,
		"all labels are removed":          `{"labels":null}`,
		"the owner is removed":            `{"ownerReferences":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, c := runningCluster(t, Cluster("c").Workers(2, 2, 5))
			before := s.ofCluster()
			if len(before) < 7 {
				t.Fatalf("it has %v only", slices.Collect(maps.Keys(before)))
			}
			s.relabelObjects(metadata)
			var wrong []string
			err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
				wrong = nil
				for name, object := range s.ofCluster() {
					labels, owner := object.GetLabels(), metav1.GetControllerOf(object)
					if labels[resources.LabelCluster] != "c" || labels[resources.LabelOperator] == "" || owner == nil || owner.UID != c.UID {
						wrong = append(wrong, name)
					}
				}
				return len(wrong) == 0, nil
			})
			if err != nil {
				t.Fatalf("waited for the labels of %v", wrong)
			}
			after := s.ofCluster()
			for name, object := range before {
				if after[name] == nil || after[name].GetUID() != object.GetUID() {
					t.Errorf("%s is another", name)
				}
			}
			if len(after) != len(before) {
				t.Errorf("there are %v, were %v", slices.Collect(maps.Keys(after)), slices.Collect(maps.Keys(before)))
			}
			s.untilClusterCondition("c", "Ready", metav1.ConditionTrue, "RunningHealthy")
			s.untilClusterPublished(c, "Submitted", "RunningHealthy")
			s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
			untilGone(s, s.clusters(), "c")
			s.untilClusterPublished(c, "Submitted", "RunningHealthy", "ResourceReleased")
		})
	}
}

// The garbage collector would delete them later. The controller finds them before it reports the release.
func TestClusterDeletionDeletesObjectsWithoutLabels(t *testing.T) {
	alone(t)
	for name, absent := range map[string]bool{"at once": false, "in the controller's absence": true} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t)
			start := func() func() {
				process := s.ownController(controller{sink: s.sink.URL()})
				s.untilReady(process)
				return process.Kill
			}
			kill := start()
			m := s.newMaster()
			m.has(2)
			s.answersFor(m, "c")
			s.createCluster(Cluster("c"))
			s.untilClusterState("c", "RunningHealthy")
			if absent {
				kill()
			}
			s.relabelObjects(`{"labels":{"spark.operator/spark-cluster-name":null}}`)
			s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
			if absent {
				start()
			}
			untilGone(s, s.clusters(), "c")
			for _, set := range []string{"c-master", "c-worker"} {
				untilGone(s, s.Kube.AppsV1().StatefulSets(s.ns), set)
			}
			deleted := 0
			for _, request := range s.requests() {
				if request.Kind() == "delete statefulsets" && request.Code < 300 {
					deleted++
				}
			}
			if deleted != 2 {
				t.Errorf("%d StatefulSets were deleted by the controller, want 2", deleted)
			}
		})
	}
}
