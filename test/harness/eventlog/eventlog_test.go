package eventlog_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

func TestReaderReadsWhatEachIncarnationWroteOnce(t *testing.T) {
	dir := t.TempDir()
	reader := eventlog.NewReader(dir)
	expect := func(want ...string) {
		t.Helper()
		entries, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range entries {
			got = append(got, entry.Body)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
	write := func(writer *eventlog.Writer, body string) {
		t.Helper()
		if err := writer.Write(eventlog.Entry{Body: body, At: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	expect()
	first, err := eventlog.Create(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	expect()
	write(first, "a")
	write(first, "b\n")
	expect("a", "b\n")
	expect()
	write(first, "c")
	second, err := eventlog.Create(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	write(second, "d")
	expect("c", "d")
	write(second, "e")
	expect("e")
	fourth, err := eventlog.Create(dir, 4) // the third was killed before it had a log
	if err != nil {
		t.Fatal(err)
	}
	write(fourth, "f")
	expect("f")
	expect()
}

func TestReaderSkipsAnIncompleteLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events-000001.log"), []byte(`{"body":"a"}`+"\n"+`{"bo`), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := eventlog.NewReader(dir).Read()
	if err != nil || len(entries) != 1 {
		t.Errorf("read %v, %v; want the complete line", entries, err)
	}
}

func TestWriterDoesNotOverwriteAnotherIncarnation(t *testing.T) {
	dir := t.TempDir()
	if _, err := eventlog.Create(dir, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Create(dir, 1); err == nil {
		t.Error("two sinks write to the same log")
	}
}

func TestEntryIsTheEventAsItWasSent(t *testing.T) {
	sent := cloudevents.NewEvent()
	sent.SetID("x")
	sent.SetType("dev.firesteel.application.failed.v1")
	sent.SetSource("/apis")
	sent.SetExtension("sparkname", "pi")
	if err := sent.SetData(cloudevents.ApplicationJSON, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	entry, err := eventlog.New(sent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := entry.Event()
	if err != nil || got.String() != sent.String() {
		t.Errorf("it is %s, %v, want %s", got, err, sent)
	}
}
