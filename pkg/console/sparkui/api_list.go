package sparkui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// info is an application as Spark's REST API has it.
type info struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Attempts []attempt `json:"attempts"`
}

type attempt struct {
	StartTime        string `json:"startTime"`
	EndTime          string `json:"endTime"`
	LastUpdated      string `json:"lastUpdated"`
	Duration         int64  `json:"duration"`
	SparkUser        string `json:"sparkUser"`
	Completed        bool   `json:"completed"`
	AppSparkVersion  string `json:"appSparkVersion"`
	StartTimeEpoch   int64  `json:"startTimeEpoch"`
	EndTimeEpoch     int64  `json:"endTimeEpoch"`
	LastUpdatedEpoch int64  `json:"lastUpdatedEpoch"`
}

const (
	// maxLists bounds the lists that are made at once, and maxListsOfReader those of one reader: the History Server makes one of all applications for each.
	// Each reader may have one, also beyond maxLists.
	maxLists, maxListsOfReader = 16, 2
	// maxLogged bounds what is logged of an application, in bytes.
	maxLogged = 128
)

// sparkTime is how Spark writes times, and sparkDate how it reads days.
const sparkTime, sparkDate = "2006-01-02T15:04:05.000GMT", "2006-01-02"

// id returns the ID that the History Server has for a run whose sidecar sends the event log. Others have it in this API, too, while they run.
func (r *Run) id(namespace types.UID) string {
	return history.SentID(archive.EventLog{Attempt: r.Attempt, ID: archive.ID{
		Namespace: archive.Namespace{Name: r.Namespace, UID: namespace}, Resource: r.Resource + "." + r.Group, Name: r.Name, UID: r.UID,
	}})
}

// infoOf describes a run.
func (s *SparkUIs) infoOf(id string, run *Run) info {
	now := s.Clock.Now().UTC()
	const unknown = -1
	return info{ID: id, Name: run.Name, Attempts: []attempt{{
		StartTime: run.Started.UTC().Format(sparkTime), EndTime: time.UnixMilli(unknown).UTC().Format(sparkTime), LastUpdated: now.Format(sparkTime),
		Duration: now.Sub(run.Started).Milliseconds(), SparkUser: run.User, StartTimeEpoch: run.Started.UnixMilli(), EndTimeEpoch: unknown, LastUpdatedEpoch: now.UnixMilli(),
	}}}
}

// selection are the parameters of a list, as Spark has them.
type selection struct {
	running            bool
	minStart, maxStart time.Time
	limit              int
}

// selectionOf reads the parameters of a list.
func (s *SparkUIs) selectionOf(values url.Values) (selection, error) {
	wanted := selection{running: true, maxStart: time.Unix(1<<40, 0)}
	var maxEnd time.Time
	for name, at := range map[string]*time.Time{"minDate": &wanted.minStart, "maxDate": &wanted.maxStart, "minEndDate": nil, "maxEndDate": &maxEnd} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		read, err := time.Parse(sparkTime, text)
		if err != nil {
			read, err = time.Parse(sparkDate, text)
		}
		if err != nil {
			return wanted, invalid(name, text, "write a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00.000GMT")
		}
		if at != nil {
			*at = read
		}
	}
	for _, status := range values["status"] {
		if !strings.EqualFold(status, "running") && !strings.EqualFold(status, "completed") {
			return wanted, invalid("status", status, "write running or completed")
		}
	}
	wanted.running = len(values["status"]) == 0 || slices.ContainsFunc(values["status"], func(status string) bool { return strings.EqualFold(status, "running") })
	if !maxEnd.IsZero() && !maxEnd.After(s.Clock.Now()) {
		wanted.running = false // it has not ended by then
	}
	if text := values.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 {
			return wanted, invalid("limit", text, "write a number above 0")
		}
		wanted.limit = limit
	}
	return wanted, nil
}

func invalid(parameter, value, remedy string) error {
	const most = 64
	return &apiError{http.StatusBadRequest, "BadRequest", fmt.Sprintf("%s is %.*q: %s", parameter, most, value, remedy)}
}

// list answers with the applications that run, of which no driver is asked, and then with those of the History Server.
func (s *SparkUIs) list(w http.ResponseWriter, r *http.Request, reader console.Reader) error {
	wanted, err := s.selectionOf(r.URL.Query())
	if err != nil {
		return err
	}
	release, ok := s.lists.TryAcquire(reader.Name())
	if !ok {
		return access.ErrBusy
	}
	defer release()
	l := &listing{s: s, ctx: r.Context(), reader: reader, uids: map[string]types.UID{}, logs: map[string]bool{}, sent: map[string]bool{}, limit: wanted.limit, w: w}
	if wanted.running {
		if err := l.running(wanted); err != nil {
			return err
		}
	}
	if s.HistoryServer() != "" && !l.full() {
		if err := l.past(r.URL.Query()); err != nil {
			if l.count == 0 {
				return err
			}
			s.Logger.Errorw("list broken off", "error", err)
			panic(http.ErrAbortHandler) // the client sees that the end is missing
		}
	}
	l.end()
	return nil
}

// listing writes a list while it is made.
type listing struct {
	s      *SparkUIs
	ctx    context.Context //nolint:containedctx // it is that of the request that the listing answers
	reader console.Reader
	w      http.ResponseWriter
	// uids are those of the namespaces that live; empty for one that does not. logs are the namespaces whose logs may be read.
	uids map[string]types.UID
	logs map[string]bool
	// sent are the IDs of those that run, and those that the History Server may have for them.
	sent         map[string]bool
	limit, count int
}

func (l *listing) full() bool { return l.limit > 0 && l.count >= l.limit }

// add writes an application, which is JSON.
func (l *listing) add(app []byte) error {
	before := ",\n"
	if l.count == 0 {
		l.w.Header().Set("Content-Type", "application/json")
		before = "["
	}
	l.count++
	if _, err := io.WriteString(l.w, before); err != nil {
		return err
	}
	_, err := l.w.Write(app)
	return err
}

func (l *listing) end() {
	text := "]\n"
	if l.count == 0 {
		l.w.Header().Set("Content-Type", "application/json")
		text = "[]\n"
	}
	_, _ = io.WriteString(l.w, text) // the client has left
}

// uid returns the uid of a namespace that lives; empty for none.
func (l *listing) uid(namespace string) (types.UID, error) {
	if uid, known := l.uids[namespace]; known {
		return uid, nil
	}
	living, err := l.reader.Namespace(l.ctx, namespace)
	if err != nil && !errors.Is(err, console.ErrNoNamespace) {
		return "", err
	}
	l.uids[namespace] = living.UID
	return living.UID, nil
}

// running adds the applications whose drivers run.
func (l *listing) running(wanted selection) (failed error) {
	err := l.s.Runs.Running(l.ctx, l.reader, func(run Run) bool {
		if run.Started.Before(wanted.minStart) || run.Started.After(wanted.maxStart) {
			return true
		}
		uid, err := l.uid(run.Namespace)
		if err == nil && uid != "" {
			id := run.id(uid)
			l.sent[id] = true
			if driver, found := l.s.Drivers.Driver(run.Ref); found && driver.UID == run.UID && driver.ApplicationID != "" {
				for _, written := range history.WrittenIDs(run.Namespace, driver.ApplicationID) { // its own event log, as far as it is written
					l.sent[written] = true
				}
			}
			var app []byte
			if app, err = json.Marshal(l.s.infoOf(id, &run)); err == nil {
				err = l.add(app)
			}
		}
		failed = err
		return err == nil && !l.full()
	})
	return errors.Join(err, failed)
}

// mayReadLogs reports whether the reader may read logs in a namespace.
func (l *listing) mayReadLogs(namespace string) (bool, error) {
	if may, known := l.logs[namespace]; known {
		return may, nil
	}
	may, err := access.Allowed(l.reader.Check(l.ctx, logsRight(namespace)))
	if err == nil {
		l.logs[namespace] = may
	}
	return may, err
}

// past adds the applications of the History Server that the reader may read. The History Server sends those of all: one at a time is in memory, and one that is too large is left out.
func (l *listing) past(parameters url.Values) error {
	parameters.Del("limit")                                                                                                                   // it counts what the reader may not read
	request, err := http.NewRequestWithContext(l.ctx, http.MethodGet, l.s.HistoryServer()+SparkAPI+"/applications?"+parameters.Encode(), nil) //nolint:gosec // the address is that of the settings, and what clients write follows it
	if err != nil {
		return err
	}
	answer, err := l.s.transport.RoundTrip(request)
	if err != nil {
		return &apiError{http.StatusBadGateway, "BadGateway", "the History Server does not answer: try again"}
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	if answer.StatusCode != http.StatusOK {
		return &apiError{http.StatusBadGateway, "BadGateway", "the History Server answers " + answer.Status}
	}
	all := &elements{in: bufio.NewReader(answer.Body)}
	for !l.full() {
		app, isWhole, err := all.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !isWhole:
			l.s.Logger.Warnw("application left out of the list: its description is too large", "begin", text.Clip(string(app), maxLogged), "maxBytes", maxElement)
			continue
		}
		if err := l.addPast(app); err != nil {
			return err
		}
	}
	return nil
}

// addPast adds an application of the History Server if the reader may read it.
func (l *listing) addPast(app []byte) error {
	var named struct{ ID string }
	if err := json.Unmarshal(app, &named); err != nil {
		return err
	}
	may, err := l.mayRead(named.ID)
	if err != nil || !may {
		return err
	}
	return l.add(app)
}

// mayRead reports whether the reader may read an application of the History Server that is not listed yet.
func (l *listing) mayRead(id string) (bool, error) {
	namespace, isOf := history.NamespaceOf(id)
	if l.sent[id] {
		return false, nil
	}
	may, err := l.mayReadLogs(namespace)
	if err != nil || !may {
		return false, err
	}
	uid, err := l.uid(namespace)
	return uid != "" && isOf(uid), err
}
