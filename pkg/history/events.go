package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/firesteel-dev/firesteel/internal/text"
)

// The History Server lists an application by the ID in its event SparkListenerApplicationStart, which its driver wrote. So that no driver takes
// the place of another one, the first such event of a file gets the log's ID here, and any other is not shown.
const (
	startEvent = "SparkListenerApplicationStart"
	// beginOfLogStart begins the line with the version of Spark.
	beginOfLogStart = `{"Event":"SparkListenerLogStart"`
)

// listed holds the beginnings of the lines that the History Server reads for its list. It reads no other line that names an application.
var listed = [][]byte{
	[]byte(`{"Event":"` + startEvent + `"`),
	[]byte(`{"Event":"SparkListenerApplicationEnd"`),
	[]byte(`{"Event":"SparkListenerEnvironmentUpdate"`),
	[]byte(beginOfLogStart),
}

// removed takes the place of an event that is not shown. The History Server ignores events that it does not know.
const removed = `{"Event":"firesteel.removed"}`

const (
	// maxPrefix is the length of the longest entry of listed.
	maxPrefix = 41
	// maxLine bounds how much of a line of the list is kept in memory. Spark's class path makes the longest ones, below 1 MiB.
	maxLine = 4 << 20
	// maxText bounds a text of a line that the History Server repeats in its list of applications, in bytes.
	maxText = 1 << 10
	// maxGrowth bounds how much longer a start is with an ID: that of a namespace, and the field. A file is shown growth bytes longer than it is
	// stored: what the start does not take is a line that is ignored.
	maxGrowth = 192
	growth    = 256
	// maxShown bounds how much of any other line is shown. So that each offset of a file is read alike, it is also how far is searched for the
	// beginning of a line.
	maxShown = 16 << 20
	// readSize is the size of the buffer for all other lines.
	readSize = 64 << 10
)

// lineReader reads the lines of an event log without those that name an application. Each line keeps its length.
type lineReader struct {
	in *bufio.Reader

	// pending is read next. It is valid until in is read again.
	pending []byte
	// within is true inside of a line, and blank if the line is not shown. length is how much of a line was read.
	within, blank bool
	length        int
}

// newLineReader returns a reader of lines. The text begins at the beginning of a line.
func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(oneLine{in}, readSize)}
}

// newBlankReader returns a reader of a text that begins within a line, the rest of which is not shown.
func newBlankReader(in io.Reader) *lineReader {
	r := newLineReader(in)
	r.within, r.blank = true, true
	return r
}

// oneLine replaces each '\r' of a text by a blank. In Java it ends a line, too, and what follows it would be an event that is not checked.
type oneLine struct{ in io.Reader }

// Read implements io.Reader.
func (r oneLine) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = ' '
		}
	}
	return n, err
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// next reads the next part of a line, or the whole of a listed one.
func (r *lineReader) next() error {
	if !r.within {
		r.length = 0
		begin, err := r.in.Peek(maxPrefix)
		if len(begin) == 0 {
			return err
		}
		if isListed(begin) {
			return r.nextListed()
		}
	}
	part, err := r.in.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(part) == 0 {
		return err
	}
	r.within = part[len(part)-1] != '\n'
	if r.blank {
		fill(part)
		r.blank = r.within
	}
	fill(part[min(len(part), max(0, maxShown-r.length)):])
	r.length += len(part)
	r.pending = part
	return nil
}

func isListed(begin []byte) bool {
	for _, prefix := range listed {
		if bytes.HasPrefix(begin, prefix) {
			return true
		}
	}
	return false
}

// nextListed reads a listed line. A longer one than maxLine is not shown.
func (r *lineReader) nextListed() error {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil || errors.Is(err, io.EOF):
			r.pending = checked(line)
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		case len(line) > maxLine:
			r.pending, r.within, r.blank = remove(line), true, true
			return nil
		}
	}
}

// fill overwrites a part of a line with spaces.
func fill(part []byte) {
	for i, c := range part {
		if c != '\n' {
			part[i] = ' '
		}
	}
}

// remove overwrites a line with an event that the History Server ignores. A listed line has room for it.
func remove(line []byte) []byte {
	fill(line)
	copy(line, removed)
	return line
}

// field is a field of an event.
type field struct {
	name  string
	value json.RawMessage
}

// checked returns a listed line, or one that is ignored in its place. An event that is not whole, or that says twice what it is, is removed, too: a
// parser in Java could take it for another one, and so is one with a long version of Spark.
func checked(line []byte) []byte {
	fields, err := parse(line)
	events := 0
	for _, f := range fields {
		if f.name == "Event" {
			events++
		}
	}
	isLong := len(line) > maxText && bytes.HasPrefix(line, []byte(beginOfLogStart))
	if err != nil || events != 1 || isLong || bytes.HasPrefix(line, listed[0]) {
		return remove(line)
	}
	return line
}

// parse returns the fields of an event in their order.
func parse(line []byte) (fields []field, err error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if _, err := decoder.Token(); err != nil { // the listed beginnings have the brace
		return nil, err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		f := field{}
		f.name, _ = name.(string)
		if err := decoder.Decode(&f.value); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	_, err = decoder.Token()
	return fields, err
}

// startFields are the fields of a start, except the application's ID.
var startFields = []string{"App Name", "Timestamp", "User", "App Attempt ID", "Driver Logs", "Driver Attributes"}

// listedFields are those of startFields with texts that are in the History Server's list of applications.
var listedFields = []string{"App Name", "User", "App Attempt ID"}

// newStart returns the line of a start with an ID; nil if the line is no valid one. The texts of listedFields are clipped.
func newStart(line []byte, id string) []byte {
	fields, err := parse(line)
	if err != nil {
		return nil
	}
	var event bytes.Buffer
	event.Write(listed[0])
	event.WriteString(`,"App ID":"` + id + `"`)
	for _, name := range startFields {
		// As in Java, the last field of a name counts.
		for _, f := range slices.Backward(fields) {
			if f.name != name {
				continue
			}
			if slices.Contains(listedFields, name) {
				if f.value, err = clipped(f.value); err != nil {
					return nil
				}
			}
			event.WriteString(`,"` + name + `":`)
			event.Write(f.value)
			break
		}
	}
	event.WriteString("}\n")
	return event.Bytes()
}

// clipped returns a value in JSON with at most maxText bytes of text. Its error is that of a longer value that is no text.
func clipped(value json.RawMessage) (json.RawMessage, error) {
	if len(value) <= maxText {
		return value, nil
	}
	var long string
	if err := json.Unmarshal(value, &long); err != nil {
		return nil, err
	}
	var short bytes.Buffer
	encoder := json.NewEncoder(&short)
	encoder.SetEscapeHTML(false) // the line would be longer than the given one
	if err := encoder.Encode(text.Clip(long, maxText)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(short.Bytes()), nil
}

// filler returns a line of a length that the History Server ignores.
func filler(length int) []byte {
	line := bytes.Repeat([]byte(" "), length)
	line[length-1] = '\n'
	copy(line, removed)
	return line
}

// start is where a file has its first start, and the line that takes its place. They are empty if it has none.
type start struct {
	from, to int64
	line     []byte
}

// maxHead bounds where a start is looked for. Spark writes it after its settings.
const maxHead = 16 << 20

// findStart finds the start of a file.
func findStart(in io.Reader, id string) (start, error) {
	lines := bufio.NewReaderSize(oneLine{in}, readSize)
	for from := int64(0); from < maxHead; {
		begin, _ := lines.Peek(maxPrefix) // ReadSlice has the error
		isStart := bytes.HasPrefix(begin, listed[0])
		var line []byte
		to := from
		for {
			part, err := lines.ReadSlice('\n')
			if to += int64(len(part)); isStart && len(line) <= maxLine {
				line = append(line, part...)
			}
			if err == nil {
				break
			}
			if errors.Is(err, io.EOF) || to > maxHead {
				return start{}, nil
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return start{}, err
			}
		}
		if isStart && len(line) <= maxLine {
			if shown := newStart(line, id); shown != nil && int64(len(shown))-(to-from) <= maxGrowth {
				return start{from, to, shown}, nil
			}
		}
		from = to
	}
	return start{}, nil
}
