package integration

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
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

// withBatchSchedulers enables all batch schedulers, and installs the CRDs of their pod groups until the end of
// the test.
func (s *env) withBatchSchedulers() {
	s.Helper()
	s.allowSchedulers()
	_, err := s.kubectl(podGroupCRDs, "apply", "--filename=-")
	s.must(err)
	s.Cleanup(func() {
		if _, err := s.Plane.Kubectl(context.Background(), podGroupCRDs, "delete", "--filename=-"); err != nil {
			s.Error(err)
		}
	})
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		for _, kind := range []schema.GroupVersionResource{volcanoGroups, coschedulingGroups} {
			if _, err := s.Dynamic.Resource(kind).Namespace(s.ns).List(ctx, metav1.ListOptions{}); apierrors.IsNotFound(err) {
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
		return true, nil
	}))
}

// untyped makes a dynamic client look like a typed one.
type untyped struct{ dynamic.ResourceInterface }

func (u untyped) Get(ctx context.Context, name string, options metav1.GetOptions) (*unstructured.Unstructured, error) {
	return u.ResourceInterface.Get(ctx, name, options)
}

const coscheduler = "scheduler-plugins-scheduler"

func (s *env) allowSchedulers() {
	s.Helper()
	for _, name := range []string{"config-kubeflow", "config-defaults"} {
		s.configured(name, "batch-schedulers", strings.Join([]string{"volcano", "yunikorn", coscheduler}, ","))
	}
}

// gangOf is a manifest of a driver and three executors for a batch scheduler.
func gangOf(scheduler, more string) string {
	return strings.Replace(sparkPi("4.1.1"), "spec:\n", "spec:\n  batchScheduler: "+scheduler+"\n"+more, 1)
}

// What a driver of 512m and two executors of 512m need: with the 384 MiB at least that Spark adds to each, and no
// thousandths of a byte.
func TestBatchSchedulerGetsAPodGroupForAllPods(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.withBatchSchedulers()
	s.ownController(controller{sink: s.sink.URL()})
	for scheduler, group := range map[string]struct {
		kind schema.GroupVersionResource
		name string
		want string
	}{
		"volcano":   {volcanoGroups, "spark-volcano-pg", `{minMember: 1, queue: research, minResources: {cpu: "3", memory: 2688Mi}}`},
		coscheduler: {coschedulingGroups, coscheduler + "-pg", `{minMember: 1, minResources: {cpu: "3", memory: 2688Mi}}`},
	} {
		_, err := s.kubectl(strings.Replace(gangOf(scheduler, "  batchSchedulerOptions: {queue: research}\n"), "name: spark-pi", "name: "+scheduler, 1),
			"create", "--filename=-")
		s.must(err)
		app := s.untilShown(scheduler, v1beta2.SubmittedState)
		groups := untyped{s.Dynamic.Resource(group.kind).Namespace(s.ns)}
		made, err := groups.Get(t.Context(), group.name, metav1.GetOptions{})
		s.must(err)
		var want any
		s.must(yaml.Unmarshal([]byte(group.want), &want))
		if missing := lacking(made.Object["spec"], want, "spec"); missing != "" || !metav1.IsControlledBy(made, app) {
			t.Errorf("%s: %s; it is owned by %v", scheduler, missing, made.GetOwnerReferences())
		}
		d := s.kubeflowDriver(scheduler)
		if label := d.Labels["scheduling.x-k8s.io/pod-group"]; scheduler == coscheduler && label != group.name {
			t.Errorf("the driver's group is %q", label)
		}
		d.start().ready()
		s.untilShown(scheduler, v1beta2.RunningState)
		s.suspend(scheduler, true)
		s.untilShown(scheduler, v1beta2.SuspendedState)
		untilGone(s, groups, group.name)
		s.suspend(scheduler, false)
		s.untilShown(scheduler, v1beta2.SubmittedState)
		if _, err = groups.Get(t.Context(), group.name, metav1.GetOptions{}); err != nil {
			t.Errorf("what is resumed has no group: %v", err)
		}
		s.kubeflowDriver(scheduler).start().succeed()
		s.untilShown(scheduler, v1beta2.CompletedState)
		untilGone(s, groups, group.name)
	}
	for scheduler, kind := range map[string]schema.GroupVersionResource{"volcano": volcanoGroups, coscheduler: coschedulingGroups} {
		s.liveInAPodGroup(scheduler, kind)
	}
}

// liveInAPodGroup runs an application of the Apache operator's API on a batch scheduler.
func (s *env) liveInAPodGroup(scheduler string, kind schema.GroupVersionResource) {
	s.Helper()
	name, group := "apache-"+scheduler, "apache-"+scheduler+"-0-podgroup"
	app := s.create(App(name).Conf("spark.kubernetes.scheduler.name", scheduler).Conf("spark.executor.instances", "2"))
	d := s.run(name, 0)
	groups := untyped{s.Dynamic.Resource(kind).Namespace(s.ns)}
	made, err := groups.Get(s.Context(), group, metav1.GetOptions{})
	s.must(err)
	want := map[string]any{"minMember": int64(1), "minResources": map[string]any{"cpu": "3", "memory": "4224Mi"}}
	if missing := lacking(made.Object["spec"], want, "spec"); missing != "" || !metav1.IsControlledBy(made, app) {
		s.Errorf("%s: %s; it is owned by %v", group, missing, made.GetOwnerReferences())
	}
	if d.Spec.SchedulerName != scheduler || d.Labels["scheduling.x-k8s.io/pod-group"] != group && d.Annotations["scheduling.k8s.io/group-name"] != group {
		s.Errorf("the driver has the scheduler %s, labels %v and annotations %v", d.Spec.SchedulerName, d.Labels, d.Annotations)
	}
	d.succeed()
	s.untilState(name, "ResourceReleased")
	untilGone(s, groups, group)
}

func TestBatchSchedulerYuniKornGetsTaskGroups(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.allowSchedulers()
	s.configured("config-kubeflow", "default-batch-scheduler", "yunikorn")
	s.ownController(controller{sink: s.sink.URL()})
	s.submitted(sparkPi("4.1.1"))
	d := s.kubeflowDriver("spark-pi")
	const want = `[{"name":"spark-driver","minMember":1,"minResource":{"cpu":"1","memory":"896Mi"},"labels":{"version":"4.1.1"}},` +
		`{"name":"spark-executor","minMember":2,"minResource":{"cpu":"1","memory":"896Mi"},"labels":{"version":"4.1.1"}}]`
	if groups := d.Annotations["yunikorn.apache.org/task-groups"]; groups != want || d.Spec.SchedulerName != "yunikorn" {
		t.Errorf("the driver's scheduler is %s, and its task groups are %s", d.Spec.SchedulerName, groups)
	}
}

// A scheduler without its kind of pod group is not used. An application that would never start reports it.
func TestBatchSchedulerThatIsNotInstalledIsReported(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.allowSchedulers()
	s.ownController(controller{sink: s.sink.URL()})
	for scheduler, group := range map[string]string{"volcano": "spark-volcano-pg", coscheduler: coscheduler + "-pg"} {
		s.submitted(strings.Replace(gangOf(scheduler, ""), "name: spark-pi", "name: "+scheduler, 1))
		app := s.untilShown(scheduler, v1beta2.FailedState)
		condition := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
		for _, part := range []string{"PodGroup", group, "install what defines it"} {
			if !strings.Contains(condition.Message, part) || !strings.Contains(app.Status.AppState.ErrorMessage, part) || condition.Reason != "NotInstalled" {
				t.Errorf("%s says %s: %q, %q", scheduler, condition.Reason, condition.Message, app.Status.AppState.ErrorMessage)
			}
		}
		if drivers := s.driverHistory.driversOf(s.ns, scheduler); len(drivers) > 0 {
			t.Errorf("it had the drivers %v", drivers)
		}
	}
}
