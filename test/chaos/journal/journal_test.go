package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/test/chaos/journal"
)

func TestReaderReadsWhatEachIncarnationWroteOnce(t *testing.T) {
	dir := t.TempDir()
	reader := journal.NewReader(dir)
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
	write := func(writer *journal.Writer, body string) {
		t.Helper()
		if err := writer.Write(journal.Entry{Body: body, At: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	expect()
	first, err := journal.Create(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	expect()
	write(first, "a")
	write(first, "b\n")
	expect("a", "b\n")
	expect()
	write(first, "c")
	second, err := journal.Create(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	write(second, "d")
	expect("c", "d")
	write(second, "e")
	expect("e")
}

func TestReaderLeavesALineThatIsNotWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journal-000001"), []byte(`{"body":"a"}`+"\n"+`{"bo`), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := journal.NewReader(dir).Read()
	if err != nil || len(entries) != 1 {
		t.Errorf("read %v, %v; want what is whole", entries, err)
	}
}

func TestAnIncarnationDoesNotWriteOverAnothersJournal(t *testing.T) {
	dir := t.TempDir()
	if _, err := journal.Create(dir, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Create(dir, 1); err == nil {
		t.Error("two sinks write to the same journal")
	}
}

func TestAnEntryIsTheEventAsItWasSent(t *testing.T) {
	sent := cloudevents.NewEvent()
	sent.SetID("x")
	sent.SetType("dev.firesteel.application.failed.v1")
	sent.SetSource("/apis")
	sent.SetExtension("sparkname", "pi")
	if err := sent.SetData(cloudevents.ApplicationJSON, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	request, err := cloudevents.NewHTTPRequestFromEvent(t.Context(), "http://sink", sent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.Entry{Attributes: journal.Attributes(request.Header), Body: `{"a":1}`}.Event()
	if err != nil || got.String() != sent.String() {
		t.Errorf("it is %s, %v, want %s", got, err, sent)
	}
}
