package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"
)

// manifest is the one that the Apache operator's own benchmark creates a thousand of. The label makes the driver run for a
// second on a simulated node.
const manifest = `apiVersion: spark.apache.org/v1
kind: SparkApplication
spec:
  mainClass: org.apache.spark.examples.DriverSubmissionTest
  jars: local:///opt/spark/examples/jars/spark-examples.jar
  driverArgs: ["0"]
  sparkConf:
    spark.driver.memory: 256m
    spark.driver.memoryOverhead: 0m
    spark.kubernetes.authenticate.driver.serviceAccountName: ` + driverAccount + `
    spark.kubernetes.container.image: "apache/spark:{{SPARK_VERSION}}-scala"
    spark.kubernetes.driver.label.bench/driver: ends
    spark.kubernetes.driver.master: "local[1]"
    spark.kubernetes.driver.pod.excludedFeatureSteps: org.apache.spark.deploy.k8s.features.KerberosConfDriverFeatureStep
    spark.kubernetes.driver.request.cores: 100m
  runtimeVersions:
    sparkVersion: 4.2.0
`

var applicationResource = schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"}

const (
	// clients is the number of those that create applications at once.
	clients = 16
	// labelApplication is the label of a driver Pod with the name of its application.
	labelApplication = "spark.operator/spark-app-name"
)

// stage is what happens to an application.
type stage int

const (
	driverCreated stage = iota
	released
	deleted
	stages
)

var stageNames = [stages]string{driverCreated: "driver Pod", released: "release", deleted: "deletion"}

// load creates applications and watches what happens to them. It knows nothing of the operator.
type load struct {
	applications dynamic.ResourceInterface
	current      atomic.Pointer[batch]
	stop         context.CancelFunc
}

// newLoad starts the watches.
func newLoad(ctx context.Context, w *env) (*load, error) {
	ctx, stop := context.WithCancel(ctx)
	l := &load{applications: w.Dynamic.Resource(applicationResource).Namespace(namespace), stop: stop}
	l.current.Store(newBatch("none", 0))
	drivers := informers.NewSharedInformerFactoryWithOptions(w.Kube, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "spark-role=driver" })).Core().V1().Pods().Informer()
	applications := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.Dynamic, 0, namespace, nil).
		ForResource(applicationResource).Informer()
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandlerFuncs{
		drivers: {AddFunc: l.seeDriver},
		applications: {
			AddFunc: l.seeApplication, UpdateFunc: func(_, now any) { l.seeApplication(now) }, DeleteFunc: l.missApplication,
		},
	} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			stop()
			return nil, err
		}
		go informer.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			stop()
			return nil, ctx.Err()
		}
	}
	return l, nil
}

func (l *load) seeDriver(object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		l.current.Load().reach(pod.Labels[labelApplication], driverCreated)
	}
}

func (l *load) seeApplication(object any) {
	app, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	state, _, _ := unstructured.NestedString(app.Object, "status", "currentState", "currentStateSummary")
	if state == "ResourceReleased" {
		l.current.Load().reach(app.GetName(), released)
	}
}

func (l *load) missApplication(object any) {
	if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
		l.current.Load().reach(key.Name, deleted)
	}
}

// begin has the watches fill a new batch of applications.
func (l *load) begin(name string, count int) *batch {
	b := newBatch(name, count)
	l.current.Store(b)
	return b
}

// create creates applications of a batch, as fast as it can.
func (l *load) create(ctx context.Context, names []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for _, name := range names {
		app := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &app.Object); err != nil {
			return err
		}
		app.SetName(name)
		group.Go(func() error {
			_, err := l.applications.Create(ctx, app, metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

// deleteAll deletes all applications in one call.
func (l *load) deleteAll(ctx context.Context) error {
	return l.applications.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// batch is a number of applications, and when each was seen to reach a stage.
type batch struct {
	names []string

	mutex sync.Mutex
	// at has the times of each application, and reached how many have reached a stage.
	at      map[string]*[stages]time.Time
	reached [stages]int
	changed chan struct{}
}

func newBatch(name string, count int) *batch {
	b := &batch{at: map[string]*[stages]time.Time{}, changed: make(chan struct{}, 1)}
	for i := range count {
		b.names = append(b.names, fmt.Sprintf("%s-%05d", name, i))
		b.at[b.names[i]] = &[stages]time.Time{}
	}
	return b
}

// reach notes that an application has reached a stage, unless it is of another batch.
func (b *batch) reach(name string, s stage) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	times := b.at[name]
	if times == nil || !times[s].IsZero() {
		return
	}
	times[s] = time.Now()
	b.reached[s]++
	select {
	case b.changed <- struct{}{}:
	default: // the one who waits looks again already
	}
}

// await waits until a number of applications have reached a stage. ended is closed when the operator's process ends.
func (b *batch) await(ctx context.Context, ended <-chan struct{}, s stage, count int, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		b.mutex.Lock()
		reached := b.reached[s]
		b.mutex.Unlock()
		if reached >= count {
			return nil
		}
		select {
		case <-b.changed:
		case <-ended:
			return fmt.Errorf("the operator ended with %d of %d applications at their %s", reached, count, stageNames[s])
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("%w: after %s, %d of %d applications are at their %s", errTooSlow, limit, reached, count, stageNames[s])
		}
	}
}

// after returns how long after an instant a number of applications had reached a stage.
func (b *batch) after(begin time.Time, s stage, count int) time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var times []time.Time
	for _, its := range b.at {
		if !its[s].IsZero() {
			times = append(times, its[s])
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[count-1].Sub(begin)
}

// atStage returns when an application reached a stage.
func (b *batch) atStage(name string, s stage) time.Time {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.at[name][s]
}
