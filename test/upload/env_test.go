package upload

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/pkg/upload"
	harness "github.com/firesteel-dev/firesteel/test/harness/s3"
)

const (
	accessKey, secretKey, region = harness.AccessKey, harness.SecretKey, harness.Region
	bucket                       = "apps"
)

// server is a server of the S3 protocol, behind a proxy that counts its requests.
type server struct {
	*harness.Server
	// sent counts requests that send content, and hold is called for each of them.
	sent atomic.Int64
	hold atomic.Pointer[func()]
	// mayNotList has it answer as S3 does those who may not list the bucket, if they ask for an object.
	mayNotList atomic.Bool
}

// program is the path of kubectl-spark-upload, and s3 the server. TestMain makes both.
var (
	program string
	s3      *server
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "upload")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, upload.Program)
	output("../../cmd/kubectl-spark-upload", "go", "build", "-o", program, ".")
	s, stop := start(folder)
	defer stop()
	s3 = s
	// Who uploads finds the credentials in the environment, and none of the machine.
	for name, value := range harness.Variables() {
		os.Setenv(name, value)
	}
	for name, value := range map[string]string{
		"PATH": folder + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME": folder, "KUBECONFIG": "",
		"SPARK_HOME": "", "SPARK_CONF_DIR": "", "HADOOP_CONF_DIR": "", "MASTER": "", "DEPLOY_MODE": "", "SPARK_REMOTE": "",
	} {
		os.Setenv(name, value)
	}
	return m.Run()
}

// output runs a program in a folder, and returns what it prints.
func output(folder, name string, args ...string) string {
	command := exec.Command(name, args...)
	command.Dir, command.Stderr = folder, os.Stderr
	printed, err := command.Output()
	if err != nil {
		panic(fmt.Sprintf("%s: %v", strings.Join(args, " "), err))
	}
	return strings.TrimSpace(string(printed))
}

// start starts the server.
func start(folder string) (*server, func()) {
	started, err := harness.Start(context.Background(), "../..", folder)
	if err == nil {
		err = started.AddBucket(context.Background(), bucket)
	}
	if err != nil {
		panic(err)
	}
	s := &server{Server: started}
	started.Break(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut {
			s.sent.Add(1)
			if hold := s.hold.Load(); hold != nil {
				(*hold)()
			}
		}
		if r.Method == http.MethodHead && s.mayNotList.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
	return s, started.Stop
}

// objects returns the keys below a folder, and those of which only parts are there.
func (s *server) objects(t *testing.T, folder string) (keys, incomplete []string) {
	t.Helper()
	var whole struct{ Contents []struct{ Key string } }
	var parts struct{ Upload []struct{ Key string } }
	for query, into := range map[string]any{"?list-type=2&prefix=" + folder + "/": &whole, "?uploads=&prefix=" + folder + "/": &parts} {
		answer, err := s.Request(t.Context(), http.MethodGet, bucket+query)
		if err == nil {
			err = xml.Unmarshal(answer, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for _, object := range whole.Contents {
		keys = append(keys, object.Key)
	}
	for _, upload := range parts.Upload {
		incomplete = append(incomplete, upload.Key)
	}
	return keys, incomplete
}

// content returns an object that a URL of Spark names.
func (s *server) content(t *testing.T, address string) string {
	t.Helper()
	path, _ := strings.CutPrefix(address, "s3a://")
	text, err := s.Request(t.Context(), http.MethodGet, path)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return string(text)
}

// large writes a file of a size that has to be sent in parts.
func large(t *testing.T, name string) upload.File {
	t.Helper()
	const size = 64 << 20
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err == nil {
		err = file.Truncate(size)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		t.Fatal(err)
	}
	return upload.File{Path: path, SHA256: hex.EncodeToString(sum.Sum(nil))}
}

// small writes a file.
func small(t *testing.T, name, content string) upload.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(content))
	return upload.File{Path: path, SHA256: hex.EncodeToString(sum[:])}
}

// process is the program that uploads, while it runs.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// begin starts the program.
func begin(t *testing.T, address string, files ...upload.File) *process {
	t.Helper()
	args := []string{address}
	for _, file := range files {
		args = append(args, file.Argument())
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), program, args...)}
	p.Stderr = os.Stderr
	output, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(output)
	return p
}

// end returns the last event of each file, by its name, and the exit code.
func (p *process) end(t *testing.T) (map[string]upload.Event, int) {
	t.Helper()
	last := map[string]upload.Event{}
	for p.lines.Scan() {
		var event upload.Event
		if err := json.Unmarshal(p.lines.Bytes(), &event); err != nil {
			t.Fatalf("%s: %v", p.lines.Text(), err)
		}
		last[filepath.Base(event.Path)] = event
	}
	_ = p.Wait() // the exit code says it
	return last, p.ProcessState.ExitCode()
}

// submit runs kubectl spark submit against an API server that takes all applications, and returns what it printed and created.
func submit(t *testing.T, args ...string) (code int, errOut string, created []string) {
	t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"spark.apache.org/v1","resources":[{"name":"sparkapplications"}]}`)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Query().Get("dryRun") == "" {
			created = append(created, string(body))
		}
		_, _ = w.Write(body)
	}))
	defer api.Close()
	streams, _, _, printed := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	line := append([]string{"submit", "--server", api.URL, "--conf", "spark.kubernetes.container.image=apache/spark:4.1.0"}, args...)
	code = o.Run(t.Context(), root.New(o), line)
	return code, printed.String(), created
}
