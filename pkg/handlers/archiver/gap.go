package archiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// closeGap closes the gap in what the executors of the attempt used, from the event log that a sidecar sent. It returns the seconds that are closed. pods are
// the executors whose Pods are there: their own times are used. Without a whole event log the gap stays. A driver that is gone may be a part of it, so it
// stays then, too.
func (t *attempt) closeGap(ctx context.Context, counted v1alpha1.AttemptUsage, pods []usage.Executor) (v1alpha1.AttemptUsage, int64, error) {
	gap := counted.Ended.GapSeconds
	requests, ok := usage.RequestsOfEach(usage.Sum(counted).Executors)
	if gap == 0 || t.driver == nil || !ok {
		return counted, 0, nil
	}
	logged, err := t.loggedExecutors()
	switch {
	case errors.Is(err, eventlog.ErrIncomplete) && t.sendsEventLog() && t.clock.Now().Before(t.askUntil):
		return counted, 0, fmt.Errorf("the sidecar still sends the event log: %w", err)
	case err != nil:
		logging.FromContext(ctx).Infow("a gap in the usage is not closed from the event log", zap.Error(err))
		return counted, 0, nil
	}
	all := slices.Clone(pods)
	began := t.record.Attempt.Since.Unix()
	for _, executor := range logged {
		if slices.ContainsFunc(pods, func(pod usage.Executor) bool { return pod.ID == executor.ID }) {
			continue
		}
		added := max(executor.Added.Unix(), began) // the driver writes what it wants
		all = append(all, usage.Executor{ID: executor.ID, Pod: usage.Pod{
			Requests: requests, Scheduled: added, Ended: max(roundedUp(executor.Removed), added),
		}})
	}
	return usage.CloseGap(counted, all, t.clock.Now()), gap, nil
}

func roundedUp(at time.Time) int64 { return at.Add(time.Second - 1).Unix() }

// sendsEventLog reports whether the sidecar of the driver still runs.
func (t *attempt) sendsEventLog() bool {
	return slices.ContainsFunc(t.driver.Status.InitContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.Name == eventlog.Container && status.State.Running != nil
	})
}

// loggedExecutors returns the executors of the event log.
func (t *attempt) loggedExecutors() ([]eventlog.Executor, error) {
	application := t.record.Launch.ApplicationID
	files, err := t.stored.Files(t.reading, archive.EventLogFolder)
	if err != nil {
		return nil, err
	}
	index := func(file archive.FileInfo) int {
		if len(file.Path) != 2 || !strings.HasSuffix(file.Path[1], "_"+application) { // the folder and a name
			return 0
		}
		return eventlog.Index(file.Path[1])
	}
	files = slices.DeleteFunc(files, func(file archive.FileInfo) bool { return index(file) == 0 })
	slices.SortFunc(files, func(a, b archive.FileInfo) int { return cmp.Compare(index(a), index(b)) })
	var parts []io.Reader
	for i, file := range files {
		if index(file) != i+1 {
			return nil, fmt.Errorf("the event log does not have the file %d", i+1)
		}
		part := t.stored.Read(t.reading, file, 0, -1)
		defer part.Close()
		parts = append(parts, part)
	}
	return eventlog.Executors(io.MultiReader(parts...), application)
}
