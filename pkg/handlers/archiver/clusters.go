package archiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

const (
	// sparkCluster is the kind of clusters.
	sparkCluster = "SparkCluster"
	// renewInterval is how often the description of a cluster that exists is stored again. What was not written for an hour may be deleted by the retention,
	// and a cluster may log nothing for that long.
	renewInterval = 30 * time.Minute
	// clusterEnd is how long the logs of a cluster that is gone are waited for, before its manifest is written without their ends.
	clusterEnd = time.Minute
	// maxClusterLogs bounds the logs that the manifest of a cluster lists.
	maxClusterLogs = 1000
	// maxClusterMembers bounds the Pods and StatefulSets of a cluster whose Kubernetes Events are stored. Those that were seen last count.
	maxClusterMembers = 50
	// clusterEventTries is how often the Kubernetes Events are asked for, if the API server fails.
	clusterEventTries = 5
)

// followedCluster is a cluster that exists.
type followedCluster struct {
	// object is the cluster as it was seen last.
	object *sparkv1.SparkCluster
	// attempt is where its logs are stored, store the archive and description what it says of the cluster; nil until its first log is followed.
	attempt     *followedAttempt
	store       *archive.Archive
	description archive.Application
	// members are the uids of its StatefulSets and Pods, and moreMembers reports whether there were earlier ones.
	members     []types.UID
	moreMembers bool
}

// noteMember notes a Pod of the cluster, and its StatefulSet. A Pod may be left of an earlier cluster with the same name.
func (c *followedCluster) noteMember(pod *sparkPod) {
	if pod.CreationTimestamp.Before(&c.object.CreationTimestamp) {
		return
	}
	for _, uid := range []types.UID{pod.owner.UID, pod.UID} {
		if slices.Contains(c.members, uid) {
			continue
		}
		if c.members = append(c.members, uid); len(c.members) > maxClusterMembers {
			c.members, c.moreMembers = slices.Delete(c.members, 0, 1), true
		}
	}
}

// clusterOf returns the name of the cluster of a master or a worker; empty for another Pod. The labels count if the StatefulSet of that cluster owns the Pod.
func clusterOf(pod *corev1.Pod, owner metav1.OwnerReference) string {
	name, owns := pod.Labels[resources.LabelCluster], ""
	switch pod.Labels[resources.LabelRole] {
	case resources.Master:
		owns = resources.MasterName(name)
	case resources.Worker:
		owns = resources.WorkerName(name)
	}
	if name == "" || owner.Kind != "StatefulSet" || owner.Name != owns {
		return ""
	}
	return name
}

// endedRuns returns the runs of a container that have ended and whose logs the node has.
func endedRuns(of corev1.ContainerStatus) (runs []containerRun) {
	add := func(ended *corev1.ContainerStateTerminated, restart int32) {
		if ended != nil && ended.ContainerID != "" {
			runs = append(runs, containerRun{of.Name, restart, ended.StartedAt.Time, true})
		}
	}
	add(of.State.Terminated, of.RestartCount)
	switch last := of.LastTerminationState.Terminated; {
	case of.State.Waiting != nil: // the kubelet shows the last run there until the next one begins
		add(last, of.RestartCount)
	case of.RestartCount > 0:
		add(last, of.RestartCount-1)
	}
	return runs
}

// clusterRole returns the role of a container of a master or a worker.
func clusterRole(container string) string {
	switch container {
	case resources.Master:
		return archive.RoleMaster
	case resources.Worker:
		return archive.RoleWorker
	default:
		return archive.RoleSidecar
	}
}

func (f *following) clusterInformer(namespace string) cache.Controller {
	clusters := f.clients.SparkV1().SparkClusters(namespace)
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: kube.NewSource(f.clients, clusters.List, clusters.Watch)(func(*metav1.ListOptions) {}),
		ObjectType:    &sparkv1.SparkCluster{},
		Transform: func(object any) (any, error) {
			if c, ok := object.(*sparkv1.SparkCluster); ok {
				c.ManagedFields = nil
			}
			return object, nil
		},
		Handler: handlerOf(f.observeCluster, f.clusterGone),
	})
	return informer
}

// observeCluster notes a cluster that exists.
func (f *following) observeCluster(c *sparkv1.SparkCluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := kube.KeyOf(c)
	if known := f.clusters[key]; known != nil && known.object.UID == c.UID {
		known.object = c
		return
	}
	f.clusters[key] = &followedCluster{object: c}
}

// clusterGone describes in the archive a cluster that is gone, as it was at last. Nothing waits for that.
func (f *following) clusterGone(c *sparkv1.SparkCluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.clusters[kube.KeyOf(c)]
	if known == nil || known.object.UID != c.UID {
		return
	}
	known.object = c
	delete(f.clusters, kube.KeyOf(c))
	leave, ok := f.clusterWaiting.TryAcquire(c.Namespace)
	failed := func(err error) {
		logging.FromContext(f.ctx).Warnw("cluster that is gone not described in the archive", "namespace", c.Namespace, "name", c.Name, zap.Error(err))
	}
	if !ok && known.attempt == nil { // the archive has nothing of it
		failed(tooMany(c.Namespace))
		return
	}
	f.streams.Go(func() {
		if ok {
			defer leave()
		}
		if err := guarded(f.ctx, func() error { return f.endCluster(known) }); err != nil {
			failed(err)
		}
	})
}

// clusterAttempt returns where the logs of a cluster are stored. It announces the cluster in the archive once, so that readers find it.
func (f *following) clusterAttempt(ctx context.Context, name types.NamespacedName) (*followedAttempt, error) {
	f.mu.Lock()
	known := f.clusters[name]
	if known == nil || known.attempt != nil {
		defer f.mu.Unlock()
		if known == nil {
			return nil, errUnknownAttempt
		}
		return known.attempt, nil
	}
	c := known.object
	f.mu.Unlock()
	return f.announceCluster(ctx, known, c)
}

// announceCluster announces a cluster in the archive, and returns where its logs are stored.
func (f *following) announceCluster(ctx context.Context, known *followedCluster, c *sparkv1.SparkCluster) (*followedAttempt, error) {
	settings := f.settings()
	served, err := lookup.Serves(ctx, settings.Scope, f.served, c)
	url := settings.Archive.URLOf(c.Namespace)
	if err != nil || !served || url == "" || c.Undecodable != "" || c.Status.Firesteel == nil || c.Status.Firesteel.HasNewerFormat() {
		return nil, errors.Join(errUnknownAttempt, err)
	}
	namespace, err := f.namespaces.of(ctx, c)
	if err != nil {
		return nil, err
	}
	store, err := f.stores.For(ctx, url)
	if err != nil {
		return nil, err
	}
	description := describeCluster(c, namespace)
	if err := store.Announce(ctx, description); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known.attempt == nil {
		known.store, known.description = store, description
		known.attempt = &followedAttempt{stored: store.Attempt(description.ID(), description.Attempt).Unchecked(), limit: settings.Archive.MaxLogBytes}
	}
	return known.attempt, nil
}

// describeCluster returns the description of a cluster that exists. All that is stored of it belongs to its attempt 0: its Pods outlive edits.
func describeCluster(c *sparkv1.SparkCluster, namespace types.UID) archive.Application {
	return archive.Application{
		Namespace: c.Namespace, NamespaceUID: namespace, Resource: status.Definition, APIVersion: sparkv1.SchemeGroupVersion.String(), Kind: sparkCluster,
		Name: c.Name, UID: c.UID, Labels: text.Entries(c.Labels, archive.MaxLabels), Created: c.CreationTimestamp.UTC(),
	}
}

// renewClusters stores the descriptions of clusters again while they exist, so that the retention leaves them.
func (f *following) renewClusters() {
	wait.UntilWithContext(f.ctx, func(ctx context.Context) {
		for _, known := range f.archivedClusters() {
			if err := guarded(ctx, func() error { return known.store.WriteApplication(ctx, known.description) }); err != nil {
				logging.FromContext(ctx).Warnw("description of a cluster not stored again, which is tried again", "namespace", known.description.Namespace,
					"name", known.description.Name, zap.Error(err))
			}
		}
	}, renewInterval)
}

// archivedClusters returns the clusters that exist and have logs in an archive.
func (f *following) archivedClusters() (clusters []followedCluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range f.clusters {
		if known.attempt != nil {
			clusters = append(clusters, *known)
		}
	}
	return clusters
}

// endCluster describes a cluster in the archive. It tries again while the storage or the API server fails.
func (f *following) endCluster(gone *followedCluster) error {
	pause := newPause()
	for tries := 1; ; tries++ {
		err := f.tryEndCluster(gone, tries)
		if mayPass := archive.IsStorage(err) || passing(err); !mayPass || tries == lastClusterTries || f.ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause.Step()):
		case <-f.ctx.Done():
		}
	}
}

// tryEndCluster describes a cluster in the archive, as soon as its logs are read to their ends. It waits for that for a while.
func (f *following) tryEndCluster(gone *followedCluster, tries int) error {
	if gone.attempt == nil { // no container of it has run
		if _, err := f.announceCluster(f.ctx, gone, gone.object); errors.Is(err, errUnknownAttempt) {
			return nil // it is not one for the archive
		} else if err != nil {
			return err
		}
	}
	ended := func(context.Context) (bool, error) { return !f.reads(gone.attempt), nil }
	if err := wait.PollUntilContextTimeout(f.ctx, time.Second, clusterEnd, true, ended); err != nil && !wait.Interrupted(err) {
		return err
	}
	if f.ctx.Err() != nil { // this process is to end
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), lastFlush)
		defer cancel()
		return f.storeCluster(ctx, gone, false)
	}
	return f.storeCluster(f.ctx, gone, tries < clusterEventTries)
}

// reads reports whether a log of an attempt is being followed.
func (f *following) reads(attempt *followedAttempt) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, log := range f.logs {
		if log.attempt == attempt && !log.done {
			return true
		}
	}
	return false
}

// storeCluster stores a cluster that is gone, its transitions, the Kubernetes Events about it, and a manifest of what is stored. mayAskAgain reports whether an
// error of the API server is returned if it may pass.
func (f *following) storeCluster(ctx context.Context, gone *followedCluster, mayAskAgain bool) error {
	c, last := gone.object, outbox.Current(gone.object.Status.Firesteel)
	ended := f.clock.Now()
	if !last.Time.IsZero() {
		ended = last.Time.UTC()
	}
	manifest := archive.Manifest{
		Attempt: gone.description.Attempt, Began: gone.description.Created, Ended: ended, State: last.State, Message: last.Message,
	}
	if err := addClusterLogs(ctx, gone.attempt.stored, &manifest); err != nil {
		return err
	}
	if err := f.putCluster(ctx, gone, mayAskAgain, &manifest); err != nil {
		return err
	}
	manifest.Archived = f.clock.Now()
	if _, err := gone.attempt.stored.WriteManifest(ctx, &manifest); err != nil {
		return err
	}
	description := describeCluster(c, gone.description.NamespaceUID)
	description.Ended, description.State, description.Message = &ended, last.State, last.Message
	return gone.store.WriteApplication(ctx, description)
}

// putCluster stores the object of a cluster, its transitions and the Kubernetes Events about it.
func (f *following) putCluster(ctx context.Context, gone *followedCluster, mayAskAgain bool, manifest *archive.Manifest) error {
	c := gone.object
	encoded, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode %s: %w", sparkCluster, err)
	}
	redactor := redact.For(encoded)
	object, err := redacted(redactor, sparkv1.SchemeGroupVersion.String(), sparkCluster, encoded)
	if err != nil {
		return err
	}
	transitions := []v1alpha1.Transition{}
	if record := c.Status.Firesteel; record != nil {
		transitions = record.Transitions
	}
	events, err := f.clusterEvents(ctx, gone, manifest)
	if err != nil {
		if mayAskAgain && passing(err) {
			return err
		}
		manifest.Missing = append(manifest.Missing, missing(kubernetesEvents, err.Error()))
	}
	for _, part := range []struct {
		file, kind string
		content    any
	}{
		{"cluster.json.gz", sparkCluster, object},
		{transitionsFile, "Transition", map[string]any{"items": transitions}},
		{eventsFile, "Event", describeEvents(events, redactor)},
	} {
		entry := archive.Object{File: part.file, Kind: part.kind, Name: c.Name}
		if err := putObject(ctx, gone.attempt.stored, entry, part.content); err != nil {
			return err
		}
		manifest.Objects = append(manifest.Objects, entry)
	}
	return nil
}

// clusterEvents returns the Kubernetes Events about a cluster, its StatefulSets and its Pods. What is left out is named as missing.
func (f *following) clusterEvents(ctx context.Context, gone *followedCluster, manifest *archive.Manifest) ([]corev1.Event, error) {
	objects, more := append([]types.UID{gone.object.UID}, gone.members...), gone.moreMembers
	for _, log := range manifest.Logs { // its Pod may have been seen before the cluster, as after a restart of this process
		switch {
		case slices.Contains(objects, log.PodUID):
		case len(objects) > maxClusterMembers:
			more = true
		default:
			objects = append(objects, log.PodUID)
		}
	}
	items, truncated, err := f.events.of(ctx, gone.object.Namespace, objects...)
	if err != nil {
		return nil, err
	}
	if truncated {
		manifest.Missing = append(manifest.Missing, missing(kubernetesEvents, tooManyEvents))
	}
	if more {
		manifest.Missing = append(manifest.Missing, missing("Kubernetes Events of further Pods",
			fmt.Sprintf("those of at most %d Pods and StatefulSets are read, and the cluster had more", maxClusterMembers)))
	}
	return items, nil
}

// addClusterLogs adds the logs that are stored of a cluster to its manifest.
func addClusterLogs(ctx context.Context, stored *archive.Attempt, manifest *archive.Manifest) error {
	written, err := stored.Written(ctx)
	if err != nil {
		return err
	}
	if left := len(written) - maxClusterLogs; left > 0 {
		manifest.Missing = append(manifest.Missing, missing("further logs", fmt.Sprintf("%d more are stored than the %d that are listed", left, maxClusterLogs)))
		written = written[:maxClusterLogs]
	}
	logs := make([]archive.Log, len(written))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, info := range written {
		group.Go(func() error {
			log, err := describeGone(ctx, stored, info, clusterRole(info.Container))
			logs[i] = log
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	manifest.Logs = slices.Clip(logs)
	return nil
}
