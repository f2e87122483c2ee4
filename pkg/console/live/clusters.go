package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// maxUsers bounds the applications of a cluster that are shown.
const maxUsers = 100

// Cluster returns a cluster with the applications that use it as far as a user sees them, and whether there is one. pods reports whether the
// user may list the Pods of the namespace.
func (l *Live) Cluster(see Visible, ref Ref, pods bool) (*ClusterDetails, bool) {
	found, ok := l.look(ref, overview.Cluster, allPods(pods))
	if !ok {
		return nil, false
	}
	d := &ClusterDetails{
		Row: found.row, Reasons: []Reason{}, Conditions: []Condition{}, Pods: []Pod{}, PodsHidden: !pods, Users: l.usersOf(see, ref), Cursor: found.cursor,
	}
	if found.read != nil {
		d.Reasons, d.Conditions, d.Pods = found.reasons(), found.conditions(), found.podList()
	}
	return d, true
}

// usersOf returns the applications whose driver connects to the master of a cluster.
func (l *Live) usersOf(see Visible, ref Ref) []*Row {
	users := []*Row{}
	service := resources.MasterServiceName(ref.Name)
	l.mutex.RLock()
	l.groupsOf(see, &Filter{}, func(key Group, g *group) {
		for _, e := range g.entries {
			within := e.master == service && key.Namespace == ref.Namespace
			if e.master != "" && (within || isHostOf(e.master, service, ref.Namespace)) && !e.shown.Over {
				users = append(users, e.shown)
			}
		}
	})
	l.mutex.RUnlock()
	slices.SortFunc(users, func(a, b *Row) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name)) })
	return users[:min(len(users), maxUsers)]
}

// isHostOf reports whether a host is that of a Service, with its namespace.
func isHostOf(host, service, namespace string) bool {
	name := service + "." + namespace
	return host == name || strings.HasPrefix(host, name+".")
}
