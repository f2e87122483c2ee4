package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// Until its first status write, an application's first launch is known by an annotation only. Meanwhile the controller dies, and users do
// what they may do.
func TestFenceOfAFirstLaunchHoldsWhateverUsersDo(t *testing.T) {
	alone(t)
	// replaced is what kubectl replace does with a manifest.
	replaced := func(app *sparkv1.SparkApplication) { app.Annotations, app.Finalizers = nil, nil }
	changes := map[string]func(m *crashEnv){
		"and nothing else happens": func(*crashEnv) {},
		"and it is replaced":       func(m *crashEnv) { m.edit(m.name, replaced) },
		"and it is replaced by an edited one": func(m *crashEnv) {
			m.edit(m.name, func(app *sparkv1.SparkApplication) { replaced(app); app.Spec.DriverArgs = []string{"edited"} })
		},
		"and its driver is renamed": func(m *crashEnv) {
			m.edit(m.name, func(app *sparkv1.SparkApplication) {
				replaced(app)
				app.Spec.SparkConf = map[string]string{"spark.kubernetes.driver.pod.name": m.name + "-renamed"}
			})
		},
		"and its annotation is another application's": func(m *crashEnv) {
			m.edit(m.name, func(app *sparkv1.SparkApplication) {
				for name := range app.Annotations {
					app.Annotations[name] = `{"application":"another","attempt":0,"launch":"0123456789abcdef0123456789abcdef","driverPod":"stored-0-driver"}`
				}
			})
		},
	}
	envs := newCrashEnvs(t)
	for write, at := range writesOfAFirstLaunch {
		for change, do := range changes {
			envs.run(t, fmt.Sprintf("after %s the controller dies %s", write, change), func(t *testing.T, m *crashEnv) {
				m.apiServer.setTrap(m.name, trap{at: at, answered: true, spring: func() { m.killController() }})
				m.create(App(m.name))
				<-m.dead
				do(m)
				m.startAgain()
				d := m.firstDriver()
				d.start().ready().succeed()
				m.untilState(m.name, "ResourceReleased")
				if drivers := m.untilHad(m.name, 1); change == "and nothing else happens" && len(drivers) != 1 {
					t.Errorf("it had the drivers %v, want one", drivers)
				}
				m.delete(m.name)
				untilGone(m.env, m.apps(), m.name)
				m.untilNothingIsLeft()
			})
		}
		for how, options := range map[string]metav1.DeleteOptions{
			"and it is deleted":                        {},
			"and it is deleted without its dependents": {PropagationPolicy: new(metav1.DeletePropagationOrphan)},
		} {
			envs.run(t, fmt.Sprintf("after %s the controller dies %s", write, how), func(t *testing.T, m *crashEnv) {
				m.apiServer.setTrap(m.name, trap{at: at, answered: true, spring: func() { m.killController() }})
				m.create(App(m.name))
				<-m.dead
				m.must(m.apps().Delete(t.Context(), m.name, options))
				m.startAgain()
				untilGone(m.env, m.apps(), m.name)
				m.untilNothingIsLeft()
			})
		}
	}
}

// writesOfAFirstLaunch are the numbers of some writes of a plain application: between the Pod and the status are its Service and its
// ConfigMap.
var writesOfAFirstLaunch = map[string]int{"the fence": 1, "the driver Pod": 2, "the first status": 5}

// firstDriver waits for the driver that the record names.
func (m *crashEnv) firstDriver() *driver {
	m.Helper()
	app := until(m.env, m.apps(), m.name, "have a driver", func(app *sparkv1.SparkApplication) bool {
		record := app.Status.Firesteel
		return record != nil && record.Launch != nil && record.Launch.DriverUID != ""
	})
	pod := until(m.env, m.Kube.CoreV1().Pods(m.ns), app.Status.Firesteel.Launch.DriverPod, "be bound", func(pod *corev1.Pod) bool {
		return pod.UID == app.Status.Firesteel.Launch.DriverUID && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
	return &driver{Pod: pod, env: m.env}
}
