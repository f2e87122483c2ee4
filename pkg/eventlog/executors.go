package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

const (
	// maxExecutors bounds the executors of an event log that are read.
	maxExecutors = 1 << 16
	// maxEvent bounds an event about an executor, in bytes. Longer lines are skipped.
	maxEvent = 64 << 10
)

// Executor is an executor as Spark's event log has it.
type Executor struct {
	// ID is the number that Spark gave it.
	ID int64
	// Added is when it registered with the driver, and Removed when the driver noticed its end. Removed is the end of the application if it lived that long.
	Added, Removed time.Time
}

// event is what is read of an event of Spark.
type event struct {
	Event         string `json:"Event"`
	Timestamp     int64  `json:"Timestamp"`
	ApplicationID string `json:"App ID"`
	ExecutorID    string `json:"Executor ID"`
	Info          struct {
		Profile int64 `json:"Resource Profile Id"`
	} `json:"Executor Info"`
}

// Names of the events that are read.
const (
	applicationStart = "SparkListenerApplicationStart"
	applicationEnd   = "SparkListenerApplicationEnd"
	executorAdded    = "SparkListenerExecutorAdded"
	executorRemoved  = "SparkListenerExecutorRemoved"
)

// ErrIncomplete is part of the error of Executors for an event log that does not reach to the end of its application.
var ErrIncomplete = errors.New("the event log does not have the end of the application")

// Executors returns all executors of an uncompressed event log, from the start to the end of an application. It reads line by line, so its memory does not
// depend on the size of the log. The executors have to be of Spark's default resource profile: with others, they do not all request the same.
func Executors(log io.Reader, applicationID string) ([]Executor, error) {
	r := executorReader{applicationID: applicationID, index: map[int64]int{}}
	lines := bufio.NewReaderSize(log, maxEvent)
	for !r.ended {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case long && isRead(line):
			return nil, fmt.Errorf("an event is longer than %d bytes", maxEvent)
		case long:
			err = skipLine(lines)
		case err == nil && isRead(line):
			err = r.read(line)
		}
		switch {
		case errors.Is(err, io.EOF): // a line without an end is being written
			return nil, ErrIncomplete
		case err != nil:
			return nil, err
		}
	}
	return r.executors, nil
}

// skipLine reads to the end of a line.
func skipLine(lines *bufio.Reader) error {
	for {
		if _, err := lines.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// isRead reports whether a line is an event that is read. Spark writes the name of an event first.
func isRead(line []byte) bool {
	name, found := bytes.CutPrefix(line, []byte(`{"Event":"`))
	name, _, _ = bytes.Cut(name[:min(len(name), len(applicationStart)+1)], []byte(`"`))
	switch string(name) {
	case applicationStart, applicationEnd, executorAdded, executorRemoved:
		return found
	}
	return false
}

type executorReader struct {
	applicationID  string
	started, ended bool
	executors      []Executor
	// index holds where executors are, by their IDs.
	index map[int64]int
}

func (r *executorReader) read(line []byte) error {
	var event event
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	at := time.UnixMilli(event.Timestamp)
	switch {
	case event.Event == applicationStart:
		if event.ApplicationID != r.applicationID {
			return fmt.Errorf("the event log is that of the application %.64q", event.ApplicationID)
		}
		r.started = true
	case !r.started:
		return errors.New("the event log does not have the start of the application")
	case event.Event == applicationEnd:
		r.end(at)
	default:
		return r.executor(event, at)
	}
	return nil
}

func (r *executorReader) executor(event event, at time.Time) error {
	number, ok := parseID(event.ExecutorID)
	i, known := r.index[number]
	switch {
	case !ok: // the driver is none of the executors
	case event.Event == executorRemoved && known && r.executors[i].Removed.IsZero():
		r.executors[i].Removed = at
	case event.Event == executorRemoved || known:
	case event.Info.Profile != 0:
		return fmt.Errorf("executor %d has the resource profile %d", number, event.Info.Profile)
	case len(r.executors) == maxExecutors:
		return fmt.Errorf("the event log has more than %d executors", maxExecutors)
	default:
		r.index[number] = len(r.executors)
		r.executors = append(r.executors, Executor{ID: number, Added: at})
	}
	return nil
}

func parseID(text string) (int64, bool) {
	number, err := strconv.ParseInt(text, 10, 32)
	return number, err == nil && number >= 0
}

func (r *executorReader) end(at time.Time) {
	r.ended = true
	for i := range r.executors {
		if r.executors[i].Removed.IsZero() {
			r.executors[i].Removed = at
		}
	}
}
