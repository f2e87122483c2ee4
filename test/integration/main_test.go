package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
	"github.com/firesteel-dev/firesteel/test/harness/s3"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

const (
	repository   = "../.."
	configFolder = repository + "/config"
)

// suite is a control plane, and what tests need to use it.
type suite struct {
	*firesteel.Installation
	// dir holds the logs, and programs Firesteel's programs.
	dir           string
	programs      string
	audit         *controlplane.Audit
	sink          *sink.Sink
	kubelet       *kubelet.Kubelet
	driverHistory *driverHistory
	processes     processes
	common        common
}

var controlPlanes *controlPlanePool

func TestMain(m *testing.M) {
	// Each test waits until it has a control plane or a place on the shared one, and that limits them.
	if err := flag.Set("test.parallel", "1000"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "firesteel-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if code == 0 {
			os.RemoveAll(dir)
			return
		}
		fmt.Fprintln(os.Stderr, "logs are in", dir)
	}()
	for name, value := range s3.Variables() { // of the servers of archives
		os.Setenv(name, value)
	}
	programs, err := firesteel.Programs(repository, "integration")
	if err == nil {
		err = firesteel.Build(context.Background(), repository, programs,
			"cmd/controller", "cmd/handler", "cmd/webhook", "cmd/archive", "cmd/setup", "examples/functions/verdict")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	controlPlanes = newControlPlanePool(dir, programs)
	defer controlPlanes.stop()
	code = m.Run()
	if err := controlPlanes.checkRoles(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// start starts the control plane. What watches it ends with the context.
func (s *suite) start(ctx context.Context) error {
	return s.startWith(ctx, controlplane.Options{Dir: filepath.Join(s.dir, "plane")})
}

// startWith starts a control plane with options.
func (s *suite) startWith(ctx context.Context, options controlplane.Options) error {
	var err error
	s.Installation, err = firesteel.Install(ctx, repository, options, slices.Concat(firesteel.Manifests, firesteel.Handlers)...)
	if err != nil {
		return err
	}
	if err := s.Configure(ctx, "config-events", map[string]string{"deletion-grace": deletionGrace.String()}); err != nil {
		return err
	}
	if err := s.allowProxyToMasters(ctx); err != nil {
		return err
	}
	s.audit = s.Plane.Audit(userOf("controller"))
	s.sink = sink.New()
	s.kubelet = kubelet.New(ctx, s.Kube)
	s.driverHistory, err = newDriverHistory(ctx, s.Kube)
	return err
}

func (s *suite) stop() {
	s.processes.stop()
	if s.sink != nil {
		s.sink.Close()
	}
	if s.Installation != nil {
		s.Plane.Stop()
	}
}
