package recorded

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// SparkApplications returns applications of spark.apache.org in each state.
func SparkApplications() []Object {
	histories := append(append([]history{}, common...),
		history{states: requested[:1], name: "Suspended", held: lifecycle.HeldSuspended, health: Suspended, message: "spec.suspend"},
		history{states: ready, health: Progressing},
		history{states: then(ready, lifecycle.InitializedBelowThresholdExecutors), health: Progressing},
		history{states: then(ready, lifecycle.RunningWithPartialCapacity), health: Healthy},
		history{states: then(ready, lifecycle.RunningWithBelowThresholdExecutors), health: Progressing, message: "minExecutors"},
	)
	build := func() *sparkv1.SparkApplication {
		app := &sparkv1.SparkApplication{ObjectMeta: meta("pi")}
		app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
			InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 2, MinExecutors: 1, MaxExecutors: 3},
		}
		return app
	}
	gvk := sparkv1.SchemeGroupVersion.WithKind("SparkApplication")
	objects := []Object{object(gvk, "new", build(), Progressing, "")}
	for _, h := range histories {
		app := build()
		h.project(apache.New(apache.Defaults{}), app)
		objects = append(objects, object(gvk, h.Name(), app, h.health, h.message))
	}
	objects = append(objects, leftByApacheOperator(build)...)
	return append(objects, edited(find(objects, lifecycle.RunningHealthy)), undecodable(objects[0], dialect.ConditionSucceeded))
}

// leftByApacheOperator returns applications that ended before Firesteel was installed. They have no conditions.
func leftByApacheOperator(build func() *sparkv1.SparkApplication) []Object {
	var objects []Object
	for _, h := range common {
		if !h.states[len(h.states)-1].Terminated() {
			continue
		}
		app := build()
		apache.Project(&app.Status, h.Record())
		app.Status.Firesteel = nil
		o := object(sparkv1.SchemeGroupVersion.WithKind("SparkApplication"), h.Name()+", left by the Apache operator", app, h.health, "")
		objects = append(objects, o)
	}
	return objects
}

// KubeflowApplications returns applications of sparkoperator.k8s.io in each state.
func KubeflowApplications() []Object {
	histories := append(append([]history{}, common...),
		history{states: ready, health: Healthy},
		history{states: then(running, lifecycle.Suspending), health: Progressing},
		history{states: then(running, lifecycle.Suspending, lifecycle.Suspended), held: lifecycle.HeldSuspended, health: Suspended},
		history{states: then(running, lifecycle.Suspending, lifecycle.Suspended, lifecycle.Resuming), health: Progressing},
		history{states: then(running, lifecycle.Invalidating), health: Progressing},
		history{states: then(succeeded, lifecycle.TerminatedWithoutReleaseResources, lifecycle.Invalidating), name: "Invalidating after the end",
			health: Progressing},
		history{states: then(running, lifecycle.Unknown), health: Progressing},
	)
	gvk := v1beta2.SchemeGroupVersion.WithKind("SparkApplication")
	objects := []Object{object(gvk, "new", kubeflowApplication(2), Progressing, "")}
	for _, h := range histories {
		objects = append(objects, h.kubeflow(2))
	}
	// It has more executors than executorState names.
	many := history{states: running, name: "RunningHealthy with 1500 executors", executors: 1500, health: Healthy}
	objects = append(objects, many.kubeflow(1500))
	left := func(health Health, state v1beta2.ApplicationState) {
		app := kubeflowApplication(2)
		app.Status.AppState = state
		objects = append(objects, object(gvk, string(state.State)+", left by the Kubeflow operator", app, health, state.ErrorMessage))
	}
	left(Healthy, v1beta2.ApplicationState{State: v1beta2.CompletedState})
	left(Degraded, v1beta2.ApplicationState{State: v1beta2.FailedState, ErrorMessage: "driver pod not found"})
	return append(objects, edited(find(objects, lifecycle.RunningHealthy)), undecodable(objects[0], dialect.ConditionSucceeded))
}

func kubeflowApplication(executors int32) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{ObjectMeta: meta("pi")}
	app.Spec.Executor.Instances = ptr.To(executors)
	return app
}

func (h history) kubeflow(executors int32) Object {
	app := kubeflowApplication(executors)
	h.project(kubeflow.New(settings.NewDefaults()), app)
	return object(v1beta2.SchemeGroupVersion.WithKind("SparkApplication"), h.Name(), app, h.health, h.message)
}

// EarlyApplications returns applications of spark-operator.k8s.io in each state. They are never restarted or suspended.
func EarlyApplications() []Object {
	histories := append(append([]history{}, common...),
		history{states: ready, health: Healthy},
		history{states: then(running, lifecycle.Invalidating), health: Progressing},
	)
	build := func() *earlyv1alpha1.SparkApplication { return &earlyv1alpha1.SparkApplication{ObjectMeta: meta("pi")} }
	gvk := earlyv1alpha1.SchemeGroupVersion.WithKind("SparkApplication")
	objects := []Object{object(gvk, "new", build(), Progressing, "")}
	for _, h := range histories {
		app := build()
		h.project(early.New(early.NewSettings()), app)
		objects = append(objects, object(gvk, h.Name(), app, h.health, h.message))
	}
	return append(objects, edited(find(objects, lifecycle.RunningHealthy)), undecodable(objects[0], dialect.ConditionSucceeded))
}

// project writes the status of an application with this history.
func (h history) project(d dialect.Dialect, app dialect.Application) {
	facts := dialect.Facts{Now: now, Policy: d.Policy(app), Held: h.held, Obstacle: h.obstacle, Warnings: h.warnings}
	facts.Executors = map[string]dialect.Executor{}
	for n := range h.executors {
		facts.Executors[fmt.Sprintf("pi-exec-%d", n+1)] = dialect.Executor{Phase: corev1.PodRunning}
	}
	d.Project(app, h.Record(), facts)
}

// find returns the object in a state.
func find(objects []Object, state lifecycle.State) Object {
	for _, o := range objects {
		if name := o.Name; len(name) > len(state) && name[len(name)-len(state)-1:] == " "+string(state) {
			return o
		}
	}
	panic("no object is in the state " + state)
}
