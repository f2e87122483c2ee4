package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// user applies, edits, suspends, stops and deletes the applications of an API.
type user struct {
	resource string
	// name begins the names of its applications. Two APIs give drivers the same names.
	name string
	// make draws an application.
	make func(k key, random *rand.Rand) object
}

var users = []user{{apaches, "app", anApache}, {kubeflows, "app", aKubeflow}, {earlies, "early", anEarly}}

// haveUsers has the users of each API do what they do, until it is calm.
func (w *env) haveUsers() {
	var busy sync.WaitGroup
	for n, its := range users {
		random := w.random(20 + uint64(n))
		busy.Go(func() { w.use(its, random) })
	}
	busy.Wait()
}

const names = 4

func (w *env) use(its user, random *rand.Rand) {
	for !w.calm() {
		pause(random, 30*time.Second)
		k := key{its.resource, "team-a", fmt.Sprintf("%s-%d", its.name, random.IntN(names))}
		switch random.IntN(7) {
		case 0, 1, 2:
			w.expect(w.server.create(k, its.make(k, random)))
		case 3:
			w.delete(k)
		case 4:
			w.edit(k, func(suspended *bool, _ map[string]string) { *suspended = !*suspended })
		case 5:
			w.edit(k, func(_ *bool, properties map[string]string) {
				properties["spark.edited"] = strconv.Itoa(random.IntN(100))
			})
		case 6:
			w.stop(k, random.IntN(3) > 0)
		}
	}
	for n := range names {
		k := key{its.resource, "team-a", fmt.Sprintf("%s-%d", its.name, n)}
		w.edit(k, func(suspended *bool, _ map[string]string) { *suspended = false })
		w.expect(w.server.change(k, metav1.Preconditions{}, letEnd))
	}
}

// delete deletes an application.
func (w *env) delete(k key) {
	stored, err := w.server.get(k)
	if err == nil {
		w.server.history.PermitDeletion(stored.GetUID())
		err = w.server.delete(k, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(stored.GetUID()))})
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		w.t.Error(err)
	}
}

// letEnd has an application come to an end that would run for ever.
func letEnd(stored object) error {
	if app, ok := stored.(*v1beta2.SparkApplication); ok && app.Spec.RestartPolicy.Type == v1beta2.RestartAlways {
		app.Spec.RestartPolicy.Type = v1beta2.RestartNever
		app.Generation++
	}
	return nil
}

// stop sets or removes the annotation that stops an application.
func (w *env) stop(k key, stop bool) {
	w.expect(w.server.change(k, metav1.Preconditions{}, func(stored object) error {
		annotations := maps.Clone(stored.GetAnnotations())
		if delete(annotations, dialect.AnnotationStop); stop {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[dialect.AnnotationStop] = "wrong day (by anna)"
		}
		stored.SetAnnotations(annotations)
		return nil
	}))
}

// edit changes whether an application is suspended, or its properties.
func (w *env) edit(k key, edit func(suspended *bool, properties map[string]string)) {
	w.expect(w.server.change(k, metav1.Preconditions{}, func(stored object) error {
		switch app := stored.(type) {
		case *sparkv1.SparkApplication:
			edit(&app.Spec.Suspend, app.Spec.SparkConf)
		case *v1beta2.SparkApplication:
			edit(&app.Spec.Suspend, app.Spec.SparkConf)
		case *earlyv1alpha1.SparkApplication:
			edit(new(bool), app.Spec.SparkConf) // it cannot be suspended
		}
		stored.SetGeneration(stored.GetGeneration() + 1)
		return nil
	}))
}

// expect ignores errors that a late or early user gets.
func (w *env) expect(_ object, err error) {
	if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
		w.t.Error(err)
	}
}

func some(random *rand.Rand, choices ...int64) *int64 {
	return ptr.To(choices[random.IntN(len(choices))])
}

func anApache(k key, random *rand.Rand) object {
	policies := []sparkv1.RestartPolicy{sparkv1.RestartNever, sparkv1.RestartAlways, sparkv1.RestartOnFailure}
	return &sparkv1.SparkApplication{
		TypeMeta:   kinds[k.resource],
		ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: k.name},
		Spec: sparkv1.ApplicationSpec{
			RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.4"},
			MainClass:       "org.example.Main", Jars: "local:///opt/app.jar",
			SparkConf: map[string]string{"spark.kubernetes.container.image": "spark"},
			ApplicationTolerations: &sparkv1.ApplicationTolerations{
				RestartConfig: &sparkv1.RestartConfig{
					RestartPolicy:        policies[random.IntN(len(policies))],
					MaxRestartAttempts:   some(random, 0, 1, 3),
					RestartBackoffMillis: some(random, 0, 1000, 20_000),
				},
				InstanceConfig: &sparkv1.ExecutorInstanceConfig{
					InitExecutors: int32(random.IntN(3)), MinExecutors: int32(random.IntN(3)), MaxExecutors: int32(random.IntN(4)),
				},
				ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{
					DriverStartTimeoutMillis:          some(random, 20_000, 60_000, 300_000),
					ExecutorStartTimeoutMillis:        some(random, 20_000, 60_000),
					ForceTerminationGracePeriodMillis: some(random, 10_000, 60_000),
				},
				ResourceRetainPolicy: []sparkv1.RetainPolicy{
					sparkv1.RetainNever, sparkv1.RetainOnFailure, sparkv1.RetainAlways,
				}[random.IntN(3)],
				ResourceRetainDurationMillis: some(random, -1, 30_000),
				TTLAfterStopMillis:           some(random, -1, 0, 40_000),
			},
		},
	}
}

func aKubeflow(k key, random *rand.Rand) object {
	policies := []v1beta2.RestartPolicyType{v1beta2.RestartNever, v1beta2.RestartAlways, v1beta2.RestartOnFailure}
	app := &v1beta2.SparkApplication{
		TypeMeta:   kinds[k.resource],
		ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: k.name},
		Spec: v1beta2.SparkApplicationSpec{
			Type: v1beta2.ScalaApplication, SparkVersion: "4.1.4", Image: "spark",
			MainClass: "org.example.Main", MainApplicationFile: "local:///opt/app.jar",
			Suspend:   random.IntN(6) == 0,
			SparkConf: map[string]string{"spark.ui.enabled": "true"},
			RestartPolicy: v1beta2.RestartPolicy{
				Type:                             policies[random.IntN(len(policies))],
				OnFailureRetries:                 ptr.To(int32(random.IntN(4))),
				OnSubmissionFailureRetries:       ptr.To(int32(random.IntN(3))),
				OnFailureRetryInterval:           some(random, 1, 20),
				OnSubmissionFailureRetryInterval: some(random, 1, 20),
			},
		},
	}
	if random.IntN(2) == 0 {
		app.Spec.TimeToLiveSeconds = some(random, 0, 40)
	}
	return app
}

func anEarly(k key, random *rand.Rand) object {
	app := &earlyv1alpha1.SparkApplication{
		TypeMeta:   kinds[k.resource],
		ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: k.name},
		Spec: earlyv1alpha1.SparkApplicationSpec{
			MainClass: "org.example.Main", MainApplicationFile: "local:///opt/app.jar",
			SparkConf: map[string]string{"spark.eventLog.enabled": "false"},
			Driver:    earlyv1alpha1.DriverSpec{Image: "spark:4.1.4"}, Executor: earlyv1alpha1.ExecutorSpec{Image: "spark:4.1.4"},
		},
	}
	switch random.IntN(8) {
	case 0:
		app.Spec.Mode = earlyv1alpha1.ClientMode // it fails before a launch
	case 1, 2:
		app.Spec.SubmissionByUser = true
	}
	return app
}

// submit starts drivers for the applications that leave that to their users. A driver that was deleted before an application followed it
// is started again.
func (w *env) submit() {
	random := w.random(4)
	for !w.over.Load() {
		pause(random, 40*time.Second)
		found, _ := w.server.list(earlies, func(o object) bool {
			app := o.(*earlyv1alpha1.SparkApplication)
			return app.Spec.SubmissionByUser && app.DeletionTimestamp == nil && (app.Status.Firesteel == nil || app.Status.Firesteel.Launch == nil)
		})
		for _, o := range found {
			app := o.(*earlyv1alpha1.SparkApplication)
			w.expect(w.server.create(aUsersDriver(app)))
		}
	}
}

// aUsersDriver is the driver that spark-submit makes for an application. No object owns it.
func aUsersDriver(app *earlyv1alpha1.SparkApplication) (key, *corev1.Pod) {
	k := key{pods, app.Namespace, early.AppID(app) + "-driver"}
	return k, &corev1.Pod{
		TypeMeta: kinds[pods],
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.namespace, Name: k.name,
			Labels: map[string]string{"spark-role": "driver", submission.LabelApplicationID: "spark-" + app.Name, early.LabelAppID: early.AppID(app)},
		},
	}
}

// followed returns the UIDs of the applications that followed a driver of their users, by the UID of its Pod.
func (w *env) followed() map[types.UID]types.UID {
	applications := map[types.UID]types.UID{}
	for _, change := range w.server.log {
		if app, ok := change.object.(dialect.Application); ok && app.GetRecord() != nil {
			if launch := app.GetRecord().Launch; launch != nil && launch.ByUser {
				applications[launch.DriverUID] = app.GetUID()
			}
		}
	}
	return applications
}
