package usage

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Executor is an executor Pod.
type Executor struct {
	Pod
	ID int64
	// Gap is for how many seconds the Pod may have run after Ended, if its end was not reported.
	Gap int64
}

// Observed is what is known of the Pods of an attempt.
type Observed struct {
	// Driver is the driver Pod as it was last seen; nil if it is not known.
	Driver *Pod
	// DriverGone reports whether the driver Pod is gone.
	DriverGone bool
	// Executors are the executor Pods that exist, and those that are gone and not in the record yet.
	Executors []Executor
	// ExecutorsKnown reports whether Executors is complete.
	ExecutorsKnown bool
	// Since is since when no executor can have come and gone unseen.
	Since time.Time
	// Dynamic reports whether Spark changes the number of executors. It is called only if executors may have been missed.
	Dynamic func() bool
}

// End returns the end of a Pod that is gone, and for how many seconds it may have run beyond. seen is when it was seen to be gone. A Pod
// whose end was not reported ran until its deletion was accepted. If that is not known either, nothing is: Count adds until when it was seen.
func (p Pod) End(seen int64) (end, gap int64) {
	switch {
	case p.Scheduled == 0:
		return 0, 0
	case p.Ended != 0:
		return p.Ended, 0
	case p.Finished != 0:
		return p.Finished, 0
	case p.Deleted != 0:
		end = max(min(p.Deleted, seen), p.Scheduled)
		return end, max(seen-end, 0)
	default:
		return p.Scheduled, max(seen-p.Scheduled, 0)
	}
}

// atLeast returns an end and a gap for a Pod that is known to have run at an instant.
func atLeast(end, gap, ran int64) (int64, int64) {
	known := min(max(ran-end, 0), gap)
	return end + known, gap - known
}

// Count counts the Pods of an attempt until an instant. It changes nothing of what was stored.
func Count(stored v1alpha1.AttemptUsage, seen Observed, until time.Time) v1alpha1.AttemptUsage {
	c := counter{
		at: until.Unix(), counted: stored.CountedAt.Unix(), seen: seen,
		endedIDs: parseIDs(stored.EndedExecutors), runningIDs: parseIDs(stored.RunningExecutors),
	}
	next := *stored.DeepCopy()
	next.CountedAt = metav1.NewTime(time.Unix(c.at, 0).UTC())
	c.countDriver(stored, &next)
	if seen.ExecutorsKnown {
		c.countExecutors(stored, &next)
	}
	next.Running.RunningPods = c.runningPods(stored, &next)
	next.Ended.PeakExecutors = max(stored.Ended.PeakExecutors, c.peak())
	next.Ended.GapSeconds = add(stored.Ended.GapSeconds, c.gap)
	return next
}

// Sum returns what an attempt used.
func Sum(attempt v1alpha1.AttemptUsage) v1alpha1.Usage { return Add(attempt.Ended, attempt.Running) }

// Executors returns how many executors of an attempt were counted. They are too many if the attempt is approximate.
func Executors(attempt v1alpha1.AttemptUsage) (count int64) {
	for _, r := range merged(slices.Concat(parseIDs(attempt.EndedExecutors), parseIDs(attempt.RunningExecutors)), 0) {
		count += r.last - r.first + 1
	}
	return count
}

// Counted returns whether an executor that is gone was counted by a record, or needs not be.
func Counted(attempt v1alpha1.AttemptUsage) func(Executor) bool {
	c := counter{
		counted: attempt.CountedAt.Unix(), endedIDs: parseIDs(attempt.EndedExecutors), runningIDs: parseIDs(attempt.RunningExecutors),
	}
	return func(executor Executor) bool {
		return !c.runningIDs.has(executor.ID) && c.isCounted(executor, attempt.Approximate)
	}
}

// counter holds the state of one call of Count.
type counter struct {
	at, counted          int64
	seen                 Observed
	endedIDs, runningIDs ids
	gap                  int64
	// running are the executors that have not ended.
	running int64
}

func (c *counter) countDriver(stored v1alpha1.AttemptUsage, next *v1alpha1.AttemptUsage) {
	if stored.DriverEnded {
		return
	}
	ended, running := amountOf(stored.Ended.Driver), amountOf(stored.Running.Driver)
	switch driver := c.seen.Driver; {
	case driver != nil && (driver.Ended != 0 || c.seen.DriverGone):
		end, gap := driver.End(c.at)
		if stored.Running.Driver != nil {
			end, gap = atLeast(end, gap, c.counted)
		}
		next.DriverEnded, running = true, amount{}
		ended = driver.during(min(end, c.at))
		c.gap = add(c.gap, gap)
	case driver != nil:
		running = driver.during(c.at)
	case c.seen.DriverGone: // nothing was seen of its end
		next.DriverEnded, running = true, amount{}
		ended = amountOf(stored.Running.Driver)
		c.gap = add(c.gap, max(c.at-c.counted, 0))
	}
	next.Ended.Driver, next.Running.Driver = ended.stored(stored.Ended.Driver), running.stored(stored.Running.Driver)
}

func (c *counter) countExecutors(stored v1alpha1.AttemptUsage, next *v1alpha1.AttemptUsage) {
	ended, unexplained := amountOf(stored.Ended.Executors), amountOf(stored.Running.Executors)
	var running amount
	var known, endedIDs, runningIDs, pendingIDs []int64
	for _, executor := range c.seen.Executors {
		known = append(known, executor.ID)
		switch {
		case c.runningIDs.has(executor.ID):
			unexplained = unexplained.minus(executor.during(c.counted))
			if executor.Ended != 0 {
				executor.Ended, executor.Gap = atLeast(executor.Ended, executor.Gap, c.counted)
			}
		case c.isCounted(executor, stored.Approximate):
			continue
		}
		switch {
		case executor.Ended != 0:
			ended = ended.plus(executor.during(min(executor.Ended, c.at)))
			endedIDs = append(endedIDs, executor.ID)
			c.gap = add(c.gap, executor.Gap)
		case executor.Scheduled != 0:
			running = running.plus(executor.during(c.at))
			runningIDs = append(runningIDs, executor.ID)
		default:
			pendingIDs = append(pendingIDs, executor.ID)
		}
	}
	c.running = int64(len(runningIDs))
	all := c.endedIDs.with(known)
	missing := !all.covers(c.runningIDs)
	if missing { // their Pods are gone: what they used until the last count is all that is known
		c.endedIDs = merged(slices.Concat(c.endedIDs, c.runningIDs), 0)
	}
	if since := c.seen.Since.Unix(); since > c.counted && (missing || all.hasHoles() || stored.Approximate || c.seen.Dynamic()) {
		c.gap = add(c.gap, since-c.counted)
	}
	next.Ended.Executors = ended.plus(unexplained).stored(stored.Ended.Executors)
	next.Running.Executors = running.stored(stored.Running.Executors)
	allEnded, joined := c.endedIDs.with(endedIDs).bounded()
	if joined { // one that is pending may now be among those that ended
		runningIDs = append(runningIDs, pendingIDs...)
	}
	allRunning, joinedRunning := ids{}.with(runningIDs).bounded()
	next.EndedExecutors, next.RunningExecutors = allEnded.String(), allRunning.String()
	next.Approximate = stored.Approximate || joined || joinedRunning
}

// isCounted reports whether an executor that did not run at the last count had ended before it. Numbers made of UIDs are in no order, so
// those that were joined say nothing of a new one.
func (c *counter) isCounted(executor Executor, approximate bool) bool {
	if approximate && executor.ID >= maxLabelID {
		return executor.Ended != 0 && executor.Ended <= c.counted
	}
	return c.endedIDs.has(executor.ID)
}

// runningPods returns how many Pods have not ended.
func (c *counter) runningPods(stored v1alpha1.AttemptUsage, next *v1alpha1.AttemptUsage) int64 {
	if !c.seen.ExecutorsKnown {
		c.running = max(stored.Running.RunningPods-runningDrivers(stored), 0)
	}
	return c.running + runningDrivers(*next)
}

func runningDrivers(attempt v1alpha1.AttemptUsage) int64 {
	if attempt.DriverEnded || attempt.Running.Driver == nil {
		return 0
	}
	return 1
}

// peak returns how many of the executors ran at once, at most.
func (c *counter) peak() int64 {
	type change struct{ at, by int64 }
	var changes []change
	for _, executor := range c.seen.Executors {
		switch {
		case executor.Scheduled == 0, executor.Scheduled > c.at, executor.Ended != 0 && executor.Ended <= executor.Scheduled:
			continue
		case executor.Ended != 0:
			changes = append(changes, change{executor.Ended, -1})
		}
		changes = append(changes, change{executor.Scheduled, 1})
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) // one that begins when another ends did not run with it
	})
	var running, most int64
	for _, change := range changes {
		running += change.by
		most = max(most, running)
	}
	return most
}
