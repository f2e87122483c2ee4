package archiver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// storeUsage stores what the Pods of the attempt used, until the end of the last of them. The record counts until it was written last: at the end of the
// driver.
func (t *attempt) storeUsage(ctx context.Context, pods []corev1.Pod, complete bool) error {
	recorded := t.record.Usage.DeepCopy()
	if recorded == nil {
		return nil
	}
	i := slices.IndexFunc(recorded.Attempts, func(of v1alpha1.AttemptUsage) bool { return of.DriverUID == t.record.Launch.DriverUID })
	if i < 0 {
		return nil
	}
	now := t.clock.Now()
	seen := usage.Observed{
		DriverGone: t.driver == nil, ExecutorsKnown: complete, Since: now,
		Dynamic: func() bool { return false }, // the controller saw all that came and went until it wrote the record
	}
	for j := range pods {
		counted := usage.Of(&pods[j])
		if t.isDriver(pods[j]) {
			seen.Driver = &counted
			continue
		}
		if ended, ok := t.executorsEnded[pods[j].UID]; ok && counted.Ended == 0 {
			counted.Ended = ended.Unix()
		}
		seen.Executors = append(seen.Executors, usage.Executor{Pod: counted, ID: usage.ID(pods[j].Labels[submission.LabelExecutorID], pods[j].UID, true)})
	}
	counted, closed, err := t.closeGap(ctx, usage.Count(recorded.Attempts[i], seen, now), seen.Executors)
	if err != nil {
		return err
	}
	usage.Update(recorded, i, counted)
	if gone := usage.Executors(counted) - int64(t.knownExecutors(pods)); gone > 0 && complete && !counted.Approximate && t.settings.ExecutorLogs != config.LogsNone {
		t.missing("logs of "+text.Count(int(gone), "executor"), "their Pods were deleted before the attempt was archived")
	}
	encoded, err := json.Marshal(archive.Usage{
		Format: archive.Format, Until: now.UTC(), Attempt: usage.Sum(counted), Application: recorded.Total, ClosedGapSeconds: closed,
	})
	if err != nil {
		return fmt.Errorf("encode usage: %w", err)
	}
	return t.stored.Put(ctx, encoded, archive.UsageFile)
}

// knownExecutors returns of how many executors there are Pods, or logs.
func (t *attempt) knownExecutors(pods []corev1.Pod) int {
	known := map[types.UID]bool{}
	for i := range pods {
		if !t.isDriver(pods[i]) {
			known[pods[i].UID] = true
		}
	}
	for _, log := range t.manifest.Logs {
		if log.Role == archive.RoleExecutor {
			known[log.PodUID] = true
		}
	}
	return len(known)
}
