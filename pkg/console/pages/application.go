package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The tabs of an application, the first one by default.
const (
	tabTimeline  = "timeline"
	tabExecutors = "executors"
	tabPods      = "pods"
	tabEvents    = "events"
	tabYAML      = "yaml"
	tabLogs      = "logs"
	tabPlan      = "plan"
)

// The parameter with which a page that is open asks for what surrounds its slow part: the part stays as it is.
const paramPart, partHead = "part", "head"

type conditionView struct {
	Type, Status, Reason, Message string
	Since                         instant
}

type podView struct {
	ID                  string
	Name, Role, Node    string
	Status              status
	Reason, Message     string
	Exit, Restarts      string
	Created             instant
	Requests            string
	Took, WaitedForNode string
	Earlier             bool
}

// podStatuses are the statuses of Pods, by their phases.
var podStatuses = map[string]status{
	"Running": outcomes[overview.Running], "Pending": outcomes[overview.Waiting], "Succeeded": outcomes[overview.Succeeded], "Failed": outcomes[overview.Failed],
}

type transitionView struct {
	ID        string
	Sequence  string
	At        instant
	Status    status
	Lasted    string
	WaitedFor string
	Message   string
	Event     string
	EventType string
	Delivery  status
}

type attemptView struct {
	Number      string
	Status      status
	Began       instant
	Took        string
	Exit        string
	Class       string
	Usage       string
	Transitions []transitionView
}

// usageRow is a line of what an application used.
type usageRow struct{ Name, Amount, Cost string }

type applicationView struct {
	Row     rowView
	Kind    string
	Section link
	// Compare is the address that compares it with another application, and CompareText what its link says; both are empty if it is a cluster.
	Compare, CompareText string
	Actions              *actionsView
	// Archived is set if the page shows what the archive has. Archive is the address of that page; empty if there is no archive.
	Archived *archivedView
	Archive  string
	Tabs     []link
	Tab      string
	Reasons  []live.Reason
	Facts    []factView
	Timeline timeline
	Drawn    bool
	Attempts []attemptView
	// NoRecord says why there are no attempts.
	NoRecord   string
	Earlier    bool
	Conditions []conditionView
	Pods       []podView
	PodsHidden bool
	Executors  chart
	Counts     []fact
	Usage      []usageRow
	Priced     bool
	Gap        string
	Peak       string
	// Kubernetes are the Kubernetes Events, Manifest is the object, Plan what differs, Log a log. Only their tabs have them.
	Kubernetes *eventsView
	Manifest   *manifestView
	Plan       *planView
	Log        *logView
}

// factView is a fact about an application, maybe with a link or a time.
type factView struct {
	Name, Text, Href string
	Time             instant
	// Lasts reports whether the time is the beginning of what lasts.
	Lasts bool
	// Mono reports whether it is an identifier.
	Mono bool
	// Note is a sentence about it; empty if there is nothing more to say.
	Note string
}

func (s *Server) application(v *view) error {
	ref := v.refOf()
	pods, err := v.mayGet(ref)
	if err != nil {
		return err
	}
	found, ok := s.options.Source.Details(ref, pods)
	if uid := v.URL.Query().Get(paramUID); !ok || v.URL.Query().Get(paramFrom) == fromArchive || uid != "" && uid != string(found.Row.UID) {
		if !ok {
			return s.archived(v, ref, nil)
		}
		return s.archived(v, ref, found.Row)
	}
	p := s.newPage(v.Request, ref.Name, "applications")
	s.viewed(p, v.viewer)
	p.follow(found.Cursor, narrowed(ref))
	row := found.Row
	body := applicationView{
		Row: p.row(row), Kind: row.Kind, Section: p.linkTo(sectionOf(overview.Application)),
		Reasons: found.Reasons, Facts: p.facts(row), Earlier: found.Earlier, PodsHidden: found.PodsHidden, NoRecord: "Nothing happened yet: the status has no record of transitions.",
	}
	if row.Foreign {
		body.NoRecord = "Another operator runs it: its status has no record of transitions."
	}
	body.Compare, body.CompareText = s.comparison(v, p, row)
	if !row.Started.IsZero() {
		body.Facts = append(body.Facts, s.sparkUI(v, ref, !row.Ended.IsZero(), nil)...)
	}
	if body.Actions, err = p.actions(v, row); err != nil {
		return err
	}
	href := p.Prefix + hrefOf(overview.Application, ref)
	if v.viewer.Archive() != nil {
		body.Archive = href + "?" + url.Values{paramFrom: {fromArchive}, paramUID: {string(row.UID)}}.Encode()
	}
	body.Tabs, body.Tab = tabs(append(slices.Clone(archivedTabs), tab{tabPlan, "Plan"}), v.URL.Query().Get("tab"), href, nil)
	switch body.Tab {
	case tabEvents:
		body.Attempts = p.attempts(found.Attempts)
		body.Kubernetes, err = p.kubernetesEvents(v, row, found.Pods)
	case tabYAML:
		p.slow()
		body.Manifest, err = s.manifest(v, row)
	case tabPlan:
		p.slow()
		body.Plan, err = s.plan(v, row)
	case tabLogs:
		p.slow()
		p.Scripts = []string{"logs.js"}
		body.Log, err = s.logOf(v, row, found.Pods, found.PodsHidden, href)
	default:
		body.known(p, row, found, found.Conditions)
	}
	if err != nil {
		return err
	}
	p.Announce = fmt.Sprintf("%s: %s", ref.Name, row.State)
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "application", p)
}

// known adds what the tabs show that read nothing more than the details of an application. row and conditions are the last ones of it.
func (body *applicationView) known(p *page, row *live.Row, found *live.Details, conditions []live.Condition) {
	switch body.Tab {
	case tabExecutors:
		p.Scripts = []string{"charts.js"}
		body.Executors = executorsChart(found.Executors, cmp.Or(row.Ended, p.clock.now))
		body.usage(row)
	case tabPods:
		body.Pods = p.pods(found.Pods)
	default:
		body.Timeline, body.Drawn = timelineOf(found.Attempts, p.clock.now)
		body.Attempts = p.attempts(found.Attempts)
		body.Conditions = p.conditions(conditions)
	}
}

// compareOne is the link to the page on which another application is chosen.
const compareOne = "Compare"

// comparison returns the address that compares an application with another one, and what its link says: one that failed is compared with the last good run.
func (s *Server) comparison(v *view, p *page, row *live.Row) (href, text string) {
	self := nameOf(row.Ref, "")
	if row.Outcome == overview.Failed {
		if others := s.siblings(v, row); lastGood(others, row) == 0 {
			return p.compareWith(self, nameOf(others[0].Ref, "")), "Compare with the last good run"
		}
	}
	return p.compareWith(self, ""), compareOne
}

// sparkUI returns the fact that leads to Spark's UI: the driver's or, when that is gone, the History Server's. There is none if the console serves none.
func (s *Server) sparkUI(v *view, ref live.Ref, over bool, parameters url.Values) []factView {
	if s.options.SparkUI == nil {
		return nil
	}
	path, note := s.options.SparkUI(v.Request, ref, over)
	if path == "" {
		return nil
	}
	if len(parameters) > 0 {
		path += "?" + parameters.Encode()
	}
	return []factView{{Name: "Spark UI", Text: "Open", Href: s.options.Prefix() + path, Note: note}}
}

// tab is a tab of an application's page.
type tab struct{ name, text string }

// archivedTabs are those of an application that the archive has. One that exists also has its plan.
var archivedTabs = []tab{
	{tabTimeline, "Timeline"}, {tabLogs, "Logs"}, {tabPods, "Pods"}, {tabEvents, "Events"}, {tabExecutors, "Executors and usage"}, {tabYAML, "YAML"},
}

// tabs returns links to the tabs of an application's page, and the wanted one, or else the first. keep are further parameters of its address.
func tabs(known []tab, wanted, href string, keep url.Values) (tabs []link, current string) {
	current = tabTimeline
	for _, tab := range known {
		if tab.name == wanted {
			current = wanted
		}
	}
	for _, tab := range known {
		address := href + "?tab=" + tab.name
		if len(keep) > 0 {
			address += "&" + keep.Encode()
		}
		tabs = append(tabs, link{tab.text, address, tab.name == current})
	}
	return tabs, current
}

// facts returns what is said of an application beside its state.
func (p *page) facts(r *live.Row) []factView {
	ran := short(r.Duration(p.clock.now))
	if !r.Started.IsZero() && r.Ended.IsZero() {
		ran += " so far"
	}
	cost := "Cost so far"
	if r.Over {
		cost = "Cost"
	}
	all := []factView{
		{Name: "Created", Time: p.clock.ago(r.Created)},
		{Name: "In this state for", Time: p.clock.ago(r.Since), Lasts: true},
		{Name: "Ran", Text: ran},
		{Name: "Attempt", Text: attemptOf(r.Attempt)},
		{Name: "Executors", Text: executorsText(r.Executors)},
		{Name: "Requests", Text: resources(r.Requested)},
		{Name: cost, Text: costOf(r.Usage)},
		{Name: "Team", Text: r.Team, Href: p.listed(url.Values{live.ParamTeam: {r.Team}})},
		{Name: "User", Text: r.User, Href: p.listed(url.Values{live.ParamUser: {r.User}})},
		{Name: "Schedule", Text: r.Schedule, Href: p.listed(url.Values{live.ParamSchedule: {r.Schedule}, live.ParamNamespace: {r.Namespace}})},
		{Name: "Due", Time: p.clock.ago(r.Due)},
		{Name: "Driver Pod", Text: r.DriverPod, Mono: true},
		{Name: "Application ID", Text: r.ApplicationID, Mono: true},
		{Name: "Undelivered events", Text: zero(r.Undelivered(p.clock.now))},
		{Name: "Refused events", Text: zero(int(r.RejectedEvents))},
	}
	if r.Held != nil {
		all = append(all, factView{Name: "Held since", Time: p.clock.ago(r.Held.Since)}, factView{Name: "Asks for", Text: cmp.Or(resources(r.Held.Resources), "–")})
	}
	return knownFacts(all)
}

// knownFacts returns the facts that have a value.
func knownFacts(all []factView) []factView {
	return slices.DeleteFunc(all, func(f factView) bool { return (f.Text == "" || f.Text == "–") && f.Time.Machine == "" })
}

// zero returns a number; empty for none.
func zero(n int) string {
	if n == 0 {
		return ""
	}
	return number(int64(n))
}

func executorsText(e live.Executors) string {
	var words []string
	for _, part := range []struct {
		n    int
		word string
	}{{e.Running, "running"}, {e.Pending, "pending"}, {e.Lost, "lost"}} {
		if part.n > 0 {
			words = append(words, strconv.Itoa(part.n)+" "+part.word)
		}
	}
	text := strings.Join(words, ", ")
	if e.Asked > 0 {
		text = cmp.Or(text, "none") + " of " + number(e.Asked) + " asked"
	}
	if e.Most > e.Asked {
		text += ", at most " + number(e.Most)
	}
	return text
}

func (p *page) attempts(attempts []live.Attempt) []attemptView {
	var views []attemptView
	for i := range slices.Backward(attempts) {
		a := &attempts[i]
		end := a.Ended
		if end.IsZero() {
			end = p.clock.now
		}
		view := attemptView{
			Number: strconv.FormatInt(a.Attempt, 10), Status: statusOf(a.Outcome, ""), Began: p.clock.exact(a.Began), Took: precise(end.Sub(a.Began).Milliseconds()),
			Class: a.Class,
		}
		if a.ExitCode != nil {
			view.Exit = strconv.Itoa(int(*a.ExitCode))
		}
		if a.Usage != nil {
			view.Usage = usageText(a.Usage)
		}
		for at := range a.Transitions {
			view.Transitions = append(view.Transitions, p.transition(&a.Transitions[at]))
		}
		views = append(views, view)
	}
	return views
}

var deliveries = map[live.Delivery]status{
	live.Delivered:       {Icon: "succeeded", Tone: "succeeded", Word: "delivered"},
	live.DeliveryPending: {Icon: "waiting", Tone: "waiting", Word: "pending"},
	live.DeliveryUnknown: {Icon: "deleted", Tone: "waiting", Word: "unknown"},
}

func (p *page) transition(t *live.Transition) transitionView {
	view := transitionView{
		ID: fmt.Sprintf("transition-%d", t.Sequence), Sequence: strconv.FormatInt(t.Sequence, 10), At: p.clock.exact(t.At), Status: statusOf(t.Outcome, t.State),
		Lasted: precise(t.Lasted), WaitedFor: t.WaitedFor, Message: t.Message, Event: t.Event, EventType: t.EventType, Delivery: deliveries[t.Delivery],
	}
	if ended(t.Outcome) && t.WaitedFor == "" {
		view.Lasted = "–" // nothing lasts any more
	}
	return view
}

// amountOf returns usage in words.
func amountOf(u *live.Usage) string {
	text := fmt.Sprintf("%s core-hours, %s GiB-hours", hours(u.CoreSeconds), gibibyteHours(u.MebibyteSeconds))
	if u.GPUSeconds > 0 {
		text += fmt.Sprintf(", %s GPU-hours", hours(u.GPUSeconds))
	}
	return text
}

func usageText(u *live.Usage) string {
	text := amountOf(u)
	if cost := costOf(u); cost != "" {
		text += ", " + cost
	}
	return text
}

// costOf returns what usage costs altogether; empty if that is not known.
func costOf(u *live.Usage) string {
	if u == nil || u.Cost == nil {
		return ""
	}
	return money(u.Cost.Total, u.Cost.Currency)
}

// usage adds what an application used and what it costs.
func (body *applicationView) usage(r *live.Row) {
	if body.Archived == nil {
		body.Counts = []fact{
			{"Asked", number(r.Executors.Asked)}, {"Running", number(int64(r.Executors.Running))}, {"Pending", number(int64(r.Executors.Pending))},
			{"Lost", number(int64(r.Executors.Lost))}, {"Requested now", cmp.Or(resources(r.Requested), "nothing")},
		}
	}
	u := r.Usage
	if u == nil {
		return
	}
	cost := u.Cost
	body.Priced = cost != nil
	if cost == nil {
		cost = &live.Cost{}
	}
	body.Usage = []usageRow{
		{"Core-hours", hours(u.CoreSeconds), money(cost.Cores, cost.Currency)}, {"GiB-hours", gibibyteHours(u.MebibyteSeconds), money(cost.Memory, cost.Currency)},
	}
	if u.GPUSeconds > 0 {
		body.Usage = append(body.Usage, usageRow{"GPU-hours", hours(u.GPUSeconds), money(cost.GPUs, cost.Currency)})
	}
	if body.Priced {
		body.Usage = append(body.Usage, usageRow{"Together", "", money(cost.Total, cost.Currency)})
	}
	if u.PeakExecutors > 0 {
		body.Peak = number(u.PeakExecutors)
	}
	if u.GapSeconds > 0 {
		body.Gap = short(time.Duration(u.GapSeconds) * time.Second)
	}
}

func (p *page) conditions(conditions []live.Condition) []conditionView {
	var views []conditionView
	for _, c := range conditions {
		views = append(views, conditionView{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Since: p.clock.ago(c.Since)})
	}
	return views
}

func (p *page) pods(pods []live.Pod) []podView {
	var views []podView
	for i := range pods {
		pod := &pods[i]
		view := podView{
			ID: "pod-" + string(pod.UID), Name: pod.Name, Role: strings.TrimSpace(pod.Role + " " + pod.Number), Node: cmp.Or(pod.Node, "–"), Reason: pod.Reason, Message: pod.Message,
			Restarts: strconv.Itoa(int(pod.Restarts)), Created: p.clock.ago(pod.Created), Requests: cmp.Or(resources(pod.Requests), "–"), Earlier: pod.Earlier, Took: "–", WaitedForNode: "–",
		}
		var known bool
		if view.Status, known = podStatuses[pod.Phase]; !known {
			view.Status = status{Icon: "deleted", Tone: "waiting"}
		}
		view.Status.State = pod.Phase
		if pod.Phase == "Running" && !pod.Ready {
			view.Status.State = "Running, not ready"
		}
		if pod.ExitCode != nil {
			view.Exit = strconv.Itoa(int(*pod.ExitCode))
		}
		if !pod.Scheduled.IsZero() {
			view.WaitedForNode = precise(pod.Scheduled.Sub(pod.Created).Milliseconds())
		}
		if !pod.Started.IsZero() {
			end := pod.Ended
			if end.IsZero() {
				end = p.clock.now
			}
			view.Took = short(end.Sub(pod.Started))
		}
		views = append(views, view)
	}
	return views
}
