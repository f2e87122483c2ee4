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
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

const (
	accessKey, secretKey, region = "firesteel", "hunter2-of-the-test", "us-east-1"
	bucket                       = "apps"
	// patience bounds each wait.
	patience = 30 * time.Second
)

// server is a server of the S3 protocol, behind a proxy that counts its requests.
type server struct {
	// address is the URL of the server itself.
	address string
	// proxy is what clients talk to.
	proxy *httptest.Server
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
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": filepath.Join(folder, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(folder, "none"), "AWS_MAX_ATTEMPTS": "2",
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
	binary := output("versitygw", "go", "tool", "-n", "versitygw")
	data := filepath.Join(folder, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		panic(err)
	}
	address := freePort()
	gateway := exec.Command(binary, "--access", accessKey, "--secret", secretKey, "--port", address, "--quiet", "posix", data)
	gateway.Stderr = os.Stderr
	if err := gateway.Start(); err != nil {
		panic(err)
	}
	s := &server{address: "http://" + address}
	wait("the S3 server", func(ctx context.Context) bool {
		_, err := s.request(ctx, http.MethodPut, bucket)
		return err == nil
	})
	target := &url.URL{Scheme: "http", Host: address}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }} // the signature holds it
	proxy.ErrorLog = log.New(io.Discard, "", 0)                                                                           // tests break connections
	s.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		proxy.ServeHTTP(w, r)
	}))
	return s, func() {
		s.proxy.Close()
		_ = gateway.Process.Kill()
		_ = gateway.Wait()
	}
}

// request sends a signed request without content, and returns the answer.
func (s *server) request(ctx context.Context, method, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.address+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	answer, err := http.DefaultClient.Do(signer.SignV4(*request, accessKey, secretKey, "", region))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return body, err
}

func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// wait waits for a condition.
func wait(what string, done func(context.Context) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for ticker := time.NewTicker(20 * time.Millisecond); !done(ctx); <-ticker.C {
		if ctx.Err() != nil {
			panic(what + " is not there in time")
		}
	}
}

// url returns the value of --upload-to for a folder of a bucket.
func (s *server) url(bucket, folder string) string {
	return "s3://" + bucket + "/" + folder + "?endpoint=" + url.QueryEscape(s.proxy.URL) + "&use_path_style=true&region=" + region
}

// objects returns the keys below a folder, and those of which only parts are there.
func (s *server) objects(t *testing.T, folder string) (keys, incomplete []string) {
	t.Helper()
	var whole struct{ Contents []struct{ Key string } }
	var parts struct{ Upload []struct{ Key string } }
	for query, into := range map[string]any{"?list-type=2&prefix=" + folder + "/": &whole, "?uploads=&prefix=" + folder + "/": &parts} {
		answer, err := s.request(t.Context(), http.MethodGet, bucket+query)
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
	text, err := s.request(t.Context(), http.MethodGet, path)
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
