package application

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// maxNewApplications bounds the applications that are known to be new. A forgotten one costs one live read.
const maxNewApplications = 2048

// newApplications are those that no controller of any operator has reconciled. They have no driver.
type newApplications struct {
	api  *dialect.API
	uids *lru.Cache
}

func newNewApplications(api *dialect.API) *newApplications {
	return &newApplications{api: api, uids: lru.New(maxNewApplications)}
}

// added records an application that no controller has reconciled: it has no finalizer, which every controller adds
// first, or it was created after Firesteel started. The run of a schedule is created with the finalizer.
func (n *newApplications) added(app dialect.Application, atStart bool) {
	begun := slices.Contains(app.GetFinalizers(), n.api.Finalizer) && variant.InstantOf(app).IsZero()
	if !begun && (n.api.FinalizerFirst && variant.InstantOf(app).IsZero() || !atStart) {
		n.uids.Add(app.GetUID(), nil)
	}
}

// has reports whether no controller can have reconciled an application. Then it has no driver.
func (n *newApplications) has(uid types.UID) bool {
	_, known := n.uids.Get(uid)
	return known
}

// statusWritten forgets an application that has a status now.
func (n *newApplications) statusWritten(uid types.UID) { n.uids.Remove(uid) }
