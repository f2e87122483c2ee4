package archiver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	// silence is how long a container may log nothing after its start. If its first line is later, earlier ones may have been rotated away.
	silence = 10 * time.Second
	// readings is how often the reading of a log is begun, if it breaks off.
	readings = 3
	// executorsEnd is for how long the log of an executor is followed that still runs after the end of its driver.
	executorsEnd = 10 * time.Second
)

// containerLog is the log of one run of a container.
type containerLog struct {
	archive.LogID
	role string
	// previous reports whether the container has been restarted since.
	previous bool
	// followed reports whether the settings ask to follow it.
	followed bool
	// running reports whether the container runs.
	running bool
	started time.Time
}

// logsOf returns the logs of a Pod that are to be stored.
func (t *attempt) logsOf(pod *corev1.Pod, isDriver bool) []containerLog {
	when, role, main := t.settings.ExecutorLogs, archive.RoleExecutor, submission.DefaultExecutorContainer
	if isDriver {
		when, role, main = t.settings.DriverLogs, archive.RoleDriver, lifecycle.DriverContainer(&pod.Status, t.app.Dialect.Policy(t.app.Application).MainContainer)
	}
	if when == config.LogsNone {
		return nil
	}
	statuses := pod.Status.ContainerStatuses
	if !isDriver && len(statuses) > 0 && !slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == main }) {
		main = statuses[0].Name
	}
	var logs []containerLog
	for _, status := range pod.Status.InitContainerStatuses {
		logs = append(logs, runsOf(pod, status, initRole(pod, status.Name))...)
	}
	for _, status := range statuses {
		if status.Name == main {
			logs = append(logs, runsOf(pod, status, role)...)
		} else {
			logs = append(logs, runsOf(pod, status, archive.RoleSidecar)...)
		}
	}
	for i := range logs {
		logs[i].followed = when == config.LogsFollow
	}
	return logs
}

// initRole returns sidecar for an init container that runs beside the others.
func initRole(pod *corev1.Pod, name string) string {
	for _, container := range pod.Spec.InitContainers {
		if container.Name == name && container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			return archive.RoleSidecar
		}
	}
	return archive.RoleInit
}

// runsOf returns the logs of the last runs of a container that the node may still have.
func runsOf(pod *corev1.Pod, status corev1.ContainerStatus, role string) (logs []containerLog) {
	add := func(state corev1.ContainerState, restart int32, previous bool) {
		log := containerLog{
			LogID: archive.LogID{Pod: pod.Name, PodUID: pod.UID, Container: status.Name, Restart: restart}, role: role, previous: previous,
		}
		switch {
		case state.Running != nil:
			log.running, log.started = true, state.Running.StartedAt.Time
		case state.Terminated != nil && (state.Terminated.ContainerID != "" || !state.Terminated.StartedAt.IsZero()):
			log.started = state.Terminated.StartedAt.Time
		default:
			return // it has not run
		}
		logs = append(logs, log)
	}
	if status.RestartCount > 0 {
		add(status.LastTerminationState, status.RestartCount-1, true)
	}
	add(status.State, status.RestartCount, false)
	return logs
}

// gapMissing says what is missing of a log that has a gap.
const gapMissing = "lines in between: the node had rotated them away"

// errFollowing means that the follower has not read a log to its end yet.
var errFollowing = errors.New("the node has rotated lines away, and the follower still reads")

// storeLog stores a log. What the node does not give any more is named as missing. If the follower may have it, the handler is to be asked again.
func (t *attempt) storeLog(ctx context.Context, pod *corev1.Pod, log containerLog) error {
	described, err := t.followedToItsEnd(ctx, log)
	if err != nil {
		return err
	}
	w, err := t.stored.WriteLog(ctx, log.LogID, t.settings.MaxLogBytes)
	if err != nil {
		return err
	}
	before := w.Bytes()
	followed := log.followed && before > 0
	if log.followed && described == nil {
		w.FenceFirst() // its follower may store it later
		if w.Begun() && t.clock.Now().Before(t.askUntil) {
			w.RefuseGaps(log.started.Add(silence))
		}
	}
	why, again, err := t.readToItsEnd(ctx, pod, log, w)
	switch {
	case err != nil:
		return err
	case again != nil:
		t.askAgain(fmt.Sprintf("the log of %s in Pod %s/%s", log.Container, pod.Namespace, pod.Name), again)
		return nil // the other parts are stored
	}
	if described != nil {
		w.Gap = w.Gap || strings.Contains(described.Missing, gapMissing)
		if why != "" && described.Bytes == before { // what is stored is what the follower stored
			why = described.Missing
		}
	}
	if err := w.Flush(ctx); err != nil {
		return err
	}
	stored := archive.Log{LogID: log.LogID, Role: log.role, Bytes: w.Bytes(), Followed: followed, Missing: redact.Text(text.Clip(why, maxReason))}
	describeTimes(&stored, w, log.started)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.manifest.Logs = append(t.manifest.Logs, stored)
	return nil
}

// followedToItsEnd returns the description of a log that was followed to its end; nil if it was not, or not yet.
func (t *attempt) followedToItsEnd(ctx context.Context, log containerLog) (*archive.Log, error) {
	if !log.followed || log.running {
		return nil, nil
	}
	described, err := t.stored.Followed(ctx, log.LogID)
	if archive.IsNotFound(err) {
		return nil, nil
	}
	return described, err
}

// readToItsEnd reads what the node has of a log. why is what is missing, and again is why the handler is to be asked again.
func (t *attempt) readToItsEnd(ctx context.Context, pod *corev1.Pod, log containerLog, w *archive.LogWriter) (why string, again, err error) {
	reading, follows := t.reading, log.running && log.role == archive.RoleExecutor && t.over
	if follows {
		reading = t.following
	}
	for range readings {
		why, err = t.readLog(ctx, reading, pod, log, w, follows)
		switch {
		case archive.IsGap(err):
			return "", errFollowing, nil
		case t.mayAskAgain(err):
			return "", err, nil
		case err != nil:
			return "", nil, err
		}
		if why == "" || reading.Err() != nil || w.Bytes() >= t.settings.MaxLogBytes {
			break
		}
	}
	switch {
	case follows && why == "":
		t.noteEnd(pod)
	case log.running && (log.role == archive.RoleDriver || log.role == archive.RoleExecutor) && why == "":
		why = "the end: the container still ran when it was archived"
	}
	return why, nil, nil
}

// describeTimes adds to the description of a log from when to when it is, and what is missing.
func describeTimes(log *archive.Log, w *archive.LogWriter, started time.Time) {
	if !w.From.IsZero() {
		from, to := w.From.UTC(), w.To.UTC()
		log.From, log.To = &from, &to
		log.BeginningMissing = from.Sub(started) > silence
	}
	if w.Gap {
		log.Missing = withGap(log.Missing)
	}
}

// withGap adds to what is missing of a log that it has a gap.
func withGap(missing string) string {
	switch {
	case missing == "":
		return gapMissing
	case strings.Contains(missing, gapMissing):
		return missing
	default:
		return gapMissing + "; " + missing
	}
}

// addFollowed adds the logs that were followed and whose Pods are gone.
func (t *attempt) addFollowed(ctx context.Context, pods []corev1.Pod) error {
	if t.settings.DriverLogs != config.LogsFollow && t.settings.ExecutorLogs != config.LogsFollow {
		return nil
	}
	written, err := t.stored.Written(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, info := range written {
		if slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.UID == info.PodUID }) {
			continue // its logs were stored now
		}
		group.Go(func() error {
			return guarded(ctx, func() error { return t.addGone(ctx, info) })
		})
	}
	return group.Wait()
}

// addGone adds a log that was followed.
func (t *attempt) addGone(ctx context.Context, info archive.LogInfo) error {
	isDriver := info.PodUID == t.record.Launch.DriverUID
	log, err := describeGone(ctx, t.stored, info, roleOf(isDriver, info.Container, t.app.Dialect.Policy(t.app.Application).MainContainer))
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.manifest.Logs = append(t.manifest.Logs, log)
	return nil
}

// describeGone returns the description of a log that was followed and whose Pod is gone. role is that of its container. If the log was not read to its end,
// it says so.
func describeGone(ctx context.Context, stored *archive.Attempt, info archive.LogInfo, role string) (archive.Log, error) {
	log, err := stored.Followed(ctx, info.LogID)
	switch {
	case archive.IsNotFound(err):
		log = &archive.Log{LogID: info.LogID, Role: role, Followed: true, Missing: goneMissing}
	case err != nil:
		return archive.Log{}, err
	case log.Bytes != info.Bytes && log.Missing == "": // it is not what the follower stored
		log.Missing = goneMissing
	}
	if info.Gap {
		log.Missing = withGap(log.Missing)
	}
	log.Bytes = info.Bytes
	return *log, nil
}

// noteEnd notes that an executor ended now.
func (t *attempt) noteEnd(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.executorsEnded == nil {
		t.executorsEnded = map[types.UID]time.Time{}
	}
	t.executorsEnded[pod.UID] = t.clock.Now()
}

// readLog reads a log from where it was stored last, until reading ends. why is what keeps it from being read; err is an error of the storage, or one of the
// API server for which the handler is to be asked again.
func (t *attempt) readLog(ctx, reading context.Context, pod *corev1.Pod, log containerLog, w *archive.LogWriter, follow bool) (why string, err error) {
	options := &corev1.PodLogOptions{Container: log.Container, Previous: log.previous, Timestamps: true, Follow: follow}
	if since := w.Since(); !since.IsZero() {
		options.SinceTime = &metav1.Time{Time: since}
	}
	stream, err := t.openLog(reading, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, options)
	switch {
	case t.mayAskAgain(err):
		return "", err
	case err != nil:
		return fmt.Sprintf("the node does not give it: %v", err), ctx.Err()
	}
	defer stream.Close()
	err = w.Copy(ctx, stream)
	switch {
	case err == nil:
		return "", nil
	case archive.IsTruncated(err):
		return tooLargeMissing(t.settings.MaxLogBytes), nil
	case archive.IsStorage(err), archive.IsGap(err):
		return "", err
	case follow && reading.Err() != nil && t.reading.Err() == nil:
		return fmt.Sprintf("the end: the executor still ran %s after its driver", executorsEnd), ctx.Err()
	case reading.Err() != nil:
		return "the end: the node took longer than what follows the attempt waits", ctx.Err()
	default:
		return fmt.Sprintf("the end: the node broke off: %v", err), ctx.Err()
	}
}
