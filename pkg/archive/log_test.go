package archive_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

var driverLog = archive.LogID{Pod: "pi-driver", PodUID: "uid-of-pod", Container: "spark-kubernetes-driver"}

func all(t *testing.T, attempt *archive.Attempt, options archive.LogOptions) string {
	t.Helper()
	reader, err := attempt.OpenLog(t.Context(), driverLog, options)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func newLog(t *testing.T, a *archive.Archive) *archive.Attempt {
	t.Helper()
	mine := id("team-a", "pi")
	write(t, a, application(mine, begin))
	return a.Attempt(mine, 0)
}

func TestLogsAreReadAsTheKubeletSentThem(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		attempt := newLog(t, a)
		const lines = 40_000
		sent := count(0, lines, 100*time.Millisecond) + line(begin.Add(lines*100*time.Millisecond), "") +
			line(begin.Add(lines*100*time.Millisecond), "binary \x00\xff rubbish")
		w := store(t.Context(), t, attempt, driverLog, sent)
		if !w.From.Equal(begin) || !w.To.Equal(begin.Add(lines*100*time.Millisecond)) || w.Bytes() != int64(len(sent)) || w.Gap {
			t.Errorf("from %v to %v, %d bytes, gap %t", w.From, w.To, w.Bytes(), w.Gap)
		}
		check := func(what, want string, options archive.LogOptions) {
			t.Helper()
			if got := all(t, attempt, options); got != want {
				t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
			}
		}
		var plain strings.Builder
		for l := range strings.Lines(sent) {
			_, text, _ := strings.Cut(l, " ")
			plain.WriteString(text)
		}
		check("with timestamps", sent, archive.LogOptions{Timestamps: true, Tail: -1})
		check("plain", plain.String(), archive.LogOptions{Tail: -1})
		check("a range", sent[1_100_000:1_200_001], archive.LogOptions{Timestamps: true, Tail: -1, Offset: 1_100_000, Length: 100_001})
		check("the last lines", "line 39999\n\nbinary \x00\xff rubbish\n", archive.LogOptions{Tail: 3})
		check("no line", "", archive.LogOptions{Tail: 0})
		check("more lines than there are", plain.String(), archive.LogOptions{Tail: lines * 2})
		check("many lines", count(10_000, lines, 100*time.Millisecond)+strings.SplitAfterN(sent, "line 39999\n", 2)[1], archive.LogOptions{Timestamps: true, Tail: 30_002})
		since := begin.Add(35_000 * 100 * time.Millisecond)
		first := since.Format(time.RFC3339Nano)
		_, after, _ := strings.Cut(sent, first)
		check("since", first+after, archive.LogOptions{Timestamps: true, Tail: -1, Since: since})
		check("since long ago", sent, archive.LogOptions{Timestamps: true, Tail: -1, Since: begin.Add(-time.Hour)})
		check("since the future", "", archive.LogOptions{Timestamps: true, Tail: -1, Since: begin.Add(20 * time.Hour)})
		logs, err := attempt.Logs(t.Context())
		if err != nil || len(logs) != 1 || logs[0] != (archive.LogInfo{LogID: driverLog, Bytes: int64(len(sent))}) {
			t.Errorf("%+v, %v", logs, err)
		}
	})
}

// Many lines may be of the second in which lines are out of order, and a line may fill whole chunks.
func TestSinceLosesNoLine(t *testing.T) {
	const lines = 300_000
	long := line(begin, strings.Repeat("x", 2*archive.MaxChunk))
	for name, sent := range map[string]string{
		"lines at once": count(0, lines, time.Microsecond),
		"a long line":   long + count(1, lines, time.Microsecond),
		"out of order":  count(lines, lines+1, time.Microsecond) + count(0, lines, time.Microsecond),
	} {
		t.Run(name, func(t *testing.T) {
			attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
			store(t.Context(), t, attempt, driverLog, sent)
			for _, at := range []int{0, 1, lines / 3, lines / 2, lines - 1, lines, lines + 1} {
				since := begin.Add(time.Duration(at) * time.Microsecond)
				var want strings.Builder
				for l := range strings.Lines(sent) {
					if stamp, _, _ := strings.Cut(l, " "); !mustParse(stamp).Before(since) {
						want.WriteString(l)
					}
				}
				if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1, Since: since}); got != want.String() {
					t.Errorf("since %d: %d bytes, want %d", at, len(got), want.Len())
				}
			}
		})
	}
}

// The kubelet sends the lines of the last second again, since it knows whole seconds only.
func TestLogsAreResumedWithoutALineTwice(t *testing.T) {
	whole := count(0, 2000, 150*time.Millisecond)
	again := func(at time.Time) string { // what the kubelet sends since a time
		var sent strings.Builder
		for l := range strings.Lines(whole) {
			if stamp, _, _ := strings.Cut(l, " "); at.IsZero() || !mustParse(stamp).Before(at) {
				sent.WriteString(l)
			}
		}
		return sent.String()
	}
	broken := errors.New("the connection broke")
	rng := rand.New(rand.NewPCG(1, 2))
	onEach(t, func(t *testing.T, a *archive.Archive) {
		attempt := newLog(t, a)
		w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		for w.Bytes() < int64(len(whole)) {
			sent := again(w.Since())
			cut := rng.IntN(min(len(sent), 20_000) + 1)
			if rest := int64(len(whole)) - w.Bytes(); rest < 2000 {
				cut = len(sent)
			}
			reader := io.MultiReader(strings.NewReader(sent[:cut]), iotest.ErrReader(broken))
			if err := w.Copy(t.Context(), reader); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			if rng.IntN(3) == 0 { // another process goes on
				if err := w.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if w, err = attempt.WriteLog(t.Context(), driverLog, 1<<40); err != nil {
					t.Fatal(err)
				}
			}
			if w.Gap {
				t.Fatal("it seems to have lost lines")
			}
		}
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != whole {
			t.Errorf("it has %d bytes, want %d", len(got), len(whole))
		}
	})
}

func mustParse(stamp string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		panic(err)
	}
	return at
}

func TestLogsThatWereRotatedAwayHaveAGap(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	first, second := count(0, 10, time.Second), count(50, 60, time.Second)
	store(t.Context(), t, attempt, driverLog, first+begin.Add(10*time.Second).Format(time.RFC3339Nano)+" cut off in the mid")
	w := store(t.Context(), t, attempt, driverLog, second)
	if !w.Gap {
		t.Error("it does not know")
	}
	if got, want := all(t, attempt, archive.LogOptions{Tail: -1}), "cut off in the mid\nline 50\n"; !strings.Contains(got, want) {
		t.Errorf("%q", got)
	}
}

// Another writer has read the lines in between, and stores them a moment later: nothing may be stored in their place.
func TestAWriterThatRefusesGapsLeavesThemToAnother(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	refused := func(sent string, latest time.Time) {
		t.Helper()
		w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		w.RefuseGaps(latest)
		if err := w.Copy(t.Context(), strings.NewReader(sent)); !archive.IsGap(err) || w.Gap {
			t.Errorf("it ended with %v", err)
		}
		if err := w.Flush(t.Context()); err != nil || !w.Begun() {
			t.Fatal(err)
		}
	}
	refused(count(20, 30, time.Second), begin.Add(19*time.Second))
	follower := store(t.Context(), t, attempt, driverLog, count(0, 10, time.Second))
	refused(count(20, 30, time.Second), begin)
	if err := errors.Join(follower.Copy(t.Context(), strings.NewReader(count(9, 25, time.Second))), follower.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	w.RefuseGaps(begin)
	if err := errors.Join(w.Copy(t.Context(), strings.NewReader(count(20, 30, time.Second))), w.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != count(0, 30, time.Second) {
		t.Errorf("it has %d bytes", len(got))
	}
}

// One writer goes on behind lines that the kubelet has no more, and another one has them and stores them later: what each has stored is never mixed.
func TestWhatIsBehindAGapIsNotMixedWithWhatAnotherWriterHas(t *testing.T) {
	for name, chunkBytes := range map[string]int{"in one chunk": 1 << 20, "in many": 50} {
		t.Run(name, func(t *testing.T) {
			attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
			resume := func() *archive.LogWriter {
				t.Helper()
				w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
				if err != nil {
					t.Fatal(err)
				}
				w.ChunkBytes = chunkBytes
				return w
			}
			stores := func(w *archive.LogWriter, sent string) {
				t.Helper()
				if err := errors.Join(w.Copy(t.Context(), strings.NewReader(sent)), w.Flush(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			want := count(0, 3, time.Second)
			mustHave := func(more string) {
				t.Helper()
				if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != want+more {
					t.Fatalf("it has %q, want %q", got, want+more)
				}
			}
			follower := resume()
			stores(follower, want)
			end := resume()
			stores(end, count(95, 105, time.Second))
			for _, last := range []int{5, 9, 12, 50, 120} {
				mustHave(count(95, 105, time.Second))
				stores(follower, count(0, last, time.Second))
			}
			next := resume()
			if !next.Gap || follower.Gap {
				t.Error("the gap is not stored with what follows it")
			}
			stores(next, count(104, 108, time.Second))
			stores(next, count(200, 203, time.Second))
			stores(end, count(104, 150, time.Second))
			want += count(95, 108, time.Second)
			mustHave(count(200, 203, time.Second))
			stores(resume(), count(202, 205, time.Second))
			mustHave(count(200, 205, time.Second))
			logs, err := attempt.Logs(t.Context())
			if err != nil || len(logs) != 1 || !logs[0].Gap {
				t.Errorf("%+v, %v", logs, err)
			}
		})
	}
}

// One writer has begun with a later line than another one, which stores the beginning later.
func TestWhatBeginsLateIsNotMixedWithTheBeginning(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	follower := store(t.Context(), t, attempt, driverLog, "")
	follower.FenceFirstOfFollower()
	end, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	end.FenceFirst()
	late := count(95, 105, time.Second)
	if err := errors.Join(end.Copy(t.Context(), strings.NewReader(late)), end.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	follower.ChunkBytes = 50
	for _, last := range []int{5, 9, 120} {
		if err := errors.Join(follower.Copy(t.Context(), strings.NewReader(count(0, last, time.Second))), follower.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != late {
			t.Fatalf("it has %q", got)
		}
	}
	if next := store(t.Context(), t, attempt, driverLog, count(104, 106, time.Second)); next.Gap || !next.From.Equal(begin.Add(95*time.Second)) {
		t.Errorf("%+v", next)
	}
}

// The lease lets one follower begin a log. One that lost it without noticing begins it, too, and the node may have the first lines no more for the other. Each full chunk
// of theirs has the same offset and length, and other lines.
func TestWhatTwoFollowersBeginIsNotMixed(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	var followers []*archive.LogWriter
	for range 2 {
		w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		w.FenceFirstOfFollower()
		w.ChunkBytes, followers = 50, append(followers, w)
	}
	writes := func(i, from, to int) {
		t.Helper()
		if err := errors.Join(followers[i].Copy(t.Context(), strings.NewReader(count(from, to, time.Second))), followers[i].Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for _, last := range []int{30, 50} {
		writes(0, 10, last)
		writes(1, 14, last-8)
		writes(0, 10, last+8)
		if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != count(10, last+8, time.Second) && got != count(14, last-8, time.Second) {
			t.Fatalf("it has %q", got)
		}
	}
}

func TestLogsAreBounded(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	w, err := attempt.WriteLog(t.Context(), driverLog, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Copy(t.Context(), strings.NewReader(count(0, 100, time.Second))); !archive.IsTruncated(err) {
		t.Errorf("it ended with %v", err)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != count(0, 100, time.Second)[:1000] {
		t.Errorf("it has %d bytes", len(got))
	}
}

// A log that grows slowly is stored again and again, and does not become a heap of small objects.
func TestFlushesReplaceSmallChunks(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	attempt := newLog(t, archive.New(bucket))
	w, err := attempt.WriteLog(t.Context(), driverLog, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := w.Copy(t.Context(), strings.NewReader(count(max(i-1, 0), i+1, time.Second))); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	objects := 0
	for keys := bucket.List(nil); ; objects++ {
		if _, err := keys.Next(t.Context()); err != nil {
			break
		}
	}
	if got := all(t, attempt, archive.LogOptions{Timestamps: true, Tail: -1}); got != count(0, 50, time.Second) || objects != 3 {
		t.Errorf("%d bytes in %d objects", len(got), objects)
	}
}

func TestEmptyLogsAreStored(t *testing.T) {
	attempt := newLog(t, archive.New(memblob.OpenBucket(nil)))
	store(t.Context(), t, attempt, driverLog, "")
	store(t.Context(), t, attempt, driverLog, "")
	if got := all(t, attempt, archive.LogOptions{Tail: -1}); got != "" {
		t.Errorf("%q", got)
	}
}

// endless sends the same bytes again and again. They hold no end of a line.
type endless struct{ content []byte }

func (e endless) Read(into []byte) (int, error) { return copy(into, e.content), nil }

func TestALargeLogTakesLittleMemory(t *testing.T) {
	const size, limit = 1 << 30, 32 << 20
	a := storages(t)["folder"]
	w, err := newLog(t, a).WriteLog(t.Context(), driverLog, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	source := endless{bytes.Repeat([]byte("\x00\xffbinary rubbish"), 4096)}
	var stats runtime.MemStats
	heap := func() uint64 {
		runtime.ReadMemStats(&stats)
		return stats.HeapInuse
	}
	runtime.GC()
	before, most := heap(), uint64(0)
	measured := readFunc(func(into []byte) (int, error) {
		if w.Bytes()%(16<<20) < int64(len(source.content)) {
			most = max(most, heap())
		}
		return source.Read(into)
	})
	if err := errors.Join(w.Copy(t.Context(), io.LimitReader(measured, size)), w.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB: up to %d KiB of heap, %d KiB before", w.Bytes()>>20, most>>10, before>>10)
	if w.Bytes() != size || most > before+limit {
		t.Errorf("%d bytes took %d bytes of heap, %d before", w.Bytes(), most, before)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(into []byte) (int, error) { return f(into) }
