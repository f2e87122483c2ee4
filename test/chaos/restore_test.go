package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// restores backs up the API server's data, and restores them after a while, again and again until the context ends.
func (r *run) restores(ctx context.Context) error {
	d := rng.New(r.seed, "restores")
	backup := filepath.Join(r.dir, "backup")
	for raise := d.Chance(0.5); ; raise = !raise {
		if !waitFor(ctx, d.Between(time.Second, 4*time.Second)) {
			return nil
		}
		if err := r.inQuiet(func() error { return r.Plane.Backup(ctx, backup) }); err != nil {
			return ignore(err, func(error) bool { return ctx.Err() != nil })
		}
		if !waitFor(ctx, d.Between(2*time.Second, 8*time.Second)) {
			return nil
		}
		// What was begun is ended, also when the context ends.
		if err := r.inQuiet(func() error { return r.restore(context.WithoutCancel(ctx), backup, raise) }); err != nil {
			return fmt.Errorf("restore the API server: %w", err)
		}
		if err := os.RemoveAll(backup); err != nil {
			return err
		}
	}
}

// waitFor reports whether a time passed before the context ended.
func waitFor(ctx context.Context, length time.Duration) bool {
	select {
	case <-time.After(length):
		return true
	case <-ctx.Done():
		return false
	}
}

// inQuiet does something while no actor injects faults.
func (w *env) inQuiet(do func() error) error {
	w.acting.Lock()
	defer w.acting.Unlock()
	return do()
}

// restore restores the API server. With raise, resource versions continue to rise, and Firesteel's processes run on.
// Otherwise resource versions are used again, which no running client survives: Firesteel's processes are killed, like those of the
// control plane.
func (r *run) restore(ctx context.Context, backup string, raise bool) error {
	defer r.gateway.Block()()
	<-time.After(r.delay) // until the requests that come late have come
	if err := r.untilSeen(ctx); err != nil {
		return err
	}
	r.blind()
	r.supervisor.Remove("kwok", false)
	err := r.Plane.Restore(ctx, backup, raise, func(revision string) error { return r.seeRestored(ctx, revision) })
	if err != nil {
		return err
	}
	if err := r.supervisor.Add(r.Context(), r.kwok); err != nil {
		return err
	}
	if raise {
		r.counters.count("api restored")
		return nil
	}
	for _, prefix := range []string{"controller", "handler"} {
		for _, name := range r.supervisor.Names(prefix) {
			r.supervisor.Kill(name)
		}
	}
	r.counters.count("api restored, versions used again")
	return nil
}

// untilSeen waits until the history has seen the applications as they are. Nothing writes them meanwhile.
func (r *run) untilSeen(ctx context.Context) error {
	return persist(ctx, func(ctx context.Context) error {
		apps, err := r.applications(ctx)
		if err != nil {
			return err
		}
		for _, app := range apps {
			if !r.history.HasSeen(app) {
				return fmt.Errorf("the history has not seen %s/%s at resource version %s", app.GetNamespace(), app.GetName(), app.GetResourceVersion())
			}
		}
		return nil
	})
}

// seeRestored has the history and the workloads know what a restored API server has.
func (r *run) seeRestored(ctx context.Context, revision string) error {
	apps, err := r.applications(ctx)
	if err != nil {
		return err
	}
	r.history.Restored(revision, apps)
	for _, p := range r.workloads {
		p.know(apps)
	}
	return r.witness(r.Context())
}

// applications returns all applications.
func (r *run) applications(ctx context.Context) ([]dialect.Application, error) {
	var all []dialect.Application
	for _, p := range r.workloads {
		apps, err := p.list(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, apps...)
	}
	return all, nil
}

// know limits a workload to those of some applications that are its own.
func (p *workload) know(apps []dialect.Application) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.members = nil
	for _, app := range apps {
		if app.GetNamespace() == p.namespace {
			p.members = append(p.members, app)
		}
	}
}
