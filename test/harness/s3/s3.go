// Package s3 runs a server of the S3 protocol, versitygw, as a process. Clients reach it through a proxy that can make requests fail.
package s3

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	// AccessKey is the name of the server's user.
	AccessKey = "firesteel"
	// SecretKey is the secret of that user.
	SecretKey = "hunter2-of-the-test"
	// Region is the server's region.
	Region = "us-east-1"
)

const (
	// patience bounds the time until the server answers.
	patience = 2 * time.Minute
	poll     = 20 * time.Millisecond
)

// Server is the server. Its objects are files of a folder, and stay if it is restarted.
type Server struct {
	// Address is the URL of the server itself.
	Address string

	process *process.Process
	proxy   *httptest.Server
	fault   atomic.Pointer[Fault]
}

// Fault serves a request in the place of the server, which is next.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Start builds the server from its module, which takes a minute if it is not in the build cache, and starts it. Its objects and its log are in a folder.
func Start(ctx context.Context, repository, folder string) (*Server, error) {
	build := exec.CommandContext(ctx, "go", "tool", "-n", "versitygw")
	build.Dir, build.Stderr = filepath.Join(repository, "test/harness/s3/versitygw"), os.Stderr
	program, err := build.Output()
	if err != nil {
		return nil, fmt.Errorf("build versitygw: %w", err)
	}
	data := filepath.Join(folder, "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	s := &Server{Address: "http://" + address}
	s.process, err = process.Start(filepath.Join(folder, "s3.log"), nil, strings.TrimSpace(string(program)),
		"--access", AccessKey, "--secret", SecretKey, "--port", address, "--quiet", "posix", data)
	if err != nil {
		return nil, err
	}
	s.proxy = httptest.NewServer(s.handler(address))
	if err := s.untilReady(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// handler passes requests on, or lets them fail.
func (s *Server) handler(address string) http.Handler {
	target := &url.URL{Scheme: "http", Host: address}
	next := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }, // the signature holds it
		ErrorLog:     log.New(io.Discard, "", 0),                                                  // tests break connections
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := s.fault.Load(); fault != nil {
			(*fault)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) untilReady(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		_, err := s.Request(ctx, http.MethodGet, "")
		return err == nil, nil
	})
}

// Break lets requests through the proxy fail from now on; nil for none.
func (s *Server) Break(fault Fault) {
	if fault == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&fault)
}

// Kill kills the server. Restart starts it again.
func (s *Server) Kill() { s.process.Kill() }

// Restart starts the server again after Kill, with what it stored.
func (s *Server) Restart(ctx context.Context) (err error) {
	if s.process, err = s.process.Restart(); err != nil {
		return err
	}
	return s.untilReady(ctx)
}

// Stop ends the server and its proxy.
func (s *Server) Stop() {
	s.proxy.CloseClientConnections()
	s.proxy.Close()
	s.process.Kill()
}

// Request sends a signed request without content to the server itself, and returns the answer.
func (s *Server) Request(ctx context.Context, method, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.Address+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	answer, err := http.DefaultClient.Do(signer.SignV4(*request, AccessKey, SecretKey, "", Region))
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

// AddBucket creates a bucket.
func (s *Server) AddBucket(ctx context.Context, name string) error {
	_, err := s.Request(ctx, http.MethodPut, name)
	return err
}

// Endpoint is the URL of the proxy.
func (s *Server) Endpoint() string { return s.proxy.URL }

// URL returns the URL of a folder of a bucket, as the settings of Firesteel have it. It is that of the proxy.
func (s *Server) URL(bucket, folder string) string {
	return "s3://" + bucket + "/" + folder + "?endpoint=" + url.QueryEscape(s.Endpoint()) + "&use_path_style=true&region=" + Region
}

// Variables returns environment variables with the credentials, for clients that find none of the machine.
func Variables() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_MAX_ATTEMPTS": "2",
	}
}

// Environment returns the variables for a process.
func Environment() (environment []string) {
	for name, value := range Variables() {
		environment = append(environment, name+"="+value)
	}
	return environment
}
