package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

const (
	// burstInterval is the time between two new applications of a burst: many arrive within a second.
	burstInterval = 10 * time.Millisecond
	// burstWriters is how many are created at once. On a slow machine a create takes longer than the interval.
	burstWriters = 8
)

// burst creates suspended applications, many in each second, until the returned function is called.
func (s *env) burst() (over func()) {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s.Cleanup(stop)
	done := make(chan error, 1)
	go func() {
		ticker := time.NewTicker(burstInterval)
		defer ticker.Stop()
		var writers errgroup.Group
		writers.SetLimit(burstWriters)
		for i := 0; ctx.Err() == nil; i++ {
			writers.Go(func() error {
				_, err := s.apps().Create(ctx, App(fmt.Sprintf("burst-%d", i)).Suspended().Obj(), metav1.CreateOptions{})
				if ctx.Err() != nil {
					return nil
				}
				return err
			})
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
		done <- writers.Wait()
	}()
	return func() {
		s.Helper()
		stop()
		s.must(<-done)
	}
}

// launchedUnwritten creates an application whose driver exists before its status is written. On a slow machine that takes some tries.
func (m *crashEnv) launchedUnwritten() *sparkv1.SparkApplication {
	m.Helper()
	const tries = 20
	for range tries {
		m.uses++
		m.name = fmt.Sprintf("pi-%d", m.uses)
		m.create(App(m.name))
		until(m.env, m.Kube.CoreV1().Pods(m.ns), m.name+"-0-driver", "exist", func(*corev1.Pod) bool { return true })
		if app := m.get(m.name); app.Status.Firesteel == nil {
			return app
		}
	}
	m.Fatalf("the first status write of none of %d applications yielded", tries)
	return nil
}

// In a burst the first status write of an application comes after its driver. Whatever happens in between, it has one driver, and all
// its events are published.
func TestBurstWhoseFirstStatusWritesWait(t *testing.T) {
	alone(t)
	for name, c := range map[string]struct {
		meanwhile, after func(*crashEnv)
		states           []string
	}{
		"a controller is killed": {
			meanwhile: func(m *crashEnv) { m.restartController() },
			after:     succeeds, states: plainRun,
		},
		"an annotation is removed": {
			meanwhile: func(m *crashEnv) {
				m.edit(m.name, func(app *sparkv1.SparkApplication) { app.Annotations = nil })
			},
			after: succeeds, states: plainRun,
		},
		"an application is edited": {
			meanwhile: edited, after: succeeds, states: plainRun,
		},
		"an application is deleted": {
			meanwhile: func(m *crashEnv) { m.delete(m.name) },
			after:     gone, // whether its driver was requested in time depends on the machine
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCrashEnv(t)
			over := m.burst()
			until(m.env, m.apps(), "burst-99", "be created", func(*sparkv1.SparkApplication) bool { return true })
			app := m.launchedUnwritten()
			c.meanwhile(m)
			over()
			c.after(m)
			if c.states != nil {
				m.untilPublished(app, c.states...)
			}
			if drivers := m.untilHad(m.name, 1); len(drivers) != 1 {
				m.Errorf("it had %d drivers, want 1", len(drivers))
			}
		})
	}
}

func succeeds(m *crashEnv) {
	m.Helper()
	m.run(m.name, 0).succeed()
	m.untilState(m.name, "ResourceReleased")
}
