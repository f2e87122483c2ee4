package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Created is what Firesteel creates for an object.
type Created struct {
	// Of is the object: the run of a schedule, else the one that was given.
	Of Object
	// Objects are in the order of their creation.
	Objects []submission.Object
	// Executor is a Pod that requests what each executor will, and Executors their first number. The driver creates them. Executor is nil
	// for a cluster.
	Executor  *corev1.Pod
	Executors int64
	// Templates are the URLs of pod templates. They are not part of the objects, since they are read at the launch.
	Templates []string
}

// Create returns what Firesteel would create for an object for which Examine finds no error: the attempt that the object's status names, or
// its first one. It is nil if nothing is created, since the user starts the driver.
func Create(object Object, installation *config.Config, now time.Time) (*Created, error) {
	object = named(object)
	settings := installation.In(object.GetNamespace())
	switch object := object.(type) {
	case *sparkv1.SparkCluster:
		return createCluster(object, installation)
	case variant.Schedule:
		run, err := runOf(variant.KindOf(object), object, now)
		if err != nil {
			return nil, err
		}
		return createApplication(run, settings, now)
	case dialect.Application:
		return createApplication(object, settings, now)
	default:
		return nil, fmt.Errorf("%T is no object that Firesteel serves", object)
	}
}

func createCluster(c *sparkv1.SparkCluster, installation *config.Config) (*Created, error) {
	built, err := resources.Build(c, installation.OfClusters(c.Namespace))
	if err != nil {
		return nil, err
	}
	created := &Created{Of: c}
	for _, object := range built.All() {
		created.Objects = append(created.Objects, object)
	}
	return created, nil
}

// createApplication makes the objects as the launcher does, without what it reads.
func createApplication(app dialect.Application, settings *config.Config, now time.Time) (*Created, error) {
	api := apiOf(app)
	d := api.Dialect(settings)
	if d.UserDriver(app) != nil {
		return nil, nil
	}
	attempt := attemptOf(app, now)
	plan, err := d.Plan(app, attempt)
	if err != nil {
		return nil, dialect.AllRefusals(d, app, plan, err).Err()
	}
	created := &Created{Of: app.(Object)}
	for _, template := range dialect.RemoteTemplates(plan, api.Fields) {
		created.Templates = append(created.Templates, template.URL)
		template.ApplyTo(&plan, nil)
	}
	dialect.ApplySettings(&plan, app, attempt, d.Settings())
	id, err := dialect.LaunchID(json.Marshal, app, attempt, plan, d.Ingredients(app))
	if err != nil {
		return nil, err
	}
	objects, err := dialect.BuildLaunch(d, api.API, app, &plan, id)
	if err != nil {
		return nil, d.Refusals(app, err).Err()
	}
	for _, object := range objects.Owned {
		dialect.OwnByDriver(object, objects.Driver)
	}
	created.Objects = slices.Concat(objects.Before, []submission.Object{objects.Driver}, objects.Owned)
	created.Executor, created.Executors, err = submission.PlannedExecutorPod(plan)
	if err != nil {
		return nil, d.Refusals(app, err).Err()
	}
	return created, nil
}

// attemptOf returns the attempt of an application: the one of its record, or the first.
func attemptOf(app dialect.Application, now time.Time) v1alpha1.Attempt {
	if record := app.GetRecord(); record != nil && lifecycle.CurrentState(record) != "" {
		return record.Attempt
	}
	return v1alpha1.Attempt{Since: metav1.NewMicroTime(now)}
}
