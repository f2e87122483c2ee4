package upload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

func TestAnApplicationIsSubmittedWithItsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	contents := map[string]string{"etl.py": "print('etl')", "lib one.zip": "lib", "table.csv": "a,b"}
	for name, content := range contents {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"--upload-to", s3.URL(bucket, "team-a"), "--name", "etl", "--py-files", "lib one.zip,local:///opt/b.zip", "--archives", "table.csv#table", "etl.py"}
	code, errOut, created := submit(t, line...)
	if code != 0 || len(created) != 1 || strings.Count(errOut, " uploaded, ") != len(contents) {
		t.Fatalf("%d, created %v: %s", code, created, errOut)
	}
	var app sparkv1.SparkApplication
	if err := json.Unmarshal([]byte(created[0]), &app); err != nil {
		t.Fatal(err)
	}
	lib, rest, _ := strings.Cut(app.Spec.SparkConf["spark.submit.pyFiles"], ",")
	table, alias, _ := strings.Cut(app.Spec.SparkConf["spark.archives"], "#")
	for url, name := range map[string]string{app.Spec.PyFiles: "etl.py", lib: "lib one.zip", table: "table.csv"} {
		if got := s3.content(t, url); got != contents[name] {
			t.Errorf("%s holds %q, want that of %s", url, got, name)
		}
	}
	if rest != "local:///opt/b.zip" || alias != "table" || !strings.HasPrefix(lib, "s3a://"+bucket+"/team-a/sha256/") {
		t.Errorf("py-files are %s, and archives %s", app.Spec.SparkConf["spark.submit.pyFiles"], app.Spec.SparkConf["spark.archives"])
	}

	before := s3.sent.Load()
	code, errOut, created = submit(t, line...)
	if code != 0 || len(created) != 1 || strings.Count(errOut, " is there already: ") != len(contents) || s3.sent.Load() != before {
		t.Errorf("the second time %d requests send content: %d %s", s3.sent.Load()-before, code, errOut)
	}
}

func TestALineOfSparkSubmitUploadsWhereItsPropertySays(t *testing.T) {
	file := small(t, "etl.py", "print('etl')")
	const s3a = "spark.hadoop.fs.s3a."
	code, errOut, created := submit(t, "--conf", "spark.kubernetes.file.upload.path=s3a://"+bucket+"/of-spark", "--conf", s3a+"endpoint="+s3.Endpoint(),
		"--conf", s3a+"path.style.access=true", "--conf", s3a+"endpoint.region="+region, file.Path)
	if code != 0 || len(created) != 1 {
		t.Fatalf("%d, created %v: %s", code, created, errOut)
	}
	if got := s3.content(t, "s3a://"+bucket+"/of-spark/"+file.URL()); got != "print('etl')" {
		t.Errorf("it holds %q", got)
	}
}

func TestAFileIsUploadedByAUserWhoMayWriteAndNotList(t *testing.T) {
	file := small(t, "a.jar", "a")
	s3.mayNotList.Store(true)
	events, code := begin(t, s3.URL(bucket, "write-only"), file).end(t)
	s3.mayNotList.Store(false)
	if code != 0 || events["a.jar"].Step != upload.Uploaded {
		t.Fatalf("%d: %+v", code, events)
	}
	if got := s3.content(t, "s3a://"+bucket+"/write-only/"+file.URL()); got != "a" {
		t.Errorf("it holds %q", got)
	}
}

func TestALargeFileIsSentInPartsAndItsProgressIsReported(t *testing.T) {
	file := large(t, "large.jar")
	before := s3.sent.Load()
	p := begin(t, s3.URL(bucket, "large"), file)
	sending := 0
	last := map[string]upload.Event{}
	for p.lines.Scan() {
		var event upload.Event
		if err := json.Unmarshal(p.lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Step == upload.Sending {
			sending++
		}
		last[filepath.Base(event.Path)] = event
	}
	if err := p.Wait(); err != nil || last["large.jar"].Step != upload.Uploaded || last["large.jar"].Sent != last["large.jar"].Size {
		t.Fatalf("%v: %+v", err, last)
	}
	if parts := s3.sent.Load() - before; parts < 2 {
		t.Errorf("it was sent by %d requests", parts)
	}
	if sending == 0 {
		t.Error("no progress was reported")
	}
	if events, code := begin(t, s3.URL(bucket, "large"), file).end(t); code != 0 || events["large.jar"].Step != upload.Present {
		t.Errorf("the second time: %d, %+v", code, events)
	}
}

// TestAnInterruptLeavesNoPart interrupts the program while a part of a file waits at the server.
func TestAnInterruptLeavesNoPart(t *testing.T) {
	const folder = "interrupted"
	whole, parts := small(t, "small.jar", "small"), large(t, "large.jar")
	if events, code := begin(t, s3.URL(bucket, folder), whole).end(t); code != 0 {
		t.Fatalf("%d: %+v", code, events)
	}
	waits, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	hold := func() {
		first.Do(func() { close(waits) })
		<-goOn
	}
	s3.hold.Store(&hold)
	p := begin(t, s3.URL(bucket, folder), whole, parts)
	<-waits
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	events, code := p.end(t)
	s3.hold.Store(nil)
	close(goOn)
	if code != 1 || events["small.jar"].Step != upload.Present || events["large.jar"].Step != upload.Failed || !events["large.jar"].Interrupted {
		t.Errorf("%d: %+v", code, events)
	}
	if keys, incomplete := s3.objects(t, folder); len(keys) != 1 || len(incomplete) > 0 {
		t.Errorf("there are %v, and parts of %v", keys, incomplete)
	}
	if events, code := begin(t, s3.URL(bucket, folder), whole, parts).end(t); code != 0 || events["small.jar"].Step != upload.Present || events["large.jar"].Step != upload.Uploaded {
		t.Errorf("the next time: %d: %+v", code, events)
	}
}

func TestAFileThatChangesWhileItIsReadIsNotUploaded(t *testing.T) {
	const folder = "changed"
	file := large(t, "large.jar")
	var once sync.Once
	hold := func() {
		once.Do(func() {
			if err := os.Truncate(file.Path, 60<<20); err != nil { // only some parts are read before the first is answered
				t.Error(err)
			}
		})
	}
	s3.hold.Store(&hold)
	events, code := begin(t, s3.URL(bucket, folder), file).end(t)
	s3.hold.Store(nil)
	want := "large.jar cannot be uploaded: it changed while it was read: run the command again once it is written"
	if code != 1 || events["large.jar"].Message != want {
		t.Errorf("%d: %+v", code, events)
	}
	if keys, incomplete := s3.objects(t, folder); len(keys) > 0 || len(incomplete) > 0 {
		t.Errorf("there are %v, and parts of %v", keys, incomplete)
	}
	changed := small(t, "small.jar", "before")
	if err := os.WriteFile(changed.Path, []byte("after"), 0o600); err != nil {
		t.Fatal(err)
	}
	if events, code := begin(t, s3.URL(bucket, folder), changed).end(t); code != 1 || !strings.Contains(events["small.jar"].Message, "it changed while it was read") {
		t.Errorf("a small one: %d: %+v", code, events)
	}
}

// TestAnObjectOfAnotherContentIsReplaced has objects that another program wrote under the key of a file.
func TestAnObjectOfAnotherContentIsReplaced(t *testing.T) {
	folder := t.TempDir()
	file := small(t, "a.jar", "right")
	path := filepath.Join(folder, file.Key())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]upload.Step{"wrong": upload.Uploaded, "short": upload.Uploaded, "": upload.Uploaded, "right": upload.Present} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		events, code := begin(t, "file://"+folder, file).end(t)
		if got, err := os.ReadFile(path); err != nil || string(got) != "right" || code != 0 || events["a.jar"].Step != want {
			t.Errorf("one with %q becomes %q: %d %+v %v", content, got, code, events, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside it there are %v: %v", left, err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	file := small(t, "a.jar", "a")
	for name, test := range map[string]struct {
		url         string
		environment map[string]string
		want        []string
	}{
		"a wrong secret": {s3.URL(bucket, ""), map[string]string{"AWS_SECRET_ACCESS_KEY": "hunter3"}, []string{"a.jar cannot be uploaded: ", "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to a user who may write there"}},
		"an unknown key": {s3.URL(bucket, ""), map[string]string{"AWS_ACCESS_KEY_ID": "nobody"}, []string{"set AWS_PROFILE, or AWS_ACCESS_KEY_ID"}},
		"no credentials": {s3.URL(bucket, ""), map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, []string{"set AWS_PROFILE, or AWS_ACCESS_KEY_ID"}},
		"no bucket":      {s3.URL("none", ""), nil, []string{"NoSuchBucket: ", "create the bucket, or name another one"}},
		"no server":      {"s3://apps?endpoint=http://127.0.0.1:1&use_path_style=true&region=us-east-1", nil, []string{"connection refused", "check the URL, its parameters and the network"}},
		"a parameter":    {"s3://apps?path_style=true", nil, []string{`unknown query parameter "path_style"`, "check the URL, its parameters and the network"}},
		"no folder":      {"file://" + filepath.Join(t.TempDir(), "none"), nil, []string{"no such file or directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range test.environment {
				t.Setenv(key, value)
			}
			args := []string{"--upload-to", test.url, "--class", "B", file.Path}
			if strings.HasPrefix(test.url, "file") {
				args = append([]string{"--upload-as", "local:///data"}, args...)
			}
			code, errOut, created := submit(t, args...)
			missing := slices.ContainsFunc(test.want, func(want string) bool { return !strings.Contains(errOut, want) })
			if code != 1 || missing || len(created) > 0 || strings.Count(errOut, "\n") != 1 || !strings.HasPrefix(errOut, "error: ") || strings.Contains(errOut, "hunter") {
				t.Errorf("%d, created %v: %s", code, created, errOut)
			}
		})
	}
}
