package history

import (
	"slices"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

func TestIDsAreThoseOfTheView(t *testing.T) {
	stored := archive.New(memblob.OpenBucket(nil))
	log := archive.EventLog{Attempt: 1}
	log.ID = archive.ID{Namespace: archive.Namespace{Name: "a", UID: "n"}, Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: "1"}
	sent(t.Context(), t, stored, "a", "1", 1, "events_1_same", "appstatus_same")
	logs, err := NewArchived("a", stored).Logs(t.Context())
	if err != nil || len(logs) != 1 || logs[0].ID != SentID(log) {
		t.Errorf("%v (%v), want %s", logs, err, SentID(log))
	}
	bucket := memblob.OpenBucket(nil)
	for _, key := range []string{"eventlog_v2_spark-a-b_c/events_1_spark-a-b_c", "spark-a-b_c"} {
		if err := bucket.WriteAll(t.Context(), key, []byte(startLine), nil); err != nil {
			t.Fatal(err)
		}
	}
	logs, err = (&Bucket{Namespace: "a", Bucket: bucket}).Logs(t.Context())
	if err != nil || len(logs) != 2 {
		t.Fatalf("%v, %v", logs, err)
	}
	for _, log := range logs {
		if !slices.Contains(WrittenIDs("a", "Spark-A/b.C"), log.ID) {
			t.Errorf("%s is none of %v", log.ID, WrittenIDs("a", "Spark-A/b.C"))
		}
	}
}

func TestIDsNameTheirNamespace(t *testing.T) {
	log := archive.EventLog{}
	log.ID = archive.ID{Namespace: archive.Namespace{Name: "team-a", UID: "n"}, Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: "1"}
	namespace, mayBeOf := NamespaceOf(SentID(log))
	if namespace != "team-a" || !mayBeOf("n") || mayBeOf("made-anew") {
		t.Errorf("%s is of %s", SentID(log), namespace)
	}
	if namespace, mayBeOf = NamespaceOf(WrittenIDs("team-a", "spark-1")[0]); namespace != "team-a" || !mayBeOf("any") {
		t.Errorf("a log that a driver wrote is of %s", namespace)
	}
	for _, odd := range []string{"", "-", "a", "a-", "-a"} {
		NamespaceOf(odd)
	}
}
