package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Follow finds the driver that the user starts for an attempt, and creates the objects that Firesteel adds to it. It never creates a
// driver, so it needs no fence. If the driver exists, the record gets its launch. If not, the observation has what the application waits
// for, and the informer enqueues the application when the Pod is created.
func (l *Launcher) Follow(ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation) error {
	app := v.App
	if record.Launch != nil { // the application was edited after its launch was fenced
		if begun, err := l.deleteBegun(ctx, v, record.Launch, seen); begun || err != nil {
			return err
		}
		record.Launch = nil
	}
	l.own.Add(app.GetUID(), record.Attempt.ID) // this process creates no driver of this attempt
	id, err := dialect.LaunchID(json.Marshal, app, record.Attempt, submission.Plan{}, v.UserDriver.Objects)
	if err != nil {
		return err
	}
	driver := l.userDriver(v, record.Attempt)
	extra, err := l.addObjects(ctx, v, id)
	var notFree *nameNotFreeError
	switch {
	case errors.As(err, &notFree) && driver == nil:
		l.waits.explain(l.waits.stopped(app.GetUID(), *notFree), seen)
		return nil
	case errors.As(err, &notFree):
		extra = &added{refused: []string{runsWithout(notFree.wanted, err)}}
	case err != nil:
		return err
	}
	l.waits.forget(app.GetUID())
	if driver == nil {
		held := diagnosis.AwaitsUserDriver(l.API.UserDriverLabel, l.API.UserDriverID(app), v.UserDriver.PodName).Cause("")
		held.Message = strings.Join(append([]string{held.Message}, extra.refused...), " ")
		seen.LaunchHeld = held
		return nil
	}
	record.Launch = &v1alpha1.Launch{
		ID: id, DriverPod: driver.Name, ApplicationID: driver.Labels[submission.LabelApplicationID], ByUser: true,
	}
	v.Dialect.Spec(app).Note(record)
	seen.Launched, seen.LaunchWarnings, seen.UI = driver.UID, extra.refused, uiOf(v.UserDriver.UI, extra.objects)
	l.rememberObsolete(v, id, extra.objects)
	l.EnqueueAfter(app, 0) // the Pod may be as it will stay, and then no event follows
	return nil
}

// added are the objects that were added to the driver of a user.
type added struct {
	launch  string
	objects []submission.Object
	// refused are sentences about objects that the API server refused.
	refused []string
}

// addObjects creates the objects that Firesteel adds to the driver of a user. What this process created is not created again. What the API
// server refused is tried again.
func (l *Launcher) addObjects(ctx context.Context, v *view.Application, id string) (*added, error) {
	app := v.App
	if known, ok := l.added.Get(app.GetUID()); ok && known.(*added).launch == id && len(known.(*added).refused) == 0 {
		return known.(*added), nil
	}
	result := &added{launch: id}
	for _, wanted := range v.UserDriver.Objects {
		object := wanted.DeepCopyObject().(submission.Object)
		object.SetNamespace(app.GetNamespace())
		object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(app, l.API.GroupVersionKind)})
		dialect.SetLaunchLabels(l.API.API, object, id, app.GetName())
		created, err := l.ensure(ctx, app, object)
		switch {
		case isRefused(err):
			result.refused = append(result.refused, l.Redactors.Texts(app, []string{runsWithout(object, refusalOf(err))})...)
		case err != nil:
			return nil, err
		default:
			result.objects = append(result.objects, created)
		}
	}
	l.added.Add(app.GetUID(), result)
	return result, nil
}

// userDriver returns the driver Pod to follow: the oldest one. It returns nil if there is none.
func (l *Launcher) userDriver(v *view.Application, attempt v1alpha1.Attempt) *corev1.Pod {
	for _, pod := range l.Drivers.OfUser(l.API.API, v.App) {
		named := v.UserDriver.PodName == "" || v.UserDriver.PodName == pod.Name
		other, recorded := l.ApplicationOf(pod.UID)
		if named && !ofEarlierAttempt(v, pod, attempt) && (!recorded || other == kube.KeyOf(v.App)) {
			return pod
		}
	}
	return nil
}

// ofEarlierAttempt reports whether a driver Pod is that of an earlier attempt: it is older than the attempt, and its driver has ended. No
// attempt begins before that. One that runs is followed, although an edit that corrects the application may come after it.
func ofEarlierAttempt(v *view.Application, pod *corev1.Pod, attempt v1alpha1.Attempt) bool {
	older := pod.CreationTimestamp.Unix() <= attempt.Since.Unix()
	return attempt.ID > 0 && older && lifecycle.ObserveDriver(pod, v.Policy.MainContainer).End != nil
}

// maxNamed is how many Pods a warning names.
const maxNamed = 3

// UserWarnings returns sentences about the driver that the user starts for an application: which objects it lacks while the application
// waits for it, and which other driver Pods have its label.
func (l *Launcher) UserWarnings(v *view.Application, record *v1alpha1.Record) []string {
	switch {
	case v.UserDriver == nil:
		return nil
	case record.Launch == nil:
		if known, ok := l.added.Get(v.App.GetUID()); ok {
			return known.(*added).refused
		}
		return nil
	case !record.Launch.ByUser:
		return nil
	}
	var pods []string
	for _, pod := range l.Drivers.OfUser(l.API.API, v.App) {
		if pod.UID != record.Launch.DriverUID && !ofEarlierAttempt(v, pod, record.Attempt) {
			pods = append(pods, pod.Name)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	slices.Sort(pods)
	names := strings.Join(pods[:min(len(pods), maxNamed)], ", ")
	if more := len(pods) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return []string{diagnosis.OtherUserDrivers(record.Launch.DriverPod, names).Message()}
}
