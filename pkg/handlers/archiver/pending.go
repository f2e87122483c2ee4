package archiver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
)

// maxPendingBytes bounds the applications of attempts that wait for a slot.
const maxPendingBytes = 16 << 20

// pending is an attempt that waits until it is archived. It holds the application as it was read, encoded, so that its size is known.
type pending struct {
	name types.NamespacedName
	// namespace is the uid of the namespace that the application was in.
	namespace types.UID
	// uid is that of the application, and driver that of the driver Pod.
	uid, driver types.UID
	// ended is the transition that made the attempt due.
	ended v1alpha1.Transition
	api   *applications.API
	kind  reflect.Type
	app   []byte
	// logger names the application. That of another attempt may try this one again.
	logger *zap.SugaredLogger
	// failed is why the attempt was not archived when the handler was asked last; nil before that.
	failed error
	// tries counts the tries since the handler was asked last. The goroutine that tries again has it alone.
	tries int
}

// newPending creates a pending attempt of an application that exists.
func (a *Archiver) newPending(ctx context.Context, app *lookup.Subject, ended v1alpha1.Transition) (*pending, error) {
	namespace, err := a.namespaces.of(ctx, app)
	if err != nil {
		return nil, err
	}
	app.SetManagedFields(nil) // they are not archived
	encoded, err := json.Marshal(app.Application)
	if err != nil {
		return nil, fmt.Errorf("encode application %s/%s: %w", app.GetNamespace(), app.GetName(), err)
	}
	return &pending{
		name: cache.MetaObjectToName(app).AsNamespacedName(), namespace: namespace, uid: app.GetUID(), driver: app.GetRecord().Launch.DriverUID, ended: ended,
		api: app.API, kind: reflect.TypeOf(app.Application).Elem(), app: encoded, logger: logging.FromContext(ctx),
	}, nil
}

// attemptOf returns the attempt with the present settings.
func (a *Archiver) attemptOf(p *pending) (*attempt, error) {
	app := reflect.New(p.kind).Interface().(dialect.Application) //nolint:forcetypeassert // it has the type of one
	if err := json.Unmarshal(p.app, app); err != nil {
		return nil, fmt.Errorf("decode application %s: %w", p.name, err)
	}
	settings := a.settings()
	return &attempt{
		Archiver: a, app: &lookup.Subject{Application: app, API: p.api, Dialect: p.api.Dialect(settings.In(p.name.Namespace))}, record: app.GetRecord(),
		encoded: p.app, ended: p.ended, settings: settings.Archive, namespace: p.namespace, retried: p.failed != nil,
	}, nil
}

// memory bounds bytes. A namespace leaves as many free as it holds.
type memory struct {
	limit int

	mu   sync.Mutex
	used int
	held map[string]int
}

func newMemory(limit int) *memory { return &memory{limit: limit, held: map[string]int{}} }

// take takes bytes for a namespace, if it may have them. The caller must call release once.
func (m *memory) take(namespace string, bytes int) (release func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[namespace]+bytes > m.limit-m.used-bytes {
		return nil, false
	}
	m.add(namespace, bytes)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.add(namespace, -bytes)
	}, true
}

func (m *memory) add(namespace string, bytes int) {
	m.used += bytes
	if m.held[namespace] += bytes; m.held[namespace] == 0 {
		delete(m.held, namespace)
	}
}
