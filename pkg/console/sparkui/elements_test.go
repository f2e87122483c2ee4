package sparkui

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func elementsOf(list string) *elements {
	return &elements{in: bufio.NewReader(strings.NewReader(list))}
}

func TestElementsOfAListAreReadOneAtATime(t *testing.T) {
	want := []string{`{}`, `{"id":"a]}\"\\","attempts":[{"x":[1,{}]}]}`, `{ "id" : "b" }`}
	for _, list := range []string{"[" + strings.Join(want, ",") + "]", " [ " + strings.Join(want, " ,\r\n\t") + "\n]\n"} {
		e := elementsOf(list)
		for _, object := range want {
			if got, isWhole, err := e.next(); string(got) != object || !isWhole || err != nil {
				t.Errorf("%s: %s, %t, %v, want %s", list, got, isWhole, err, object)
			}
		}
		if _, _, err := e.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the end is %v", list, err)
		}
	}
	for _, list := range []string{"", "[", "[{}", `[{"id":"a`, `[{"id":"}]`, "<html>", `["a"]`, "[null]"} {
		e := elementsOf(list)
		_, _, err := e.next()
		if err == nil {
			_, _, err = e.next()
		}
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestLargeElementIsNotStored(t *testing.T) {
	object := func(length int) string { return `{"a":"` + strings.Repeat("x", length-len(`{"a":""}`)) + `"}` }
	e := elementsOf("[" + object(maxElement) + "," + object(maxElement+1) + "," + object(100*maxElement) + ",{}]")
	for _, want := range []bool{true, false, false, true} {
		if got, isWhole, err := e.next(); isWhole != want || err != nil || len(got) > maxElement {
			t.Errorf("%d bytes, %t, %v, want %t", len(got), isWhole, err, want)
		}
	}
	if cap(e.stored) > 2*maxElement {
		t.Errorf("%d bytes are stored", cap(e.stored))
	}
}
