package sender

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// service is the archive's service, in memory.
type service struct {
	t  *testing.T
	mu sync.Mutex
	// files are what is stored, and names the order in which they were first stored.
	files map[string]string
	names []string
	// status is the answer to all requests, if it is not 0. requests counts them.
	status, requests int
}

// RoundTrip answers a request.
func (s *service) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	answer := httptest.NewRecorder()
	switch {
	case request.Header.Get("Authorization") != "Bearer secret":
		http.Error(answer, "no token", http.StatusUnauthorized)
	case s.status != 0:
		http.Error(answer, "not now", s.status)
	case request.Method == http.MethodGet:
		var list eventlog.Files
		for name, content := range s.files {
			list.Files = append(list.Files, eventlog.File{Name: name, Bytes: int64(len(content))})
		}
		_ = json.NewEncoder(answer).Encode(list)
	default:
		s.store(answer, request)
	}
	return answer.Result(), nil
}

func (s *service) store(w http.ResponseWriter, request *http.Request) {
	content, _ := io.ReadAll(request.Body)
	offset, err := strconv.Atoi(request.URL.Query().Get(eventlog.OffsetParameter))
	name := path.Base(request.URL.Path)
	stored, known := s.files[name]
	if err != nil || len(content) > eventlog.MaxPart || offset > len(stored) {
		http.Error(w, "that is no part", http.StatusConflict)
		return
	}
	if !known {
		s.names = append(s.names, name)
	}
	if end := offset + len(content); end > len(stored) {
		s.files[name] = stored[:offset] + string(content)
	} else {
		s.files[name] = stored
	}
	_ = json.NewEncoder(w).Encode(eventlog.File{Name: name, Bytes: int64(len(s.files[name]))})
}

// answer sets the answer to all requests; 0 for those of a service that works.
func (s *service) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *service) expect(name, want string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, ok := s.files[name]; !ok || got != want {
		s.t.Errorf("stored of %s are %d bytes, %t, want %d", name, len(got), ok, len(want))
	}
}

// driver is what a driver does in its folder.
type driver struct {
	t      *testing.T
	folder string
}

func (d driver) append(name, text string) {
	d.t.Helper()
	file, err := os.OpenFile(filepath.Join(d.folder, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		d.t.Fatal(err)
	}
}

func (d driver) rename(from, to string) {
	d.t.Helper()
	if err := os.Rename(filepath.Join(d.folder, from), filepath.Join(d.folder, to)); err != nil {
		d.t.Fatal(err)
	}
}

func (d driver) files() (names []string) {
	entries, err := os.ReadDir(d.folder)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// run runs a sender beside a driver, until stop is called. It has ended when stop returns.
func run(t *testing.T, s *service, backlog int64) (d driver, stop func()) {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "logs")
	for range 2 { // it may have been restarted
		if err := Prepare(folder); err != nil {
			t.Fatal(err)
		}
	}
	d = driver{t, filepath.Join(folder, "eventlog_v2_a")}
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(root, "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := &Client{Service: &url.URL{Scheme: "http", Host: "archive"}, TokenFile: token, HTTP: &http.Client{Transport: s}}
	sender := &Sender{Client: client, Folder: folder, Grace: 20 * time.Second, MaxBacklog: backlog, Logger: zap.NewNop().Sugar()}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		sender.Run(ctx)
		close(ended)
	}()
	return d, func() { cancel(); <-ended }
}

func newService(t *testing.T) *service {
	t.Helper()
	return &service{t: t, files: map[string]string{}}
}

// pass lets time pass, of the test's clock.
func pass(length time.Duration) {
	<-time.After(length)
	synctest.Wait()
}

func TestFilesAreFollowedWhileTheyGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		d, stop := run(t, s, 1<<30)
		d.append("appstatus_a.inprogress", "")
		d.append("events_1_a", "one\n")
		d.append(".events_1_a.crc", "no file of Spark's")
		pass(interval + time.Second)
		s.expect("events_1_a", "one\n")
		long := strings.Repeat("x", 3*eventlog.MaxPart+5) + "\n"
		d.append("events_1_a", long)
		pass(interval)
		s.expect("events_1_a", "one\n"+long)
		d.append("events_2_a", "two\n")
		pass(interval)
		s.expect("events_2_a", "two\n")
		if files := d.files(); slices.Contains(files, "events_1_a") || !slices.Contains(files, "events_2_a") {
			t.Errorf("the folder has %v", files)
		}
		d.append("events_2_a", "the end\n")
		d.rename("appstatus_a.inprogress", "appstatus_a")
		stop()
		s.expect("events_2_a", "two\nthe end\n")
		if want := []string{"appstatus_a.inprogress", "events_1_a", "events_2_a", "appstatus_a"}; !slices.Equal(s.names, want) {
			t.Errorf("the order is %v, want %v", s.names, want)
		}
	})
}

func TestWhatWaitsForTheServiceFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.answer(http.StatusServiceUnavailable)
		d, stop := run(t, s, 1<<20)
		d.append("events_1_a", "one\n")
		pass(10 * time.Minute)
		if s.requests > 20 {
			t.Errorf("there were %d requests in ten minutes", s.requests)
		}
		s.answer(0)
		pass(maxInterval + interval)
		s.expect("events_1_a", "one\n")
		s.answer(http.StatusTooManyRequests)
		d.append("events_1_a", "two\n")
		go func() {
			<-time.After(5 * time.Second)
			s.answer(0)
		}()
		stop()
		s.expect("events_1_a", "one\ntwo\n")
	})
}

func TestTheEndIsBoundedByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.answer(http.StatusServiceUnavailable)
		d, stop := run(t, s, 1<<20)
		d.append("events_1_a", "one\n")
		began := time.Now()
		stop()
		if took := time.Since(began); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestTheFolderStaysSmallWithoutService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.answer(http.StatusServiceUnavailable)
		d, stop := run(t, s, 100)
		d.append("appstatus_a.inprogress", "")
		for _, name := range []string{"events_1_a", "events_2_a", "events_3_a"} {
			d.append(name, strings.Repeat("x", 40))
			pass(interval)
		}
		pass(time.Second)
		if files := d.files(); !slices.Equal(files, []string{"appstatus_a.inprogress", "events_3_a"}) {
			t.Errorf("the folder has %v", files)
		}
		s.answer(0)
		d.rename("appstatus_a.inprogress", "appstatus_a")
		stop()
		if len(s.files) > 0 {
			t.Errorf("a log with a gap is stored: %v", s.names)
		}
	})
}

func TestALogThatIsTooLargeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		d, stop := run(t, s, 1<<20)
		d.append("events_1_a", "one\n")
		pass(interval + time.Second)
		s.answer(http.StatusRequestEntityTooLarge)
		d.append("events_1_a", "two\n")
		pass(interval)
		s.answer(0)
		d.append("events_2_a", "three\n")
		d.append("appstatus_a", "")
		pass(interval)
		stop()
		s.expect("events_1_a", "one\n")
		if len(s.files) != 1 || slices.Contains(d.files(), "events_1_a") {
			t.Errorf("stored are %v, and the folder has %v", s.names, d.files())
		}
	})
}

func TestARestartedSenderGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.files["events_1_a"], s.files["events_2_a"] = "one\n", "tw"
		d, stop := run(t, s, 1<<20)
		d.append("events_2_a", "two\n")
		pass(interval + time.Second)
		s.expect("events_2_a", "two\n")
		stop()
	})
}

func TestADriverOfAnyUserMayWriteIntoTheFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs")
	if err := Prepare(folder); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o770 || info.Mode()&fs.ModeSetgid == 0 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}
