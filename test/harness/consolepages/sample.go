package consolepages

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/migration"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Now is the time of the sample.
var Now = time.Date(2026, 3, 4, 8, 30, 0, 0, time.UTC)

// The resources of the sample.
const (
	apacheApplications   = "sparkapplications.spark.apache.org"
	kubeflowApplications = "sparkapplications.sparkoperator.k8s.io"
	schedules            = "scheduledsparkapplications.sparkoperator.k8s.io"
	clusters             = api.Clusters
)

// Sample is a source of pages. Its zero value has no objects.
type Sample struct {
	// Rows is set before the first request.
	Rows  []*live.Row
	Stale time.Time
	// Reading reports whether not all was read yet.
	Reading bool
	details map[live.Ref]*live.Details
	// Changed receives what Follow publishes.
	Changed chan live.Changes

	mutex sync.Mutex
}

// rows returns the rows as they are now.
func (s *Sample) rows() []*live.Row {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.Rows)
}

// Viewer is somebody who may see everything but the hidden namespaces.
type Viewer struct {
	// Archived is the archive; nil if there is none.
	Archived *Archived
	// LogFails is the error at the end of each log; nil if logs end well.
	LogFails error
	over     atomic.Bool
	hidden   atomic.Pointer[[]string]
}

// Hide sets the namespaces that the viewer may not see.
func (v *Viewer) Hide(namespaces ...string) *Viewer {
	v.hidden.Store(&namespaces)
	return v
}

// End ends the session of the viewer.
func (v *Viewer) End() { v.over.Store(true) }

// Name returns the name of the viewer.
func (v *Viewer) Name() string { return "ada@example.org" }

// CSRF returns a fixed token.
func (v *Viewer) CSRF() string { return "csrf-token" }

// CanSignOut returns true.
func (v *Viewer) CanSignOut() bool { return true }

// Check returns an error after End.
func (v *Viewer) Check(context.Context) error {
	if v.over.Load() {
		return access.ErrUnauthenticated
	}
	return nil
}

// Visible returns the viewer.
func (v *Viewer) Visible(ctx context.Context) (live.Visible, error) { return v, v.Check(ctx) }

// Sees reports whether the viewer may see a namespace.
func (v *Viewer) Sees(namespace, _ string) bool {
	hidden := v.hidden.Load()
	return hidden == nil || !slices.Contains(*hidden, namespace)
}

// May reports whether the viewer may see the namespace of a right.
func (v *Viewer) May(_ context.Context, right access.Right) (bool, error) {
	return v.Sees(right.Namespace, ""), nil
}

// Buttons returns one harmless action, and one that is not.
func (v *Viewer) Buttons(context.Context, live.Ref, act.Status) []act.Button {
	return []act.Button{{Verb: act.Rerun, Title: "Run again"}, {Verb: act.Delete, Title: "Delete", Danger: true}}
}

// Offer returns an action on an object.
func (v *Viewer) Offer(_ context.Context, ref live.Ref, verb act.Verb) (*act.Offer, error) {
	if verb != act.Rerun {
		return nil, &pages.Refusal{Status: http.StatusNotFound, Message: "There is no such action."}
	}
	return &act.Offer{
		Button: act.Button{Verb: verb, Title: "Run again"}, Action: "/spark/actions/rerun", Effect: "Creates an application with the spec of " + ref.Name + ".",
		Fields: []act.Field{{Name: "name", Label: "Name", Help: "Empty: a random end.", Type: "text", MaxBytes: 253}, {Name: "set", Label: "Changes", Type: "textarea", Help: "One FIELD=VALUE a line."}},
		Hidden: []act.Field{{Name: "object", Value: ref.Name}},
	}, nil
}

// Identity returns the viewer.
func (v *Viewer) Identity() (pages.Identity, error) { return v, nil }

// Object returns an object with a secret.
func (v *Viewer) Object(_ context.Context, ref live.Ref, version string) (*unstructured.Unstructured, error) {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "spark.apache.org/" + version, "kind": "SparkApplication",
		"metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Name, "uid": "uid", "managedFields": []any{map[string]any{"manager": "kubectl"}}},
		"spec": map[string]any{
			"mainClass": "org.example.Revenue", "sparkConf": map[string]any{"spark.executor.instances": "4", "spark.hadoop.fs.s3a.secret.key": "abc12"},
			"driverArgs": []any{"--password", "correct-horse-battery"},
		},
		"status": map[string]any{"currentState": map[string]any{"currentStateSummary": "Failed", "message": "<script>alert(1)</script>"}},
	}}, nil
}

// Plan returns objects in each state, or how the driver of another operator differs.
func (v *Viewer) Plan(_ context.Context, ref live.Ref, _ string) (*pages.Plan, error) {
	switch ref.Namespace {
	case "legacy":
		return &pages.Plan{Foreign: true, Unread: []string{"the default priority class"}, Driver: []migration.DriverDifference{
			{Field: "spec.containers[spark-kubernetes-driver].image", Theirs: "spark:3.5.1", Ours: "spark:3.5.7", Meaning: "another image: check the image of the application and of the settings"},
			{Field: "metadata.annotations[sidecar.example.com/inject]", Theirs: "true", Ours: "(none)", Meaning: "an annotation that neither the application nor Spark sets: a webhook or the node adds it"},
		}}, nil
	case "ingest":
		return &pages.Plan{Problem: "You may not read the Pods, Services and ConfigMaps of the application, so nothing is compared."}, nil
	}
	driver := "pod/" + ref.Name + "-1-driver"
	return &pages.Plan{
		Warnings: []string{"spec.sparkConf[spark.driver.cores] has no effect: the driver has the cores of its container"},
		Unread:   []string{"the defaults of the namespace " + ref.Namespace},
		Objects: []pages.PlannedObject{
			{Name: "configmap/spark-drv-8d1c6e-conf-map", State: pages.Hidden},
			{Name: driver, State: pages.Differs, Text: "--- running/" + driver + "\n+++ planned/" + driver + "\n@@ -31,7 +31,7 @@\n   containers:\n   - args:\n     - driver\n" +
				"-    image: registry.example.com/spark:4.1.0\n+    image: registry.example.com/spark:4.1.1\n     name: spark-kubernetes-driver\n     resources:\n       limits:\n"},
			{Name: "service/" + ref.Name + "-1-svc", State: pages.AsPlanned},
			{Name: "networkpolicy/" + ref.Name + "-1-driver", State: pages.Absent, Text: "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: <script>alert(1)</script>\n"},
		},
	}, nil
}

// Events returns one Event.
func (v *Viewer) Events(_ context.Context, namespace, name string, uid types.UID) ([]corev1.Event, error) {
	return []corev1.Event{{
		Type: corev1.EventTypeWarning, Reason: "BackOff", Message: "Back-off pulling image of " + name, Count: 3, LastTimestamp: metav1.NewTime(ago(2 * time.Minute)),
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name, UID: uid},
	}}, nil
}

// Log returns as many lines as are asked for, or two hundred thousand.
func (v *Viewer) Log(_ context.Context, _, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	const all = 200_000
	first := 0
	if options.TailLines != nil {
		first = max(all-int(*options.TailLines), 0)
	}
	reader, writer := io.Pipe()
	go func() {
		out := bufio.NewWriter(writer)
		for i := first; i < all; i++ {
			level := "INFO"
			if i%10_000 == 0 {
				level = "ERROR"
			}
			if _, err := fmt.Fprintf(out, "26/03/04 08:08:%02d %s TaskSetManager: <b>%s</b> finished task %d.0 in stage 12.0 in 213 ms\n", i%60, level, pod, i); err != nil {
				return // the reader has enough
			}
		}
		_ = writer.CloseWithError(cmp.Or(out.Flush(), v.LogFails)) // nil closes it at its end
	}()
	return reader, nil
}

func ago(d time.Duration) time.Time { return Now.Add(-d) }

// Morning returns a sample with some objects in each state.
func Morning() *Sample {
	s := &Sample{details: map[live.Ref]*live.Details{}, Changed: make(chan live.Changes)}
	s.addFailed()
	s.addRunning()
	s.addWaiting()
	s.addPlain()
	s.addSchedules()
	s.addClusters()
	return s
}

// Hostile returns a sample whose texts are all the same, hostile one.
func Hostile(text string) *Sample {
	s := Morning()
	for i, row := range s.Rows {
		bad := *row
		bad.Labels = map[string]string{text: text}
		for _, field := range []*string{
			&bad.Namespace, &bad.Name, &bad.State, &bad.Reason, &bad.Cause, &bad.Sentence, &bad.Remedy, &bad.Command, &bad.Team, &bad.User, &bad.Schedule,
			&bad.DriverPod, &bad.ApplicationID,
		} {
			*field = text
		}
		if row.Runs != nil {
			runs := *row.Runs
			runs.Expression, runs.TimeZone, runs.LastName = text, text, text
			bad.Runs = &runs
		}
		bad.UID = types.UID(fmt.Sprintf("%s-%d", text, i))
		s.Rows[i] = &bad
		s.details[bad.Ref] = hostileDetails(&bad, s.details[row.Ref], text)
	}
	return s
}

func hostileDetails(row *live.Row, known *live.Details, text string) *live.Details {
	d := &live.Details{
		Row: row, Reasons: []live.Reason{{Cause: text, Summary: text, Evidence: text, Remedy: text, Command: text}},
		Conditions: []live.Condition{{Type: text, Status: text, Reason: text, Message: text}},
		Pods:       []live.Pod{{Name: text, UID: types.UID(text), Role: text, Phase: text, Reason: text, Message: text, Node: text}},
		Attempts: []live.Attempt{{Class: text, Reason: text, Message: text, ApplicationID: text, DriverPod: text, Began: ago(time.Minute), Transitions: []live.Transition{
			{Sequence: 1, At: ago(time.Minute), State: text, Outcome: live.Outcome(text), Message: text, WaitedFor: text, Event: text, EventType: text, Delivery: live.Delivery(text)},
		}}},
	}
	if known != nil {
		d.Executors = known.Executors
	}
	return d
}

// StaleSince returns Stale.
func (s *Sample) StaleSince() time.Time { return s.Stale }

// HasSynced returns whether all was read.
func (s *Sample) HasSynced() bool { return !s.Reading }

// Page returns the rows of a query that names namespaces, a kind, outcomes, a cause, a schedule, or a text.
func (s *Sample) Page(see live.Visible, query live.Query) live.Page {
	page := live.Page{Rows: []*live.Row{}, Cursor: 7}
	for _, row := range s.rows() {
		switch {
		case !see.Sees(row.Namespace, row.Resource),
			len(query.Namespaces) > 0 && !slices.Contains(query.Namespaces, row.Namespace),
			query.Noun != "" && query.Noun != row.Noun,
			len(query.Outcomes) > 0 && !slices.Contains(query.Outcomes, row.Outcome),
			query.Cause != "" && query.Cause != row.Cause, query.Schedule != "" && query.Schedule != row.Schedule,
			!strings.Contains(row.Name, query.Text):
			continue
		case !query.AsOf.IsZero() && row.Created.After(query.AsOf):
			page.Newer++
			continue
		}
		page.Rows = append(page.Rows, row)
	}
	slices.SortStableFunc(page.Rows, func(a, b *live.Row) int { return b.Created.Compare(a.Created) })
	page.Total = len(page.Rows)
	page.Rows = page.Rows[min(query.Offset, len(page.Rows)):]
	limit := query.Limit
	if limit == 0 {
		limit = live.PageSize
	}
	page.Rows = page.Rows[:min(limit, len(page.Rows))]
	return page
}

// Overview counts the rows.
func (s *Sample) Overview(see live.Visible, since time.Time) live.Overview {
	o := live.Overview{Namespaces: map[string]live.Counts{}, Teams: map[string]live.Counts{}, KnownSince: ago(7 * time.Hour), Cursor: 7}
	causes := map[string]*live.CauseCount{}
	for _, row := range s.rows() {
		if !see.Sees(row.Namespace, row.Resource) {
			continue
		}
		for _, counts := range []struct {
			all map[string]live.Counts
			key string
		}{{o.Namespaces, row.Namespace}, {o.Teams, row.Team}} {
			c := counts.all[counts.key]
			count(&c, row, since)
			counts.all[counts.key] = c
		}
		count(&o.Total, row, since)
		if row.Outcome == overview.Failed && row.Cause != "" {
			if causes[row.Cause] == nil {
				causes[row.Cause] = &live.CauseCount{Cause: row.Cause, Last: row}
			}
			causes[row.Cause].Count++
		}
		if row.Late(Now) > 0 {
			o.Late = append(o.Late, row)
		}
		if row.Undelivered(Now) > 0 {
			o.Undelivered = append(o.Undelivered, row)
		}
		o.Feed = append(o.Feed, live.FeedItem{
			Ref: row.Ref, Noun: row.Noun, UID: row.UID, Attempt: row.Attempt, At: row.Since, State: row.State, Outcome: row.Outcome, Message: row.Sentence,
		})
	}
	for _, cause := range causes {
		o.Causes = append(o.Causes, *cause)
	}
	slices.SortFunc(o.Causes, func(a, b live.CauseCount) int { return strings.Compare(a.Cause, b.Cause) })
	slices.SortStableFunc(o.Feed, func(a, b live.FeedItem) int { return b.At.Compare(a.At) })
	for i := range 84 {
		wave := []int{3, 4, 6, 9, 12, 10, 8, 9, 14, 18, 16, 11}[i%12]
		o.Series = append(o.Series, live.Load{At: ago(time.Duration(84-i) * 5 * time.Minute), Running: wave + i/9, Waiting: wave / 4})
	}
	return o
}

func count(c *live.Counts, row *live.Row, since time.Time) {
	if row.Noun == overview.Application {
		switch {
		case row.Outcome == overview.Running:
			c.Running++
		case row.Outcome == overview.Waiting:
			c.Waiting++
		case row.Ended.Before(since):
		case row.Outcome == overview.Failed:
			c.Failed++
		default:
			c.Succeeded++
		}
	}
	if row.Usage != nil && (row.Ended.IsZero() || !row.Ended.Before(since)) {
		c.Usage.CoreSeconds += row.Usage.CoreSeconds
		c.Usage.MebibyteSeconds += row.Usage.MebibyteSeconds
		c.Usage.GPUSeconds += row.Usage.GPUSeconds
		c.Usage.Cost = prices.Of(&c.Usage)
	}
	if row.Held != nil {
		c.Held++
		c.HeldResources = add(c.HeldResources, row.Held.Resources)
	}
	c.Requested = add(c.Requested, row.Requested)
	c.Undelivered += row.Undelivered(Now)
	if row.Late(Now) > 0 {
		c.Late++
	}
}

func add(a, b live.Resources) live.Resources {
	return live.Resources{MilliCPU: a.MilliCPU + b.MilliCPU, Mebibytes: a.Mebibytes + b.Mebibytes, GPUs: a.GPUs + b.GPUs}
}

// Details returns an application.
func (s *Sample) Details(ref live.Ref, pods bool) (*live.Details, bool) {
	for _, row := range s.rows() {
		if row.Ref != ref {
			continue
		}
		d := live.Details{Row: row, Cursor: 7}
		if known := s.details[ref]; known != nil {
			d = *known
		}
		if d.PodsHidden = !pods; d.PodsHidden {
			d.Pods = nil
		}
		return &d, true
	}
	return nil, false
}

// Schedule returns a schedule.
func (s *Sample) Schedule(see live.Visible, ref live.Ref) (*live.ScheduleDetails, bool) {
	for _, row := range s.rows() {
		if row.Ref == ref && row.Runs != nil {
			d := &live.ScheduleDetails{Row: row, Concurrency: "Forbid", Conditions: []live.Condition{{Type: "Scheduled", Status: "True", Reason: "Scheduled", Message: "The next run is known.", Since: ago(time.Hour)}}, Cursor: 7}
			for _, run := range s.Calendar(see, ago(7*24*time.Hour), Now) {
				if run.Schedule == ref {
					d.Runs = append(d.Runs, run)
				}
			}
			for i := range 3 {
				d.Next = append(d.Next, Now.Add(time.Duration(i*24)*time.Hour+30*time.Minute))
			}
			return d, true
		}
	}
	return nil, false
}

// Calendar returns the runs of the schedules.
func (s *Sample) Calendar(see live.Visible, from, until time.Time) []live.Run {
	var runs []live.Run
	for _, row := range s.rows() {
		if row.Runs == nil || !see.Sees(row.Namespace, row.Resource) {
			continue
		}
		for _, other := range s.rows() {
			if other.Schedule == row.Name && other.Namespace == row.Namespace && !other.Due.Before(from) && other.Due.Before(until) {
				runs = append(runs, live.Run{Schedule: row.Ref, Due: other.Due, Delay: other.Created.Sub(other.Due).Milliseconds(), Row: other})
			}
		}
		for at := row.Runs.Next; !at.IsZero() && at.Before(until); at = at.Add(24 * time.Hour) {
			runs = append(runs, live.Run{Schedule: row.Ref, Due: at})
		}
	}
	slices.SortStableFunc(runs, func(a, b live.Run) int { return a.Due.Compare(b.Due) })
	return runs
}

// Cluster returns a cluster.
func (s *Sample) Cluster(_ live.Visible, ref live.Ref, pods bool) (*live.ClusterDetails, bool) {
	for _, row := range s.rows() {
		if row.Ref != ref || row.Noun != overview.Cluster {
			continue
		}
		d := &live.ClusterDetails{Row: row, PodsHidden: !pods, Cursor: 7, Users: s.rows()[1:2]}
		if pods {
			d.Pods = []live.Pod{
				{Name: row.Name + "-master-0", UID: "m", Role: "master", Phase: "Running", Ready: true, Node: "node-a", Created: row.Created, Scheduled: row.Created, Started: row.Created.Add(time.Second)},
				{Name: row.Name + "-worker-0", UID: "w", Role: "worker", Number: "0", Phase: "Pending", Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient memory.", Created: row.Created},
			}
		}
		return d, true
	}
	return nil, false
}

// Settings returns the prices.
func (s *Sample) Settings() live.Settings {
	return live.Settings{Prices: prices}
}

// Follow calls a function with what is sent to Changed.
func (s *Sample) Follow(ctx context.Context, see func(context.Context) (live.Visible, error), _ uint64, each func(live.Changes) error) error {
	for {
		if _, err := see(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case changes := <-s.Changed:
			if err := each(changes); err != nil {
				return err
			}
		}
	}
}

// Replace replaces the row of an object.
func (s *Sample) Replace(row *live.Row) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := slices.IndexFunc(s.Rows, func(known *live.Row) bool { return known.Ref == row.Ref })
	s.Rows[at] = row
}
