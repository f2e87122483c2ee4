package podtemplate

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
)

const (
	// tries is how often a template is asked for that does not come, over some two minutes.
	tries = 8
	// patience is how long one answer may take.
	patience = 10 * time.Second
	// atOnce is the number of templates that are read at the same time, and atOncePerNamespace those of one namespace: its URLs may
	// be slow.
	atOnce             = 512
	atOncePerNamespace = 32
	// remembered bounds the memory. A template that is forgotten is read again.
	remembered = 2048
)

// Fetch reads what is at a location. It returns a *finding.Finding where trying again is of no use.
type Fetch func(ctx context.Context, location Location) ([]byte, error)

// Attempt is an attempt of an application.
type Attempt struct {
	types.NamespacedName
	UID    types.UID
	Number int64
}

// Pending says that a template is not there yet.
type Pending struct {
	// Trouble is what went wrong at first; nil while nothing has.
	Trouble error
}

func (p *Pending) Error() string { return "the pod template is not read yet" }

// Missed says that a template did not come, however often it was asked for.
type Missed struct{ err error }

func (m *Missed) Error() string { return m.err.Error() }

func (m *Missed) Unwrap() error { return m.err }

// Keeper has templates read, and keeps each for the attempt that asked for it, so that all of an attempt's launch is
// of one piece.
type Keeper struct {
	ctx   context.Context
	fetch Fetch
	// arrived is told of each application for which there is news.
	arrived func(types.NamespacedName)
	slots   *fairshare.Limiter

	mutex    sync.Mutex
	attempts *lru.Cache // by uid
}

// NewKeeper makes a keeper that reads until the context ends.
func NewKeeper(ctx context.Context, fetch Fetch, arrived func(types.NamespacedName)) *Keeper {
	return &Keeper{
		ctx: ctx, fetch: fetch, arrived: arrived, slots: fairshare.New(atOnce, atOncePerNamespace),
		attempts: lru.NewWithEvictionFunc(remembered, func(_ lru.Key, value any) { value.(*kept).cancel() }),
	}
}

// kept is what an attempt has asked for.
type kept struct {
	number    int64
	templates map[string]*template // by URL
	ctx       context.Context
	cancel    context.CancelFunc
}

// template is one that was asked for.
type template struct {
	spec    *corev1.PodTemplateSpec
	dropped finding.List
	// err is a *Pending, a *finding.Finding or a *Missed; nil where the template is there.
	err error
}

// Get returns a template that an attempt asks for, and what of it was dropped. Until it is there, or known never to
// come, it returns a *Pending, and the application is told of later; afterwards a *finding.Finding or a *Missed.
func (k *Keeper) Get(attempt Attempt, location Location) (*corev1.PodTemplateSpec, finding.List, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	its := k.of(attempt)
	asked, known := its.templates[location.String()]
	if !known {
		asked = &template{err: &Pending{}}
		its.templates[location.String()] = asked
		go k.read(its.ctx, attempt.NamespacedName, location, asked)
	}
	return asked.spec.DeepCopy(), asked.dropped, asked.err
}

func (k *Keeper) of(attempt Attempt) *kept {
	if value, known := k.attempts.Get(attempt.UID); known {
		if its := value.(*kept); its.number == attempt.Number {
			return its
		}
		k.attempts.Remove(attempt.UID)
	}
	its := &kept{number: attempt.Number, templates: map[string]*template{}}
	its.ctx, its.cancel = context.WithCancel(k.ctx)
	k.attempts.Add(attempt.UID, its)
	return its
}

// Forget drops what is kept for an application.
func (k *Keeper) Forget(uid types.UID) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.attempts.Remove(uid)
}

// read asks for a template until it has it, or has asked often enough.
func (k *Keeper) read(ctx context.Context, application types.NamespacedName, location Location, asked *template) {
	delays := wait.Backoff{Duration: time.Second, Factor: 2, Cap: 30 * time.Second, Steps: tries}
	for try := 1; ; try++ {
		result := k.once(ctx, application.Namespace, location)
		if ctx.Err() != nil {
			k.arrived(application) // it is forgotten; whoever still wants it asks again
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

func (k *Keeper) once(ctx context.Context, namespace string, location Location) (result template) {
	release, err := k.slots.Acquire(ctx, namespace)
	if err != nil {
		return template{err: err}
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := k.fetch(ctx, location)
	if err != nil {
		return template{err: err}
	}
	result.spec, result.dropped, result.err = Decode(text)
	return result
}

// note keeps a result, and says whether it is news: of troubles only the first is.
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
