package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/pause"
)

const (
	// One of livingEach applications lives.
	livingEach = 5
	// consoleNamespaces is in how many namespaces they are.
	consoleNamespaces = 50
	// keptTransitions bounds the transitions of an application that changes.
	keptTransitions = 8
	appNameLabel    = "spark.operator/spark-app-name"
)

// consoleObjects are the applications that the console shows, and the Pods of those that live. No controller runs.
type consoleObjects struct {
	*bench
	namespaces []string
	// all and living are the applications, as NAMESPACE and NAME.
	all, living []objectName
	// mutex guards next, the number of the next transition.
	mutex sync.Mutex
	next  int
}

type objectName struct{ namespace, name string }

func (o *consoleObjects) count() int { return len(o.all) }

// create creates the applications, and the Pods.
func (o *consoleObjects) create(ctx context.Context) error {
	for range min(consoleNamespaces, o.bench.count) {
		namespace, err := o.namespace(ctx)
		if err != nil {
			return err
		}
		o.namespaces = append(o.namespaces, namespace)
	}
	for i, name := range namesFrom(0, o.bench.count*listedEach) {
		app := objectName{o.namespaces[i%len(o.namespaces)], name}
		o.all = append(o.all, app)
		if i/len(o.namespaces)%livingEach == 0 {
			o.living = append(o.living, app)
		}
	}
	living := map[objectName]bool{}
	for _, app := range o.living {
		living[app] = true
	}
	return o.eachOf(ctx, o.all, func(ctx context.Context, app objectName) error {
		if !living[app] {
			return o.store(ctx, app.namespace, app.name, endedStates...)
		}
		if err := o.store(ctx, app.namespace, app.name, livingStates...); err != nil {
			return err
		}
		for i := range 1 + executorsEach {
			if err := o.createPod(ctx, app, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachOf does something for each application, several at once.
func (o *consoleObjects) eachOf(ctx context.Context, apps []objectName, do func(context.Context, objectName) error) error {
	byName := map[string]objectName{}
	var names []string
	for _, app := range apps {
		byName[app.name] = app
		names = append(names, app.name)
	}
	return each(ctx, names, clients, func(ctx context.Context, name string) error { return do(ctx, byName[name]) })
}

// createPod creates the driver of an application, which is the Pod 0, or an executor. No scheduler sees it.
func (o *consoleObjects) createPod(ctx context.Context, app objectName, number int) error {
	role, name := "driver", app.name+"-0-driver"
	if number > 0 {
		role, name = "executor", fmt.Sprintf("%s-exec-%d", app.name, number)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"spark-role": role, appNameLabel: app.name, submission.LabelApplicationID: "spark-" + app.name, submission.LabelExecutorID: fmt.Sprint(number),
		}},
		Spec: corev1.PodSpec{SchedulerName: "none", Containers: []corev1.Container{{
			Name: "spark-kubernetes-" + role, Image: image,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1408Mi")}},
		}}},
	}
	created, err := o.Kube.CoreV1().Pods(app.namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	created.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, Image: image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	_, err = o.Kube.CoreV1().Pods(app.namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// remove removes what create created.
func (o *consoleObjects) remove(ctx context.Context) error {
	now := int64(0)
	var failed []error
	for _, namespace := range o.namespaces {
		failed = append(failed, o.Kube.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
	}
	return errors.Join(append(failed, o.eachOf(ctx, o.all, func(ctx context.Context, app objectName) error {
		err := o.Spark.SparkV1().SparkApplications(app.namespace).Delete(ctx, app.name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) { // it could not be stored
			return nil
		}
		return err
	}))...)
}

// The states of applications that have ended, and of those that live.
var (
	endedStates = []lifecycle.State{
		lifecycle.Submitted, lifecycle.DriverRequested, lifecycle.DriverStarted, lifecycle.RunningHealthy, lifecycle.Succeeded, lifecycle.ResourceReleased,
	}
	livingStates = endedStates[:4]
)

// store creates an application with transitions to states.
func (b *bench) store(ctx context.Context, namespace, name string, states ...lifecycle.State) error {
	app, err := b.Spark.SparkV1().SparkApplications(namespace).Create(ctx, apacheApplication(name, runs), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	app.Status.Firesteel = &v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: metav1.NowMicro()}}
	for _, state := range states {
		addTransition(app, state, "")
	}
	if states[len(states)-1] == lifecycle.ResourceReleased {
		app.Status.Conditions = []metav1.Condition{{
			Type: "Succeeded", Status: metav1.ConditionTrue, Reason: "Succeeded", Message: "The driver ended.", LastTransitionTime: metav1.Now(),
		}}
	} else {
		app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "launch", ApplicationID: "spark-" + name, DriverPod: name + "-0-driver"}
	}
	_, err = b.Spark.SparkV1().SparkApplications(namespace).UpdateStatus(ctx, app, metav1.UpdateOptions{})
	return err
}

// addTransition adds a transition to the status of an application.
func addTransition(app *sparkv1.SparkApplication, state lifecycle.State, message string) {
	record := app.Status.Firesteel
	record.Sequence++
	t := v1alpha1.Transition{
		Sequence: record.Sequence, Time: metav1.NowMicro(), State: string(state), Message: message,
		DriverPod: app.Name + "-0-driver", ApplicationID: "spark-" + app.Name,
	}
	if state == lifecycle.Succeeded {
		t.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}
	}
	if state == lifecycle.ResourceReleased {
		t.Outcome = v1alpha1.OutcomeSucceeded
	}
	record.Transitions = append(record.Transitions, t)
	record.Transitions = record.Transitions[max(len(record.Transitions)-keptTransitions, 0):]
	app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: string(state)}
}

// change adds a transition to an application that lives. It returns a text that pages then have, and when it was written.
func (o *consoleObjects) change(ctx context.Context, of objectName) (message string, at time.Time, err error) {
	o.mutex.Lock()
	o.next++
	message = fmt.Sprintf("measured transition %06d", o.next)
	o.mutex.Unlock()
	client := o.Spark.SparkV1().SparkApplications(of.namespace)
	app, err := client.Get(ctx, of.name, metav1.GetOptions{})
	if err != nil {
		return "", at, err
	}
	state := lifecycle.RunningWithPartialCapacity
	if last := app.Status.Firesteel.Transitions; last[len(last)-1].State == string(state) {
		state = lifecycle.RunningHealthy
	}
	addTransition(app, state, message)
	at = time.Now()
	_, err = client.UpdateStatus(ctx, app, metav1.UpdateOptions{})
	return message, at, err
}

// keepChanging changes one application after the other until the context ends. The result is sent then.
func (o *consoleObjects) keepChanging(ctx context.Context) <-chan error {
	result := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if _, _, err := o.change(ctx, o.living[i%(len(o.living)-1)]); err != nil && ctx.Err() == nil {
				result <- fmt.Errorf("change an application: %w", err)
				return
			}
			if pause.For(ctx, transitionPause) != nil {
				result <- nil
				return
			}
		}
	}()
	return result
}

// watched is the application whose transitions are awaited on the screen: nothing else changes it.
func (o *consoleObjects) watched() objectName { return o.living[len(o.living)-1] }

// others are applications of a namespace.
func (o *consoleObjects) others(namespace string) (apps []objectName) {
	return slices.DeleteFunc(slices.Clone(o.all), func(app objectName) bool { return app.namespace != namespace })
}
