package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/previous"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/witness"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// leaseDuration is longer than everything else in the upgrade test: a replica that does not release its leases leaves a gap of it.
const leaseDuration = 5 * time.Minute

// upgrade is an installation that is upgraded and rolled back while applications, schedules and a cluster live.
type upgrade struct {
	*env
	history  *invariants.History
	replicas []*replicaProcess

	mutex sync.Mutex
	// created are all applications of the test itself, and createdAt when each was created.
	created   []dialect.Application
	createdAt map[string]time.Time
	// launched is when the first driver of each application was seen.
	launched map[string]time.Time
}

// replicaProcess is a replica, of either version.
type replicaProcess struct {
	*process.Process
	probes string
}

// Two replicas are replaced one by one, as a Deployment does: from the previous release to this version, and back. Applications in all
// states live meanwhile, others are created all the time. None runs twice, no driver dies, no event is lost, and new applications
// start without a gap. FIRESTEEL_UPGRADE_LIVES is the number of applications of each kind and round, 1 by default.
func TestUpgradeAndRollbackLoseNothing(t *testing.T) {
	t.Parallel()
	config, before := t.TempDir(), filepath.Join(controlPlanes.programs, previous.Commit())
	built := make(chan error, 1)
	go func() {
		built <- errors.Join(previous.CopyConfig(t.Context(), repository, config, previous.Commit()),
			firesteel.BuildCommit(t.Context(), repository, before, previous.Commit(), "cmd/controller"))
	}()
	u := newUpgrade(t)
	u.must(<-built)
	u.apply(filepath.Join(config, "config"))
	u.replicas = []*replicaProcess{u.replicaOf(before), u.replicaOf(before)}

	u.createCases("old")
	drivers := map[string]types.UID{}
	u.untilRunning("old", drivers)
	cluster, sets := u.clusterThatRuns()
	schedules := u.keepSchedules()
	stop := u.keepCreating()

	interrupted := func(l upgradeCase) bool { return l.interrupted }
	u.untilEach(u.those("old", interrupted), "run", func(app dialect.Application) bool {
		return lifecycle.CurrentState(app.GetRecord()) == lifecycle.RunningHealthy
	})
	u.suspendAll("old", interrupted, true)
	u.apply(configFolder)
	u.roll(u.programs, func() { u.createCases("amid") })
	u.untilRunning("amid", drivers)
	u.suspendAll("old", suspends, false)
	u.roll(before, func() { u.createCases("late") })
	u.apply(filepath.Join(config, "config"))
	u.untilRunning("late", drivers)
	stop()

	u.checkDrivers(drivers)
	u.checkSchedules(schedules)
	u.endAll()
	if after := u.statefulSets(); after != sets {
		t.Errorf("the cluster was rolled out: its StatefulSets were %s, and are %s", sets, after)
	}
	u.untilClusterPublished(cluster, "Submitted", "RunningHealthy")
	u.judge()
}

func newUpgrade(t *testing.T) *upgrade {
	t.Helper()
	u := &upgrade{
		env: ownPlane(t), history: invariants.NewHistory(deletionGrace), createdAt: map[string]time.Time{}, launched: map[string]time.Time{},
	}
	u.history.LeaveOutAdditions()
	t.Cleanup(u.checkDriverHistory)
	u.must(u.Configure(t.Context(), "config-leader-election", map[string]string{
		"buckets": "2", "lease-duration": leaseDuration.String(), "renew-deadline": "40s", "retry-period": "1s",
	}))
	lost := func() { u.Error("a witness lost sight of the API server: the test proves nothing") }
	u.must(witness.Applications(t.Context(), u.Spark, u.history, func() bool { return u.Context().Err() == nil })) // a new CRD ends the watches
	u.must(witness.Drivers(t.Context(), u.Kube, u.history, u.note, lost))
	u.kubelet.Play(u.ns, stepsOf)
	return u
}

// note stores when the first driver of an application is seen.
func (u *upgrade) note(pod *corev1.Pod) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	name := pod.OwnerReferences[0].Name
	if _, known := u.launched[name]; !known {
		u.launched[name] = time.Now()
	}
}

func (u *upgrade) checkDriverHistory() {
	for _, violation := range u.driverHistory.violationsIn(u.ns) {
		u.Error(violation)
	}
}

// apply applies the CRDs of a version, and then its roles and settings, as the page about upgrades says.
func (u *upgrade) apply(config string) {
	u.Helper()
	for _, patterns := range [][]string{{"300-*.yaml"}, {"200-*.yaml", "201-*.yaml", "202-*.yaml", "400-*.yaml"}} {
		manifests, err := controlplane.Manifests(config, patterns...)
		u.must(err)
		if len(manifests) == 0 {
			u.Fatalf("no manifests %v in %s", patterns, config)
		}
		_, err = u.Plane.Kubectl(u.Context(), "", "apply", "--filename="+strings.Join(manifests, ","))
		u.must(err)
		u.must(u.Plane.AwaitDefinitions(u.Context(), "--all", "customresourcedefinitions"))
	}
}

// replicaOf starts a controller, and waits until a Deployment would take it for ready.
func (u *upgrade) replicaOf(programs string) *replicaProcess {
	u.Helper()
	started, ports := u.ownControllerWithPorts(controller{programs: programs, sink: u.sink.URL(), replica: true})
	r := &replicaProcess{Process: started, probes: fmt.Sprintf("http://127.0.0.1:%d", ports.Probe)}
	u.untilAnswered(r.probes+"/readiness", http.StatusOK)
	return r
}

// roll replaces all replicas, one by one. Something happens amid it.
func (u *upgrade) roll(programs string, amid func()) {
	u.Helper()
	for i, old := range u.replicas {
		u.replicas[i] = u.replicaOf(programs)
		if i == 1 {
			amid()
		}
		u.must(old.Stop())
		select {
		case <-old.Done():
		case <-time.After(timeout):
			u.Fatalf("%s does not end after SIGTERM", old.Log)
		}
	}
}

// createCases creates applications of each kind.
func (u *upgrade) createCases(round string) {
	u.Helper()
	count := 1
	if text := os.Getenv("FIRESTEEL_UPGRADE_LIVES"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		u.must(err)
	}
	for _, l := range upgradeCases {
		for i := range count {
			u.must(u.createCase(l, fmt.Sprintf("%s-%s-%d", round, l.name, i)))
		}
	}
}

func (u *upgrade) createCase(l upgradeCase, name string) error {
	createdAt := time.Now()
	app, err := l.create(u.Context(), u.env, name)
	if err != nil {
		return err
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.created, u.createdAt[name] = append(u.created, app), createdAt
	return nil
}

// those returns the applications of a round whose case holds a condition.
func (u *upgrade) those(round string, holds func(upgradeCase) bool) (found []dialect.Application) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, app := range u.created {
		if l, ok := upgradeCaseOf(app.GetLabels()); ok && strings.HasPrefix(app.GetName(), round) && holds(l) {
			found = append(found, app)
		}
	}
	return found
}

// read reads an application.
func (u *upgrade) read(app dialect.Application) (dialect.Application, error) {
	if _, ok := app.(*v1beta2.SparkApplication); ok {
		return u.kubeflowApps().Get(u.Context(), app.GetName(), metav1.GetOptions{})
	}
	return u.apps().Get(u.Context(), app.GetName(), metav1.GetOptions{})
}

// untilEach waits until a condition holds for each application.
func (u *upgrade) untilEach(apps []dialect.Application, what string, holds func(dialect.Application) bool) {
	u.Helper()
	for _, app := range apps {
		err := wait.PollUntilContextTimeout(u.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			now, err := u.read(app)
			return err == nil && holds(now), nil
		})
		if err != nil {
			u.Fatalf("waited for %s to %s; it is\n%s", app.GetName(), what, described(app))
		}
	}
}

// untilRunning waits until the applications of a round run that run until the end of the test, and stores the uids of their drivers.
func (u *upgrade) untilRunning(round string, drivers map[string]types.UID) {
	u.Helper()
	u.untilEach(u.those(round, runsOn), "run", func(app dialect.Application) bool {
		record := app.GetRecord()
		if lifecycle.CurrentState(record) != lifecycle.RunningHealthy {
			return false
		}
		drivers[app.GetName()] = record.Launch.DriverUID
		return true
	})
}

// checkDrivers checks that drivers are the Pods that they were, and run.
func (u *upgrade) checkDrivers(drivers map[string]types.UID) {
	u.Helper()
	pods, err := u.Kube.CoreV1().Pods(u.ns).List(u.Context(), metav1.ListOptions{})
	u.must(err)
	living := map[types.UID]bool{}
	for _, pod := range pods.Items {
		living[pod.UID] = pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
	}
	for name, uid := range drivers {
		if !living[uid] {
			u.Errorf("the driver of %s died", name)
		}
	}
}

// suspendAll sets spec.suspend of the applications of a round.
func (u *upgrade) suspendAll(round string, those func(upgradeCase) bool, suspend bool) {
	u.Helper()
	patch := fmt.Appendf(nil, `{"spec": {"suspend": %t}}`, suspend)
	for _, app := range u.those(round, those) {
		kind := invariants.APIOf(app).GroupVersionResource()
		_, err := u.Dynamic.Resource(kind).Namespace(u.ns).Patch(u.Context(), app.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		u.must(err)
	}
}

// clusterThatRuns creates a standalone cluster, waits until it runs, and identifies its StatefulSets.
func (u *upgrade) clusterThatRuns() (created *sparkv1.SparkCluster, sets string) {
	u.Helper()
	m := u.newMaster()
	m.has(2)
	u.answersFor(m, "c")
	created = u.createCluster(Cluster("c"))
	u.untilClusterState("c", "RunningHealthy")
	return created, u.statefulSets()
}

// statefulSets identifies the StatefulSets of the cluster and their templates.
func (u *upgrade) statefulSets() string {
	u.Helper()
	master, worker := u.statefulSet("c-master"), u.statefulSet("c-worker")
	return fmt.Sprintf("%s generation %d, %s generation %d", master.UID, master.Generation, worker.UID, worker.Generation)
}

// period is longer than a rollout takes to hand a schedule over.
const period = 30 * time.Second

// keepSchedules creates a schedule of each kind.
func (u *upgrade) keepSchedules() (all []*scheduleEnv) {
	u.Helper()
	for name, kind := range kinds {
		all = append(all, u.schedules(kind, "every-"+strings.ToLower(name), "@every "+period.String(), func(spec map[string]any) {
			spec["successfulRunHistoryLimit"] = 1000
		}))
	}
	return all
}

// checkSchedules checks that each schedule has one run for each instant until now.
func (u *upgrade) checkSchedules(schedules []*scheduleEnv) {
	u.Helper()
	for _, s := range schedules {
		created, now := s.now().GetCreationTimestamp().Time, time.Now()
		last := created.Add(now.Sub(created).Truncate(period))
		status := s.until("settle its instants", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return s.Firesteel != nil && !s.Firesteel.SettledUntil.Time.Before(last)
		}).GetScheduleStatus()
		if status.MissedRuns > 0 {
			u.Errorf("%s missed %d runs", s.name, status.MissedRuns)
		}
		runs := map[int64]int{}
		for _, run := range s.runs() {
			runs[variant.InstantOf(run).Unix()]++
		}
		for at := created.Add(period); !at.After(last); at = at.Add(period) {
			if runs[at.Unix()] != 1 {
				u.Errorf("%s has %d runs for %s", s.name, runs[at.Unix()], at)
			}
		}
		s.patch(`{"suspend": true}`)
	}
}

// keepCreating creates an application every now and then, until it is stopped.
func (u *upgrade) keepCreating() (stop func()) {
	ctx, cancel := context.WithCancel(u.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-time.After(500 * time.Millisecond):
			case <-ctx.Done():
				return
			}
			u.check(u.createCase(upgradeCases[0], fmt.Sprintf("steady-%d", i)))
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// endAll brings all applications to their ends, and waits until each of them is at rest.
func (u *upgrade) endAll() {
	u.Helper()
	u.suspendAll("", suspends, false)
	u.untilEach(u.those("", func(l upgradeCase) bool { return l.driverEnd == lasts }), "run", func(app dialect.Application) bool {
		return lifecycle.CurrentState(app.GetRecord()) == lifecycle.RunningHealthy
	})
	pods, err := u.Kube.CoreV1().Pods(u.ns).List(u.Context(), metav1.ListOptions{LabelSelector: labelDriverEnd + "=" + lasts})
	u.must(err)
	for i := range pods.Items {
		if pods.Items[i].Status.Phase == corev1.PodRunning {
			(&driver{Pod: &pods.Items[i], env: u.env}).succeed()
		}
	}
	var left []string
	err = wait.PollUntilContextTimeout(u.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		left = nil
		for _, api := range applications.All(nil) {
			list, err := u.Dynamic.Resource(api.GroupVersionResource()).Namespace(u.ns).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // the previous release has no such API
			}
			if err != nil {
				return false, err
			}
			for _, app := range list.Items {
				l, _ := upgradeCaseOf(app.GetLabels())
				if ended, _ := u.history.Progress(app.GetUID()); !ended || l.expires() {
					left = append(left, app.GetName())
				}
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		u.Fatalf("not at their ends: %v", left)
	}
}

// judge compares what was seen with what each application was to do.
func (u *upgrade) judge() {
	u.Helper()
	published := map[string]int{}
	deadline := time.Now().Add(timeout)
	for read := 0; ; {
		entries, news := u.sink.Events(u.ns)
		for ; read < len(entries); read++ {
			if entries[read].Attributes["sparkkind"] == "SparkApplication" {
				u.history.SawEvent(entries[read])
				published[entries[read].ID()]++
			}
		}
		if len(u.history.Undelivered()) == 0 || time.Now().After(deadline) {
			break
		}
		select {
		case <-news:
		case <-time.After(time.Second):
		}
	}
	unseen := u.unseen()
	for _, violation := range slices.Concat(u.history.Violations(), u.history.Undelivered(), u.history.Unpersisted()) {
		if uid, _, _ := strings.Cut(violation.Error(), ":"); !unseen[types.UID(uid)] {
			u.Error(violation)
		}
	}
	again := 0
	for _, count := range published {
		again += count - 1
	}
	ended := map[string]int{}
	for _, app := range u.history.Applications() {
		l, ok := upgradeCaseOf(app.Labels)
		if !ok { // a run of a schedule
			l = upgradeCases[0]
		}
		if l.interrupted && strings.HasPrefix(app.Object.Name, "old") {
			l.drivers++
		}
		ended[l.name]++
		drivers := 0
		for _, count := range app.Drivers() {
			drivers += count
		}
		if unseen[app.UID] {
			continue
		}
		if got := app.Ends(); !slices.Equal(got, l.ends) || drivers != l.drivers {
			u.Errorf("%s, which %s, had %d drivers and attempts that end with %v, want %d and %v", app.Object.Key(), l.name, drivers, got, l.drivers, l.ends)
		}
	}
	longest, name := u.longestWait()
	if longest > leaseDuration/2 {
		u.Errorf("%s waited %s for its driver", name, longest)
	}
	u.Logf("applications: %v; %d events, of which %d came again; the longest wait for a driver: %s", ended, len(published), again, longest)
}

// unseen returns the applications that expired while the API server changed to another CRD, which ends all watches: the history lacks
// their last revisions.
func (u *upgrade) unseen() map[types.UID]bool {
	u.Helper()
	unseen := map[types.UID]bool{}
	for _, app := range u.those("", upgradeCase.expires) {
		_, err := u.read(app)
		if _, gone := u.history.Progress(app.GetUID()); apierrors.IsNotFound(err) && !gone {
			unseen[app.GetUID()] = true
		}
	}
	return unseen
}

// longestWait is the longest time from an application's creation to its first driver.
func (u *upgrade) longestWait() (longest time.Duration, name string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for app, launched := range u.launched {
		createdAt, ok := u.createdAt[app]
		if wait := launched.Sub(createdAt); ok && wait > longest && strings.HasPrefix(app, "steady") {
			longest, name = wait, app
		}
	}
	return longest, name
}
