package sparkui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxElement bounds an application of the History Server's list, in bytes. Spark describes one in less than 1 KiB, and the texts that a driver wrote
// may be 1 KiB each.
const maxElement = 64 << 10

// elements reads the objects of a JSON list, one after another. It stores at most maxElement bytes of one.
type elements struct {
	in     *bufio.Reader
	stored []byte
}

// next returns the next object, which is valid until the next call, and io.EOF after the last one. Of an object that is too large it returns the
// beginning.
func (e *elements) next() (object []byte, isWhole bool, err error) {
	for {
		switch c, err := e.in.ReadByte(); {
		case err != nil:
			return nil, false, unexpected(err)
		case c == '{':
			return e.rest()
		case c == ']':
			return nil, false, io.EOF
		case c != '[' && c != ',' && c != ' ' && c != '\n' && c != '\r' && c != '\t':
			return nil, false, fmt.Errorf("the list of the History Server has %q in place of an application", c)
		}
	}
}

// rest reads an object after its first brace.
func (e *elements) rest() (object []byte, isWhole bool, err error) {
	e.stored = append(e.stored[:0], '{')
	length, isText, isEscaped := 1, false, false
	for depth := 1; depth > 0; length++ {
		c, err := e.in.ReadByte()
		if err != nil {
			return nil, false, unexpected(err)
		}
		if length < maxElement {
			e.stored = append(e.stored, c)
		}
		switch {
		case isEscaped:
			isEscaped = false
		case isText:
			isEscaped, isText = c == '\\', c != '"'
		case c == '"':
			isText = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return e.stored, length <= maxElement, nil
}

// unexpected returns the error of a list without an end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
