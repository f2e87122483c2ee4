package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// clients is the number of those that create and delete applications at once. It is more than the API server needs to be
// busy.
const clients = 16

// stage is what an application comes to.
type stage int

const (
	launched stage = iota // its driver Pod exists
	finished
	gone
	reported // the number of those before, which reports speak of
	running  = reported
	stages   = running + 1
)

// life is one application's.
type life struct {
	name string
	// came are closed when it comes to a stage, and at says when that was seen.
	came [stages]chan struct{}
	at   [stages]time.Time
	// started says that its driver runs, and deleting that its deletion was asked for, and that both were seen.
	started, deleting bool
	// awaits are told when a state is shown.
	awaits map[lifecycle.State]chan time.Time
}

// operator is what is told of applications where Firesteel does not run, to do what it would do.
type operator interface {
	created(app dialect.Application)
	driverRuns(name string)
	driverEnded(name string)
	deleted(app dialect.Application)
}

// crowd is a number of applications in a namespace of their own, as they are seen by watches. It makes the executors of
// their drivers, as Spark does.
type crowd struct {
	*world
	kind      kind
	namespace string
	fate      fate
	operator  operator
	// executors is the number that each driver makes.
	executors int

	stop   context.CancelFunc
	trades errgroup.Group
	mutex  sync.Mutex
	lives  map[string]*life
	failed error
	broken chan struct{}
}

// newCrowd is of nobody yet. The operator is nil where Firesteel is to run.
func (w *world) newCrowd(ctx context.Context, k kind, f fate, operator operator) (*crowd, error) {
	namespace, err := w.namespace(ctx)
	if err != nil {
		return nil, err
	}
	c := &crowd{
		world: w, kind: k, namespace: namespace, fate: f, operator: operator, executors: executorsEach,
		lives: map[string]*life{}, broken: make(chan struct{}),
	}
	c.trades.SetLimit(clients)
	ctx, c.stop = context.WithCancel(ctx)
	pods := w.kube.CoreV1().Pods(namespace)
	now, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	err = c.follow(ctx, now.ResourceVersion, func(options metav1.ListOptions) (watch.Interface, error) {
		options.LabelSelector = "spark-role=driver"
		return pods.Watch(ctx, options)
	}, func(event watch.Event) { c.seeDriver(ctx, event) })
	if err != nil {
		return nil, err
	}
	err = c.follow(ctx, now.ResourceVersion, func(options metav1.ListOptions) (watch.Interface, error) {
		return k.watch(ctx, w.spark, namespace, options)
	}, c.seeApplication)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// close ends the watches.
func (c *crowd) close() { c.stop() }

// follow sees all that happens from a resourceVersion on. The API server ends watches that are slow, and they go on.
func (c *crowd) follow(
	ctx context.Context, from string, watchFrom func(metav1.ListOptions) (watch.Interface, error), see func(watch.Event),
) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, from, &cache.ListWatch{WatchFunc: watchFrom})
	if err != nil {
		return err
	}
	go func() {
		for event := range watcher.ResultChan() {
			if event.Type == watch.Error {
				c.fail(apierrors.FromObject(event.Object))
			}
			see(event)
		}
		if ctx.Err() == nil {
			c.fail(errors.New("a watch ended"))
		}
	}()
	return nil
}

// fail has whoever waits for the crowd know that it is in vain.
func (c *crowd) fail(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err != nil && c.failed == nil {
		c.failed = err
		close(c.broken)
	}
}

// life is that of an application, which may not have been seen yet.
func (c *crowd) life(name string) *life {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	its := c.lives[name]
	if its == nil {
		its = &life{name: name, awaits: map[lifecycle.State]chan time.Time{}}
		for i := range its.came {
			its.came[i] = make(chan struct{})
		}
		c.lives[name] = its
	}
	return its
}

// reach notes that a life has come to a stage.
func (c *crowd) reach(its *life, s stage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if its.at[s].IsZero() {
		its.at[s] = time.Now()
		close(its.came[s])
	}
}

func (c *crowd) seeDriver(ctx context.Context, event watch.Event) {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok || event.Type == watch.Deleted || pod.DeletionTimestamp != nil {
		return
	}
	its := c.life(applicationName(pod))
	c.reach(its, launched)
	switch {
	case pod.Status.Phase == corev1.PodRunning && !its.started:
		its.started = true
		if c.operator != nil {
			c.operator.driverRuns(its.name)
		}
		go c.trades.Go(func() error {
			for i := range c.executors {
				_, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, executor(pod, i+1), metav1.CreateOptions{})
				if err != nil && ctx.Err() == nil {
					c.fail(fmt.Errorf("create executor: %w", err))
				}
			}
			return nil
		})
	case pod.Status.Phase == corev1.PodSucceeded && c.operator != nil:
		c.operator.driverEnded(its.name)
	}
}

func applicationName(driver *corev1.Pod) string {
	for _, owner := range driver.OwnerReferences {
		if owner.Kind == "SparkApplication" {
			return owner.Name
		}
	}
	return ""
}

func (c *crowd) seeApplication(event watch.Event) {
	app, ok := event.Object.(dialect.Application)
	if !ok {
		return
	}
	its := c.life(app.GetName())
	switch {
	case event.Type == watch.Deleted:
		c.reach(its, gone)
	case app.GetDeletionTimestamp() != nil:
		if c.operator != nil && !its.deleting {
			its.deleting = true
			c.operator.deleted(app)
		}
	case c.kind.finished(app):
		c.reach(its, finished)
	case state(app) == lifecycle.RunningHealthy:
		c.reach(its, running)
	}
	c.show(its, app)
}

// show tells who awaits a state that the application has come to.
func (c *crowd) show(its *life, app dialect.Application) {
	if app.GetRecord() == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, t := range app.GetRecord().Transitions {
		if news := its.awaits[lifecycle.State(t.State)]; news != nil {
			news <- time.Now()
			delete(its.awaits, lifecycle.State(t.State))
		}
	}
}

// await returns a channel to which the instant is sent at which an application is first seen to have come to a state.
func (c *crowd) await(name string, state lifecycle.State) <-chan time.Time {
	its := c.life(name)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	news := make(chan time.Time, 1)
	its.awaits[state] = news
	return news
}

// until waits for an application to come to a stage.
func (c *crowd) until(ctx context.Context, name string, s stage) error {
	its := c.life(name)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-its.came[s]:
		return nil
	case <-c.broken:
		return c.failed
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("waited %s for %s to come to stage %d", patience, name, s)
	}
}

// untilAll waits for applications to come to a stage, and says when the last of them did.
func (c *crowd) untilAll(ctx context.Context, names []string, s stage) (last time.Time, err error) {
	for _, name := range names {
		if err := c.until(ctx, name, s); err != nil {
			return last, err
		}
		if at := c.life(name).at[s]; at.After(last) {
			last = at
		}
	}
	return last, nil
}

// create creates applications, as fast as it can.
func (c *crowd) create(ctx context.Context, names []string) error {
	return each(ctx, names, clients, func(ctx context.Context, name string) error {
		app, err := c.kind.create(ctx, c.spark, c.namespace, name, c.fate)
		if err == nil && c.operator != nil {
			c.operator.created(app)
		}
		return err
	})
}

// remove deletes applications, as fast as it can.
func (c *crowd) remove(ctx context.Context, names []string) error {
	return each(ctx, names, clients, func(ctx context.Context, name string) error {
		return c.kind.remove(ctx, c.spark, c.namespace, name)
	})
}

// namesFrom are names of the same length.
func namesFrom(first, count int) []string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("life-%06d", first+i))
	}
	return names
}

// each does something for each name, several at once.
func each(ctx context.Context, names []string, atOnce int, do func(ctx context.Context, name string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, name := range names {
		group.Go(func() error { return do(ctx, name) })
	}
	return group.Wait()
}
