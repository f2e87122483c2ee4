package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// workload holds the applications of a namespace. It keeps width of them running.
type workload struct {
	*env
	namespace string
	width     int
	// names are how many names there are; 0 for as many as there are applications.
	names int
	rng   *rng.Rand

	mutex   sync.Mutex
	members []dialect.Application
	created int
}

func newWorkload(w *env, namespace string, width, names int) *workload {
	return &workload{env: w, namespace: namespace, width: width, names: names, rng: rng.New(w.seed, namespace)}
}

// runApplications keeps applications running in the namespace until the context ends.
func (p *workload) runApplications(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		if err := p.step(ctx); err != nil {
			return err
		}
	}
}

// step acts as the users of all applications, and creates as many as are missing.
func (p *workload) step(ctx context.Context) error {
	p.acting.RLock()
	defer p.acting.RUnlock()
	active := 0
	for _, app := range p.present() {
		ended, _ := p.history.Progress(app.GetUID())
		if !ended {
			active++
		}
		p.tend(ctx, app, ended)
	}
	for ; active < p.width && ctx.Err() == nil; active++ {
		if err := p.createOne(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// present returns the applications that still exist.
func (p *workload) present() []dialect.Application {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var present []dialect.Application
	for _, app := range p.members {
		if _, gone := p.history.Progress(app.GetUID()); !gone {
			present = append(present, app)
		}
	}
	p.members = present
	return append([]dialect.Application{}, present...)
}

// tend acts as the user of an application, now and then.
func (p *workload) tend(ctx context.Context, app dialect.Application, ended bool) {
	runsForEver := len(kindOf(app.GetLabels()[labelKind]).ends) == 0
	switch {
	case (ended || runsForEver) && p.rng.Chance(0.02):
		p.remove(ctx, app)
	case suspended(app) && p.rng.Chance(0.05):
		p.resume(ctx, app)
	}
}

// createOne creates an application of a random kind.
func (p *workload) createOne(ctx context.Context) error {
	p.created++
	name := fmt.Sprintf("app-%d", p.created)
	if p.names > 0 {
		name = fmt.Sprintf("app-%d", p.rng.Below(p.names))
	}
	err := p.create(ctx, newApplication(p.rng, p.namespace, name, rng.Pick(p.rng, drawn(), func(k kind) float64 { return k.weight })))
	return ignore(err, apierrors.IsAlreadyExists)
}

func (p *workload) create(ctx context.Context, app dialect.Application) error {
	made, err := p.post(context.WithoutCancel(ctx), app) // an application whose response is lost would belong to no list
	if err != nil {
		return fmt.Errorf("create application %s: %w", app.GetName(), err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.members = append(p.members, made)
	return nil
}

func (p *workload) post(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	switch app := app.(type) {
	case *v1beta2.SparkApplication:
		return p.Spark.SparkoperatorV1beta2().SparkApplications(p.namespace).Create(ctx, app, metav1.CreateOptions{})
	case *earlyv1alpha1.SparkApplication:
		return p.Spark.EarlyV1alpha1().SparkApplications(p.namespace).Create(ctx, app, metav1.CreateOptions{})
	default:
		return p.Spark.SparkV1().SparkApplications(p.namespace).Create(ctx, app.(*sparkv1.SparkApplication), metav1.CreateOptions{})
	}
}

// object reaches an application, whatever its API.
func (p *workload) object(app dialect.Application) dynamic.ResourceInterface {
	return p.Dynamic.Resource(invariants.APIOf(app).GroupVersionResource()).Namespace(app.GetNamespace())
}

// remove deletes an application. It returns false if it is gone already.
func (p *workload) remove(ctx context.Context, app dialect.Application) bool {
	p.history.PermitDeletion(app.GetUID())
	err := p.object(app).Delete(ctx, app.GetName(), metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(app.GetUID())),
	})
	return err == nil
}

func (p *workload) resume(ctx context.Context, app dialect.Application) bool {
	return p.edit(ctx, app, map[string]any{"suspend": false})
}

// edit changes the spec of an application. It returns false if it is gone.
func (p *workload) edit(ctx context.Context, app dialect.Application, spec map[string]any) bool {
	return p.patch(ctx, app, map[string]any{"metadata": map[string]any{"uid": app.GetUID()}, "spec": spec})
}

// stop stops an application for good. It returns false if it is gone.
func (p *workload) stop(ctx context.Context, app dialect.Application) bool {
	return p.patch(ctx, app, map[string]any{"metadata": map[string]any{
		"uid": app.GetUID(), "annotations": map[string]string{dialect.AnnotationStop: "chaos"},
	}})
}

func (p *workload) patch(ctx context.Context, app dialect.Application, change map[string]any) bool {
	patch, err := json.Marshal(change)
	if err != nil {
		panic(err)
	}
	_, err = p.object(app).Patch(ctx, app.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	return err == nil
}

// any returns one of the existing applications; nil if there is none.
func (p *workload) any(d *rng.Rand) dialect.Application {
	present := p.present()
	if len(present) == 0 {
		return nil
	}
	return present[d.Below(len(present))]
}

// list returns all applications of the namespace.
func (p *workload) list(ctx context.Context) ([]dialect.Application, error) {
	apaches, err := p.Spark.SparkV1().SparkApplications(p.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	kubeflows, err := p.Spark.SparkoperatorV1beta2().SparkApplications(p.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	earlies, err := p.Spark.EarlyV1alpha1().SparkApplications(p.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var apps []dialect.Application
	for i := range earlies.Items {
		apps = append(apps, &earlies.Items[i])
	}
	for i := range apaches.Items {
		apps = append(apps, &apaches.Items[i])
	}
	for i := range kubeflows.Items {
		apps = append(apps, &kubeflows.Items[i])
	}
	return apps, nil
}

// stuck returns the applications that have not run again since then, though they do so until they are deleted.
func (p *workload) stuck(ctx context.Context, since time.Time) ([]string, error) {
	apps, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var stuck []string
	for _, app := range apps {
		record := app.GetRecord()
		_, stopped := app.GetAnnotations()[dialect.AnnotationStop]
		if app.GetLabels()[labelKind] == startsOver && app.GetDeletionTimestamp() == nil && !stopped &&
			(record == nil || record.Attempt.Since.Time.Before(since)) {
			stuck = append(stuck, fmt.Sprintf("%s/%s is %s", p.namespace, app.GetName(), outbox.Current(record).State))
		}
	}
	return stuck, nil
}

// restless returns the applications that have not reached their final state, with their states.
func (p *workload) restless(ctx context.Context) ([]string, error) {
	apps, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var restless []string
	for _, app := range apps {
		state, policy := outbox.Current(app.GetRecord()).State, invariants.PolicyOf(app)
		expires := policy.TTL >= 0
		runsForEver := len(kindOf(app.GetLabels()[labelKind]).ends) == 0
		switch {
		case app.GetDeletionTimestamp() != nil:
			restless = append(restless, fmt.Sprintf("%s/%s is %s and being deleted", p.namespace, app.GetName(), state))
		case state == string(lifecycle.ResourceReleased) && !expires:
		case state == string(lifecycle.TerminatedWithoutReleaseResources) && policy.RetainFor < 0 && !expires:
		case state == string(lifecycle.RunningHealthy) && runsForEver:
		default:
			restless = append(restless, fmt.Sprintf("%s/%s is %s", p.namespace, app.GetName(), state))
		}
	}
	return restless, nil
}
