package archive_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

func TestNamesAreOneElementOfAKey(t *testing.T) {
	for name, want := range map[string]string{
		"pi": "pi", "spark-pi.v1": "spark-pi.v1", "": "%", ".": "%2E", "..": "%2E%2E", "_index": "%5Findex", "a_b": "a_b", "a/../b": "a%2F..%2Fb",
		"%2F": "%252F", "ü": "%C3%BC", "a b\n": "a%20b%0A", "\xff": "%FF",
	} {
		if escaped := archive.Escape(name); escaped != want {
			t.Errorf("%q is %q, want %q", name, escaped, want)
		} else if back, ok := archive.Unescape(escaped); back != name || !ok {
			t.Errorf("%q is again %q, %t", escaped, back, ok)
		}
	}
	for _, element := range []string{"%2f", "%4", "%zz", "..", ".", "_index", "%41"} {
		if name, ok := archive.Unescape(element); ok {
			t.Errorf("%q is the name %q, though no name has it", element, name)
		}
	}
}

func FuzzEscapedNamesAreReadAgain(f *testing.F) {
	f.Add("a/b")
	f.Fuzz(func(t *testing.T, name string) {
		escaped := archive.Escape(name)
		if back, ok := archive.Unescape(escaped); back != name || !ok || strings.ContainsAny(escaped, "/\\ ") || escaped == "." || escaped == ".." {
			t.Errorf("%q is %q, and again %q", name, escaped, back)
		}
	})
}

// This program lacks the library of Google Cloud Storage, as the controller does.
func TestArchiveWithoutItsLibraryNamesTheRemedy(t *testing.T) {
	_, err := archive.Open(t.Context(), "gs://bucket/folder")
	const want = "open archive gs://bucket/folder: the controller has no library of gs://, which is large: run the handler outside of it, with " +
		"archive: external in config-handlers"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}

func TestApplicationsAreFoundByTheUIDOfTheirNamespaceOnly(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		mine := id("team-a", "pi")
		write(t, a, application(mine, begin))
		if err := a.Attempt(mine, 0).Put(t.Context(), []byte("{}"), "objects", "application.json"); err != nil {
			t.Fatal(err)
		}
		anew := mine
		anew.Namespace.UID = "another"
		if _, err := a.Application(t.Context(), anew); !archive.IsNotFound(err) {
			t.Errorf("application: %v", err)
		}
		if _, err := a.Attempts(t.Context(), anew); !archive.IsNotFound(err) {
			t.Errorf("attempts: %v", err)
		}
		if _, err := a.Attempt(anew, 0).Get(t.Context(), 100, "objects", "application.json"); !archive.IsNotFound(err) {
			t.Errorf("object: %v", err)
		}
		if _, err := a.Attempt(anew, 0).Manifest(t.Context()); !archive.IsNotFound(err) {
			t.Errorf("manifest: %v", err)
		}
		if _, err := a.Attempt(anew, 0).Logs(t.Context()); !archive.IsNotFound(err) {
			t.Errorf("logs: %v", err)
		}
		if list, err := a.List(t.Context(), anew.Namespace, archive.Filter{}, archive.Page{}); err != nil || len(list.Items) > 0 {
			t.Errorf("list: %v, %v", list, err)
		}
		if found, err := a.Find(t.Context(), anew.Namespace, resource, "pi"); err != nil || len(found) > 0 {
			t.Errorf("find: %v, %v", found, err)
		}
		if content, err := a.Attempt(mine, 0).Get(t.Context(), 100, "objects", "application.json"); err != nil || string(content) != "{}" {
			t.Errorf("own object: %q, %v", content, err)
		}
		if attempts, err := a.Attempts(t.Context(), mine); err != nil || !cmp.Equal(attempts, []int64{0}) {
			t.Errorf("own attempts: %v, %v", attempts, err)
		}
		if _, err := a.Application(t.Context(), archive.ID{}); err == nil {
			t.Error("an application without a name is read")
		}
	})
}

func TestTheNewestOfANameAreFound(t *testing.T) {
	const stored, most = 150, 100
	a := archive.New(memblob.OpenBucket(nil))
	app := application(id("team-a", "pi"), begin)
	for i := range stored { // the newest has the last key
		app.UID, app.Created = types.UID(fmt.Sprintf("uid-%03d", i)), begin.Add(time.Duration(i)*time.Minute)
		write(t, a, app)
	}
	found, err := a.Find(t.Context(), app.ID().Namespace, resource, "pi")
	if err != nil || len(found) != most {
		t.Fatalf("%d are found, want %d: %v", len(found), most, err)
	}
	if found[0].UID != "uid-149" || found[most-1].UID != "uid-050" {
		t.Errorf("from %s to %s", found[0].UID, found[most-1].UID)
	}
}

func TestAnnouncementsChangeNothingThatIsStored(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		app := application(id("team-a", "pi"), begin)
		early := app
		early.State, early.Ended, early.Outcome = "", nil, ""
		for range 2 {
			if err := a.Announce(t.Context(), early); err != nil {
				t.Fatal(err)
			}
		}
		write(t, a, app)
		if err := a.Announce(t.Context(), early); err != nil {
			t.Fatal(err)
		}
		found, err := a.Application(t.Context(), app.ID())
		if diff := cmp.Diff(&app, found); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func TestListsHaveTheNewestFirst(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		const apps = 25
		for i := range apps {
			app := application(id("team-a", fmt.Sprintf("app-%02d", i)), begin.Add(time.Duration(i)*time.Hour))
			if i%5 == 0 {
				app.State, app.Labels = "Failed", map[string]string{"team": "x"}
			}
			write(t, a, app)
		}
		write(t, a, application(id("team-b", "app-99"), begin))
		names := func(filter archive.Filter, limit int) (names []string) {
			t.Helper()
			page := archive.Page{Limit: limit}
			for {
				list, err := a.List(t.Context(), id("team-a", "").Namespace, filter, page)
				if err != nil {
					t.Fatal(err)
				}
				if len(list.Items) > limit {
					t.Fatalf("a page has %d applications", len(list.Items))
				}
				for _, app := range list.Items {
					names = append(names, app.Name)
				}
				if page.Token = list.Next; page.Token == "" {
					return names
				}
			}
		}
		if all := names(archive.Filter{}, 7); len(all) != apps || all[0] != "app-24" || all[apps-1] != "app-00" {
			t.Errorf("all: %v", all)
		}
		for what, test := range map[string]struct {
			filter archive.Filter
			want   []string
		}{
			"failed": {archive.Filter{State: "Failed"}, []string{"app-20", "app-15", "app-10", "app-05", "app-00"}},
			"a time": {archive.Filter{Since: begin.Add(3 * time.Hour), Until: begin.Add(4*time.Hour + time.Minute)}, []string{"app-04", "app-03"}},
			"labels": {archive.Filter{Labels: labels.SelectorFromSet(labels.Set{"team": "x"}), Since: begin.Add(20 * time.Hour)}, []string{"app-20"}},
			"a name": {archive.Filter{Name: "app-07", Resource: resource}, []string{"app-07"}},
			"a kind": {archive.Filter{Resource: "sparkapplications.sparkoperator.k8s.io"}, nil},
		} {
			if diff := cmp.Diff(test.want, names(test.filter, 2)); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		if namespaces, err := a.Namespaces(t.Context()); err != nil || !cmp.Equal(namespaces, []string{"team-a", "team-b"}) {
			t.Errorf("namespaces: %v, %v", namespaces, err)
		}
		if uids, err := a.NamespaceUIDs(t.Context(), "team-a"); err != nil || len(uids) != 1 || uids[0] != "uid-of-team-a" {
			t.Errorf("uids: %v, %v", uids, err)
		}
		if _, err := a.List(t.Context(), id("team-a", "").Namespace, archive.Filter{}, archive.Page{Token: "?"}); err == nil {
			t.Error("any token is that of a page")
		}
	})
}

func TestFilesAreReadByRanges(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		mine := id("team-a", "pi")
		write(t, a, application(mine, begin))
		attempt := a.Attempt(mine, 3)
		file := attempt.File("eventlog", "../odd name", "events_1_x")
		content := "0123456789abcdefghijklmnopqrstuvwxyz"
		for _, part := range [][2]int{{0, 10}, {10, 15}, {10, 20}, {5, 12}, {20, 30}, {33, 36}} { // repeated, overlapping, with a gap at 30
			if err := file.Append(t.Context(), int64(part[0]), []byte(content[part[0]:part[1]])); err != nil {
				t.Fatal(err)
			}
		}
		if err := attempt.File("eventlog", "appstatus_x").Append(t.Context(), 0, nil); err != nil {
			t.Fatal(err)
		}
		info, err := file.Stat(t.Context())
		if err != nil || info.Size != 30 {
			t.Fatalf("%+v, %v", info, err)
		}
		for _, test := range []struct {
			offset, length int64
			want           string
		}{{0, -1, content[:30]}, {0, 0, ""}, {3, 4, content[3:7]}, {9, 3, content[9:12]}, {12, -1, content[12:30]}, {29, 100, content[29:30]}, {29, math.MaxInt64, content[29:30]}, {30, -1, ""}, {99, 1, ""}} {
			reader, err := file.Open(t.Context(), test.offset, test.length)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(reader); err != nil || string(got) != test.want {
				t.Errorf("from %d, %d bytes: %q, want %q; %v", test.offset, test.length, got, test.want, err)
			}
		}
		files, err := attempt.Files(t.Context(), "eventlog")
		if err != nil || len(files) != 2 || !cmp.Equal(files[0].Path, []string{"eventlog", "../odd name", "events_1_x"}) || files[1].Size != 0 {
			t.Errorf("%+v, %v", files, err)
		}
		if lost, err := attempt.Check(t.Context()); err != nil || len(lost) > 0 {
			t.Errorf("lost: %v, %v", lost, err)
		}
		if _, err := attempt.File("eventlog", "none").Stat(t.Context()); !archive.IsNotFound(err) {
			t.Errorf("a file that does not exist: %v", err)
		}
		if err := file.Append(t.Context(), 0, make([]byte, archive.MaxChunk+1)); err == nil {
			t.Error("a chunk is larger than the largest")
		}
	})
}

func TestCheckNamesWhatTheStorageLost(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	a := archive.New(bucket)
	mine := id("team-a", "pi")
	attempt := a.Attempt(mine, 0)
	for _, name := range []string{"a.json", "b.json", "c.json"} {
		if err := attempt.Put(t.Context(), []byte("{}"), "objects", name); err != nil {
			t.Fatal(err)
		}
	}
	folder := "team-a/" + resource + "/pi/uid-of-pi/0/objects/"
	if err := bucket.Delete(t.Context(), folder+"a.json"); err != nil {
		t.Fatal(err)
	}
	if err := bucket.WriteAll(t.Context(), folder+"b.json", []byte("{"), nil); err != nil {
		t.Fatal(err)
	}
	lost, err := attempt.Check(t.Context())
	if diff := cmp.Diff([]string{"objects/a.json", "objects/b.json"}, lost); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestManifestsAndObjectsAreReadAsTheyWereWritten(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		mine := id("team-a", "pi")
		write(t, a, application(mine, begin))
		attempt := a.Attempt(mine, 0)
		if _, err := attempt.Manifest(t.Context()); !archive.IsNotFound(err) {
			t.Errorf("before: %v", err)
		}
		manifest := &archive.Manifest{
			Attempt: 0, Began: begin, Ended: begin.Add(time.Minute), Archived: begin.Add(2 * time.Minute), State: "Failed",
			Logs: []archive.Log{
				{LogID: archive.LogID{Pod: "pi-exec-1", PodUID: "x", Container: "spark-kubernetes-executor"}, Role: archive.RoleExecutor},
				{LogID: archive.LogID{Pod: "pi-driver", PodUID: "d", Container: "spark-kubernetes-driver"}, Role: archive.RoleDriver, Bytes: 3},
			},
			Missing: []archive.Missing{{What: "Kubernetes Events", Why: "forbidden"}},
		}
		if stored, err := attempt.WriteManifest(t.Context(), manifest); err != nil || stored != manifest {
			t.Fatal(stored, err)
		}
		read, err := attempt.Manifest(t.Context())
		if diff := cmp.Diff(manifest, read); err != nil || diff != "" || read.Logs[0].Role != archive.RoleDriver {
			t.Errorf("%v\n%s", err, diff)
		}
		text := strings.Repeat("text ", 1000)
		if err := attempt.Put(t.Context(), []byte(text), "objects", "events.json.gz"); err != nil {
			t.Fatal(err)
		}
		if got, err := attempt.Get(t.Context(), 5000, "objects", "events.json.gz"); err != nil || string(got) != text {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, err := attempt.Get(t.Context(), 4999, "objects", "events.json.gz"); err == nil || !strings.Contains(err.Error(), "more than 4999 bytes") {
			t.Errorf("an object larger than the limit: %v", err)
		}
	})
}

func TestTheFirstManifestOfALaunchStays(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		mine := id("team-a", "pi")
		write(t, a, application(mine, begin))
		attempt := a.Attempt(mine, 0)
		for i, c := range []struct{ launch, message, want string }{
			{"spark-1", "first", "first"}, {"spark-1", "second", "first"}, {"spark-2", "another launch", "another launch"}, {"spark-2", "second", "another launch"},
		} {
			stored, err := attempt.WriteManifest(t.Context(), &archive.Manifest{ApplicationID: c.launch, Message: c.message})
			if err != nil || stored.Message != c.want {
				t.Errorf("%d: the answer is %+v, %v", i, stored, err)
			}
			if read, err := attempt.Manifest(t.Context()); err != nil || read.Message != c.want {
				t.Errorf("%d: the archive has %+v, %v; want %q", i, read, err, c.want)
			}
		}
		if err := attempt.Put(t.Context(), []byte("{"), "manifest.json"); err != nil {
			t.Fatal(err)
		}
		if stored, err := attempt.WriteManifest(t.Context(), &archive.Manifest{Message: "after rubbish"}); err != nil || stored.Message != "after rubbish" {
			t.Errorf("after rubbish: %+v, %v", stored, err)
		}
	})
}

func TestRetentionDeletesTheOldestFirst(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		for _, namespace := range []string{"team-a", "team-b"} {
			for _, name := range []string{"a", "b", "c"} {
				mine := id(namespace, namespace+"-"+name)
				write(t, a, application(mine, begin))
				if err := a.Attempt(mine, 0).Put(t.Context(), []byte(strings.Repeat("x", 1000)), "objects", "x.json"); err != nil {
					t.Fatal(err)
				}
			}
		}
		left := func() (names []string) {
			for _, namespace := range []string{"team-a", "team-b"} {
				list, err := a.List(t.Context(), id(namespace, "").Namespace, archive.Filter{}, archive.Page{})
				if err != nil {
					t.Fatal(err)
				}
				for _, app := range list.Items {
					names = append(names, app.Name)
				}
			}
			return names
		}
		now := time.Now()
		of := func(name string) bool { return name == "team-a" }
		sweep := func(at time.Time, retention archive.Retention) archive.Deleted {
			t.Helper()
			deleted, err := a.SweepIfDue(t.Context(), at, time.Hour, retention, of)
			if err != nil {
				t.Fatal(err)
			}
			return deleted
		}
		if sweep(now, archive.Retention{Age: time.Minute, Bytes: 1}); len(left()) != 6 {
			t.Errorf("what was just written is deleted: %v", left())
		}
		if sweep(now.Add(time.Minute), archive.Retention{Age: 1, Bytes: 1}); len(left()) != 6 {
			t.Errorf("it was not due: %v", left())
		}
		if deleted := sweep(now.Add(2*time.Hour), archive.Retention{Bytes: 4000}); deleted.Applications != 1 || len(left()) != 5 || left()[0] == "team-a-a" {
			t.Errorf("bytes: %+v, %v", deleted, left())
		}
		if deleted := sweep(now.Add(4*time.Hour), archive.Retention{Age: 3 * time.Hour}); deleted.Applications != 2 || len(left()) != 3 {
			t.Errorf("age: %+v, %v", deleted, left())
		}
		if namespaces, err := a.Namespaces(t.Context()); err != nil || !cmp.Equal(namespaces, []string{"team-b"}) {
			t.Errorf("something of the namespace is left: %v, %v", namespaces, err)
		}
	})
}

// A bucket may hold things of others, whose keys may look like those of an archive.
func TestRetentionDeletesNothingOfOthers(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	a := archive.New(bucket)
	foreign := []string{
		"warehouse/sales/orders/2023/part-0", "warehouse/sales/orders/2023/05/part-1", "Warehouse_1/" + resource + "/pi/uid/part-2",
		"team-a/sales/pi/uid-of-pi/part-3", "team-a/_index/x/y/orders/z/uid.json",
	}
	for _, key := range foreign {
		if err := bucket.WriteAll(t.Context(), key, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	// Two APIs may have applications of one uid, if a cluster was restored.
	mine := id("team-a", "pi")
	other := mine
	other.Resource = "sparkapplications.sparkoperator.k8s.io"
	cluster := mine
	cluster.Resource = "sparkclusters.spark.apache.org"
	write(t, a, application(mine, begin))
	write(t, a, application(other, begin))
	write(t, a, application(cluster, begin))
	all := func(string) bool { return true }
	deleted, err := a.SweepIfDue(t.Context(), time.Now().Add(2*time.Hour), time.Hour, archive.Retention{Age: time.Hour}, all)
	if err != nil || deleted.Applications != 3 {
		t.Errorf("%+v, %v", deleted, err)
	}
	for _, key := range foreign {
		if ok, err := bucket.Exists(t.Context(), key); !ok || err != nil {
			t.Errorf("%s is deleted: %v", key, err)
		}
	}
	if list, err := a.List(t.Context(), mine.Namespace, archive.Filter{}, archive.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}
