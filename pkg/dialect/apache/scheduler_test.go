package apache_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/batch"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const schedulerKey = "spark.kubernetes.scheduler.name"

func onSchedulers() apache.Defaults {
	return apache.Defaults{BatchSchedulers: []string{batch.Volcano, batch.YuniKorn, "plugins"}}
}

// ganged is Spark's example with three executors.
func ganged(scheduler string) *application {
	return pi().Conf(schedulerKey, scheduler).Conf("spark.executor.instances", "3")
}

func plannedAndBuilt(t *testing.T, app *sparkv1.SparkApplication, defaults apache.Defaults) (submission.Plan, *submission.Objects) {
	t.Helper()
	plan, err := apache.Plan(app, v1alpha1.Attempt{Since: at(0)}, defaults)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dialect.Build(apache.New(defaults), app, plan)
	if err != nil {
		t.Fatal(err)
	}
	return plan, objects
}

func TestBatchSchedulerPodGroups(t *testing.T) {
	prioritized := func(scheduler string) *application {
		return ganged(scheduler).Driver(&corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"scheduling.volcano.sh/queue-name": "research"}},
			Spec:       corev1.PodSpec{PriorityClassName: "high"},
		})
	}
	for _, version := range []string{"3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0"} {
		for scheduler, test := range map[string]struct {
			app           *application
			kind, spec    string
			ofDriver, key string
		}{
			"volcano": {
				prioritized("volcano"), "scheduling.volcano.sh/v1beta1",
				`{minMember: 1, minResources: {cpu: "4", memory: 5632Mi}, queue: research, priorityClassName: high}`,
				"annotation", submission.VolcanoGroupAnnotation,
			},
			"plugins": {
				prioritized("plugins"), "scheduling.x-k8s.io/v1alpha1", `{minMember: 1, minResources: {cpu: "4", memory: 5632Mi}}`,
				"label", batch.CoschedulingGroup,
			},
		} {
			t.Run(scheduler+" "+version, func(t *testing.T) {
				plan, objects := plannedAndBuilt(t, test.app.Spark(version).Obj(), onSchedulers())
				if len(objects.Before) != 1 {
					t.Fatalf("before the driver there are %v", objects.Before)
				}
				text, err := json.Marshal(objects.Before[0])
				if err != nil {
					t.Fatal(err)
				}
				var got, want any
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatal(err)
				}
				manifest := `{apiVersion: ` + test.kind + `, kind: PodGroup, metadata: {name: pi-0-podgroup, namespace: team-a, labels: {spark.operator/name: spark-kubernetes-operator}}, spec: ` + test.spec + `}`
				if err := yaml.Unmarshal([]byte(manifest), &want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the group (-want +got):\n%s", diff)
				}
				of := map[string]map[string]string{"annotation": objects.Driver.Annotations, "label": objects.Driver.Labels}
				if group := of[test.ofDriver][test.key]; group != "pi-0-podgroup" || objects.Driver.Spec.SchedulerName != scheduler {
					t.Errorf("the driver has the group %q and the scheduler %q", group, objects.Driver.Spec.SchedulerName)
				}
				if group := plan.Properties["spark.kubernetes.executor."+test.ofDriver+"."+test.key]; group != "pi-0-podgroup" {
					t.Errorf("executors have the group %q", group)
				}
			})
		}
	}
}

func TestBatchSchedulerWithoutPodGroup(t *testing.T) {
	annotated := func(key string) *application {
		return ganged("volcano").Driver(&corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "mine"}}})
	}
	for name, test := range map[string]struct {
		app     *application
		volcano int
	}{
		"without a batch scheduler":           {pi(), 0},
		"of one that the settings know not":   {ganged("other"), 0},
		"of YuniKorn":                         {ganged("yunikorn"), 0},
		"if executors have another scheduler": {ganged("volcano").Conf("spark.kubernetes.executor.scheduler.name", "default-scheduler"), 0},
		"if the user names one":               {annotated(submission.VolcanoGroupAnnotation), 0},
		"if the user names one by a property": {ganged("plugins").Conf("spark.kubernetes.driver.label."+batch.CoschedulingGroup, "mine"), 0},
		"beside that of Spark's own step": {
			ganged("volcano").Conf("spark.kubernetes.driver.pod.featureSteps", "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep"), 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, objects := plannedAndBuilt(t, test.app.Obj(), onSchedulers())
			if len(objects.Before) != test.volcano {
				t.Errorf("before the driver there are %v", objects.Before)
			}
			if obsolete := apache.ObsoleteObjects(test.app.Obj(), onSchedulers()); len(obsolete) > 0 {
				t.Errorf("at the end these are deleted: %v", obsolete)
			}
		})
	}
}

func TestBatchSchedulerOfPodTemplatesAndDefaults(t *testing.T) {
	scheduled := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulerName: "volcano"}}
	defaults := onSchedulers()
	defaults.Properties = map[string]string{schedulerKey: "volcano"}
	for name, test := range map[string]struct {
		app      *application
		defaults apache.Defaults
	}{
		"both templates":     {pi().Driver(scheduled).Executor(scheduled), onSchedulers()},
		"a default property": {pi(), defaults},
		"a property of each": {
			pi().Conf("spark.kubernetes.driver.scheduler.name", "volcano").Conf("spark.kubernetes.executor.scheduler.name", "volcano"), onSchedulers(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, objects := plannedAndBuilt(t, test.app.Obj(), test.defaults); len(objects.Before) != 1 {
				t.Errorf("before the driver there are %v", objects.Before)
			}
		})
	}
}

func TestBatchSchedulerTaskGroupsOfYuniKorn(t *testing.T) {
	app := ganged("yunikorn").Conf("spark.kubernetes.node.selector.a", "b").Conf("spark.kubernetes.executor.node.selector.c", "d").
		Executor(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "spot"}}}})
	plan, objects := plannedAndBuilt(t, app.Obj(), onSchedulers())
	const want = `[{"name":"spark-driver","minMember":1,"minResource":{"cpu":"1","memory":"1408Mi"},"nodeSelector":{"a":"b"}},` +
		`{"name":"spark-executor","minMember":3,"minResource":{"cpu":"1","memory":"1408Mi"},"nodeSelector":{"a":"b","c":"d"},"tolerations":[{"key":"spot"}]}]`
	if got := objects.Driver.Annotations[batch.TaskGroups]; got != want {
		t.Errorf("the task groups are\n%s\nwant\n%s", got, want)
	}
	if group := plan.Properties["spark.kubernetes.executor.annotation."+batch.TaskGroupName]; group != "spark-executor" {
		t.Errorf("executors are in the group %q", group)
	}
	own := ganged("yunikorn").Conf("spark.kubernetes.driver.annotation."+batch.TaskGroups, "[]").Obj()
	if _, objects := plannedAndBuilt(t, own, onSchedulers()); objects.Driver.Annotations[batch.TaskGroups] != "[]" {
		t.Errorf("the user's task groups became %s", objects.Driver.Annotations[batch.TaskGroups])
	}
}

// The group is that of the attempt, and goes with it: the scheduler would reserve room for ever.
func TestBatchSchedulerPodGroupIsObsoleteAfterItsAttempt(t *testing.T) {
	app := ganged("volcano").Obj()
	app.Status.Firesteel = submitted().Requested().Restarting().Obj()
	obsolete := apache.ObsoleteObjects(app, onSchedulers())
	if len(obsolete) != 1 || obsolete[0].GetName() != "pi-1-podgroup" {
		t.Errorf("obsolete are %v", obsolete)
	}
}

func TestBatchSchedulerConflictsAreWarnedOf(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"one scheduler":          {ganged("volcano"), ""},
		"two that are not known": {ganged("a").Conf("spark.kubernetes.executor.scheduler.name", "b"), ""},
		"executors without": {
			pi().Conf("spark.kubernetes.driver.scheduler.name", "volcano"),
			`The driver has the scheduler "volcano" and executors have "default-scheduler", so that no batch scheduler reserves room for all of them: ` +
				"name one for both by spec.sparkConf[spark.kubernetes.scheduler.name].",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(apache.Warnings(test.app.Obj(), onSchedulers()).Sentences(), " "); got != test.want {
				t.Errorf("warnings are %q, want %q", got, test.want)
			}
		})
	}
}

// A label value has 63 characters.
func TestBatchSchedulerPodGroupOfALongIDHasAName(t *testing.T) {
	app := ganged("plugins").Conf("spark.app.id", strings.Repeat("a", 63)).Obj()
	_, objects := plannedAndBuilt(t, app, onSchedulers())
	if name := objects.Before[0].GetName(); len(name) > 63 || objects.Driver.Labels[batch.CoschedulingGroup] != name {
		t.Errorf("the group is %q, and the driver's label %q", name, objects.Driver.Labels[batch.CoschedulingGroup])
	}
}
