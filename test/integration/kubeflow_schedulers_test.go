package integration

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

var (
	volcanoGroups      = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	coschedulingGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}
)

// podGroupCRDs are what Volcano and the coscheduling plugin define, with the fields that are written here.
const podGroupCRDs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: podgroups.scheduling.volcano.sh}
spec:
  group: scheduling.volcano.sh
  scope: Namespaced
  names: {kind: PodGroup, listKind: PodGroupList, plural: podgroups, singular: podgroup, shortNames: [pg, podgroup-v1beta1]}
  versions:
    - name: v1beta1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                minMember: {type: integer, format: int32}
                minResources: {type: object, additionalProperties: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}}
                queue: {type: string, default: default}
                priorityClassName: {type: string}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: podgroups.scheduling.x-k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes-sigs/scheduler-plugins/pull/50}
spec:
  group: scheduling.x-k8s.io
  scope: Namespaced
  names: {kind: PodGroup, listKind: PodGroupList, plural: podgroups, singular: podgroup, shortNames: [pg, pgs]}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                minMember: {type: integer, format: int32, minimum: 1}
                minResources: {type: object, additionalProperties: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}}
                scheduleTimeoutSeconds: {type: integer, format: int32}
`

// withBatchSchedulers has all of them told of applications, and their pod groups known to the cluster until the end of
// the test.
func (s *scene) withBatchSchedulers() {
	s.Helper()
	s.toldSchedulers()
	_, err := s.kubectl(podGroupCRDs, "apply", "--filename=-")
	s.must(err)
	s.Cleanup(func() {
		if _, err := s.plane.Kubectl(context.Background(), podGroupCRDs, "delete", "--filename=-"); err != nil {
			s.Error(err)
		}
	})
	s.must(wait.PollUntilContextTimeout(s.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		for _, kind := range []schema.GroupVersionResource{volcanoGroups, coschedulingGroups} {
			if _, err := s.dynamic.Resource(kind).Namespace(s.ns).List(ctx, metav1.ListOptions{}); apierrors.IsNotFound(err) {
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
		return true, nil
	}))
}

const coscheduler = "scheduler-plugins-scheduler"

func (s *scene) toldSchedulers() {
	s.Helper()
	s.configured("config-kubeflow", "batch-schedulers", strings.Join([]string{"volcano", "yunikorn", coscheduler}, ","))
}
