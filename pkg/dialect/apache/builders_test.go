package apache_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// start is when every story of these tests begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(since time.Duration) metav1.MicroTime { return metav1.NewMicroTime(start.Add(since)) }

// application builds a SparkApplication.
type application struct{ app sparkv1.SparkApplication }

// pi is Spark's example, which says no more than it must.
func pi() *application {
	a := &application{}
	a.app.Namespace, a.app.Name, a.app.UID, a.app.Generation = "team-a", "pi", "uid-of-pi", 1
	a.app.Spec.RuntimeVersions.SparkVersion = "4.1.4"
	a.app.Spec.MainClass = "org.apache.spark.examples.SparkPi"
	return a
}

func (a *application) Obj() *sparkv1.SparkApplication { return a.app.DeepCopy() }

func (a *application) In(namespace string) *application {
	a.app.Namespace = namespace
	return a
}

func (a *application) Named(name string) *application {
	a.app.Name = name
	return a
}

func (a *application) Spark(version string) *application {
	a.app.Spec.RuntimeVersions.SparkVersion = version
	return a
}

func (a *application) Conf(key, value string) *application {
	if a.app.Spec.SparkConf == nil {
		a.app.Spec.SparkConf = map[string]string{}
	}
	a.app.Spec.SparkConf[key] = value
	return a
}

func (a *application) Driver(template *corev1.PodTemplateSpec) *application {
	a.app.Spec.DriverSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: template}
	return a
}

func (a *application) Executor(template *corev1.PodTemplateSpec) *application {
	a.app.Spec.ExecutorSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: template}
	return a
}

func (a *application) Tolerating(tolerations sparkv1.ApplicationTolerations) *application {
	a.app.Spec.ApplicationTolerations = &tolerations
	return a
}

func (a *application) Restart(policy sparkv1.RestartPolicy) *application {
	return a.Tolerating(sparkv1.ApplicationTolerations{RestartConfig: &sparkv1.RestartConfig{RestartPolicy: policy}})
}

// With changes the application in whatever other way.
func (a *application) With(change func(*sparkv1.SparkApplication)) *application {
	change(&a.app)
	return a
}

// Spec changes the spec in whatever other way.
func (a *application) Spec(change func(*sparkv1.ApplicationSpec)) *application {
	change(&a.app.Spec)
	return a
}

// recordBuilder builds a record step by step, as the lifecycle would have written it, one second a step.
type recordBuilder struct{ record v1alpha1.Record }

// submitted is an application that waits for its first launch.
func submitted() *recordBuilder {
	s := &recordBuilder{}
	s.record.Attempt.Since = at(0)
	return s.In(lifecycle.Submitted, "Spark application has been created on Kubernetes Cluster.")
}

// In appends a state.
func (s *recordBuilder) In(state lifecycle.State, message string) *recordBuilder {
	s.record.Sequence++
	s.record.Transitions = append(s.record.Transitions, v1alpha1.Transition{
		Sequence: s.record.Sequence, Time: at(time.Duration(s.record.Sequence-1) * time.Second),
		Attempt: s.record.Attempt.ID, State: string(state), Message: message,
	})
	return s
}

// Requested is a driver that was created.
func (s *recordBuilder) Requested() *recordBuilder {
	return s.In(lifecycle.DriverRequested, "Requested driver from resource scheduler.")
}

// Ended ends the attempt.
func (s *recordBuilder) Ended(state lifecycle.State, end v1alpha1.AttemptEnd) *recordBuilder {
	s.In(state, end.Message)
	end.Outcome = v1alpha1.OutcomeSucceeded
	if state.Failure() {
		end.Outcome = v1alpha1.OutcomeFailed
	}
	s.last().End = &end
	return s
}

// Verdict is a handler's answer on the current attempt.
func (s *recordBuilder) Verdict(restart bool) *recordBuilder {
	s.record.Verdict = &v1alpha1.Verdict{Attempt: s.record.Attempt.ID, Restart: restart}
	return s
}

// Restarting begins the next attempt.
func (s *recordBuilder) Restarting() *recordBuilder {
	previous := s.record.Attempt
	s.record.Previous = &previous
	s.record.Attempt = v1alpha1.Attempt{ID: previous.ID + 1, Since: s.last().Time, Restarts: previous.Restarts + 1}
	return s.In(lifecycle.ScheduledToRestart, "")
}

// Rejected says that the sink refused events for good.
func (s *recordBuilder) Rejected(events int64) *recordBuilder {
	s.record.Rejected = events
	return s
}

// With changes the record in whatever other way.
func (s *recordBuilder) With(change func(*v1alpha1.Record)) *recordBuilder {
	change(&s.record)
	return s
}

func (s *recordBuilder) last() *v1alpha1.Transition {
	return &s.record.Transitions[len(s.record.Transitions)-1]
}

func (s *recordBuilder) Obj() *v1alpha1.Record { return s.record.DeepCopy() }

func ptr[T any](value T) *T { return &value }
