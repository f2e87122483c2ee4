package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/client/informers/externalversions"
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

// progress is how far one application has come.
type progress struct {
	name string
	// came are closed when it comes to a stage, and at says when that was seen.
	came [stages]chan struct{}
	at   [stages]time.Time
	// These say what was seen: that its driver runs, that it has ended, that its deletion was asked for.
	started, ended, deleting bool
	// awaits are notified when a state is shown.
	awaits map[lifecycle.State]chan time.Time
}

// operator gets the changes of applications when Firesteel does not run, and does what Firesteel would do.
type operator interface {
	created(app dialect.Application)
	driverRuns(name string)
	driverEnded(name string)
	deleted(app dialect.Application)
}

// workload is a number of applications in a namespace of their own, as they are seen by watches. It makes the executors of
// their drivers, as Spark does.
type workload struct {
	*env
	kind      kind
	namespace string
	plan      driverPlan
	operator  operator
	// executors is the number that each driver makes.
	executors int

	stop     context.CancelFunc
	trades   errgroup.Group
	mutex    sync.Mutex
	progress map[string]*progress
	failed   error
	broken   chan struct{}
}

// newWorkload creates a workload without a controller. The operator is nil if Firesteel runs.
func (w *env) newWorkload(ctx context.Context, k kind, plan driverPlan, operator operator) (*workload, error) {
	namespace, err := w.namespace(ctx)
	if err != nil {
		return nil, err
	}
	c := &workload{
		env: w, kind: k, namespace: namespace, plan: plan, operator: operator, executors: executorsEach,
		progress: map[string]*progress{}, broken: make(chan struct{}),
	}
	c.trades.SetLimit(clients)
	ctx, c.stop = context.WithCancel(ctx)
	apps := k.informer(externalversions.NewSharedInformerFactoryWithOptions(w.Spark, 0, externalversions.WithNamespace(namespace)))
	return c, errors.Join(
		follow(ctx, w.pods(namespace, metav1.ListOptions{LabelSelector: "spark-role=driver"}), func(pod any) { c.seeDriver(ctx, pod) }, nil),
		follow(ctx, apps, c.seeApplication, c.missApplication),
	)
}

// close ends the watches.
func (c *workload) close() { c.stop() }

// pods follows those that options select.
func (w *env) pods(namespace string, options metav1.ListOptions) cache.SharedIndexInformer {
	return informers.NewSharedInformerFactoryWithOptions(w.Kube, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(list *metav1.ListOptions) {
			list.LabelSelector, list.FieldSelector = options.LabelSelector, options.FieldSelector
		})).Core().V1().Pods().Informer()
}

// follow sees what there is from now on, until the context ends. The API server ends watches that are slow; after that what
// came between may stay unseen.
func follow(ctx context.Context, informer cache.SharedIndexInformer, see, miss func(object any)) error {
	seeing, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, now any) { see(now) }, DeleteFunc: miss,
	})
	if err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), seeing.HasSynced) {
		return ctx.Err()
	}
	return nil
}

// fail ends all waits for the workload with an error.
func (c *workload) fail(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err != nil && c.failed == nil {
		c.failed = err
		close(c.broken)
	}
}

// progressOf returns that of an application, which may not have been seen yet.
func (c *workload) progressOf(name string) *progress {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	seen := c.progress[name]
	if seen == nil {
		seen = &progress{name: name, awaits: map[lifecycle.State]chan time.Time{}}
		for i := range seen.came {
			seen.came[i] = make(chan struct{})
		}
		c.progress[name] = seen
	}
	return seen
}

// reach notes that an application has come to a stage.
func (c *workload) reach(seen *progress, s stage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if seen.at[s].IsZero() {
		seen.at[s] = time.Now()
		close(seen.came[s])
	}
}

func (c *workload) seeDriver(ctx context.Context, object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	seen := c.progressOf(applicationName(pod))
	c.reach(seen, launched)
	if pod.DeletionTimestamp != nil {
		return
	}
	succeeded := pod.Status.Phase == corev1.PodSucceeded
	if !seen.started && (succeeded || pod.Status.Phase == corev1.PodRunning) {
		seen.started = true
		if c.operator != nil {
			c.operator.driverRuns(seen.name)
		}
		go c.trades.Go(func() error { return c.trade(ctx, pod) })
	}
	if !seen.ended && succeeded {
		seen.ended = true
		if c.operator != nil {
			c.operator.driverEnded(seen.name)
		}
	}
}

// trade makes the executors of a driver.
func (c *workload) trade(ctx context.Context, driver *corev1.Pod) error {
	for i := range c.executors {
		_, err := c.Kube.CoreV1().Pods(c.namespace).Create(ctx, executor(driver, i+1), metav1.CreateOptions{})
		if err != nil && ctx.Err() == nil {
			c.fail(fmt.Errorf("create executor: %w", err))
		}
	}
	return nil
}

func applicationName(driver *corev1.Pod) string {
	for _, owner := range driver.OwnerReferences {
		if owner.Kind == "SparkApplication" {
			return owner.Name
		}
	}
	return ""
}

func (c *workload) seeApplication(object any) {
	app, ok := object.(dialect.Application)
	if !ok {
		return
	}
	seen := c.progressOf(app.GetName())
	switch {
	case app.GetDeletionTimestamp() != nil:
		if c.operator != nil && !seen.deleting {
			seen.deleting = true
			c.operator.deleted(app)
		}
	case c.kind.finished(app):
		c.reach(seen, launched) // its driver may have come and gone unseen
		c.reach(seen, finished)
	case state(app) == lifecycle.RunningHealthy:
		c.reach(seen, running)
	}
	c.show(seen, app)
}

func (c *workload) missApplication(object any) {
	if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
		c.reach(c.progressOf(key.Name), gone)
	}
}

// show notifies those who wait for the application's state.
func (c *workload) show(seen *progress, app dialect.Application) {
	if app.GetRecord() == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, t := range app.GetRecord().Transitions {
		if news := seen.awaits[lifecycle.State(t.State)]; news != nil {
			news <- time.Now()
			delete(seen.awaits, lifecycle.State(t.State))
		}
	}
}

// await returns a channel to which the instant is sent at which an application is first seen to have come to a state.
func (c *workload) await(name string, state lifecycle.State) <-chan time.Time {
	seen := c.progressOf(name)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	news := make(chan time.Time, 1)
	seen.awaits[state] = news
	return news
}

// until waits for an application to come to a stage.
func (c *workload) until(ctx context.Context, name string, s stage) error {
	seen := c.progressOf(name)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-seen.came[s]:
		return nil
	case <-c.broken:
		return c.failed
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("waited %s for %s to come to stage %d", patience, name, s)
	}
}

// untilAll waits until applications reached a stage, and returns when the last of them did.
func (c *workload) untilAll(ctx context.Context, names []string, s stage) (last time.Time, err error) {
	for _, name := range names {
		if err := c.until(ctx, name, s); err != nil {
			return last, err
		}
		if at := c.progressOf(name).at[s]; at.After(last) {
			last = at
		}
	}
	return last, nil
}

// create creates applications, as fast as it can.
func (c *workload) create(ctx context.Context, names []string) error {
	return each(ctx, names, clients, func(ctx context.Context, name string) error {
		app, err := c.kind.create(ctx, c.Spark, c.namespace, name, c.plan)
		if err == nil && c.operator != nil {
			c.operator.created(app)
		}
		return err
	})
}

// remove deletes applications, as fast as it can.
func (c *workload) remove(ctx context.Context, names []string) error {
	return each(ctx, names, clients, func(ctx context.Context, name string) error {
		return c.kind.remove(ctx, c.Spark, c.namespace, name)
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
