package history

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const testID = "team-a-abcdefghijklmnop"

func TestEventsThatNameAnApplicationAreNotShown(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"a start": {`{"Event":"SparkListenerApplicationStart","App Name":"pi","App ID":"of-another-tenant","Timestamp":7,"User":"spark"}` + "\n", removed},
		"another event in disguise": {
			`{"Event":"SparkListenerLogStart","\u0045vent":"SparkListenerApplicationStart","App ID":"of-another-tenant"}` + "\n", removed,
		},
		"a start that is torn":   {`{"Event":"SparkListenerApplicationStart","App Name":"pi","App ID":"of-an`, removed},
		"no JSON":                {`{"Event":"SparkListenerApplicationEnd" oops` + "\n", removed},
		"another event":          {`{"Event":"SparkListenerApplicationEnd","Timestamp":8}` + "\n", `{"Event":"SparkListenerApplicationEnd","Timestamp":8}`},
		"an event of the tenant": {`{"Event":"org.example.Mine","App ID":"x"}` + "\n", `{"Event":"org.example.Mine","App ID":"x"}`},
		"no event":               {"SparkListenerApplicationStart\n", "SparkListenerApplicationStart"},
		"a version":              {`{"Event":"SparkListenerLogStart","Spark Version":"4.1.0"}` + "\n", `{"Event":"SparkListenerLogStart","Spark Version":"4.1.0"}`},
		"a long version":         {`{"Event":"SparkListenerLogStart","Spark Version":"` + strings.Repeat("4", maxText) + `"}` + "\n", removed},
		"a long line":            {`{"Event":"SparkListenerLogStart","x":"` + strings.Repeat("x", maxLine+readSize) + `"}` + "\n", removed},
	} {
		t.Run(name, func(t *testing.T) {
			const other = "{\"Event\":\"SparkListenerJobEnd\"}\n"
			text := other + test.line
			if strings.HasSuffix(text, "\n") {
				text += other
			}
			got, err := io.ReadAll(newLineReader(iotest.HalfReader(strings.NewReader(text))))
			if err != nil || len(got) != len(text) {
				t.Fatalf("%d bytes were read of %d: %v", len(got), len(text), err)
			}
			line := bytes.Split(got, []byte("\n"))[1]
			if got := strings.TrimRight(string(line), " "); got != test.want {
				t.Errorf("the line is\n%.300s\nnot\n%.300s", got, test.want)
			}
		})
	}
}

func TestFirstStartOfAFileGetsTheID(t *testing.T) {
	start := func(rest string) string { return `{"Event":"SparkListenerApplicationStart"` + rest + "}\n" }
	const other = "{\"Event\":\"SparkListenerLogStart\"}\n"
	for name, test := range map[string]struct{ text, want string }{
		"a short ID": {
			other + start(`,"App Name":"pi","App ID":"pi-0","Timestamp":7,"User":"spark"`) + start(`,"App ID":"x"`),
			`{"Event":"SparkListenerApplicationStart","App ID":"` + testID + `","App Name":"pi","Timestamp":7,"User":"spark"}` + "\n",
		},
		"without an ID, and what else Spark writes": {
			start(`,"User":"spark","Timestamp":7,"App Name":"p\"i","Driver Logs":{"stdout":"http://x"},"x":1`),
			`{"Event":"SparkListenerApplicationStart","App ID":"` + testID + `","App Name":"p\"i","Timestamp":7,"User":"spark","Driver Logs":{"stdout":"http://x"}}` + "\n",
		},
		"long texts": {
			start(`,"App Name":"` + strings.Repeat("é<", maxText) + `","User":"` + strings.Repeat(`\n`, 2*maxText) + `","App Attempt ID":"` + strings.Repeat("1", maxText) + `"`),
			`{"Event":"SparkListenerApplicationStart","App ID":"` + testID + `","App Name":"` + strings.Repeat("é<", 340) + `...","User":"` +
				strings.Repeat(`\n`, maxText-3) + `...","App Attempt ID":"` + strings.Repeat("1", maxText) + `"}` + "\n",
		},
		"a long number in place of a text": {start(`,"App Name":` + strings.Repeat("1", maxText+1)), ""},
		"the ID is given twice": {
			start(`,"App ID":"of-another-tenant","App ID":"of-another-tenant"`), `{"Event":"SparkListenerApplicationStart","App ID":"` + testID + `"}` + "\n",
		},
		"the first one is invalid": {
			start(`,"App ID":oops`) + start(`,"App ID":"x"`), `{"Event":"SparkListenerApplicationStart","App ID":"` + testID + `"}` + "\n",
		},
		"none":                  {other, ""},
		"one that is not whole": {other + `{"Event":"SparkListenerApplicationStart","App ID":"x"}`, ""},
		"one that is too long":  {start(`,"App Name":"` + strings.Repeat("x", maxLine) + `","App ID":"x"`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := findStart(iotest.HalfReader(strings.NewReader(test.text)), testID)
			if err != nil || string(found.line) != test.want {
				t.Fatalf("the line is %q, want %q: %v", found.line, test.want, err)
			}
			if replaced := test.text[found.from:found.to]; test.want != "" && (!strings.HasPrefix(replaced, string(listed[0])) || !strings.HasSuffix(replaced, "\n")) {
				t.Errorf("it takes the place of %q", replaced)
			}
		})
	}
}

// In Java, a line ends at a '\r', too.
func TestReturnsHideNoStart(t *testing.T) {
	const other = `{"Event":"SparkListenerJobEnd"}`
	hidden := other + "\r" + `{"Event":"SparkListenerApplicationStart","App Name":"pi","App ID":"of-another-tenant"}` + "\n"
	got, err := io.ReadAll(newLineReader(iotest.HalfReader(strings.NewReader(hidden))))
	if want := strings.ReplaceAll(hidden, "\r", " "); err != nil || string(got) != want {
		t.Errorf("%q is shown, want %q: %v", got, want, err)
	}
	if found, err := findStart(strings.NewReader(hidden), testID); err != nil || found.line != nil {
		t.Errorf("the start is %q: %v", found.line, err)
	}
	// The values of a start are shown as they are.
	start := string(listed[0]) + `,"App Name":"pi","User":{"x":` + "\r" + string(listed[0]) + `,"App ID":"of-another-tenant"}}}` + "\n"
	found, err := findStart(strings.NewReader(start), testID)
	if err != nil || found.line == nil || bytes.ContainsRune(found.line, '\r') || found.to != int64(len(start)) {
		t.Errorf("the start is %q, to %d: %v", found.line, found.to, err)
	}
}

// FuzzEvents checks that no line which the History Server lists names another application.
func FuzzEvents(f *testing.F) {
	for _, prefix := range listed {
		f.Add(string(prefix) + `,"App Name":"pi","App ID":"x","Timestamp":1,"User":"u"}` + "\n")
	}
	f.Add("{}\r" + string(listed[0]) + `,"App ID":"y"}` + "\n")
	f.Add(`{"Event":"SparkListenerLogStart","Event":"SparkListenerApplicationStart","App ID":"y"} {}`)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := findStart(strings.NewReader(text), testID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(newLineReader(strings.NewReader(text)))
		if err != nil || len(got) != len(text) {
			t.Fatalf("%d bytes were read of %d: %v", len(got), len(text), err)
		}
		if grown := int64(len(found.line)) - (found.to - found.from); grown > maxGrowth {
			t.Fatalf("the start is %d bytes longer", grown)
		}
		for _, line := range bytes.FieldsFunc(append(found.line, got...), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if !isListed(line) {
				continue
			}
			// As in Java, the last field of a name counts, and what follows the object is ignored.
			var event map[string]any
			if err := json.NewDecoder(bytes.NewReader(line)).Decode(&event); err != nil {
				t.Fatalf("the line is no JSON: %q", line)
			}
			if event["Event"] == startEvent && event["App ID"] != testID {
				t.Fatalf("the line names an application: %q", line)
			}
		}
	})
}
