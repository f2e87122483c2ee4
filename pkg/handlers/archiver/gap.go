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
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// closeGap closes the gap in what the executors of the attempt used, from its event log. It returns the seconds that are closed. pods are
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

// loggedExecutors returns the executors of the event log that the sidecar sent. Without one, they are those of the event log that the driver wrote into the archive.
func (t *attempt) loggedExecutors() ([]eventlog.Executor, error) {
	files, err := t.sentEventLog()
	if len(files) == 0 && (err == nil || archive.IsNotFound(err)) && t.settings.EventLogs.Folders[t.app.GetNamespace()] != "" {
		files, err = t.writtenEventLog()
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b eventLogFile) int { return cmp.Compare(a.index, b.index) })
	parts := make([]io.Reader, len(files))
	for i, file := range files {
		if file.index != i+1 {
			return nil, fmt.Errorf("the event log does not have the file %d", i+1)
		}
		part := file.open()
		defer part.Close()
		parts[i] = part
	}
	return eventlog.Executors(io.LimitReader(io.MultiReader(parts...), t.settings.MaxLogBytes), t.record.Launch.ApplicationID)
}

// eventLogFile is a file of an event log. open opens it when it is read.
type eventLogFile struct {
	index int
	open  func() io.ReadCloser
}

// eventsIn returns the number of a file of the attempt's event log; 0 if the file has no events.
func (t *attempt) eventsIn(name string) int {
	if !strings.HasSuffix(name, "_"+t.record.Launch.ApplicationID) {
		return 0
	}
	return eventlog.Index(name)
}

// sentEventLog returns the files of the event log that the sidecar sent.
func (t *attempt) sentEventLog() (files []eventLogFile, err error) {
	stored, err := t.stored.Files(t.reading, archive.EventLogFolder)
	for _, file := range stored {
		if len(file.Path) != 2 { // the folder and a name
			continue
		}
		if index := t.eventsIn(file.Path[1]); index > 0 {
			files = append(files, eventLogFile{index, func() io.ReadCloser { return t.stored.Read(t.reading, file, 0, -1) }})
		}
	}
	return files, err
}

// writtenEventLog returns the files of the event log that the driver wrote by the file system of its image.
func (t *attempt) writtenEventLog() (files []eventLogFile, err error) {
	folder := config.EventLogFolder + "/" + eventlog.FolderPrefix + t.record.Launch.ApplicationID
	names, truncated, err := t.storage.DriverFiles(t.reading, folder, eventlog.MaxFiles)
	switch {
	case err != nil:
		return nil, err
	case truncated:
		return nil, fmt.Errorf("the event log has more than %d files", eventlog.MaxFiles)
	}
	for _, name := range names {
		if index := t.eventsIn(name); index > 0 {
			files = append(files, eventLogFile{index, func() io.ReadCloser { return t.storage.ReadDriverFile(t.reading, folder, name) }})
		}
	}
	return files, nil
}
