package apache_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// driver builds a driver Pod as the Apache operator makes it.
type driver struct{ pod corev1.Pod }

// driverOf is the driver of an application id, made after everything that the recorded statuses tell of.
func driverOf(appID string) *driver {
	d := &driver{}
	d.pod.Name, d.pod.UID = appID+"-driver", types.UID("uid-of-"+appID)
	d.pod.Labels = map[string]string{"spark-role": "driver", "spark-app-selector": appID}
	d.pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC))
	d.pod.OwnerReferences = []metav1.OwnerReference{{Kind: "SparkApplication", UID: "uid-of-app"}}
	return d
}

func (d *driver) Named(name string) *driver {
	d.pod.Name, d.pod.UID = name, types.UID("uid-of-"+name)
	return d
}

func (d *driver) Created(at time.Time) *driver {
	d.pod.CreationTimestamp = metav1.NewTime(at)
	return d
}

func (d *driver) In(phase corev1.PodPhase) *driver {
	d.pod.Status.Phase = phase
	return d
}

func (d *driver) Going() *driver {
	d.pod.DeletionTimestamp = &metav1.Time{Time: start}
	return d
}

func (d *driver) Obj() corev1.Pod { return *d.pod.DeepCopy() }

func pods(drivers ...*driver) (all []corev1.Pod) {
	for _, d := range drivers {
		all = append(all, d.Obj())
	}
	return all
}

func TestPickDriver(t *testing.T) {
	const none = ""
	fixedID := func(name string) *application { return leftIn(t, name).Conf("spark.app.id", "always") }
	scheduled := time.Date(2026, 9, 14, 8, 30, 42, 0, time.UTC)
	for name, test := range map[string]struct {
		app    *application
		pods   []corev1.Pod
		want   string
		others []string
	}{
		"there is none": {leftIn(t, "running-healthy"), nil, none, nil},
		"the attempt's": {
			leftIn(t, "running-healthy"), pods(driverOf("running-healthy-0").In(corev1.PodRunning)), "running-healthy-0-driver", nil,
		},
		"the attempt's that ended": {
			leftIn(t, "running-healthy"), pods(driverOf("running-healthy-0").In(corev1.PodFailed)), "running-healthy-0-driver", nil,
		},
		"the attempt's that goes": {
			leftIn(t, "running-healthy"), pods(driverOf("running-healthy-0").Going()), "running-healthy-0-driver", nil,
		},
		"the attempt's of several": {
			leftIn(t, "untrimmed"), pods(driverOf("untrimmed-1"), driverOf("untrimmed-2").In(corev1.PodSucceeded), driverOf("untrimmed-3")),
			"untrimmed-2-driver", []string{"untrimmed-1-driver", "untrimmed-3-driver"},
		},
		"a later attempt's where the attempt's is gone": {
			leftIn(t, "running-healthy"), pods(driverOf("running-healthy-1")), "running-healthy-1-driver", nil,
		},
		"the one that lives where none is the attempt's": {
			leftIn(t, "untrimmed"), pods(driverOf("untrimmed-0").In(corev1.PodFailed), driverOf("untrimmed-1").Going(), driverOf("untrimmed-4")),
			"untrimmed-4-driver", []string{"untrimmed-0-driver", "untrimmed-1-driver"},
		},
		"one that no status shows": {
			leftIn(t, "scheduled-to-restart"), pods(driverOf("scheduled-to-restart-1")), "scheduled-to-restart-1-driver", nil,
		},
		"one that no status shows and that ended": {
			leftIn(t, "submitted"), pods(driverOf("submitted-0").In(corev1.PodSucceeded)), "submitted-0-driver", nil,
		},
		"not the attempt's before a restart": {
			leftIn(t, "scheduled-to-restart"), pods(driverOf("scheduled-to-restart-0").In(corev1.PodRunning)),
			none, []string{"scheduled-to-restart-0-driver"},
		},
		"not one that goes before a launch": {
			leftIn(t, "submitted"), pods(driverOf("submitted-0").Going()), none, []string{"submitted-0-driver"},
		},
		"of an application without a status whichever lives": {
			pi(), pods(driverOf("pi-0").In(corev1.PodFailed), driverOf("pi-7").In(corev1.PodRunning)), "pi-7-driver", []string{"pi-0-driver"},
		},
		"by its age where the user gave the id": {
			fixedID("scheduled-to-restart"),
			pods(driverOf("always").Named("old").Created(scheduled.Add(-time.Second)), driverOf("always").Named("new").Created(scheduled)),
			"new", []string{"old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			got, rest := apache.PickDriver(app, inherited(t, app), test.pods)
			if got == nil && test.want != none || got != nil && got.Name != test.want {
				t.Errorf("picked %v, want %q", got, test.want)
			}
			var others []string
			for _, pod := range rest {
				others = append(others, pod.Name)
			}
			if diff := cmp.Diff(test.others, others); diff != "" {
				t.Errorf("others (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDriverOfAnotherOperatorGoesIntoTheRecord(t *testing.T) {
	adopted := func(t *testing.T, app *application, driver *corev1.Pod) *v1alpha1.Record {
		t.Helper()
		record, err := apache.Adopt(app.Obj(), apache.Defaults{}, inherited(t, app.Obj()), driver)
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	t.Run("a driver", func(t *testing.T) {
		pod := driverOf("running-healthy-0").Obj()
		app := leftIn(t, "running-healthy")
		record := adopted(t, app, &pod)
		want := &v1alpha1.Launch{ApplicationID: "running-healthy-0", DriverPod: pod.Name, DriverUID: pod.UID}
		if diff := cmp.Diff(want, record.Launch); diff != "" {
			t.Errorf("launch (-want +got):\n%s", diff)
		}
		if noted := spec.Noted(record); noted.Hash != hash(t, app) || noted.HashVersion != spec.HashVersion {
			t.Errorf("the attempt is of %+v, want %q", noted, hash(t, app))
		}
		if record.Sequence != 5 || record.Acknowledged != 5 {
			t.Errorf("sequence %d, acknowledged %d, want nothing new", record.Sequence, record.Acknowledged)
		}
		for i, transition := range record.Transitions {
			if named := transition.DriverPod == pod.Name; named != (i > 0) {
				t.Errorf("transition %s names the driver %q", transition.State, transition.DriverPod)
			}
		}
	})
	t.Run("none where there was one", func(t *testing.T) {
		launch := adopted(t, leftIn(t, "running-healthy"), nil).Launch
		if launch == nil || !launch.Released || launch.DriverPod != "running-healthy-0-driver" || launch.DriverUID != "" {
			t.Errorf("launch is %+v", launch)
		}
		launch = adopted(t, leftIn(t, "failed").Conf("spark.kubernetes.driver.pod.name", "mine"), nil).Launch
		if launch.DriverPod != "mine" {
			t.Errorf("the driver is called %s", launch.DriverPod)
		}
	})
	t.Run("none before there was one", func(t *testing.T) {
		if record := adopted(t, leftIn(t, "scheduled-to-restart"), nil); record.Launch != nil {
			t.Errorf("launch is %+v", record.Launch)
		}
	})
	for name, test := range map[string]struct {
		app  *application
		made time.Time
		want time.Time
	}{
		"one that no status shows": {
			leftIn(t, "scheduled-to-restart"), time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC), time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC),
		},
		"one that another clock is behind of": {
			leftIn(t, "scheduled-to-restart"),
			time.Date(2026, 9, 14, 8, 30, 42, 0, time.UTC), time.Date(2026, 9, 14, 8, 30, 42, 123456000, time.UTC),
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := driverOf("scheduled-to-restart-1").Created(test.made).Obj()
			record := adopted(t, test.app, &pod)
			current := outbox.Current(record)
			if current.State != "DriverRequested" || current.Sequence != 8 || record.Acknowledged != 7 || current.DriverPod != pod.Name {
				t.Errorf("acknowledged %d, current %+v", record.Acknowledged, current)
			}
			if !current.Time.Time.Equal(test.want) {
				t.Errorf("it was requested at %s, want %s", current.Time, test.want)
			}
		})
	}
	t.Run("one of an application without a status", func(t *testing.T) {
		pod := driverOf("pi-3").Obj()
		record := adopted(t, pi(), &pod)
		if current := outbox.Current(record); current.State != "DriverRequested" || current.Sequence != 2 || record.Acknowledged != 0 {
			t.Errorf("acknowledged %d, current %+v", record.Acknowledged, current)
		}
	})
}

func TestAnApplicationOwnsDriversByUIDAndOrphansWhileItIsDeleted(t *testing.T) {
	own := func() *application { return leftIn(t, "failed") }
	another := func(app *sparkv1.SparkApplication) { app.UID = "another" }
	deleted := func(app *sparkv1.SparkApplication) { app.DeletionTimestamp = &metav1.Time{Time: start} }
	for name, test := range map[string]struct {
		app    *application
		driver *driver
		want   bool
	}{
		"its own":                          {own(), driverOf("failed-0"), true},
		"a namesake's":                     {own().With(another), driverOf("failed-0"), false},
		"one without an owner":             {own(), orphan(), false},
		"its own that was orphaned":        {own().With(deleted), orphan(), true},
		"a namesake's while it is deleted": {own().With(another).With(deleted), driverOf("failed-0"), false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := test.driver.Obj()
			if got := dialect.Owns(test.app.Obj(), &pod); got != test.want {
				t.Errorf("owns: %t, want %t", got, test.want)
			}
		})
	}
}

func orphan() *driver {
	d := driverOf("failed-0")
	d.pod.OwnerReferences = nil
	return d
}
