package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// paramLog names a log of an attempt.
const paramLog = "log"

// maxLogs bounds the logs of an attempt that are offered.
const maxLogs = 1000

// nameOfLog returns what identifies a log in its attempt, as a parameter.
func nameOfLog(log api.Log) string {
	return strings.Join([]string{url.PathEscape(log.Pod), url.PathEscape(log.PodUID), url.PathEscape(log.Container), strconv.Itoa(int(log.Restart))}, "/")
}

// logOfName is the inverse of nameOfLog.
func logOfName(name string) (log api.Log, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 {
		return log, false
	}
	for i, into := range []*string{&log.Pod, &log.PodUID, &log.Container} {
		text, err := url.PathUnescape(parts[i])
		if err != nil || text == "" {
			return log, false
		}
		*into = text
	}
	restart, err := strconv.ParseInt(parts[3], 10, 32)
	log.Restart = int32(restart)
	return log, err == nil && restart >= 0
}

// chosen returns the log with a name; without it that of the driver or the master, or else the first. It is nil if there is none.
func (a *archived) chosen(name string) *api.Log {
	if a.shown == nil || len(a.shown.Logs) == 0 {
		return nil
	}
	logs := a.shown.Logs
	for _, fits := range []func(api.Log) bool{
		func(log api.Log) bool { return nameOfLog(log) == name },
		func(log api.Log) bool { return log.Role == archive.RoleDriver || log.Role == archive.RoleMaster },
	} {
		if at := slices.IndexFunc(logs, fits); at >= 0 {
			return &logs[at]
		}
	}
	return &logs[0]
}

// log returns the end of a log of the shown attempt, or the lines with a text.
func (a *archived) log(ctx context.Context, p url.Values, href string) *logView {
	view := &logView{Find: p.Get("find"), Timestamps: p.Get("timestamps") != "", Action: href, Hidden: map[string]string{paramFrom: fromArchive, paramUID: a.UID}}
	log := a.chosen(p.Get(paramLog))
	if log == nil {
		view.Problem = "The archive has no log of this " + map[bool]string{true: "cluster", false: "attempt"}[a.isCluster()] + "."
		if len(a.Attempts) > 0 {
			view.Choices = a.attemptPickers()
		}
		return view
	}
	logs := picker{Label: "Log", Name: paramLog}
	for i := range a.shown.Logs[:min(len(a.shown.Logs), maxLogs)] {
		other := &a.shown.Logs[i]
		logs.Options = append(logs.Options, option{nameOfLog(*other), titleOfLog(other), other == log})
	}
	view.Choices = append(a.attemptPickers(), logs)
	lines := linesOf(p.Get("lines"))
	view.Lines = lineOptions(lines)
	raw := url.Values{paramFrom: {fromArchive}, paramUID: {a.UID}, paramAttempt: {strconv.FormatInt(a.shown.Attempt, 10)}, paramLog: {nameOfLog(*log)}}
	if view.Timestamps {
		raw.Set("timestamps", "1")
	}
	view.Download = href + "/log?" + raw.Encode()
	options := api.LogOptions{Timestamps: view.Timestamps, Tail: int64(lines)}
	if view.Find != "" {
		options.Tail = -1
	}
	stream, err := a.Log(ctx, &a.Application, a.shown.Attempt, *log, options)
	if err != nil {
		problem, _ := explained(err)
		view.Problem = "The log cannot be read: " + cmp.Or(problem, "the archive does not answer. The log of the console says why.")
		return view
	}
	defer func() { _ = stream.Close() }()
	view.read(ctx, stream, lines)
	if missing := missingOf(log); missing != "" {
		view.Note += "; missing: " + missing
	}
	return view
}

// titleOfLog returns a log in the words of a choice.
func titleOfLog(log *api.Log) string {
	title := log.Pod + " / " + log.Container
	if log.Role != "" {
		title = log.Role + ": " + title
	}
	if log.Restart > 0 {
		title += fmt.Sprintf(", after restart %d", log.Restart)
	}
	title += ", " + decimal(float64(log.Bytes)/(1<<20)) + " MiB"
	if missingOf(log) != "" {
		title += ", not whole"
	}
	return title
}

// missingOf says what is missing of a log; empty if it is whole.
func missingOf(log *api.Log) string {
	if log.Missing == "" && log.BeginningMissing {
		return "its beginning"
	}
	return log.Missing
}

// archivedLogFile sends an archived log as a file.
func (v *view) archivedLogFile(ctx context.Context, ref live.Ref) error {
	store, p := v.viewer.Archive(), v.URL.Query()
	log, ok := logOfName(p.Get(paramLog))
	attempt, err := strconv.ParseInt(p.Get(paramAttempt), 10, 64)
	if store == nil || !ok || err != nil {
		return errNotFound
	}
	app := &api.Application{Namespace: ref.Namespace, Resource: ref.Resource, Name: ref.Name, UID: p.Get(paramUID)}
	stream, err := store.Log(ctx, app, attempt, log, api.LogOptions{Timestamps: p.Get("timestamps") != "", Tail: -1})
	if err != nil {
		return absent(err)
	}
	defer func() { _ = stream.Close() }()
	return v.sendLog(stream, log.Pod+"-"+log.Container+".log")
}
