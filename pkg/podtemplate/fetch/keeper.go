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
	// maxAttempts bounds the attempts whose templates are stored when all of them were read. An evicted template is read again.
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

	mutex sync.Mutex
	// reading holds the attempts of which a template is being read, by uid. None of them is evicted: the attempts that wait for slow templates would have
	// those of each other begun anew for ever.
	reading map[types.UID]*attemptTemplates
	// stored holds the attempts whose templates were all read, by uid.
	stored *lru.Cache
}

// NewKeeper returns a keeper that reads until the context ends.
func NewKeeper(ctx context.Context, fetch Func, arrived func(types.NamespacedName)) *Keeper {
	return &Keeper{
		ctx: ctx, fetch: fetch, arrived: arrived, slots: fairshare.New(maxFetches, maxFetchesPerNamespace),
		reading: map[types.UID]*attemptTemplates{}, stored: lru.New(maxAttempts),
	}
}

// attemptTemplates holds the templates that an attempt asked for.
type attemptTemplates struct {
	number int64
	byURL  map[string]*template
	// reads counts those that are being read, until ctx ends.
	reads  int
	ctx    context.Context
	cancel context.CancelFunc
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
	templates := k.of(attempt)
	asked, known := templates.byURL[location.String()]
	if !known {
		asked = &template{err: &Pending{}}
		templates.byURL[location.String()] = asked
		k.begin(attempt.UID, templates)
		ctx := templates.ctx
		go func() {
			defer k.end(attempt.UID, templates)
			k.read(ctx, attempt.NamespacedName, location, asked)
		}()
	}
	return asked.spec.DeepCopy(), asked.dropped, asked.err
}

func (k *Keeper) of(attempt Attempt) *attemptTemplates {
	found := k.reading[attempt.UID]
	if value, known := k.stored.Get(attempt.UID); known {
		found = value.(*attemptTemplates)
	}
	if found != nil && found.number == attempt.Number {
		return found
	}
	k.forget(attempt.UID)
	return &attemptTemplates{number: attempt.Number, byURL: map[string]*template{}}
}

// begin notes that another template of an attempt is being read.
func (k *Keeper) begin(uid types.UID, templates *attemptTemplates) {
	if templates.reads == 0 {
		templates.ctx, templates.cancel = context.WithCancel(k.ctx)
		k.stored.Remove(uid)
		k.reading[uid] = templates
	}
	templates.reads++
}

// end notes that a template of an attempt is not being read any more.
func (k *Keeper) end(uid types.UID, templates *attemptTemplates) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	templates.reads--
	if templates.reads > 0 || k.reading[uid] != templates { // the attempt was forgotten
		return
	}
	templates.cancel()
	delete(k.reading, uid)
	k.stored.Add(uid, templates)
}

// Forget drops the stored templates of an application.
func (k *Keeper) Forget(uid types.UID) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.forget(uid)
}

func (k *Keeper) forget(uid types.UID) {
	if templates := k.reading[uid]; templates != nil {
		templates.cancel()
		delete(k.reading, uid)
	}
	k.stored.Remove(uid)
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
