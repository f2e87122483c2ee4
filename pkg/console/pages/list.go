package pages

import (
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The parameters of the list that are none of a query.
const (
	paramFormat = "format"
	paramAge    = "within"
)

// The sorts that pages ask for by themselves, and that of the costs.
const sortCreated, sortName, sortCost = "created", "name", "cost"

// column is a column of the list. Its header is a link that sorts by it, if it has a sort.
type column struct {
	Text, Class   string
	Href, Sorted  string // Sorted is ascending, descending or empty
	Icon          string
	sort, natural string // natural is the order that a first click asks for
}

// option is a value of a filter.
type option struct {
	Value, Text string
	Selected    bool
}

// picker is a filter with few values.
type picker struct {
	Label, Name string
	Options     []option
}

// filterView is the form above the list.
type filterView struct {
	Text, Namespace, Labels, User, Team, Cause, Schedule, State string
	Pickers                                                     []picker
	// More reports whether a filter is set that the form shows only when it is opened.
	More bool
	Sort string
	Asc  bool
}

type listView struct {
	Heading string
	// Done says what was done before; empty if nothing was. What was deleted has no page of its own.
	Done    string
	Filter  filterView
	Active  []link
	Clear   string
	Columns []column
	Rows    []rowView
	// Priced reports whether costs are known.
	Priced bool
	// First and Last number the rows of the page, of Total.
	First, Last, Total string
	Previous, Next     string
	CSV                string
	// Archive is the address of what is archived; empty if there is no archive.
	Archive string
	// Newer is how many rows were created after the page was first asked for, and Fresh the address that shows them.
	Newer string
	Fresh string
}

var columns = []column{
	{Text: "State", sort: "state", natural: "asc", Class: "c-state"},
	{Text: "Name", sort: "name", natural: "asc", Class: "c-name"},
	{Text: "Namespace", sort: "namespace", natural: "asc", Class: "c-namespace wide"},
	{Text: "Kind", Class: "c-kind wider"},
	{Text: "Team", Class: "c-team wider"},
	{Text: "User", Class: "c-user wider"},
	{Text: "Attempt", sort: "attempt", natural: "desc", Class: "num wide"},
	{Text: "Executors", sort: "executors", natural: "desc", Class: "num wide"},
	{Text: "Created", sort: "created", natural: "desc", Class: "num"},
	{Text: "Ran", sort: "duration", natural: "desc", Class: "num wide"},
	{Text: "Cost", sort: sortCost, natural: "desc", Class: "num wider"},
	{Text: "Why", Class: "c-why wide"},
}

// withins are the ages that the list can be narrowed down to.
var withins = []struct {
	name, text string
	length     time.Duration
}{{"1h", "last hour", time.Hour}, {"24h", "last 24 hours", 24 * time.Hour}, {"7d", "last 7 days", 7 * 24 * time.Hour}, {"30d", "last 30 days", 30 * 24 * time.Hour}}

// headings are the headings of lists, by the kind that they are narrowed down to.
var headings = map[overview.Kind]string{
	"": "Applications, schedules and clusters", overview.Application: "Applications", overview.Schedule: "Schedules", overview.Cluster: "Clusters",
}

// query reads the query of an address. An age becomes the beginning of a time.
func (v *view) query(now time.Time) (live.Query, error) {
	values := v.URL.Query()
	for name, value := range values { // a form sends its empty fields, too
		values[name] = slices.DeleteFunc(value, func(text string) bool { return strings.TrimSpace(text) == "" })
		if len(values[name]) == 0 {
			delete(values, name)
		}
	}
	query, err := live.ParseQuery(values, paramFormat, paramAge, act.ParamDone)
	if since := sinceOf(values.Get(paramAge), now); !since.IsZero() {
		query.Since = since
	}
	return query, err
}

func (s *Server) list(v *view) error {
	p := s.newPage(v.Request, "Applications", "applications")
	query, err := v.query(p.clock.now)
	if err != nil {
		return err
	}
	if v.URL.Query().Get(paramFormat) == "csv" {
		return s.csv(v, query)
	}
	s.viewed(p, v.viewer)
	// What was created later is counted and not shown, so that no row moves while a user reads.
	if query.AsOf.IsZero() {
		query.AsOf = p.clock.now.Truncate(time.Second)
	}
	found := s.options.Source.Page(v.see, query)
	p.follow(found.Cursor, nil)
	within := v.URL.Query().Get(paramAge)
	address := func(change func(url.Values)) string {
		values := query.Values()
		values.Del(live.ParamAsOf)
		if within != "" {
			values.Del(live.ParamSince)
			values.Set(paramAge, within)
		}
		change(values)
		return p.listed(values)
	}
	body := listView{
		Heading: headings[query.Noun], Done: done[act.Verb(v.URL.Query().Get(act.ParamDone))], Filter: filterOf(&query, within), Rows: p.rows(found.Rows), Total: number(int64(found.Total)), Clear: p.Prefix + "/applications",
		CSV: address(func(values url.Values) {
			values.Set(paramFormat, "csv")
			values.Del(live.ParamOffset)
		}),
	}
	body.Active = activeFilters(address, query.Values(), within)
	body.Priced = s.options.Source.Settings().Prices.Of(&live.Usage{}) != nil
	body.Columns = sortedColumns(address, &query, body.Priced)
	if v.viewer.Archive() != nil {
		body.Archive = p.archiveOf(body.Filter.oneNamespace(), query.Noun)
	}
	size := query.Limit
	if size == 0 {
		size = live.PageSize
	}
	at := func(offset int) string {
		return address(func(values url.Values) {
			values.Set(live.ParamAsOf, query.AsOf.UTC().Format(time.RFC3339))
			values.Del(live.ParamOffset)
			if offset > 0 {
				values.Set(live.ParamOffset, strconv.Itoa(offset))
			}
		})
	}
	p.Self = at(query.Offset)
	p.Here = address(func(url.Values) {})
	if len(found.Rows) > 0 {
		body.First, body.Last = number(int64(query.Offset+1)), number(int64(query.Offset+len(found.Rows)))
	}
	if query.Offset > 0 {
		body.Previous = at(max(query.Offset-size, 0))
	}
	if query.Offset+size < found.Total {
		body.Next = at(query.Offset + size)
	}
	if found.Newer > 0 {
		body.Newer = plural(found.Newer, "newer object", "newer objects")
		body.Fresh = address(func(values url.Values) { values.Del(live.ParamOffset) })
	}
	p.Announce = body.Total + " found"
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "list", p)
}

func filterOf(query *live.Query, within string) filterView {
	f := filterView{
		Text: query.Text, Namespace: strings.Join(query.Namespaces, ","), User: query.User, Team: query.Team, Cause: query.Cause, Schedule: query.Schedule,
		State: strings.Join(query.States, ","), Sort: query.Sort, Asc: query.Ascending,
	}
	if query.Labels != nil {
		f.Labels = query.Labels.String()
	}
	f.Pickers = []picker{
		pick("Outcome", live.ParamOutcome, "Any", texts(query.Outcomes), texts(live.Outcomes)),
		pick("Kind", live.ParamKind, "All", []string{string(query.Noun)}, texts(live.Nouns)),
		ages("Lived", within),
		pick("API", live.ParamResource, "All", query.Resources, live.ResourceNames()),
		pick("Special", live.ParamFlag, "Any", query.Flags, live.Flags),
	}
	f.More = f.Labels != "" || f.User != "" || f.Team != "" || f.Cause != "" || f.Schedule != "" || f.State != "" || len(query.Resources)+len(query.Flags) > 0
	return f
}

// oneNamespace returns the namespace that is chosen; empty if several are, or none is.
func (f *filterView) oneNamespace() string {
	if strings.Contains(f.Namespace, ",") {
		return ""
	}
	return f.Namespace
}

// pick returns a filter whose first value, in the words of all, selects everything.
func pick(label, name, all string, chosen, known []string) picker {
	p := picker{Label: label, Name: name, Options: []option{{"", all, !slices.ContainsFunc(chosen, func(value string) bool { return value != "" })}}}
	for _, value := range known {
		p.Options = append(p.Options, option{value, value, slices.Contains(chosen, value)})
	}
	return p
}

func texts[T ~string](values []T) []string {
	var all []string
	for _, value := range values {
		all = append(all, string(value))
	}
	return all
}

// activeFilters returns a link for each filter that is set, which removes it.
func activeFilters(address func(func(url.Values)) string, values url.Values, within string) []link {
	if within != "" {
		values.Set(paramAge, within)
		values.Del(live.ParamSince)
	}
	var active []link
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains([]string{live.ParamSort, live.ParamOrder, live.ParamOffset, live.ParamLimit, live.ParamAsOf}, name) {
			continue
		}
		for _, value := range values[name] {
			active = append(active, link{Text: name + ": " + value, Href: address(func(changed url.Values) {
				changed[name] = slices.DeleteFunc(slices.Clone(changed[name]), func(text string) bool { return text == value })
				changed.Del(live.ParamOffset)
			})})
		}
	}
	return active
}

// sortedColumns returns the headers. priced reports whether costs are known.
func sortedColumns(address func(func(url.Values)) string, query *live.Query, priced bool) []column {
	current := query.Sort
	if current == "" {
		current = sortCreated
	}
	var all []column
	for _, c := range columns {
		if c.sort == sortCost && !priced {
			continue
		}
		if c.sort == "" || !slices.Contains(live.Sorts(), c.sort) {
			all = append(all, c)
			continue
		}
		order := c.natural
		if c.sort == current {
			c.Sorted, c.Icon, order = "descending", "down", "asc"
			if query.Ascending {
				c.Sorted, c.Icon, order = "ascending", "up", "desc"
			}
		}
		c.Href = address(func(values url.Values) {
			values.Set(live.ParamSort, c.sort)
			values.Set(live.ParamOrder, order)
			values.Del(live.ParamOffset)
		})
		all = append(all, c)
	}
	return all
}

// maxCSV bounds the rows of a CSV file.
const maxCSV = 100_000

// csv writes all rows that a query selects.
func (s *Server) csv(v *view, query live.Query) error {
	v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	v.w.Header().Set("Content-Disposition", `attachment; filename="firesteel.csv"`)
	v.w.Header().Set("Cache-Control", "no-store")
	out := csv.NewWriter(v.w)
	header := []string{
		"namespace", "resource", "name", "uid", "kind", "outcome", "state", "attempt", "reason", "cause", "sentence", "team", "user", "created", "started", "ended",
		"executorsRunning", "executorsAsked", "coreSeconds", "mebibyteSeconds", "gpuSeconds", "cost", "currency",
	}
	_ = out.Write(header) // Error reports it
	query.Limit = live.MaxPageSize
	for query.Offset = 0; query.Offset < maxCSV; query.Offset += query.Limit {
		found := s.options.Source.Page(v.see, query)
		for _, r := range found.Rows {
			_ = out.Write(csvRow(r))
		}
		if out.Flush(); out.Error() != nil || len(found.Rows) < query.Limit {
			return nil // the client has left, or has all
		}
	}
	return nil
}

func csvRow(r *live.Row) []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	u, cost, currency := live.Usage{}, "", ""
	if r.Usage != nil {
		u = *r.Usage
	}
	if u.Cost != nil {
		cost, currency = strconv.FormatFloat(u.Cost.Total, 'f', -1, 64), u.Cost.Currency
	}
	row := []string{
		r.Namespace, r.Resource, r.Name, string(r.UID), string(r.Noun), string(r.Outcome), r.State, strconv.FormatInt(r.Attempt, 10), r.Reason, r.Cause, r.Sentence, r.Team,
		r.User, at(r.Created), at(r.Started), at(r.Ended), strconv.Itoa(r.Executors.Running), strconv.FormatInt(r.Executors.Asked, 10),
		strconv.FormatInt(u.CoreSeconds, 10), strconv.FormatInt(u.MebibyteSeconds, 10), strconv.FormatInt(u.GPUSeconds, 10), cost, currency,
	}
	for i := range row {
		row[i] = noFormula(row[i])
	}
	return row
}

// noFormula keeps a spreadsheet from running what a user wrote.
func noFormula(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) { // some spreadsheets read wide signs as the others
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}
