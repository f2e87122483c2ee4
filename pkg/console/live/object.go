package live

import (
	"bytes"
	"cmp"
	"compress/flate"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/internal/intern"
	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

const (
	// maxSource bounds the compressed object. Of a larger one, the spec is not kept.
	maxSource = 64 << 10
	// maxMessage bounds the message of a transition in the feed, and maxLabel the value that names a team or a user.
	maxMessage, maxLabel = 256, 63
	// maxLabels bounds the labels of a row.
	maxLabels = 64
)

// Settings are those of config-console that rows depend on.
type Settings struct {
	// TeamLabel and UserLabel are the labels, or else the annotations, whose values are the team and the user of an object.
	TeamLabel, UserLabel string
	Prices               Prices
}

// object is what is kept of an object. It is never changed.
type object struct {
	// ObjectMeta has only what an informer needs: namespace, name, UID and resource version.
	metav1.ObjectMeta
	row *Row
	// source is the object as it was read, compressed, without its managed fields. Without a spec if that was too large; nil if all was.
	source []byte
	// pods is the label of its Pods; zero if it has none.
	pods podKey
	// feed are its last transitions, and lastSequence is the number of the last one.
	feed         []feedItem
	lastSequence int64
	// spans are when its attempts waited and ran.
	spans []span
	// master is the host of the Spark master that the driver connects to; empty if it is the API server.
	master string
	// clock computes the runs of a schedule; nil for other kinds, and for a schedule that is refused.
	clock *schedule.Clock
	// found holds the texts that a search finds, in lower case.
	found string
}

// feedItem is a transition with its number.
type feedItem struct {
	FeedItem
	sequence int64
}

// span is when an application waited, or ran, once.
type span struct {
	from time.Time
	// until is zero while it lasts.
	until   time.Time
	running bool
}

// newItems returns the transitions after a sequence.
func (o *object) newItems(after int64) (items []FeedItem) {
	for _, item := range o.feed {
		if item.sequence > after {
			items = append(items, item.FeedItem)
		}
	}
	return items
}

// newObject reads an object. One that cannot be read has a row that says so.
func newObject(source *unstructured.Unstructured, resource string, settings Settings, now time.Time) *object {
	writer := source.GetManagedFields()
	source.SetManagedFields(nil)
	o := &object{ObjectMeta: metav1.ObjectMeta{
		Namespace: intern.Text(source.GetNamespace()), Name: source.GetName(), UID: source.GetUID(), ResourceVersion: source.GetResourceVersion(),
	}}
	read, err := overview.Read(source)
	if err != nil {
		o.row = unreadable(source, resource, err)
		o.found = strings.ToLower(o.row.Name)
		return o
	}
	o.row = newRow(read, resource, settings)
	switch read.Kind {
	case overview.Application:
		o.readApplication(read, settings, now)
	case overview.Cluster:
		o.readCluster(read, now)
	case overview.Schedule:
		o.readSchedule(read, now)
	}
	if selector := read.PodSelector(); selector != "" {
		label, value, _ := strings.Cut(selector, "=")
		o.pods = podKey{o.Namespace, intern.Text(label), value}
	}
	row := o.row
	intern.Set(&row.State, &row.Reason, &row.Cause, &row.Sentence, &row.Remedy, &row.Team, &row.User, &row.Schedule)
	o.found = strings.ToLower(strings.Join([]string{row.Name, row.State, row.Reason, row.Cause, row.DriverPod, row.ApplicationID}, "\n"))
	source.SetManagedFields(lastWriter(writer))
	o.source = compress(source)
	return o
}

// unreadable returns the row of an object that cannot be read.
func unreadable(source *unstructured.Unstructured, resource string, err error) *Row {
	noun, _ := NounOf(resource)
	return &Row{
		Ref:        Ref{source.GetNamespace(), resource, source.GetName()},
		APIVersion: source.GetAPIVersion(), Kind: source.GetKind(), Noun: noun, UID: source.GetUID(), ResourceVersion: source.GetResourceVersion(),
		State: "Unreadable", Outcome: overview.Waiting, Attempt: -1, Sentence: text.Clip(redact.Text(err.Error()), maxMessage), Created: source.GetCreationTimestamp().UTC(),
	}
}

// lastWriter returns the entry of the managed fields that names the last writer of the status, without the fields.
func lastWriter(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var last []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" && (last == nil || entry.Time != nil && (last[0].Time == nil || last[0].Time.Before(entry.Time))) {
			entry.FieldsV1 = nil
			last = []metav1.ManagedFieldsEntry{entry}
		}
	}
	return last
}

func newRow(read *overview.Object, resource string, settings Settings) *Row {
	source := read.Source
	row := &Row{
		Ref:        Ref{intern.Text(read.Namespace()), resource, read.Name()},
		APIVersion: intern.Text(source.GetAPIVersion()), Kind: intern.Text(source.GetKind()), Noun: read.Kind,
		UID: source.GetUID(), ResourceVersion: source.GetResourceVersion(), Labels: someLabels(source.GetLabels()),
		Team: labelOf(source, settings.TeamLabel), User: labelOf(source, settings.UserLabel),
		State: read.StateName(), Outcome: read.Phase, Over: read.Over(), Attempt: read.Attempt, Reason: read.ShortReason(),
		Deleting: source.GetDeletionTimestamp() != nil, Foreign: read.Inherited,
		Created: source.GetCreationTimestamp().UTC(), Since: read.Since.UTC(), DriverPod: read.DriverPod,
	}
	if read.ExecutorsKnown {
		row.Executors.Running = read.Executors
	}
	return row
}

func someLabels(all map[string]string) map[string]string {
	return intern.Map(text.Entries(all, maxLabels))
}

// labelOf returns the value of a label, or else of an annotation.
func labelOf(source *unstructured.Unstructured, name string) string {
	if name == "" {
		return ""
	}
	return text.Clip(cmp.Or(source.GetLabels()[name], source.GetAnnotations()[name]), maxLabel)
}

func (o *object) readApplication(read *overview.Object, settings Settings, now time.Time) {
	row, record := o.row, read.Record
	row.Schedule, row.Due = scheduleOf(read)
	if record != nil {
		o.readRecord(read, record, settings.Prices)
	}
	if row.Over && row.Outcome == overview.Succeeded {
		return
	}
	facts := read.Facts(now, overview.Pods{}, nil, "")
	row.Suspended = facts.Suspended
	o.master = masterOf(facts.Properties)
	if !row.Over {
		row.Executors.Asked, row.Executors.Most = read.AskedExecutors()
	}
	row.explain(read.Why(facts))
}

// explain takes the first reason, unless the object goes on in spite of it.
func (r *Row) explain(reasons []why.Reason) {
	if len(reasons) == 0 || reasons[0].Beside {
		return
	}
	first := reasons[0]
	r.Cause, r.Sentence, r.Remedy = string(first.Cause), first.Summary, first.Remedy
	r.Command = first.Command(r.Namespace, r.Resource+"/"+r.Name)
}

func (o *object) readRecord(read *overview.Object, record *v1alpha1.Record, prices Prices) {
	row := o.row
	if launch := record.Launch; launch != nil {
		row.ApplicationID = launch.ApplicationID
	}
	if end := outbox.LastEnd(record); end != nil {
		row.Ended = end.Time.UTC()
	} else if row.Outcome == overview.Failed || row.Outcome == overview.Succeeded {
		row.Ended = outbox.Current(record).Time.UTC()
	}
	for i := range record.Transitions {
		t := &record.Transitions[i]
		if t.Attempt == record.Attempt.ID && row.Started.IsZero() && lifecycle.State(t.State).DriverRuns() {
			row.Started = t.Time.UTC()
		}
		if t.Sequence > record.Acknowledged && !read.Inherited {
			row.Unacknowledged++
			if row.UnacknowledgedSince.IsZero() {
				row.UnacknowledgedSince = t.Time.UTC()
			}
		}
	}
	row.RejectedEvents = record.Rejected
	if record.Usage != nil {
		row.Usage = usageOf(&record.Usage.Total, prices)
	}
	if claim := record.Quota; claim != nil && claim.Reserved == nil && lifecycle.CurrentState(record).Initializing() {
		row.Held = heldOf(claim)
	}
	o.readTransitions(read, record)
}

// readTransitions makes the feed and the spans.
func (o *object) readTransitions(read *overview.Object, record *v1alpha1.Record) {
	outcomes := overview.Phases(record)
	row := o.row
	for i := range record.Transitions {
		t, at := &record.Transitions[i], record.Transitions[i].Time.UTC()
		o.lastSequence = max(o.lastSequence, t.Sequence)
		if !read.Inherited && len(record.Transitions)-i <= maxItems {
			o.feed = append(o.feed, feedItem{FeedItem{
				Ref: row.Ref, Noun: row.Noun, UID: row.UID, Attempt: t.Attempt, At: at, State: intern.Text(t.State), Outcome: outcomes[i],
				Message: intern.Text(text.Clip(messageOf(t), maxMessage)),
			}, t.Sequence})
		}
		if row.Noun != overview.Application {
			continue
		}
		ended := outcomes[i] == overview.Succeeded || outcomes[i] == overview.Failed || t.End != nil
		if last := len(o.spans) - 1; last >= 0 && o.spans[last].until.IsZero() {
			if !ended && o.spans[last].running == (outcomes[i] == overview.Running) {
				continue
			}
			o.spans[last].until = at
		}
		if !ended {
			o.spans = append(o.spans, span{from: at, running: outcomes[i] == overview.Running})
		}
	}
}

// messageOf returns the text that explains a transition.
func messageOf(t *v1alpha1.Transition) string {
	if t.End != nil && t.End.Message != "" {
		return t.End.Message
	}
	return t.Message
}

func usageOf(used *v1alpha1.Usage, prices Prices) *Usage {
	if used == nil {
		return nil
	}
	total := &Usage{PeakExecutors: used.PeakExecutors, GapSeconds: used.GapSeconds}
	for _, part := range []*v1alpha1.PodUsage{used.Driver, used.Executors} {
		if part != nil {
			total.CoreSeconds = add(total.CoreSeconds, part.CoreMilliseconds/1000)
			total.MebibyteSeconds = add(total.MebibyteSeconds, part.MebibyteSeconds)
			total.GPUSeconds = add(total.GPUSeconds, part.GPUSeconds)
		}
	}
	total.Cost = prices.Of(total)
	return total
}

// heldOf returns what an attempt asks for that waits for its quota.
func heldOf(claim *v1alpha1.QuotaClaim) *Held {
	held := &Held{Since: claim.Since.UTC()}
	for _, pods := range claim.Pods {
		count := min(max(pods.Count, 0), 1<<31)
		of := func(name string, unit int64) int64 { return times(max(pods.Usage[name], 0), count) / unit }
		held.Pods = add(held.Pods, count)
		held.Resources = held.Resources.plus(Resources{
			MilliCPU: of("requests.cpu", 1), Mebibytes: of("requests.memory", 1000<<20), GPUs: gpusOf(pods.Usage, count),
		})
	}
	return held
}

func gpusOf(asked map[string]int64, count int64) (gpus int64) {
	for name, amount := range asked {
		if resource, found := strings.CutPrefix(name, "requests."); found && usage.IsGPU(resource) {
			gpus = add(gpus, times(max(amount, 0), count)/1000)
		}
	}
	return gpus
}

// times multiplies two numbers that are not negative.
func times(a, b int64) int64 {
	const most = 1 << 62
	if a > 0 && b > most/a {
		return most
	}
	return a * b
}

// scheduleOf returns the schedule that started an application, and the time that the run is for.
func scheduleOf(read *overview.Object) (name string, due time.Time) {
	for _, kind := range variant.All {
		if kind.Runs.Group != read.Group() {
			continue
		}
		if owner, owned := kind.Owner(read.Source); owned {
			return owner.Name, variant.InstantOf(read.Source)
		}
	}
	return "", time.Time{}
}

const masterScheme = "spark://"

// masterOf returns the host of the Spark master that properties name; empty if they name none.
func masterOf(properties map[string]string) string {
	for _, key := range []string{"spark.kubernetes.driver.master", "spark.master"} {
		if address, found := strings.CutPrefix(properties[key], masterScheme); found {
			host, _, _ := strings.Cut(address, ":")
			return host
		}
	}
	return ""
}

func (o *object) readCluster(read *overview.Object, now time.Time) {
	if read.Record != nil {
		o.readTransitions(read, read.Record)
	}
	o.row.Started = o.row.Since
	o.row.explain(read.Why(read.Facts(now, overview.Pods{}, nil, "")))
	if workers := int64(read.AskedWorkers()); workers > 0 {
		o.row.Executors.Asked = workers
	}
}

func (o *object) readSchedule(read *overview.Object, now time.Time) {
	s := read.Typed.(variant.Schedule)
	spec, status := s.GetSchedule(), s.GetScheduleStatus()
	policy := variant.KindOf(s).PolicyOf(s, now)
	o.clock = policy.Clock
	runs := &Runs{Expression: text.Clip(spec.Schedule, maxMessage), TimeZone: text.Clip(spec.TimeZone, maxLabel), LastName: status.LastRunName, Missed: status.MissedRuns}
	if o.clock != nil {
		runs.TimeZone = o.clock.Zone().String()
	}
	if status.NextRun != nil {
		runs.Next = status.NextRun.UTC()
	}
	if status.LastRun != nil {
		runs.Last = status.LastRun.UTC()
	}
	if record := status.Firesteel; record != nil {
		runs.Active = len(record.Active)
	}
	o.row.Runs, o.row.Suspended = runs, policy.Suspended
	o.row.explain(read.Why(read.Facts(now, overview.Pods{}, nil, "")))
	if o.row.Sentence == "" && read.Phase != overview.Running {
		o.row.Sentence = text.Clip(read.Message, maxMessage)
	}
}

// compressors are reused: each has tables of several 100 KiB. The garbage collector would empty a sync.Pool.
var compressors = make(chan *flate.Writer, 4)

func takeCompressor() *flate.Writer {
	select {
	case w := <-compressors:
		return w
	default:
		w, _ := flate.NewWriterDict(nil, flate.BestSpeed, dictionary) // the level is valid
		return w
	}
}

func returnCompressor(w *flate.Writer) {
	select {
	case compressors <- w:
	default: // there are enough
	}
}

// dictionary holds what most objects contain.
var dictionary = []byte(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"annotations":{},"creationTimestamp":"2026-` +
	`","finalizers":["firesteel.dev/"],"generation":1,"labels":{"app.kubernetes.io/"},"name":"","namespace":"","ownerReferences":[],"resourceVersion":"","uid":""}` +
	`,"spec":{"driver":{"coreLimit":"","cores":1,"memory":"512m","serviceAccount":"spark"},"executor":{"cores":1,"instances":2,"memory":"512m"},"image":"` +
	`","mainApplicationFile":"local:///opt/spark/examples/jars/spark-examples.jar","mainClass":"org.apache.spark.examples.SparkPi","mode":"cluster","restartPolicy":` +
	`{"type":"Never"},"sparkConf":{"spark.":""},"sparkVersion":"4.1.0","type":"Scala"},"status":{"applicationState":{"state":"COMPLETED"},"conditions":[{"lastTransitionTime":"` +
	`","message":"","observedGeneration":1,"reason":"","status":"True","type":"Succeeded"}],"driverInfo":{"podName":"-driver"},"executionAttempts":1,"firesteel":{"acknowledged":` +
	`,"attempt":{"id":0,"since":"","spec":{"generation":1,"hash":"","hashVersion":1}},"format":1,"launch":{"applicationID":"spark-","driverPod":"","driverUID":"","id":""},` +
	`"sequence":,"transitions":[{"attempt":0,"message":"","sequence":1,"state":"Submitted","time":""},{"state":"DriverRequested","driverPod":""},{"state":"DriverStarted"},` +
	`{"state":"DriverReady"},{"state":"RunningHealthy"},{"end":{"exitCode":0,"outcome":"Succeeded","reason":"Completed"},"outcome":"Succeeded","state":"Succeeded"},` +
	`{"state":"ResourceReleased"}],"usage":{"attempts":[{"applicationID":"","attempt":0,"countedAt":"","driverEnded":true,"driverPod":"","driverUID":"","ended":{"driver":` +
	`{"coreMilliseconds":,"mebibyteSeconds":,"seconds":},"executors":{"coreMilliseconds":,"mebibyteSeconds":,"seconds":},"peakExecutors":},"endedExecutors":"1-2","running":{}}],"total":{}}}}}`)

// compress returns an object without what is too large; nil if all is.
func compress(source *unstructured.Unstructured) []byte {
	for _, without := range []string{"", "spec", "status"} {
		if without != "" {
			delete(source.Object, without)
		}
		if compressed, err := deflate(source); err == nil && len(compressed) <= maxSource {
			return compressed
		}
	}
	return nil
}

func deflate(source *unstructured.Unstructured) ([]byte, error) {
	encoded, err := source.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var into bytes.Buffer
	w := takeCompressor()
	defer returnCompressor(w)
	w.Reset(&into)
	if _, err := w.Write(encoded); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(into.Bytes()), nil
}

// read returns the object again. It fails if it was too large to be kept.
func (o *object) read() (*overview.Object, error) {
	if o.source == nil {
		return nil, fmt.Errorf("%s/%s is too large", o.Namespace, o.Name)
	}
	encoded, err := io.ReadAll(flate.NewReaderDict(bytes.NewReader(o.source), dictionary))
	if err != nil {
		return nil, err
	}
	source := &unstructured.Unstructured{}
	if err := source.UnmarshalJSON(encoded); err != nil {
		return nil, err
	}
	return overview.Read(source)
}
