package receiver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// env is a receiver with an archive in memory. Tokens are names of Pods.
type env struct {
	*testing.T
	stored *archive.Archive
	server *httptest.Server
	*Receiver
	// asked counts the questions about attempts, and failure is the answer to all.
	asked   int
	failure error
	most    int64
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, stored: archive.New(memblob.OpenBucket(nil)), most: 1 << 30}
	e.Receiver = New(e, func() int64 { return e.most }, zap.NewNop().Sugar())
	e.server = httptest.NewServer(e.Receiver)
	t.Cleanup(e.server.Close)
	return e
}

// Pod returns a Pod with the name of the token.
func (e *env) Pod(_ context.Context, token string) (review.Pod, error) {
	if token == "" {
		return review.Pod{}, access.ErrUnauthenticated
	}
	return review.Pod{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: token}, UID: types.UID(token)}, nil
}

func app(name string) archive.Application {
	return archive.Application{
		Namespace: "team-a", NamespaceUID: "n", Resource: "sparkapplications.spark.apache.org", Name: name, UID: types.UID("uid-of-" + name),
	}
}

// Attempt returns the attempt 1 of an application with the name of the Pod.
func (e *env) Attempt(ctx context.Context, pod review.Pod) (*archive.Attempt, error) {
	e.asked++
	if e.failure != nil {
		return nil, e.failure
	}
	return e.attempt(pod.Name), e.stored.AnnounceEventLog(ctx, app(pod.Name), 1)
}

func (e *env) attempt(name string) *archive.Attempt { return e.stored.Attempt(app(name).ID(), 1) }

// request returns the status and the body of an answer.
func (e *env) request(method, token, path string, body io.Reader) (int, string) {
	e.Helper()
	request, err := http.NewRequestWithContext(e.Context(), method, e.server.URL+path, body)
	if err != nil {
		e.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		e.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		e.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func (e *env) put(token, name string, offset int64, content string) (int, string) {
	e.Helper()
	return e.request(http.MethodPut, token, fmt.Sprintf("%s/%s?offset=%d", eventlog.FilesPath, name, offset), strings.NewReader(content))
}

func (e *env) expectStored(pod, name, want string) {
	e.Helper()
	reader, err := e.attempt(pod).File(archive.EventLogFolder, name).Open(e.Context(), 0, -1)
	if err != nil {
		e.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != want {
		e.Errorf("%s of %s has %q, want %q: %v", name, pod, got, want, err)
	}
}

func TestPartsAreStoredOnceAndResumed(t *testing.T) {
	e := newEnv(t)
	for _, part := range []struct {
		offset  int64
		content string
		status  int
		answer  string
	}{
		{0, "abc", 200, `{"name":"events_1_a","bytes":3,"part":0}`},
		{0, "abcdef", 200, `{"name":"events_1_a","bytes":6,"part":0}`},
		{0, "abc", 200, `{"name":"events_1_a","bytes":6,"part":0}`}, // late
		{6, "ghi", 200, `{"name":"events_1_a","bytes":9,"part":6}`},
		{6, "ghijk", 200, `{"name":"events_1_a","bytes":11,"part":6}`},
		{4, "efghijklm", 200, `{"name":"events_1_a","bytes":13,"part":4}`},
		{14, "o", 409, `events_1_a has 13 bytes, and the part begins at 14: send what is between first`},
	} {
		if status, answer := e.put("pi-driver", "events_1_a", part.offset, part.content); status != part.status || answer != part.answer {
			t.Errorf("%+v: the answer is %d %s", part, status, answer)
		}
	}
	if status, _ := e.put("pi-driver", "appstatus_a.inprogress", 0, ""); status != http.StatusOK {
		t.Errorf("the status is %d", status)
	}
	e.expectStored("pi-driver", "events_1_a", "abcdefghijklm")
	e.expectStored("pi-driver", "appstatus_a.inprogress", "")
	if e.asked != 1 {
		t.Errorf("the API server was asked %d times", e.asked)
	}
	e.sessions.Remove(types.UID("pi-driver")) // as another replica
	const want = `{"files":[{"name":"appstatus_a.inprogress","bytes":0,"part":0},{"name":"events_1_a","bytes":13,"part":4}]}`
	if status, list := e.request(http.MethodGet, "pi-driver", eventlog.FilesPath, http.NoBody); status != http.StatusOK || list != want {
		t.Errorf("the list is %d %s, want %s", status, list, want)
	}
}

func TestEventLogsOfPodsDoNotMeet(t *testing.T) {
	e := newEnv(t)
	for _, pod := range []string{"a-driver", "b-driver"} {
		if status, answer := e.put(pod, "events_1_same", 0, pod); status != http.StatusOK {
			t.Error(answer)
		}
	}
	e.expectStored("a-driver", "events_1_same", "a-driver")
	e.expectStored("b-driver", "events_1_same", "b-driver")
}

func TestWhatIsNoPartOfAnEventLogIsRefused(t *testing.T) {
	e := newEnv(t)
	e.most = 8
	const files = eventlog.FilesPath
	for _, c := range []struct {
		method, token, path, body string
		status                    int
		answer                    string
	}{
		{"PUT", "", files + "/events_1_a?offset=0", "x", 401, "not authenticated"},
		{"PUT", "p", files + "/..%2fmanifest.json?offset=0", "x", 400, "is no file of an uncompressed rolling event log"},
		{"PUT", "p", files + "/events_1_..%2f..%2fa?offset=0", "x", 400, "is no file"},
		{"PUT", "p", files + "/manifest.json?offset=0", "x", 400, "is no file"},
		{"PUT", "p", files + "/events_1_a", "x", 400, "write the offset"},
		{"PUT", "p", files + "/events_1_a?offset=-1", "x", 400, "write the offset"},
		{"PUT", "p", files + "/events_1_a?offset=9223372036854775808", "x", 400, "write the offset"},
		{"PUT", "p", files + "/events_1_a?offset=9223372036854775807", "x", 409, "send what is between first"},
		{"PUT", "p", files + "/events_1_a?offset=0", strings.Repeat("x", eventlog.MaxPart+1), 413, "send it in smaller ones"},
		{"PUT", "p", files + "/events_1_a?offset=0", "123456789", 413, "raise max-log-bytes"},
		{"DELETE", "p", files + "/events_1_a", "", 405, ""},
		{"GET", "p", "/metrics", "", 404, ""},
	} {
		if status, answer := e.request(c.method, c.token, c.path, strings.NewReader(c.body)); status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s %s with %d bytes: %d %s", c.method, c.path, len(c.body), status, answer)
		}
	}
	if files, err := e.attempt("p").Files(t.Context(), archive.EventLogFolder); err != nil || len(files) > 0 {
		t.Errorf("stored: %v, %v", files, err)
	}
}

func TestAnEventLogHasABoundedNumberOfFiles(t *testing.T) {
	e := newEnv(t)
	attempt, err := e.Attempt(t.Context(), review.Pod{NamespacedName: types.NamespacedName{Name: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{attempt: attempt, files: map[string]eventlog.File{}}
	for i := range eventlog.MaxFiles {
		s.files[fmt.Sprintf("events_%d_a", i+1)] = eventlog.File{}
	}
	e.sessions.Add(types.UID("p"), s, time.Hour)
	if status, answer := e.put("p", "events_5000_a", 0, "x"); status != http.StatusRequestEntityTooLarge || !strings.Contains(answer, "4096 files") {
		t.Errorf("the answer is %d %s", status, answer)
	}
}

// endless is a body that sends a byte and no end.
type endless struct{ left int }

func (b *endless) Read(p []byte) (int, error) {
	if b.left == 0 {
		select {}
	}
	b.left--
	return copy(p, "x"), nil
}

func TestABodyThatNeverEndsIsCutOff(t *testing.T) {
	e := newEnv(t)
	e.bodyTimeout = 50 * time.Millisecond
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, e.server.URL+eventlog.FilesPath+"/events_1_a?offset=0", &endless{left: 1})
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer p")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return // the connection was closed first
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusRequestTimeout {
		t.Errorf("the answer is %s", answer.Status)
	}
}

func TestOneRequestOfAPodAtATime(t *testing.T) {
	e := newEnv(t)
	e.put("p", "events_1_a", 0, "x")
	known, _ := e.sessions.Get(types.UID("p"))
	known.(*session).mutex.Lock()
	if status, answer := e.put("p", "events_1_a", 0, "xy"); status != http.StatusTooManyRequests || !strings.Contains(answer, "under way") {
		t.Errorf("the answer is %d %s", status, answer)
	}
	known.(*session).mutex.Unlock()
	if status, answer := e.put("p", "events_1_a", 0, "xy"); status != http.StatusOK {
		t.Errorf("the answer is %d %s", status, answer)
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		failure error
		status  int
		answer  string
	}{
		{fmt.Errorf("%w: the Pod is gone", access.ErrNotAllowed), 403, "the Pod is gone"},
		{fmt.Errorf("%w: timeout", access.ErrUnavailable), 503, "timeout"},
	} {
		e.failure = c.failure
		if status, answer := e.put("p", "events_1_a", 0, "x"); status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%v: the answer is %d %s", c.failure, status, answer)
		}
	}
	e.failure = nil
	if err := e.stored.Close(); err != nil {
		t.Fatal(err)
	}
	if status, answer := e.put("p", "events_1_a", 0, "x"); status < 500 || strings.Contains(answer, "team-a/") {
		t.Errorf("without storage the answer is %d %s", status, answer)
	}
}
