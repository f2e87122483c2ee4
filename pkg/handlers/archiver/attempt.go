package archiver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	// parallel is the number of parts of one attempt that are stored at once.
	parallel = 4
	// maxPods bounds the Pods of an attempt that are archived, and maxEvents the Kubernetes Events of one object.
	maxPods, maxEvents = 1000, 500
	// maxLabels bounds the labels of an application that are in its description.
	maxLabels = 64
	// maxReason bounds a text that says why something is missing.
	maxReason = 512
)

// attempt archives one attempt.
type attempt struct {
	*Archiver
	app      *lookup.Subject
	record   *v1alpha1.Record
	ended    v1alpha1.Transition
	settings *config.Archive

	redactor *redact.Redactor
	stored   *archive.Attempt
	// due is until when the end of the attempt waits for the archive.
	due time.Time

	mu       sync.Mutex
	manifest archive.Manifest
	// again is why the handler has to be asked again, once all else is stored; nil for nothing.
	again error
}

// archive stores the attempt in the archive behind a URL. It returns an error if the storage or the API server cannot be reached; then nothing shows the
// attempt as archived, and the handler is asked again. What can be read no more is named as missing.
func (t *attempt) archive(ctx context.Context, url string) error {
	pods, truncated, err := t.pods(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.UID == t.record.Launch.DriverUID })
	if i < 0 {
		return nil // there is no Pod to annotate
	}
	driver := &pods[i]
	seen := lifecycle.ObserveDriver(driver, t.app.Dialect.Policy(t.app.Application).MainContainer)
	if seen.Archived != "" {
		return nil
	}
	t.due = lifecycle.ArchiveDue(&t.ended, t.settings.WaitIn(t.app.GetNamespace()), seen)
	namespace, err := t.core.Namespaces().Get(ctx, t.app.GetNamespace(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read namespace %s: %w", t.app.GetNamespace(), err)
	}
	store, err := t.stores.For(ctx, url)
	if err != nil {
		return err
	}
	description := t.describe(namespace.UID)
	t.stored = store.Attempt(description.ID(), t.ended.Attempt)
	t.manifest = archive.Manifest{
		Attempt: t.ended.Attempt, ApplicationID: t.record.Launch.ApplicationID, Began: t.record.Attempt.Since.Time, Ended: t.ended.Time.Time,
		State: t.ended.State, Outcome: description.Outcome, Message: description.Message,
	}
	if truncated {
		t.missing("further Pods", fmt.Sprintf("the attempt has more than %d Pods", maxPods))
	}
	if err := t.store(ctx, driver, pods); err != nil {
		return err
	}
	lost, err := t.stored.Check(ctx)
	switch {
	case err != nil:
		return err
	case len(lost) > 0:
		return fmt.Errorf("the archive took %d objects and does not list them as they were sent: check its storage (%s)", len(lost), lost[0])
	}
	t.manifest.Archived = t.clock.Now()
	if err := t.stored.WriteManifest(ctx, &t.manifest); err != nil {
		return err
	}
	if err := store.WriteApplication(ctx, description); err != nil {
		return err
	}
	return t.annotate(ctx, driver)
}

// pods returns the Pods of the attempt that are still there: the driver, and the executors that it owns.
func (t *attempt) pods(ctx context.Context) (pods []corev1.Pod, truncated bool, err error) {
	list, err := t.core.Pods(t.app.GetNamespace()).List(ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(metav1.SetAsLabelSelector(map[string]string{submission.LabelApplicationID: t.record.Launch.ApplicationID})),
		Limit:         maxPods,
	})
	if err != nil {
		return nil, false, fmt.Errorf("list Pods of %s/%s: %w", t.app.GetNamespace(), t.app.GetName(), err)
	}
	driver := t.record.Launch.DriverUID
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.UID != driver && !slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == driver })
	}), list.Continue != "", nil
}

// describe returns the description of the application.
func (t *attempt) describe(namespace types.UID) archive.Application {
	app, ended := t.app, t.ended.Time.UTC()
	description := archive.Application{
		Namespace: app.GetNamespace(), NamespaceUID: namespace, Resource: app.API.GroupResource().String(),
		APIVersion: app.API.GroupVersion().String(), Kind: app.API.Kind, Name: app.GetName(), UID: app.GetUID(),
		Created: app.GetCreationTimestamp().UTC(), Ended: &ended, Attempt: t.ended.Attempt, State: t.ended.State, Message: t.ended.Message,
	}
	if t.ended.End != nil {
		description.Outcome = t.ended.End.Outcome
	}
	for _, key := range slices.Sorted(maps.Keys(app.GetLabels())) {
		if len(description.Labels) == maxLabels {
			break
		}
		if description.Labels == nil {
			description.Labels = map[string]string{}
		}
		description.Labels[key] = app.GetLabels()[key]
	}
	return description
}

// store stores all parts, some of them at once.
func (t *attempt) store(ctx context.Context, driver *corev1.Pod, pods []corev1.Pod) error {
	object, err := t.object(t.app.API.GroupVersion().String(), t.app.API.Kind, t.app.Application)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	do := func(part func() error) { group.Go(func() error { return guarded(ctx, part) }) }
	do(func() error {
		return t.putObject(ctx, "application.json.gz", "SparkApplication", t.app.GetName(), object)
	})
	do(func() error { return t.storeTransitions(ctx) })
	do(func() error { return t.storeEvents(ctx, driver) })
	do(func() error { return t.storeConfigMap(ctx, driver) })
	for i := range pods {
		pod := &pods[i]
		do(func() error { return t.storePod(ctx, pod) })
		for _, log := range t.logsOf(pod, pod == driver || pod.UID == driver.UID) {
			do(func() error { return t.storeLog(ctx, pod, log) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return t.again
}

func (t *attempt) missing(what, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.manifest.Missing = append(t.manifest.Missing, archive.Missing{What: what, Why: redact.Text(text.Clip(why, maxReason))})
}

// object returns an object as JSON, with the secrets in it replaced. The first one is the application: its secrets are replaced in all.
func (t *attempt) object(apiVersion, kind string, object any) (map[string]any, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	if t.redactor == nil {
		t.redactor = redact.For(encoded)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	fields["apiVersion"], fields["kind"] = apiVersion, kind
	return t.redactor.Fields("", fields).(map[string]any), nil //nolint:forcetypeassert // it returns what it is given
}

func (t *attempt) putObject(ctx context.Context, file, kind, name string, object any) error {
	encoded, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", kind, name, err)
	}
	if err := t.stored.Put(ctx, encoded, "objects", file); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.manifest.Objects = append(t.manifest.Objects, archive.Object{File: file, Kind: kind, Name: name})
	return nil
}

func (t *attempt) storeTransitions(ctx context.Context) error {
	items := slices.DeleteFunc(slices.Clone(t.record.Transitions), func(of v1alpha1.Transition) bool { return of.Attempt != t.ended.Attempt })
	return t.putObject(ctx, "transitions.json.gz", "Transition", t.app.GetName(), map[string]any{"items": items})
}

func (t *attempt) storePod(ctx context.Context, pod *corev1.Pod) error {
	object, err := t.object("v1", "Pod", pod)
	if err != nil {
		return err
	}
	return t.putObject(ctx, "pod-"+pod.Name+".json.gz", "Pod", pod.Name, object)
}

// confVolume is the volume with Spark's properties in the driver Pod.
const confVolume = "spark-conf-volume-driver"

func (t *attempt) storeConfigMap(ctx context.Context, driver *corev1.Pod) error {
	i := slices.IndexFunc(driver.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == confVolume && volume.ConfigMap != nil })
	if i < 0 {
		return nil
	}
	name := driver.Spec.Volumes[i].ConfigMap.Name
	configMap, err := t.core.ConfigMaps(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.missing("ConfigMap "+name, err.Error())
		return nil
	}
	object, err := t.object("v1", "ConfigMap", configMap)
	if err != nil {
		return err
	}
	return t.putObject(ctx, "configmap-"+name+".json.gz", "ConfigMap", name, object)
}

// storeEvents stores the Kubernetes Events about the application and its driver.
func (t *attempt) storeEvents(ctx context.Context, driver *corev1.Pod) error {
	var items []corev1.Event
	for _, about := range []types.UID{t.app.GetUID(), driver.UID} {
		list, err := t.core.Events(driver.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(about), Limit: maxEvents})
		if err != nil {
			t.missing("Kubernetes Events", err.Error())
			continue
		}
		if list.Continue != "" {
			t.missing("Kubernetes Events", fmt.Sprintf("there are more than %d about one object", maxEvents))
		}
		items = append(items, list.Items...)
	}
	for i := range items {
		items[i].ManagedFields, items[i].Message = nil, t.redactor.Text(items[i].Message)
	}
	slices.SortStableFunc(items, func(a, b corev1.Event) int { return happened(a).Compare(happened(b)) })
	return t.putObject(ctx, "events.json.gz", "Event", t.app.GetName(), map[string]any{"items": items})
}

func happened(event corev1.Event) time.Time {
	switch {
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	default:
		return event.CreationTimestamp.Time
	}
}

// annotate shows on the driver Pod that the attempt is archived.
func (t *attempt) annotate(ctx context.Context, driver *corev1.Pod) error {
	how := lifecycle.ArchivedWhole
	if len(t.manifest.Missing) > 0 || slices.ContainsFunc(t.manifest.Logs, func(log archive.Log) bool { return log.Missing != "" }) {
		how = lifecycle.ArchivedPartly
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": driver.UID, "annotations": map[string]string{lifecycle.ArchivedAnnotation: lifecycle.ArchivedValue(how, driver)},
	}})
	if err != nil {
		return fmt.Errorf("encode annotation: %w", err)
	}
	_, err = t.core.Pods(driver.Namespace).Patch(ctx, driver.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) && strings.Contains(err.Error(), "uid") {
		return nil // the Pod is gone, and nothing waits any more
	}
	if err != nil {
		return fmt.Errorf("annotate driver Pod %s/%s: %w", driver.Namespace, driver.Name, err)
	}
	return nil
}
