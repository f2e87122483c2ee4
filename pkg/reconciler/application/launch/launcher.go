package launch

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// Launcher launches the attempts of an API's applications. It works in two steps: Prepare builds the objects and writes the fence into
// the record; when the record is stored, Create creates the objects.
type Launcher struct {
	Config
	waits *nameWaits
	// fences are the launches that this process fenced and that are not in a record yet.
	fences *lru.Cache
	// fencing counts the fences that are being written.
	fencing atomic.Int64
	// complete are the launches of which this process created everything, and that no stored record reports yet.
	complete *lru.Cache
	// own are the attempts that only this process launched, since it became a leader, and whose creates are known to be over.
	own *lru.Cache
	// obsolete are the UIDs of objects that the end of a launch deletes, by the launch ID.
	obsolete *lru.Cache
	// added are the objects that this process added to the drivers of users.
	added *lru.Cache
}

// Config is what a Launcher needs.
type Config struct {
	API          *applications.API
	Kube         kubernetes.Interface
	Dynamic      dynamic.Interface
	Drivers      drivers.Cache
	Deleter      drivers.Deleter
	Expectations *drivers.Expectations
	Templates    *fetch.Keeper
	Redactors    base.Redactors
	// Quotas are nil if nothing is compared with quotas.
	Quotas *quotas.Tracker
	Clock  clock.PassiveClock
	// ApplicationOf returns the application whose record has a driver Pod, and whether there is one.
	ApplicationOf func(pod types.UID) (types.NamespacedName, bool)
	// EnqueueAfter requeues an application.
	EnqueueAfter func(app any, after time.Duration)
}

// New returns a launcher.
func New(cfg Config) *Launcher {
	return &Launcher{
		Config: cfg, waits: newNameWaits(cfg.Clock),
		fences: lru.New(maxFences), complete: lru.New(maxFences), own: lru.New(maxFences), obsolete: lru.New(maxFences), added: lru.New(maxFences),
	}
}

// Forget forgets a deleted application.
func (l *Launcher) Forget(app types.UID) {
	l.waits.forget(app)
	l.Templates.Forget(app)
	l.fences.Remove(app)
	l.complete.Remove(app)
	l.own.Remove(app)
	l.added.Remove(app)
}

// Promoted must be called when this replica becomes the leader of applications. Another replica may have led them since it launched
// their attempts.
func (l *Launcher) Promoted() {
	l.own.Clear()
	l.complete.Clear()
	l.added.Clear()
}
