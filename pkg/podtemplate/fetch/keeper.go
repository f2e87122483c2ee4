package fetch

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const (
	// tries is how often a template is requested before it counts as missed, over about two minutes.
	tries = 8
	// fetchTimeout bounds one request.
	fetchTimeout = 10 * time.Second
	// maxFetches bounds the concurrent requests, and maxFetchesPerNamespace those of one namespace: stored URLs may
	// be slow.
	maxFetches             = 512
	maxFetchesPerNamespace = 32
	// maxAttempts bounds the attempts whose templates are stored. An evicted template is read again.
	maxAttempts = 2048
)

// Func reads the template at a location. It returns a *finding.Finding if a retry cannot help.
type Func func(ctx context.Context, location podtemplate.Location) ([]byte, error)

// Attempt identifies an attempt of an application.
type Attempt struct {
	types.NamespacedName
	// UID is that of the application.
	UID types.UID
	// Number is that of the attempt in the record, from 0.
	Number int64
}

// Pending is the error while a template is not read yet.
type Pending struct {
	// Trouble is the first error; nil if there was none.
	Trouble error
}

func (p *Pending) Error() string { return "the pod template is not read yet" }

// Missed is the error if all tries to read a template failed.
type Missed struct{ err error }

func (m *Missed) Error() string { return m.err.Error() }

func (m *Missed) Unwrap() error { return m.err }

// Keeper reads templates and stores each for the attempt that asked for it, so that the whole launch of an attempt uses
// the same template.
type Keeper struct {
	ctx   context.Context
	fetch Func
	// arrived is called with each application whose template was read or failed.
	arrived func(types.NamespacedName)
	slots   *fairshare.Limiter

	mutex    sync.Mutex
	attempts *lru.Cache // by uid
}

// NewKeeper returns a keeper that reads until the context ends.
func NewKeeper(ctx context.Context, fetch Func, arrived func(types.NamespacedName)) *Keeper {
	return &Keeper{
		ctx: ctx, fetch: fetch, arrived: arrived, slots: fairshare.New(maxFetches, maxFetchesPerNamespace),
		attempts: lru.NewWithEvictionFunc(maxAttempts, func(_ lru.Key, value any) { value.(*attemptTemplates).cancel() }),
	}
}

// attemptTemplates holds the templates that an attempt asked for.
type attemptTemplates struct {
	number    int64
	templates map[string]*template // by URL
	ctx       context.Context
	cancel    context.CancelFunc
}

// template is a template that was asked for.
type template struct {
	spec    *corev1.PodTemplateSpec
	dropped finding.List
	// err is a *Pending, a *finding.Finding or a *Missed; nil if the template was read.
	err error
}

// Get returns the template for an attempt, and what was dropped of it. Until reading has succeeded or failed, it
// returns a *Pending, and arrived is called later. After a failure it returns a *finding.Finding or a *Missed.
func (k *Keeper) Get(attempt Attempt, location podtemplate.Location) (*corev1.PodTemplateSpec, finding.List, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	stored := k.of(attempt)
	asked, known := stored.templates[location.String()]
	if !known {
		asked = &template{err: &Pending{}}
		stored.templates[location.String()] = asked
		go k.read(stored.ctx, attempt.NamespacedName, location, asked)
	}
	return asked.spec.DeepCopy(), asked.dropped, asked.err
}

func (k *Keeper) of(attempt Attempt) *attemptTemplates {
	if value, known := k.attempts.Get(attempt.UID); known {
		if stored := value.(*attemptTemplates); stored.number == attempt.Number {
			return stored
		}
		k.attempts.Remove(attempt.UID)
	}
	stored := &attemptTemplates{number: attempt.Number, templates: map[string]*template{}}
	stored.ctx, stored.cancel = context.WithCancel(k.ctx)
	k.attempts.Add(attempt.UID, stored)
	return stored
}

// Forget drops the stored templates of an application.
func (k *Keeper) Forget(uid types.UID) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.attempts.Remove(uid)
}

// read requests a template until it succeeds, or all tries have failed.
func (k *Keeper) read(ctx context.Context, application types.NamespacedName, location podtemplate.Location, asked *template) {
	delays := wait.Backoff{Duration: time.Second, Factor: 2, Cap: 30 * time.Second, Steps: tries}
	for try := 1; ; try++ {
		result := k.once(ctx, application.Namespace, location)
		if ctx.Err() != nil {
			k.arrived(application) // the attempt was forgotten; its reconcile asks again if needed
			return
		}
		final := result.err == nil || errors.As(result.err, new(*finding.Finding))
		switch {
		case final:
		case try == tries:
			result.err, final = &Missed{result.err}, true
		default:
			result.err = &Pending{Trouble: result.err}
		}
		if k.note(asked, result) {
			k.arrived(application)
		}
		if final {
			return
		}
		select {
		case <-time.After(delays.Step()):
		case <-ctx.Done():
		}
	}
}

func (k *Keeper) once(ctx context.Context, namespace string, location podtemplate.Location) (result template) {
	release, err := k.slots.Acquire(ctx, namespace)
	if err != nil {
		return template{err: err}
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	text, err := k.fetch(ctx, location)
	if err != nil {
		return template{err: err}
	}
	result.spec, result.dropped, result.err = podtemplate.Decode(text)
	return result
}

// note stores a result and reports whether it is news. Of several errors only the first is.
func (k *Keeper) note(asked *template, result template) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var before, now *Pending
	if errors.As(asked.err, &before) && before.Trouble != nil && errors.As(result.err, &now) {
		return false
	}
	*asked = result
	return true
}
