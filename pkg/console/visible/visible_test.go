package visible_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
)

const apache, kubeflow = "sparkapplications.spark.apache.org", "sparkapplications.sparkoperator.k8s.io"

// groups are those that there are.
type groups struct {
	mutex   sync.Mutex
	all     []live.Group
	version uint64
}

func (g *groups) Groups() ([]live.Group, uint64) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return slices.Clone(g.all), g.version
}

func (g *groups) GroupsVersion() uint64 {
	_, version := g.Groups()
	return version
}

func (g *groups) add(group live.Group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.all, g.version = append(g.all, group), g.version+1
}

// viewer may do what its rights say.
type viewer struct {
	name    string
	mutex   sync.Mutex
	rights  []string
	failure error
	// takes is how long an answer takes.
	takes   time.Duration
	asked   []string
	running int
	most    int
}

func (v *viewer) Key() string { return v.name }

func (v *viewer) Ask(ctx context.Context, right access.Right) error {
	v.mutex.Lock()
	v.running++
	v.most = max(v.most, v.running)
	takes := v.takes
	v.mutex.Unlock()
	if takes > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(takes):
		}
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.running--
	v.asked = append(v.asked, right.String())
	switch {
	case v.failure != nil:
		return v.failure
	case slices.Contains(v.rights, right.String()):
		return nil
	default:
		return access.ErrNotAllowed
	}
}

func (v *viewer) set(change func(*viewer)) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	change(v)
}

func (v *viewer) count() int {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return len(v.asked)
}

func view(t *testing.T, views *visible.Views, of *viewer) *visible.View {
	t.Helper()
	got, err := views.Of(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func two() *groups {
	return &groups{all: []live.Group{{Namespace: "a", Resource: apache}, {Namespace: "b", Resource: apache}, {Namespace: "a", Resource: kubeflow}}}
}

const (
	listA   = "list of sparkapplications.spark.apache.org in the namespace a"
	listAll = "list of sparkapplications.spark.apache.org in all namespaces"
)

func TestViewersSeeWhatTheyMayList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		views := visible.New(two(), clock.RealClock{})
		ann, bob, eve := &viewer{name: "ann", rights: []string{listA}}, &viewer{name: "bob", rights: []string{listAll}}, &viewer{name: "eve"}
		for _, c := range []struct {
			*viewer
			namespace, resource string
			want                bool
		}{
			{ann, "a", apache, true}, {ann, "b", apache, false}, {ann, "a", kubeflow, false}, {ann, "c", apache, false},
			{bob, "a", apache, true}, {bob, "b", apache, true}, {bob, "a", kubeflow, false}, {bob, "c", apache, true},
			{eve, "a", apache, false},
		} {
			if got := view(t, views, c.viewer); got.Sees(c.namespace, c.resource) != c.want || !got.Complete {
				t.Errorf("%s sees %s in %s: %v", c.name, c.resource, c.namespace, !c.want)
			}
		}
		if slices.Contains(bob.asked, listA) {
			t.Error("who may list all is asked about each namespace")
		}
		asked := ann.count()
		view(t, views, ann)
		if ann.count() != asked {
			t.Error("kept answers are asked for again")
		}
	})
}

func TestAnswersAreRefreshedBehindThePageAndEndAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		views := visible.New(two(), clock.RealClock{})
		ann := &viewer{name: "ann", rights: []string{listA}}
		view(t, views, ann)
		ann.set(func(v *viewer) { v.rights = nil })
		<-time.After(45 * time.Second)
		if !view(t, views, ann).Sees("a", apache) {
			t.Error("the page waits for an answer that is merely old")
		}
		synctest.Wait()
		if view(t, views, ann).Sees("a", apache) {
			t.Error("an old answer is not asked for again")
		}
		ann.set(func(v *viewer) { v.rights = []string{listA} })
		<-time.After(61 * time.Second)
		if !view(t, views, ann).Sees("a", apache) {
			t.Error("an answer is used for more than a minute")
		}
	})
}

func TestNewGroupsAreReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := two()
		views := visible.New(there, clock.RealClock{})
		ann := &viewer{name: "ann", rights: []string{listA, "list of sparkapplications.spark.apache.org in the namespace c"}}
		view(t, views, ann)
		asked := ann.count()
		there.add(live.Group{Namespace: "c", Resource: apache})
		if !view(t, views, ann).Sees("c", apache) {
			t.Error("a new group is not seen")
		}
		if ann.count() != asked+1 {
			t.Errorf("%d reviews for one new group", ann.count()-asked)
		}
	})
}

func TestManyNamespacesAreReviewedInPartsThatCountAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := &groups{}
		ann := &viewer{name: "ann", takes: time.Second}
		for i := range 100 {
			name := fmt.Sprintf("ns-%03d", i)
			there.add(live.Group{Namespace: name, Resource: apache})
			ann.rights = append(ann.rights, "list of sparkapplications.spark.apache.org in the namespace "+name)
		}
		views := visible.New(there, clock.RealClock{})
		begin := time.Now()
		got := view(t, views, ann)
		seen := func(v *visible.View) (count int) {
			for i := range 100 {
				if v.Sees(fmt.Sprintf("ns-%03d", i), apache) {
					count++
				}
			}
			return count
		}
		if took := time.Since(begin); took > 3*time.Second || got.Complete || seen(got) == 0 || seen(got) == 100 {
			t.Errorf("after %s %d are seen, complete: %v", took, seen(got), got.Complete)
		}
		<-time.After(20 * time.Second)
		if got = view(t, views, ann); !got.Complete || seen(got) != 100 {
			t.Errorf("then %d are seen, complete: %v", seen(got), got.Complete)
		}
		if ann.most > 16 {
			t.Errorf("%d reviews are under way at once", ann.most)
		}
	})
}

func TestWithoutTheAPIServerTheLastAnswersLastThreeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		views := visible.New(two(), clock.RealClock{})
		ann := &viewer{name: "ann", rights: []string{listA}}
		view(t, views, ann)
		ann.set(func(v *viewer) { v.failure = access.ErrUnavailable })
		for _, after := range []time.Duration{30 * time.Second, time.Minute, 80 * time.Second} {
			<-time.After(after)
			if !view(t, views, ann).Sees("a", apache) {
				t.Errorf("after further %s nothing is seen", after)
			}
		}
		<-time.After(time.Minute)
		if got, err := views.Of(t.Context(), ann); err == nil && got.Sees("a", apache) {
			t.Error("answers are used for ever")
		}
		if _, err := views.Of(t.Context(), &viewer{name: "new", failure: access.ErrUnavailable}); err == nil {
			t.Error("a viewer who was never reviewed gets a view")
		}
		ann.set(func(v *viewer) { v.failure = nil })
		if !view(t, views, ann).Sees("a", apache) {
			t.Error("nothing is seen when the API server is back")
		}
	})
}

func TestKeyIsThatOfWhatIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &groups{all: []live.Group{{Namespace: "a", Resource: apache}, {Namespace: "b", Resource: apache}}}
		views := visible.New(g, clock.RealClock{})
		key := func(name string, rights ...string) string {
			t.Helper()
			view, err := views.Of(t.Context(), &viewer{name: name, rights: rights})
			if err != nil || view.Key() == "" {
				t.Fatalf("%s: %v", name, err)
			}
			return view.Key()
		}
		ofA, ofB := "list of "+apache+" in the namespace a", "list of "+apache+" in the namespace b"
		first := key("ann", ofA)
		if key("ben", ofA) != first {
			t.Error("two who see the same have other keys")
		}
		for name, rights := range map[string][]string{"eve": {ofB}, "dan": {ofA, ofB}, "nobody": nil} {
			if key(name, rights...) == first {
				t.Errorf("%s sees something else, and has the same key", name)
			}
		}
	})
}
