package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// compareView is two applications side by side, or one and others that it may be compared with.
type compareView struct {
	A, B string
	// Chosen reports whether both were found.
	Chosen bool
	Rows   [2]rowView
	Facts  []compareRow
	States []compareRow
	// Spec are the fields of the specs that differ. Same is how many do not, and MoreSpec how many further ones differ; both may be empty.
	Spec           []compareRow
	Same, MoreSpec string
	// SpecProblem says why the specs cannot be compared; empty if they can.
	SpecProblem string
	// Others are other runs of the same job: their links compare them with the first application.
	Others []rowView
	// OthersProblem says what could not be read of them; empty if nothing.
	OthersProblem string
	// Archive is the address of what is archived of the namespace; empty if there is no archive, or nothing is chosen.
	Archive string
}

// compareRow is a line with what two applications have. Differs reports whether it is not the same.
type compareRow struct {
	Name    string
	A, B    string
	Differs bool
	// Bars are the shares of the longer of both, of a line with durations.
	Bars [2]float64
}

// side is one of two applications that are compared.
type side struct {
	*live.Details
	// object is it as the viewer may read it; nil if it cannot be read. problem says why.
	object  *unstructured.Unstructured
	problem string
}

// compare shows two applications, each of which is named as namespace/resource/name, or as namespace/resource/name/uid if it is gone.
func (s *Server) compare(v *view) error {
	p := s.newPage(v.Request, "Compare", "applications")
	s.viewed(p, v.viewer)
	ctx, cancel := context.WithTimeout(v.Context(), archiveTimeout)
	defer cancel()
	body := compareView{A: v.URL.Query().Get("a"), B: v.URL.Query().Get("b")}
	var both [2]*side
	for i, text := range []string{body.A, body.B} {
		if text == "" {
			continue
		}
		found, err := s.named(ctx, v, text)
		if err != nil {
			return err
		}
		both[i], body.Rows[i] = found, p.row(found.Row)
	}
	switch a, b := both[0], both[1]; {
	case a != nil && b != nil:
		body.Chosen = true
		body.Facts, body.States = p.compared(a.Details, b.Details), comparedStates(a.Details, b.Details)
		body.compareSpecs(a, b)
	case a != nil:
		s.offerOthers(ctx, v, p, &body, a.Row)
	}
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "compare", p)
}

// nameOf returns an application as compare names it. uid is empty if the one that is there is meant.
func nameOf(ref live.Ref, uid string) string {
	return strings.TrimSuffix(strings.Join([]string{ref.Namespace, ref.Resource, ref.Name, uid}, "/"), "/")
}

// compareWith returns the address that compares two applications, as nameOf names them. The second one may be empty.
func (p *page) compareWith(a, b string) string {
	values := url.Values{"a": {a}}
	if b != "" {
		values.Set("b", b)
	}
	return p.Prefix + "/compare?" + values.Encode()
}

// named returns the application that a parameter names: the one that is there, or else the one that the archive has.
func (s *Server) named(ctx context.Context, v *view, text string) (*side, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 && len(parts) != 4 {
		return nil, &live.ParameterError{Parameter: "the application", Value: text, Remedy: "write NAMESPACE/RESOURCE/NAME, such as etl/sparkapplications.spark.apache.org/daily"}
	}
	ref, uid := live.Ref{Namespace: parts[0], Resource: parts[1], Name: parts[2]}, strings.Join(parts[3:], "")
	pods, err := v.mayGet(ref)
	if err != nil {
		return nil, err
	}
	if noun, _ := live.NounOf(ref.Resource); noun != overview.Application {
		return nil, errNotFound
	}
	found, ok := s.options.Source.Details(ref, pods)
	if !ok || uid != "" && uid != string(found.Row.UID) {
		return s.namedInArchive(ctx, v, ref, uid)
	}
	identity, err := v.viewer.Identity()
	if err != nil {
		return nil, err
	}
	object, err := identity.Object(ctx, ref, versionOf(found.Row))
	if err != nil {
		return &side{Details: found, problem: err.Error()}, nil
	}
	return &side{Details: found, object: object}, nil
}

// namedInArchive returns an application as the archive has it.
func (s *Server) namedInArchive(ctx context.Context, v *view, ref live.Ref, uid string) (*side, error) {
	a, err := s.archivedApplication(ctx, v, ref, uid, "")
	if err != nil {
		return nil, err
	}
	found, _, err := s.archivedDetails(ctx, a, tabTimeline)
	if err != nil {
		return nil, err
	}
	last := a.lastWithObject()
	if last == nil {
		return &side{Details: found, problem: "the archive does not have the object"}, nil
	}
	object := &unstructured.Unstructured{}
	if err := a.Object(ctx, &a.Application, last.Attempt, fileOf(last, a.Kind), &object.Object); err != nil {
		return nil, absent(err)
	}
	return &side{Details: found, object: object}, nil
}

// compareSpecs compares the specs of two applications.
func (body *compareView) compareSpecs(a, b *side) {
	for i, one := range []*side{a, b} {
		if one.object == nil {
			body.SpecProblem = "The object of " + body.Rows[i].Name + " cannot be read: " + one.problem
			return
		}
	}
	rows, same := comparedFields(fieldsOf(a.object), fieldsOf(b.object))
	shown := rows[:min(len(rows), maxComparedFields)]
	if body.Spec = shown; len(rows) > len(shown) {
		body.MoreSpec = plural(len(rows)-len(shown), "further field differs", "further fields differ")
	}
	if same > 0 {
		body.Same = plural(same, "field is the same", "fields are the same")
	}
}

const (
	// maxOthers bounds the runs that are offered.
	maxOthers = 10
	// maxSiblings is how many of the last applications with a name alike are looked at.
	maxSiblings = live.MaxPageSize
)

// offerOthers offers other runs of the same job, the last one that succeeded before it first.
func (s *Server) offerOthers(ctx context.Context, v *view, p *page, body *compareView, row *live.Row) {
	offer := func(other *live.Row, uid string) {
		view := p.row(other)
		view.Href = p.compareWith(body.A, nameOf(other.Ref, uid))
		body.Others = append(body.Others, view)
	}
	known := s.siblings(v, row)
	for _, other := range known {
		offer(other, "")
	}
	store := v.viewer.Archive()
	if store == nil {
		return
	}
	body.Archive = p.archiveOf(row.Namespace, overview.Application)
	if len(body.Others) == maxOthers {
		return
	}
	gone, err := goneSiblings(ctx, store, row, known)
	if problem, ok := explained(err); ok {
		body.OthersProblem = "Runs that are gone are not shown: " + problem
	} else if err != nil {
		body.OthersProblem = "Runs that are gone are not shown: the archive does not answer. The log of the console says why."
		s.options.Logger.Errorw("archive cannot be listed", "namespace", row.Namespace, "error", err)
	}
	for _, other := range gone[:min(len(gone), maxOthers-len(body.Others))] {
		offer(other, string(other.UID))
	}
}

// siblings returns other runs of the same job that the viewer sees: those of its schedule, or else those whose names begin alike. The last one that succeeded
// before it is the first.
func (s *Server) siblings(v *view, row *live.Row) []*live.Row {
	query := live.Query{Filter: live.Filter{Noun: overview.Application, Namespaces: []string{row.Namespace}, Schedule: row.Schedule}, Limit: maxSiblings}
	if row.Schedule == "" {
		query.Text = stemOf(row.Name)
	}
	others := slices.Clone(s.options.Source.Page(v.see, query).Rows)
	others = slices.DeleteFunc(others, func(other *live.Row) bool {
		return other.Ref == row.Ref || row.Schedule == "" && stemOf(other.Name) != stemOf(row.Name)
	})
	if good := lastGood(others, row); good > 0 {
		other := others[good]
		others = slices.Insert(slices.Delete(others, good, good+1), 0, other)
	}
	return others[:min(len(others), maxOthers)]
}

// goneSiblings returns runs of the same job that succeeded and that only the archive has, the newest first. known are those that are there.
func goneSiblings(ctx context.Context, store Archive, row *live.Row, known []*live.Row) ([]*live.Row, error) {
	found, err := store.List(ctx, row.Namespace, api.Filter{Resource: row.Resource, Limit: archivePage}, "")
	if err != nil {
		return nil, err
	}
	var gone []*live.Row
	for i := range found.Items {
		app := &archived{Details: &api.Details{Application: found.Items[i]}, noun: overview.Application}
		other := app.described().Row
		isKnown := other.UID == row.UID || slices.ContainsFunc(known, func(r *live.Row) bool { return r.UID == other.UID })
		if !isKnown && other.Outcome == overview.Succeeded && stemOf(other.Name) == stemOf(row.Name) {
			gone = append(gone, other)
		}
	}
	return gone, nil
}

// lastGood returns the index of the newest of some runs that succeeded and was created before another one; negative if there is none. The newest is the first.
func lastGood(runs []*live.Row, before *live.Row) int {
	return slices.IndexFunc(runs, func(run *live.Row) bool {
		return run.Outcome == overview.Succeeded && run.Created.Before(before.Created)
	})
}

// stemOf returns what the names of the runs of a job have in common: the parts of a name before the first one with a digit, such as daily-revenue of
// daily-revenue-20260304; or else the first part.
func stemOf(name string) string {
	parts := strings.Split(name, "-")
	end := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, "0123456789") })
	if end < 0 {
		return name
	}
	return strings.Join(parts[:max(end, 1)], "-")
}

// compared returns the facts of two applications.
func (p *page) compared(a, b *live.Details) []compareRow {
	line := func(name string, of func(*live.Details) string) compareRow {
		row := compareRow{Name: name, A: of(a), B: of(b)}
		row.Differs = row.A != row.B
		return row
	}
	used := func(of func(*live.Usage) string) func(*live.Details) string {
		return func(d *live.Details) string {
			if d.Row.Usage == nil {
				return "–"
			}
			return of(d.Row.Usage)
		}
	}
	rows := []compareRow{
		line("State", func(d *live.Details) string { return d.Row.State }),
		line("Reason", func(d *live.Details) string { return cmp.Or(d.Row.Sentence, "–") }),
		line("Last attempt", func(d *live.Details) string { return attemptOf(d.Row.Attempt) }),
		line("Created", func(d *live.Details) string { return p.clock.ago(d.Row.Created).Exact }),
		line("Ran", func(d *live.Details) string { return short(d.Row.Duration(p.clock.now)) }),
		line("Executors asked", func(d *live.Details) string { return number(d.Row.Executors.Asked) }),
		line("Executors at most", used(func(u *live.Usage) string { return number(u.PeakExecutors) })),
		line("Core-hours", used(func(u *live.Usage) string { return hours(u.CoreSeconds) })),
		line("GiB-hours", used(func(u *live.Usage) string { return gibibyteHours(u.MebibyteSeconds) })),
	}
	if gpuSeconds(a)+gpuSeconds(b) > 0 {
		rows = append(rows, line("GPU-hours", used(func(u *live.Usage) string { return hours(u.GPUSeconds) })))
	}
	if costOf(a.Row.Usage)+costOf(b.Row.Usage) != "" {
		rows = append(rows, line("Cost", used(costOf)))
	}
	return rows
}

func gpuSeconds(d *live.Details) float64 {
	if d.Row.Usage == nil {
		return 0
	}
	return float64(d.Row.Usage.GPUSeconds)
}

// comparedStates returns how long each state lasted in the last attempts, in the order in which they were passed.
func comparedStates(a, b *live.Details) []compareRow {
	sums := [2]map[string]int64{{}, {}}
	var order []string
	for i, details := range []*live.Details{a, b} {
		if len(details.Attempts) == 0 {
			continue
		}
		for _, t := range details.Attempts[len(details.Attempts)-1].Transitions {
			if ended(t.Outcome) {
				continue // it lasts for ever
			}
			if !slices.Contains(order, t.State) {
				order = append(order, t.State)
			}
			sums[i][t.State] += t.Lasted
		}
	}
	var longest int64 = 1
	for _, state := range order {
		longest = max(longest, sums[0][state], sums[1][state])
	}
	var rows []compareRow
	for _, state := range order {
		row := compareRow{Name: state, A: lasted(sums[0], state), B: lasted(sums[1], state)}
		for i := range sums {
			row.Bars[i] = float64(sums[i][state]) / float64(longest)
		}
		const same = 1.1 // a tenth is chance
		low, high := min(sums[0][state], sums[1][state]), max(sums[0][state], sums[1][state])
		row.Differs = float64(high) > float64(low)*same && time.Duration(high)*time.Millisecond > time.Second
		rows = append(rows, row)
	}
	return rows
}

func lasted(sums map[string]int64, state string) string {
	sum, ok := sums[state]
	if !ok {
		return "not passed"
	}
	return precise(sum)
}
