package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/schedules"
)

// scheduleEnv is a schedule of one of the kinds, with its runs.
type scheduleEnv struct {
	*env
	kind *variant.Kind
	name string
}

// kinds are the kinds of schedules, by what their tests are named.
var kinds = map[string]*variant.Kind{"Kubeflow": variant.Kubeflow, "Apache": variant.Apache}

// templates are SparkPi as each kind's template has it, as JSON.
var templates = map[*variant.Kind]string{
	variant.Kubeflow: `{"type": "Scala", "mode": "cluster", "image": "spark:3.5.9", "sparkVersion": "3.5.9",
		"mainClass": "org.apache.spark.examples.SparkPi", "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
		"driver": {"cores": 1, "memory": "512m"}, "executor": {"cores": 1, "instances": 1, "memory": "512m"},
		"restartPolicy": {"type": "Never"}}`,
	variant.Apache: `{"metadata": {"labels": {"made": "so"}}, "spec": {"mainClass": "org.apache.spark.examples.SparkPi",
		"jars": "local:///opt/spark/examples/jars/spark-examples.jar", "runtimeVersions": {"sparkVersion": "4.1.1"}}}`,
}

// schedules makes a schedule. change may change what it is made from.
func (s *env) schedules(k *variant.Kind, name, text string, change func(spec map[string]any)) *scheduleEnv {
	s.Helper()
	t := &scheduleEnv{env: s, kind: k, name: name}
	var template map[string]any
	s.must(json.Unmarshal([]byte(templates[k]), &template))
	spec := map[string]any{"schedule": text, "template": template}
	if change != nil {
		change(spec)
	}
	t.apply(map[string]any{"team": "a"}, spec)
	return t
}

// apply creates the schedule, or changes its spec, as kubectl does.
func (t *scheduleEnv) apply(labels, spec map[string]any) {
	t.Helper()
	t.serverSideApplied(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": t.kind.GroupVersion.String(), "kind": "ScheduledSparkApplication",
		"metadata": map[string]any{"name": t.name, "labels": labels}, "spec": spec,
	}})
}

// patch changes fields of the spec.
func (t *scheduleEnv) patch(spec string) {
	t.Helper()
	t.patched(t.kind.String(), t.name, `{"spec": `+spec+`}`)
}

// now is the schedule as it is.
func (t *scheduleEnv) now() variant.Schedule {
	t.Helper()
	s, err := schedules.Client(t.kind, t.Spark, t.ns).Get(t.Context(), t.name)
	t.must(err)
	return s
}

// until waits for the schedule to be as it should be.
func (t *scheduleEnv) until(what string, holds func(*firesteelv1alpha1.ScheduleStatus) bool) variant.Schedule {
	t.Helper()
	is := func(s variant.Schedule) bool { return holds(s.GetScheduleStatus()) }
	if t.kind == variant.Apache {
		return until(t.env, t.Spark.FiresteelV1alpha1().ScheduledSparkApplications(t.ns), t.name, what,
			func(s *firesteelv1alpha1.ScheduledSparkApplication) bool { return is(s) })
	}
	return until(t.env, t.Spark.SparkoperatorV1beta2().ScheduledSparkApplications(t.ns), t.name, what,
		func(s *v1beta2.ScheduledSparkApplication) bool { return is(s) })
}

// untilCondition waits for a condition of the schedule.
func (t *scheduleEnv) untilCondition(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	t.until(fmt.Sprintf("have the condition %s=%s/%s", kind, status, reason), func(s *firesteelv1alpha1.ScheduleStatus) bool {
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return false
		}
		found = *c
		return true
	})
	return found
}

// runs are the applications of the schedule that exist, the oldest first.
func (t *scheduleEnv) runs() []metav1.Object {
	t.Helper()
	list, err := t.Dynamic.Resource(t.kind.RunsResource()).Namespace(t.ns).List(t.Context(),
		metav1.ListOptions{LabelSelector: t.kind.LabelSchedule + "=" + schedule.LabelValue(t.name)})
	t.must(err)
	var runs []metav1.Object
	for i := range list.Items {
		runs = append(runs, &list.Items[i])
	}
	return runs
}

// untilRuns waits for a number of runs, and returns those that exist then.
func (t *scheduleEnv) untilRuns(count int) []metav1.Object {
	t.Helper()
	var runs []metav1.Object
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		runs = t.runs()
		return len(runs) >= count, nil
	})
	if err != nil {
		t.Fatalf("waited for %d runs of %s; there are %d, and it is\n%s", count, t.name, len(runs), described(t.now()))
	}
	return runs
}

// untilStarted waits for a run that is recorded, other than one.
func (t *scheduleEnv) untilStarted(after string) string {
	t.Helper()
	s := t.until("have started a run after "+after, func(s *firesteelv1alpha1.ScheduleStatus) bool {
		return s.LastRunName != "" && s.LastRunName != after
	})
	return s.GetScheduleStatus().LastRunName
}

// end has a run end, by its driver.
func (t *scheduleEnv) end(run string, succeeds bool) {
	t.Helper()
	var d *driver
	if t.kind == variant.Apache {
		d = t.run(run, 0)
	} else {
		d = t.kubeflowDriver(run).start().ready()
	}
	state := v1beta2.CompletedState
	if succeeds {
		d.succeed()
	} else {
		d.exit(1)
		state = v1beta2.FailedState
	}
	if t.kind == variant.Apache {
		t.untilState(run, "ResourceReleased")
	} else {
		t.untilShown(run, state)
	}
}

// hourly is a schedule that is not due while a test lasts.
func hourly() string {
	return fmt.Sprintf("%d * * * *", (time.Now().UTC().Minute()+30)%60)
}

// leave a status as the Kubeflow operator did.
func (t *scheduleEnv) wantStatus(status firesteelv1alpha1.ScheduleStatus) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	t.must(err)
	_, err = schedules.Client(t.kind, t.Spark, t.ns).Patch(t.Context(), t.name, patch, "status")
	t.must(err)
}

// untilNoRun waits until a run exists no more.
func (t *scheduleEnv) untilNoRun(name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		_, err := schedules.Run(ctx, t.kind, t.Spark, types.NamespacedName{Namespace: t.ns, Name: name})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Fatalf("waited for run %s to be gone; the schedule is\n%s", name, described(t.now()))
	}
}

func namesOf(runs []metav1.Object) string {
	var names []string
	for _, run := range runs {
		names = append(names, run.GetName())
	}
	return strings.Join(names, " ")
}
