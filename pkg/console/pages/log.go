package pages

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	// logLines is how many lines of the end of a log are shown, and maxLogLines the most of them.
	logLines, maxLogLines = 1000, 10_000
	// maxLogBytes bounds what is shown of a log, and maxLineBytes one line of it. A browser stays quick with it, however long the log is.
	maxLogBytes, maxLineBytes = 2 << 20, 8 << 10
	// maxFound bounds the lines that a search shows: the last ones.
	maxFound = 1000
	// searchTimeout bounds a search in a log.
	searchTimeout = 20 * time.Second
	// downloadTimeout bounds a download, and how long a log is followed.
	downloadTimeout = time.Hour
)

// logView is the part of a log that a page shows.
type logView struct {
	// Choices choose one of the archived logs, and Hidden are the hidden fields of their form. Pods and Containers choose one that is there.
	Choices    []picker
	Hidden     map[string]string
	Pods       []option
	Containers []option
	Lines      []option
	Find       string
	Previous   bool
	Timestamps bool
	Text       string
	// Note says what part of the log is shown. Problem says why there is none.
	Note, Problem string
	// Action is the address of the page, Follow and Download those of the log as text.
	Action, Follow, Download string
	// Kept reports whether the page is only asked for what surrounds the log.
	Kept bool
	// Archived are the logs of attempts in the archive; empty if there is no archive.
	Archived []link
}

// logOf returns the end of a log of a Pod of an object, or the lines with a text. hidden reports whether the viewer may not list the Pods.
func (s *Server) logOf(v *view, row *live.Row, pods []live.Pod, hidden bool, href string) (*logView, error) {
	p := v.URL.Query()
	view := &logView{Find: p.Get("find"), Previous: p.Get("previous") != "", Timestamps: p.Get("timestamps") != "", Action: href}
	if v.viewer.Archive() != nil {
		view.Archived = archivedLogs(row, href)
	}
	if hidden {
		view.Problem = "You may not list Pods in this namespace."
		return view, nil
	}
	if len(pods) == 0 {
		view.Problem = "There are no Pods."
		return view, nil
	}
	pod := chosenPod(pods, p.Get("pod"))
	for i := range pods {
		other := &pods[i]
		view.Pods = append(view.Pods, option{other.Name, strings.TrimSpace(other.Role+" "+other.Number) + ": " + other.Name, other == pod})
	}
	container := chosenContainer(pod, p.Get("container"))
	for _, name := range pod.Containers {
		view.Containers = append(view.Containers, option{name, name, name == container})
	}
	lines := linesOf(p.Get("lines"))
	view.Lines = lineOptions(lines)
	raw := url.Values{"pod": {pod.Name}, "container": {container}}
	if view.Previous {
		raw.Set("previous", "1")
	}
	if view.Timestamps {
		raw.Set("timestamps", "1")
	}
	view.Download = href + "/log?" + raw.Encode()
	raw.Set("follow", "1")
	raw.Set("lines", strconv.Itoa(lines))
	view.Follow = href + "/log?" + raw.Encode()
	if view.Kept = p.Get(paramPart) == partHead; view.Kept {
		return view, nil
	}
	identity, err := v.viewer.Identity()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(v.Context(), searchTimeout)
	defer cancel()
	options := &corev1.PodLogOptions{Container: container, Previous: view.Previous, Timestamps: view.Timestamps}
	if view.Find == "" {
		options.TailLines = ptr.To(int64(lines))
	}
	stream, err := identity.Log(ctx, row.Namespace, pod.Name, options)
	if err != nil {
		view.Problem = "The log cannot be read: " + err.Error()
		return view, nil
	}
	defer func() { _ = stream.Close() }()
	view.read(ctx, stream, lines)
	return view, nil
}

// maxLinkedAttempts bounds the attempts whose archived logs a page leads to: the last ones. The page of the archive has all.
const maxLinkedAttempts = 10

// archivedLogs returns links to the archived logs of the attempts of an application, or of a cluster, that is there.
func archivedLogs(row *live.Row, href string) (links []link) {
	if row.Noun == overview.Cluster { // its logs belong to no attempt
		values := url.Values{"tab": {tabLogs}, paramFrom: {fromArchive}, paramUID: {string(row.UID)}}
		return []link{{Text: "All logs", Href: href + "?" + values.Encode()}}
	}
	for number := row.Attempt; number >= 0 && number > row.Attempt-maxLinkedAttempts; number-- {
		attempt := strconv.FormatInt(number, 10)
		values := url.Values{"tab": {tabLogs}, paramFrom: {fromArchive}, paramUID: {string(row.UID)}, paramAttempt: {attempt}}
		links = append(links, link{Text: "Attempt " + attempt, Href: href + "?" + values.Encode()})
	}
	return links
}

// lineOptions are the numbers of lines that may be chosen.
func lineOptions(chosen int) (options []option) {
	for _, n := range []int{200, logLines, 5000, maxLogLines} {
		options = append(options, option{strconv.Itoa(n), number(int64(n)), n == chosen})
	}
	return options
}

// linesOf returns how many lines of the end of a log a parameter asks for.
func linesOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return logLines
	}
	return min(max(n, 1), maxLogLines)
}

// chosenPod returns the Pod with a name; without it that of the driver of the attempt or of the master, or else the first.
func chosenPod(pods []live.Pod, name string) *live.Pod {
	for _, fits := range []func(live.Pod) bool{
		func(p live.Pod) bool { return p.Name == name },
		func(p live.Pod) bool {
			return (p.Role == archive.RoleDriver || p.Role == archive.RoleMaster) && !p.Earlier
		},
	} {
		if at := slices.IndexFunc(pods, fits); at >= 0 {
			return &pods[at]
		}
	}
	return &pods[0]
}

func chosenContainer(pod *live.Pod, name string) string {
	if slices.Contains(pod.Containers, name) || len(pod.Containers) == 0 {
		return name
	}
	return pod.Containers[0]
}

// read keeps the last lines of a log, or the last ones with the text.
func (l *logView) read(ctx context.Context, log io.Reader, lines int) {
	kept := &tail{most: lines}
	if l.Find != "" {
		kept.most = maxFound
	}
	wanted := []byte(strings.ToLower(l.Find))
	reader := bufio.NewReaderSize(log, maxLineBytes)
	var read int64
	for {
		line, err := nextLine(reader, &read)
		if err != nil {
			l.note(ctx, kept, read, err)
			break
		}
		if len(wanted) == 0 || bytes.Contains(bytes.ToLower(line), wanted) {
			kept.add(line)
		}
	}
	l.Text = kept.text()
}

func (l *logView) note(ctx context.Context, kept *tail, read int64, err error) {
	l.Note = fmt.Sprintf("the last %s", plural(len(kept.lines), "line", "lines"))
	if l.Find != "" {
		l.Note = fmt.Sprintf("%s with the text, of %s MiB that were searched", plural(kept.added, "line", "lines"), decimal(float64(read)/(1<<20)))
	}
	if kept.dropped > 0 && l.Find != "" {
		l.Note += fmt.Sprintf("; the last %s are shown", number(int64(len(kept.lines))))
	}
	switch {
	case ctx.Err() != nil:
		l.Note += ". The log is longer than what can be searched at once: download it."
	case !errors.Is(err, io.EOF):
		l.Note += ". Then the log could not be read: " + err.Error()
	}
}

// nextLine returns the next line without its end. Of a long line the beginning is returned.
func nextLine(reader *bufio.Reader, read *int64) ([]byte, error) {
	line, err := reader.ReadSlice('\n')
	*read += int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		line = append(slices.Clone(line), "…"...)
		for errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			rest, err = reader.ReadSlice('\n')
			*read += int64(len(rest))
		}
		return line, nil
	}
	if err != nil && len(line) == 0 {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// tail keeps the last lines, and no more bytes of them than a page shows.
type tail struct {
	most, bytes    int
	added, dropped int
	lines          []string
}

func (t *tail) add(line []byte) {
	t.added++
	t.lines = append(t.lines, string(line))
	t.bytes += len(line) + 1
	for len(t.lines) > t.most || t.bytes > maxLogBytes {
		t.bytes -= len(t.lines[0]) + 1
		t.lines = t.lines[1:]
		t.dropped++
	}
}

func (t *tail) text() string { return strings.Join(t.lines, "\n") }

// log writes a log as text: all of it as a file, or its end and what follows.
func (s *Server) log(v *view) error {
	ref := v.refOf()
	pods, err := v.mayGet(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(v.Context(), downloadTimeout)
	defer cancel()
	p := v.URL.Query()
	if p.Get(paramFrom) == fromArchive {
		return v.archivedLogFile(ctx, ref)
	}
	found := s.podsOf(v, ref, pods)
	at := slices.IndexFunc(found, func(pod live.Pod) bool { return pod.Name == p.Get("pod") })
	if at < 0 {
		return errNotFound
	}
	identity, err := v.viewer.Identity()
	if err != nil {
		return err
	}
	follows := p.Get("follow") != ""
	options := &corev1.PodLogOptions{
		Container: chosenContainer(&found[at], p.Get("container")), Previous: p.Get("previous") != "", Timestamps: p.Get("timestamps") != "", Follow: follows,
	}
	if follows {
		options.TailLines = ptr.To(int64(linesOf(p.Get("lines"))))
	}
	stream, err := identity.Log(ctx, ref.Namespace, found[at].Name, options)
	if err != nil {
		return &logError{err}
	}
	defer func() { _ = stream.Close() }()
	file := ""
	if !follows {
		file = found[at].Name + "-" + cmp.Or(options.Container, "log") + ".log"
	}
	return v.sendLog(stream, file)
}

// podsOf returns the Pods of an application or of a cluster; none if the viewer may not list them.
func (s *Server) podsOf(v *view, ref live.Ref, may bool) []live.Pod {
	if !may {
		return nil
	}
	if noun, _ := live.NounOf(ref.Resource); noun == overview.Cluster {
		if found, ok := s.options.Source.Cluster(v.see, ref, may); ok {
			return found.Pods
		}
		return nil
	}
	if found, ok := s.options.Source.Details(ref, may); ok {
		return found.Pods
	}
	return nil
}

// sendLog sends a log as text: as a file if it has a name.
func (v *view) sendLog(stream io.Reader, file string) error {
	header := v.w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	if file != "" {
		header.Set("Content-Disposition", cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": file}), "attachment"))
	}
	patient := &patientWriter{v.w, http.NewResponseController(v.w)}
	if err := patient.controller.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err // the deadline of a request would end the log
	}
	if _, err := io.Copy(patient, stream); err != nil {
		panic(http.ErrAbortHandler) // the session is over, or the log cannot be read: the client sees that the end is missing
	}
	return nil
}

// logError is a log that the API server does not give.
type logError struct{ error }

// patientWriter gives the client some time for each part of a long answer, and sends each part at once.
type patientWriter struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (p *patientWriter) Write(part []byte) (int, error) {
	if err := p.controller.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.w.Write(part)
	if err == nil {
		err = p.controller.Flush()
	}
	return n, err
}
