package archiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// maxPods bounds the Pods of an attempt that are archived.
	maxPods = 1000
	// maxReason bounds a text that says why something is missing.
	maxReason = 512
	// transitionsFile is the object with the transitions of an attempt, or of a cluster.
	transitionsFile = "transitions.json.gz"
)

// attempt archives one attempt.
type attempt struct {
	*Archiver
	app    *lookup.Subject
	record *v1alpha1.Record
	// encoded is the application as JSON.
	encoded []byte
	// ended is the transition that makes the attempt due.
	ended    v1alpha1.Transition
	settings *config.Archive
	// namespace is the uid of the namespace that the application was in when it was read.
	namespace types.UID
	// retried reports whether the attempt was not archived when the handler was asked. Since then, a next attempt may have begun.
	retried bool

	// happened are the Kubernetes Events about the application and its driver.
	happened *joinedEvents
	redactor *redact.Redactor
	// storage is the archive, and stored the attempt in it.
	storage *archive.Archive
	stored  *archive.Attempt
	// driver is the driver Pod; nil if it is gone.
	driver *corev1.Pod
	// over reports whether the driver has ended, so that its executors end, too.
	over bool
	// reading ends when what was read has to be stored: what is read no more then is named as missing.
	// following ends when the executors of a driver that is over are not followed any more.
	reading, following context.Context //nolint:containedctx // they bound parts of the job
	// askUntil is until when the handler wants to be asked again for what the API server does not give at the moment.
	askUntil time.Time

	mu       sync.Mutex
	manifest archive.Manifest
	// again is why the handler has to be asked again, once all else is stored; nil for nothing.
	again error
	// executorsEnded holds when the logs of executors ended that ran at first, by their Pods' uids.
	executorsEnded map[types.UID]time.Time
}

// archive stores the attempt in the archive behind a URL. It returns an error if the storage or the API server cannot be reached; then nothing shows the
// attempt as archived, and the handler is asked again. What can be read no more is named as missing.
func (t *attempt) archive(ctx context.Context, url string) error {
	pods, truncated, err := t.pods(ctx)
	if err != nil {
		return err
	}
	var seen *lifecycle.Driver
	if t.driver != nil {
		seen = lifecycle.ObserveDriver(t.driver, t.app.Dialect.Policy(t.app.Application).MainContainer)
		if seen.Archived != "" {
			return nil
		}
	}
	ctx, cancel := t.bound(ctx, seen)
	defer cancel()
	if t.storage, err = t.stores.For(ctx, url); err != nil {
		return err
	}
	description := t.describe()
	t.stored = t.storage.Attempt(description.ID(), t.ended.Attempt)
	if t.driver == nil {
		if _, err := t.stored.Manifest(ctx); err == nil || !archive.IsNotFound(err) {
			return err // no Pod shows that it is archived
		}
	}
	t.manifest = archive.Manifest{
		Attempt: t.ended.Attempt, ApplicationID: t.record.Launch.ApplicationID, Began: t.record.Attempt.Since.Time, Ended: t.ended.Time.Time,
		State: t.ended.State, Outcome: description.Outcome, Message: description.Message,
	}
	t.nameMissing(truncated)
	if err := t.store(ctx, pods); err != nil {
		return err
	}
	if err := t.addFollowed(ctx, pods); err != nil {
		return err
	}
	if err := t.storeUsage(ctx, pods, !truncated); err != nil {
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
	stored, err := t.stored.WriteManifest(ctx, &t.manifest)
	if err != nil {
		return err
	}
	if err := t.writeApplication(ctx, description); err != nil {
		return err
	}
	return t.annotate(ctx, stored)
}

// writeApplication stores the description of the application, unless the archive has that of a later attempt.
func (t *attempt) writeApplication(ctx context.Context, description archive.Application) error {
	if t.retried {
		stored, err := t.storage.Application(ctx, description.ID())
		switch {
		case err == nil && stored.Attempt > description.Attempt:
			return nil
		case archive.IsStorage(err) && !archive.IsNotFound(err):
			return err
		}
	}
	return t.storage.WriteApplication(ctx, description)
}

const (
	// lastAsked is how long before the end of the wait nothing is left to be asked again: the handler is asked with a back-off of up to 30 s, and needs
	// time.
	lastAsked = time.Minute
	// lastRead is how long before the end of the wait nothing is read any more, so that what was read is stored.
	lastRead = 15 * time.Second
)

// bound ends the job when what follows the attempt waits no longer. driver is nil if its Pod is gone. If the job is late, nothing waits for it, and it has
// the time of another.
func (t *attempt) bound(ctx context.Context, driver *lifecycle.Driver) (context.Context, context.CancelFunc) {
	wait, since := t.settings.WaitIn(t.app.GetNamespace()), t.ended.Time.Time
	due := lifecycle.ArchiveDue(since, wait, driver)
	left := due.Sub(t.clock.Now())
	t.over = driver == nil || driver.End != nil || driver.Stopped
	t.askUntil = due.Add(-min(lastAsked, due.Sub(since)/2))
	if driver == nil || left <= 0 {
		left, t.askUntil = wait, time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	reading, cancelReading := context.WithTimeout(ctx, left-min(lastRead, left/4))
	following, cancelFollowing := context.WithTimeout(reading, executorsEnd)
	t.reading, t.following = reading, following
	return ctx, func() {
		cancelFollowing()
		cancelReading()
		cancel()
	}
}

// mayAskAgain reports whether an error of the API server may be none when the handler is asked again, and there is time for that.
func (t *attempt) mayAskAgain(err error) bool {
	return passing(err) && t.clock.Now().Before(t.askUntil)
}

// failed handles an error of the API server: it is a reason to be asked again, or what it was about is missing.
func (t *attempt) failed(what string, err error) {
	if t.mayAskAgain(err) {
		t.askAgain(what, err)
		return
	}
	t.missing(what, err.Error())
}

// askAgain notes what the handler has to be asked for again.
func (t *attempt) askAgain(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.again = fmt.Errorf("read %s: %w", what, err)
}

// passing reports whether an error of the API server may be none a moment later.
func passing(err error) bool {
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return false
	case !errors.As(err, new(apierrors.APIStatus)):
		return true // the API server was not reached
	default:
		return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsInternalError(err)
	}
}

// pods returns the Pods of the attempt that are still there: the driver first, and the executors that it owns.
func (t *attempt) pods(ctx context.Context) (pods []corev1.Pod, truncated bool, err error) {
	namespace, launch := t.app.GetNamespace(), t.record.Launch
	list, err := t.core.Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(metav1.SetAsLabelSelector(map[string]string{submission.LabelApplicationID: launch.ApplicationID})),
		Limit:         maxPods,
	})
	if err != nil {
		return nil, false, fmt.Errorf("list Pods of %s/%s: %w", namespace, t.app.GetName(), err)
	}
	pods = list.Items
	if !slices.ContainsFunc(pods, t.isDriver) { // there are too many, or its labels were changed
		driver, err := t.core.Pods(namespace).Get(ctx, launch.DriverPod, metav1.GetOptions{})
		switch {
		case err == nil:
			pods = append(pods, *driver)
		case !apierrors.IsNotFound(err):
			return nil, false, fmt.Errorf("read driver Pod %s/%s: %w", namespace, launch.DriverPod, err)
		}
	}
	pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		return !t.isDriver(pod) && !slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == launch.DriverUID })
	})
	if i := slices.IndexFunc(pods, t.isDriver); i >= 0 {
		pods[0], pods[i] = pods[i], pods[0]
		t.driver = &pods[0]
	}
	return pods, list.Continue != "", nil
}

func (t *attempt) isDriver(pod corev1.Pod) bool { return pod.UID == t.record.Launch.DriverUID }

// nameMissing names the Pods that are missing.
func (t *attempt) nameMissing(truncated bool) {
	if t.driver == nil {
		why := "it was gone before the attempt was archived"
		if t.retried {
			why += ": the storage or the API server failed when it ended"
		}
		t.missing("driver Pod "+t.record.Launch.DriverPod, why)
	}
	if truncated {
		t.missing("further Pods", fmt.Sprintf("the attempt has more than %d Pods", maxPods))
	}
}

// describe returns the description of the application after the attempt.
func (t *attempt) describe() archive.Application {
	ended, description := t.ended.Time.UTC(), describe(t.app, t.namespace)
	description.Ended, description.Attempt, description.State, description.Message = &ended, t.ended.Attempt, t.ended.State, t.ended.Message
	if t.ended.End != nil {
		description.Outcome = t.ended.End.Outcome
	}
	return description
}

// describe returns the description of an application.
func describe(app *lookup.Subject, namespace types.UID) archive.Application {
	return archive.Application{
		Namespace: app.GetNamespace(), NamespaceUID: namespace, Resource: app.API.GroupResource().String(),
		APIVersion: app.API.GroupVersion().String(), Kind: app.API.Kind, Name: app.GetName(), UID: app.GetUID(),
		Labels: text.Entries(app.GetLabels(), archive.MaxLabels), Created: app.GetCreationTimestamp().UTC(),
	}
}

// store stores all parts, some of them at once.
func (t *attempt) store(ctx context.Context, pods []corev1.Pod) error {
	t.redactor = redact.For(t.encoded)
	object, err := redacted(t.redactor, t.app.API.GroupVersion().String(), t.app.API.Kind, t.encoded)
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
	do(func() error { return t.storeEvents(ctx) })
	do(func() error { return t.storeConfigMap(ctx) })
	for i := range pods {
		pod := &pods[i]
		do(func() error { return t.storePod(ctx, pod) })
		for _, log := range t.logsOf(pod, pod == t.driver) {
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
	t.manifest.Missing = append(t.manifest.Missing, missing(what, why))
}

// missing returns what the manifest says of something that could not be stored.
func missing(what, why string) archive.Missing {
	return archive.Missing{What: what, Why: redact.Text(text.Clip(why, maxReason))}
}

// object returns an object as JSON, with the secrets of the application in it replaced.
func (t *attempt) object(apiVersion, kind string, object metav1.Object) (map[string]any, error) {
	object.SetManagedFields(nil)
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	return redacted(t.redactor, apiVersion, kind, encoded)
}

// redacted returns an object from its JSON, with the secrets in it replaced.
func redacted(redactor *redact.Redactor, apiVersion, kind string, encoded []byte) (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	fields["apiVersion"], fields["kind"] = apiVersion, kind
	return redactor.Fields("", fields).(map[string]any), nil //nolint:forcetypeassert // it returns what it is given
}

func (t *attempt) putObject(ctx context.Context, file, kind, name string, object any) error {
	entry := archive.Object{File: file, Kind: kind, Name: name}
	if err := putObject(ctx, t.stored, entry, object); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.manifest.Objects = append(t.manifest.Objects, entry)
	return nil
}

// putObject stores content as an object of the manifest. entry is what the manifest says of it.
func putObject(ctx context.Context, stored *archive.Attempt, entry archive.Object, content any) error {
	encoded, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", entry.Kind, entry.Name, err)
	}
	return stored.Put(ctx, encoded, "objects", entry.File)
}

func (t *attempt) storeTransitions(ctx context.Context) error {
	items := slices.DeleteFunc(slices.Clone(t.record.Transitions), func(of v1alpha1.Transition) bool { return of.Attempt != t.ended.Attempt })
	return t.putObject(ctx, transitionsFile, "Transition", t.app.GetName(), map[string]any{"items": items})
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

func (t *attempt) storeConfigMap(ctx context.Context) error {
	if t.driver == nil {
		return nil
	}
	volumes := t.driver.Spec.Volumes
	i := slices.IndexFunc(volumes, func(volume corev1.Volume) bool { return volume.Name == confVolume && volume.ConfigMap != nil })
	if i < 0 {
		return nil
	}
	name := volumes[i].ConfigMap.Name
	configMap, err := t.core.ConfigMaps(t.app.GetNamespace()).Get(t.reading, name, metav1.GetOptions{})
	if err != nil {
		t.failed("ConfigMap "+name, err)
		return nil
	}
	// The executors' template may be here. It may come from a URL, with secrets that are not in the application.
	delete(configMap.Data, submission.PodTemplateKey)
	object, err := t.object("v1", "ConfigMap", configMap)
	if err != nil {
		return err
	}
	return t.putObject(ctx, "configmap-"+name+".json.gz", "ConfigMap", name, object)
}

// storeEvents stores the Kubernetes Events about the application and its driver.
func (t *attempt) storeEvents(ctx context.Context) error {
	items, truncated, err := t.happened.get(t.reading)
	switch {
	case errors.Is(err, errPanicked):
		return err
	case err != nil:
		t.failed(kubernetesEvents, err)
	case truncated:
		t.missing(kubernetesEvents, tooManyEvents)
	}
	return t.putObject(ctx, eventsFile, "Event", t.app.GetName(), describeEvents(items, t.redactor))
}

// annotate shows on the driver Pod that the attempt is archived, as its manifest says.
func (t *attempt) annotate(ctx context.Context, manifest *archive.Manifest) error {
	driver := t.driver
	if driver == nil {
		return nil
	}
	how := lifecycle.ArchivedWhole
	if len(manifest.Missing) > 0 || slices.ContainsFunc(manifest.Logs, func(log archive.Log) bool { return log.Missing != "" }) {
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
