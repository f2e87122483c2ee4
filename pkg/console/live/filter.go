package live

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Query selects rows, sorts them, and says which of them are wanted. The zero value is the first page of all rows, the newest first.
type Query struct {
	Filter
	// Sort is one of Sorts; empty for created. Ascending turns the order round.
	Sort      string
	Ascending bool
	// Offset is how many rows are left out before the page, Limit how many it has: PageSize if it is 0.
	Offset, Limit int
}

// Filter selects rows. Each field that is not zero must match.
type Filter struct {
	// Namespaces, Resources, States and Outcomes hold the accepted values. States are compared without case.
	Namespaces []string
	Resources  []string
	States     []string
	Outcomes   []Outcome
	Noun       overview.Kind
	Labels     labels.Selector
	Team, User string
	// Schedule is the name of the schedule that started the application, Cause that of a cause.
	Schedule, Cause string
	// Text is a part of the name, the state, the reason, the driver Pod or the application ID, without case.
	Text string
	// Since and Until select the objects that existed, or applications that had not ended, at some time between both.
	Since, Until time.Time
	// AsOf leaves objects out that were created later: these are only counted, so that a page does not jump.
	AsOf time.Time
	// Flags select rows with something special: held, late, undelivered, suspended, deleting, foreign.
	Flags []string
}

const (
	// PageSize is the usual number of rows of a page.
	PageSize = 100
	// MaxPageSize is the highest number of rows of a page.
	MaxPageSize = 500
	// maxOffset bounds the rows before a page, and maxValues the values of a parameter.
	maxOffset, maxValues = 1_000_000, 64
)

// The names of the parameters of a query.
const (
	ParamNamespace = "namespace"
	ParamResource  = "resource"
	ParamKind      = "kind"
	ParamState     = "state"
	ParamOutcome   = "outcome"
	ParamLabels    = "labelSelector"
	ParamTeam      = "team"
	ParamUser      = "user"
	ParamSchedule  = "schedule"
	ParamCause     = "cause"
	ParamText      = "text"
	ParamSince     = "since"
	ParamUntil     = "until"
	ParamAsOf      = "asOf"
	ParamFlag      = "flag"
	ParamSort      = "sort"
	ParamOrder     = "order"
	ParamOffset    = "offset"
	ParamLimit     = "limit"
)

// Params are the names of all parameters of a query.
var Params = []string{
	ParamNamespace, ParamResource, ParamKind, ParamState, ParamOutcome, ParamLabels, ParamTeam, ParamUser, ParamSchedule, ParamCause, ParamText,
	ParamSince, ParamUntil, ParamAsOf, ParamFlag, ParamSort, ParamOrder, ParamOffset, ParamLimit,
}

// The values of the parameters that have few.
var (
	Outcomes = []Outcome{overview.Waiting, overview.Running, overview.Succeeded, overview.Failed}
	Nouns    = []overview.Kind{overview.Application, overview.Cluster, overview.Schedule}
	Flags    = []string{FlagHeld, FlagLate, FlagUndelivered, FlagSuspended, FlagDeleting, FlagForeign}
)

// The flags.
const (
	FlagHeld        = "held"
	FlagLate        = "late"
	FlagUndelivered = "undelivered"
	FlagSuspended   = "suspended"
	FlagDeleting    = "deleting"
	FlagForeign     = "foreign"
)

// ParameterError is a parameter that cannot be read.
type ParameterError struct{ Parameter, Value, Remedy string }

// Error names the parameter, its value and the remedy.
func (e *ParameterError) Error() string {
	const most = 64
	return fmt.Sprintf("%s is %.*q: %s", e.Parameter, most, e.Value, e.Remedy)
}

// ParseQuery reads the parameters of an address. A parameter may be there several times, or have several values with commas between them.
// others are names of parameters that the caller reads itself. Its error is a *ParameterError.
func ParseQuery(values url.Values, others ...string) (Query, error) {
	for name := range values {
		if !slices.Contains(Params, name) && !slices.Contains(others, name) {
			return Query{}, &ParameterError{"the parameter", name, "write one of " + strings.Join(Params, ", ")}
		}
	}
	p := parser{values: values}
	query := Query{
		Filter: Filter{
			Namespaces: p.list(ParamNamespace), Resources: p.oneOf(ParamResource, ResourceNames()), States: p.list(ParamState),
			Outcomes: convert[Outcome](p.oneOf(ParamOutcome, texts(Outcomes))), Flags: p.oneOf(ParamFlag, Flags),
			Labels: p.selector(ParamLabels), Team: p.text(ParamTeam), User: p.text(ParamUser), Schedule: p.text(ParamSchedule),
			Cause: p.text(ParamCause), Text: p.text(ParamText), Since: p.time(ParamSince), Until: p.time(ParamUntil), AsOf: p.time(ParamAsOf),
		},
		Offset: p.number(ParamOffset, 0, maxOffset), Limit: p.number(ParamLimit, 1, MaxPageSize),
	}
	if nouns := p.oneOf(ParamKind, texts(Nouns)); len(nouns) == 1 {
		query.Noun = overview.Kind(nouns[0])
	} else if len(nouns) > 1 {
		p.fail(ParamKind, values.Get(ParamKind), "write one kind")
	}
	if sorts := p.oneOf(ParamSort, Sorts()); len(sorts) > 0 {
		query.Sort = sorts[0]
	}
	if orders := p.oneOf(ParamOrder, []string{"asc", "desc"}); len(orders) > 0 {
		query.Ascending = orders[0] == "asc"
	}
	return query, p.err
}

// Values returns the parameters of an address from which ParseQuery reads the query.
func (q Query) Values() url.Values {
	values := url.Values{}
	add := func(name string, all ...string) {
		for _, value := range all {
			if value != "" {
				values.Add(name, value)
			}
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, t.UTC().Format(time.RFC3339))
		}
	}
	add(ParamNamespace, q.Namespaces...)
	add(ParamResource, q.Resources...)
	add(ParamKind, string(q.Noun))
	add(ParamState, q.States...)
	add(ParamOutcome, texts(q.Outcomes)...)
	if q.Labels != nil {
		add(ParamLabels, q.Labels.String())
	}
	add(ParamTeam, q.Team)
	add(ParamUser, q.User)
	add(ParamSchedule, q.Schedule)
	add(ParamCause, q.Cause)
	add(ParamText, q.Text)
	at(ParamSince, q.Since)
	at(ParamUntil, q.Until)
	at(ParamAsOf, q.AsOf)
	add(ParamFlag, q.Flags...)
	add(ParamSort, q.Sort)
	if q.Ascending {
		add(ParamOrder, "asc")
	}
	if q.Offset > 0 {
		add(ParamOffset, strconv.Itoa(q.Offset))
	}
	if q.Limit > 0 {
		add(ParamLimit, strconv.Itoa(q.Limit))
	}
	return values
}

// parser reads parameters, and keeps the first error.
type parser struct {
	values url.Values
	err    error
}

func (p *parser) fail(name, value, remedy string) {
	if p.err == nil {
		p.err = &ParameterError{name, value, remedy}
	}
}

func (p *parser) text(name string) string { return strings.TrimSpace(p.values.Get(name)) }

func (p *parser) list(name string) []string {
	var list []string
	for _, value := range p.values[name] {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(list, part) {
				list = append(list, part)
			}
			if len(list) > maxValues {
				p.fail(name, value, fmt.Sprintf("write at most %d values", maxValues))
				return nil
			}
		}
	}
	return list
}

func (p *parser) oneOf(name string, known []string) []string {
	list := p.list(name)
	for _, value := range list {
		if !slices.Contains(known, value) {
			p.fail(name, value, "write one of "+strings.Join(known, ", "))
		}
	}
	return list
}

func (p *parser) selector(name string) labels.Selector {
	text := p.text(name)
	if text == "" {
		return nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		p.fail(name, text, "write a selector such as team=reports")
		return nil
	}
	return selector
}

func (p *parser) time(name string) time.Time {
	text := p.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.fail(name, text, "write a time such as 2026-01-31T12:00:00Z")
	}
	return at
}

func (p *parser) number(name string, least, most int) int {
	text := p.text(name)
	if text == "" {
		return 0
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		p.fail(name, text, fmt.Sprintf("write a number from %d to %d", least, most))
		return 0
	}
	return number
}

func convert[T ~string](list []string) []T {
	var converted []T
	for _, value := range list {
		converted = append(converted, T(value))
	}
	return converted
}

func texts[T ~string](list []T) []string {
	var converted []string
	for _, value := range list {
		converted = append(converted, string(value))
	}
	return converted
}
