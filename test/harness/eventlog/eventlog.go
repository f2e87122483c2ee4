// Package eventlog holds events as they reached a sink. A sink that is a process of its own writes each to a file before it
// answers, so that a kill loses none that it has taken.
package eventlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// Entry is one event as it reached the sink.
type Entry struct {
	At time.Time `json:"at"`
	// Attributes are the event's, by their names in lower case, and its content type.
	Attributes map[string]string `json:"attributes"`
	Body       string            `json:"body"`
	// Answer is the HTTP status that the sink answered with; 0 if it does not log that.
	Answer int `json:"answer,omitempty"`
	// Taken reports whether the sink took the event, whatever it answered.
	Taken bool `json:"taken"`
	// Fault names what the sink did wrong with the event.
	Fault string `json:"fault,omitempty"`
}

// New returns an event as a sink receives it. The sink has not taken it yet.
func New(event cloudevents.Event) (Entry, error) {
	request, err := cloudevents.NewHTTPRequestFromEvent(context.Background(), "http://sink", event)
	if err != nil {
		return Entry{}, err
	}
	body, err := io.ReadAll(request.Body)
	return Entry{Attributes: Attributes(request.Header), Body: string(body)}, err
}

// Attributes reads the attributes of an event from the headers of its request.
func Attributes(header http.Header) map[string]string {
	attributes := map[string]string{"content-type": header.Get("Content-Type")}
	for key := range header {
		if name, of := strings.CutPrefix(key, "Ce-"); of {
			attributes[strings.ToLower(name)] = header.Get(key)
		}
	}
	return attributes
}

// ID is the event's id.
func (e Entry) ID() string { return e.Attributes["id"] }

// Type is the event's type.
func (e Entry) Type() string { return e.Attributes["type"] }

// State is the state that the application entered.
func (e Entry) State() string { return e.Attributes["sparkstate"] }

// Name is the name of the object that the event is about.
func (e Entry) Name() string { return e.Attributes["sparkname"] }

// Sequence is the number of the transition; 0 for a clock event.
func (e Entry) Sequence() int64 {
	sequence, _ := strconv.ParseInt(e.Attributes["sequence"], 10, 64)
	return sequence
}

// Event decodes the event.
func (e Entry) Event() (*cloudevents.Event, error) {
	header := http.Header{"Content-Type": {e.Attributes["content-type"]}}
	for name, value := range e.Attributes {
		if name != "content-type" {
			header.Set("Ce-"+name, value)
		}
	}
	return cloudevents.NewEventFromHTTPRequest(&http.Request{Header: header, Body: io.NopCloser(strings.NewReader(e.Body))})
}

// Bytes is the whole event, for comparison.
func (e Entry) Bytes() string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(e.Attributes)) {
		fmt.Fprintf(&text, "%s: %s\n", key, e.Attributes[key])
	}
	return text.String() + "\n" + e.Body
}

// Writer appends to the log of one incarnation of the sink.
type Writer struct{ file *os.File }

// Create makes the log of an incarnation.
func Create(dir string, incarnation int) (*Writer, error) {
	file, err := os.OpenFile(path(dir, incarnation), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	return &Writer{file}, err
}

func path(dir string, incarnation int) string {
	return filepath.Join(dir, fmt.Sprintf("events-%06d.log", incarnation))
}

// Write appends an entry, in one write to the file.
func (w *Writer) Write(entry Entry) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(line, '\n'))
	return err
}

// Reader reads the logs of all incarnations, one after the other, as they grow.
type Reader struct {
	dir         string
	incarnation int
	offset      int64
}

// NewReader returns a reader that begins with the first incarnation, which is 1.
func NewReader(dir string) *Reader { return &Reader{dir: dir, incarnation: 1} }

// Read returns the entries that were written since the last call.
func (r *Reader) Read() ([]Entry, error) {
	var entries []Entry
	for {
		more, err := r.read()
		entries = append(entries, more...)
		if err != nil {
			return entries, err
		}
		next, err := r.next()
		if next == 0 || err != nil {
			return entries, err
		}
		// This incarnation is dead; what it wrote since is read before the next one's.
		last, err := r.read()
		entries = append(entries, last...)
		if err != nil {
			return entries, err
		}
		r.incarnation, r.offset = next, 0
	}
}

// next returns the next incarnation that has a log, 0 if there is none. A sink that is killed at its start leaves no log.
func (r *Reader) next() (int, error) {
	logs, err := filepath.Glob(filepath.Join(r.dir, "events-*.log"))
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(logs, func(log string) bool { return log > path(r.dir, r.incarnation) }) // they are in order
	if at < 0 {
		return 0, nil
	}
	var incarnation int
	_, err = fmt.Sscanf(filepath.Base(logs[at]), "events-%d.log", &incarnation)
	return incarnation, err
}

func (r *Reader) read() ([]Entry, error) {
	file, err := os.Open(path(r.dir, r.incarnation))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(r.offset, io.SeekStart); err != nil {
		return nil, err
	}
	var entries []Entry
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return entries, nil // an incomplete line: its event was not answered
		}
		r.offset += int64(len(line))
		var entry Entry
		if err := json.Unmarshal(bytes.TrimSpace(line), &entry); err != nil {
			return entries, fmt.Errorf("event log: %w", err)
		}
		entries = append(entries, entry)
	}
}
