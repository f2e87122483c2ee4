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

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/chaos/dice"
)

// populace are the applications of a namespace. It is kept at a number of them that have not ended.
type populace struct {
	*world
	namespace string
	width     int
	// names are how many names there are; 0 for as many as there are applications.
	names int
	dice  *dice.Dice

	mutex   sync.Mutex
	members []*sparkv1.SparkApplication
	born    int
}

func newPopulace(w *world, namespace string, width, names int) *populace {
	return &populace{world: w, namespace: namespace, width: width, names: names, dice: dice.New(w.seed, namespace)}
}

// live keeps the namespace populated until the context ends.
func (p *populace) live(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		active := 0
		for _, app := range p.present() {
			ended, _ := p.court.Of(app.UID)
			if !ended {
				active++
			}
			p.tend(ctx, app, ended)
		}
		for ; active < p.width && ctx.Err() == nil; active++ {
			if err := p.bear(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// present are the applications that still exist.
func (p *populace) present() []*sparkv1.SparkApplication {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var present []*sparkv1.SparkApplication
	for _, app := range p.members {
		if _, gone := p.court.Of(app.UID); !gone {
			present = append(present, app)
		}
	}
	p.members = present
	return append([]*sparkv1.SparkApplication{}, present...)
}

// tend does to an application what its user would, now and then.
func (p *populace) tend(ctx context.Context, app *sparkv1.SparkApplication, ended bool) {
	runsForEver := len(kindOf(app.Labels[labelKind]).ends) == 0
	switch {
	case (ended || runsForEver) && p.dice.Chance(0.02):
		p.remove(ctx, app)
	case app.Spec.Suspend && p.dice.Chance(0.05):
		p.resume(ctx, app)
	}
}

// bear makes an application of some kind.
func (p *populace) bear(ctx context.Context) error {
	p.born++
	name := fmt.Sprintf("app-%d", p.born)
	if p.names > 0 {
		name = fmt.Sprintf("app-%d", p.dice.Below(p.names))
	}
	err := p.create(ctx, newApplication(p.dice, p.namespace, name, dice.Pick(p.dice, kinds, func(k kind) float64 { return k.weight })))
	return ignore(err, apierrors.IsAlreadyExists)
}

func (p *populace) create(ctx context.Context, app *sparkv1.SparkApplication) error {
	made, err := p.spark.SparkV1().SparkApplications(p.namespace).Create(ctx, app, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create application %s: %w", app.Name, err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.members = append(p.members, made)
	return nil
}

// remove deletes an application. It says no where it is gone already.
func (p *populace) remove(ctx context.Context, app *sparkv1.SparkApplication) bool {
	p.court.Permit(app.UID)
	err := p.spark.SparkV1().SparkApplications(app.Namespace).Delete(ctx, app.Name, metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(app.UID)),
	})
	return err == nil
}

func (p *populace) resume(ctx context.Context, app *sparkv1.SparkApplication) bool {
	return p.edit(ctx, app, map[string]any{"suspend": false})
}

// edit changes the spec of an application. It says no where it is gone.
func (p *populace) edit(ctx context.Context, app *sparkv1.SparkApplication, spec map[string]any) bool {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": app.UID}, "spec": spec})
	if err != nil {
		panic(err)
	}
	_, err = p.spark.SparkV1().SparkApplications(app.Namespace).Patch(ctx, app.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err == nil
}

// any is one of the applications that exist; nil where there is none.
func (p *populace) any(d *dice.Dice) *sparkv1.SparkApplication {
	present := p.present()
	if len(present) == 0 {
		return nil
	}
	return present[d.Below(len(present))]
}

// restless are the applications that have not come to where they stay, and where they are.
func (p *populace) restless(ctx context.Context) ([]string, error) {
	list, err := p.spark.SparkV1().SparkApplications(p.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var restless []string
	for i := range list.Items {
		app := &list.Items[i]
		state := lifecycle.Current(app.Status.Firesteel).State
		expires := apache.Policy(app, apache.Defaults{}).TTL >= 0
		runsForEver := len(kindOf(app.Labels[labelKind]).ends) == 0
		switch {
		case app.DeletionTimestamp != nil:
			restless = append(restless, fmt.Sprintf("%s/%s is %s and being deleted", p.namespace, app.Name, state))
		case state == string(lifecycle.ResourceReleased) && !expires:
		case state == string(lifecycle.RunningHealthy) && runsForEver:
		default:
			restless = append(restless, fmt.Sprintf("%s/%s is %s", p.namespace, app.Name, state))
		}
	}
	return restless, nil
}
