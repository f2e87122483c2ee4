package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/gateway"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
	"github.com/firesteel-dev/firesteel/test/harness/s3"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

const (
	repository = "../.."
	// memoryLimit is that of the controller's container.
	memoryLimit = 512 << 20
)

// apiServer is the API server that may be killed.
const apiServer = "api-server"

// env is the control plane, the programs and the history of a run.
type env struct {
	*firesteel.Installation
	dir string
	// programs is the folder with Firesteel's programs.
	programs string
	seed     uint64
	delay    time.Duration

	gateway    *gateway.Gateway
	supervisor *process.Supervisor
	history    *invariants.History
	eventlog   *eventlog.Reader
	counters   *counters
	// archiving is what the archive needs; nil if the run has none.
	archiving *archiving

	// members are the programs that can be had.
	sink, kwok, restart, ttl, webhook process.Spec
	// controller is one of a version, of which there are as many as programs.
	controller func(name string, version int, alone bool) process.Spec
	// restartURL and ttlURL are those of the handlers.
	restartURL, ttlURL string
	// lately are events that reached the sink not long ago.
	lately *memory
	// stormy means that everything fails.
	stormy atomic.Bool
	// acting is held, shared, by each actor on the API server, and alone by the one that restores it.
	acting sync.RWMutex
	// blind ends the witnesses.
	blind context.CancelFunc
}

// newEnv starts the control plane and the nodes, and gets Firesteel's programs ready.
func newEnv(ctx context.Context, dir string, seed uint64, rates gateway.Rates, counters *counters) (*env, error) {
	w := &env{dir: dir, seed: seed, delay: rates.Delay, counters: counters, history: invariants.NewHistory(deletionGrace), lately: &memory{}}
	if *versionsFlag != "" {
		w.history.LeaveOutAdditions()
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // of the webhook, about each application
	delays := rng.New(seed, "supervisor")
	w.supervisor = process.NewSupervisor(dir,
		func() time.Duration { return delays.Between(0, 500*time.Millisecond) },
		func(name string) { counters.count("kill " + strings.TrimRight(name, "0123456789-")) },
		func() bool { return !w.stormy.Load() })
	w.eventlog = eventlog.NewReader(dir)
	var err error
	if w.programs, err = firesteel.Programs(repository, "chaos"); err != nil {
		return w, err
	}
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return w.build(starting) })
	group.Go(func() error { return w.startPlane(starting) })
	if archives() {
		group.Go(func() error { return w.startStorage(starting) })
	}
	if err := group.Wait(); err != nil {
		return w, err
	}
	server := w.Plane.Admin()
	if *replicaFlag {
		if server, err = w.addAPIServer(ctx); err != nil {
			return w, err
		}
	}
	w.gateway, err = gateway.New(server, filepath.Join(dir, "gateway.crt"), rates, rng.New(seed, "gateway"), counters.count)
	if err != nil {
		return w, err
	}
	if err := w.employ(ctx); err != nil {
		return w, err
	}
	return w, errors.Join(w.witness(ctx), w.supervisor.Add(ctx, w.kwok), w.addNodes(ctx))
}

// close ends everything.
func (w *env) close() {
	w.supervisor.RemoveAll()
	if w.gateway != nil {
		w.gateway.Close()
	}
	if w.Installation != nil {
		w.Plane.Stop()
	}
	if w.archiving != nil {
		w.archiving.close()
	}
}

func (w *env) build(ctx context.Context) error {
	err := firesteel.Build(ctx, repository, w.programs, "cmd/controller", "cmd/handler", "cmd/webhook", "test/harness/sink/failing")
	if err != nil || *versionsFlag == "" {
		return err
	}
	return firesteel.BuildCommit(ctx, repository, w.earlier(), *versionsFlag, "cmd/controller", "cmd/handler")
}

func (w *env) startPlane(ctx context.Context) (err error) {
	w.Installation, err = firesteel.Install(ctx, repository, controlplane.Options{Dir: filepath.Join(w.dir, "plane")},
		slices.Concat(firesteel.Manifests, firesteel.Handlers, []string{earlyCRD, "archive/rbac.yaml"})...)
	if err != nil {
		return err
	}
	return w.Plane.RunScheduler()
}

// addAPIServer starts another API server, for Firesteel alone. It may be killed: the witnesses watch the first.
func (w *env) addAPIServer(ctx context.Context) (*rest.Config, error) {
	replica, err := w.Plane.NewReplica()
	if err != nil {
		return nil, err
	}
	err = w.supervisor.Add(ctx, process.Spec{Name: apiServer, Start: func(_ int, log string) (*process.Process, error) { return replica.Start(log) }})
	if err != nil {
		return nil, err
	}
	return replica.Admin(), wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		client, err := kubernetes.NewForConfig(replica.Admin())
		if err != nil {
			return false, nil // it makes its certificate first
		}
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil, nil
	})
}

// kubeconfig writes a kubeconfig that connects a service account through the gateway.
func (w *env) kubeconfig(ctx context.Context, account string) (string, error) {
	token, err := w.Token(ctx, firesteel.SystemNamespace, account)
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, account+".kubeconfig")
	return path, controlplane.WriteKubeconfig(path, w.gateway.Config(token))
}

// employ describes the programs of the run.
func (w *env) employ(ctx context.Context) error {
	ports, err := process.FreePorts(6)
	if err != nil {
		return err
	}
	w.restartURL, w.ttlURL = fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if w.restart, err = w.handler(ctx, "restart", ports[0]); err != nil {
		return err
	}
	if w.ttl, err = w.handler(ctx, "ttl", ports[1]); err != nil {
		return err
	}
	w.sink = w.newSink(ports[2])
	if w.webhook, err = w.newWebhook(ctx, firesteel.WebhookProgram{Port: ports[3], Metrics: ports[4], Profiling: ports[5]}); err != nil {
		return err
	}
	w.kwok = process.Spec{Name: "kwok", Start: func(_ int, log string) (*process.Process, error) {
		program, arguments := w.Plane.Kwok("testdata/stages.yaml", "--manage-nodes-with-label-selector=!"+labelLost)
		return process.Start(log, nil, program, arguments...)
	}}
	kubeconfig, err := w.kubeconfig(ctx, "controller")
	w.controller = func(name string, version int, alone bool) process.Spec {
		program := filepath.Join(w.version(version), "controller")
		return w.newController(name, program, kubeconfig, fmt.Sprintf("http://127.0.0.1:%d", ports[2]), alone)
	}
	return err
}

func (w *env) handler(ctx context.Context, name string, port int) (process.Spec, error) {
	kubeconfig, err := w.kubeconfig(ctx, "handler-"+name)
	return process.Spec{Name: "handler-" + name, Start: func(incarnation int, log string) (*process.Process, error) {
		environment := []string{"KUBECONFIG=" + kubeconfig, "SYSTEM_NAMESPACE=" + firesteel.SystemNamespace, fmt.Sprintf("PORT=%d", port)}
		return process.Start(log, environment, filepath.Join(w.version(incarnation), "handler"), name)
	}}, err
}

// The tenants that subscribe to their own events: by a subscriber that never answers while faults are injected, and by a slow one.
// Nothing else happens to their applications.
const (
	deadTenant = "calm-dead"
	slowTenant = "calm-slow"
)

// sinkRate is the share of events that the sink handles wrongly.
const sinkRate = 0.15

func (w *env) newSink(port int) process.Spec {
	return process.Spec{Name: "sink", Start: func(incarnation int, log string) (*process.Process, error) {
		rate, dead, slow := 0.0, "", ""
		if w.stormy.Load() {
			rate, dead, slow = sinkRate, deadTenant, slowTenant
		}
		return process.Start(log, nil, filepath.Join(w.programs, "failing"),
			fmt.Sprintf("-listen=127.0.0.1:%d", port), "-events="+w.dir, fmt.Sprintf("-incarnation=%d", incarnation),
			fmt.Sprintf("-seed=%d", w.seed), fmt.Sprintf("-rate=%g", rate), fmt.Sprintf("-delay=%s", w.delay),
			"-restart="+w.restartURL, "-ttl="+w.ttlURL, "-dead="+dead, "-slow="+slow)
	}}
}

func (w *env) newController(name, program, kubeconfig, sink string, alone bool) process.Spec {
	return process.Spec{Name: name, MemoryLimit: memoryLimit, Start: func(_ int, log string) (*process.Process, error) {
		started, _, err := firesteel.Controller{Program: program, Kubeconfig: kubeconfig, Sink: sink, Replica: !alone, Environment: s3.Environment()}.Start(log)
		return started, err
	}}
}

// newWebhook describes the webhook, and has the API server call its port.
func (w *env) newWebhook(ctx context.Context, program firesteel.WebhookProgram) (process.Spec, error) {
	if err := errors.Join(w.ApplyWebhook(ctx, repository), w.RouteWebhook(ctx, program.Port)); err != nil {
		return process.Spec{}, err
	}
	var err error
	program.Program = filepath.Join(w.programs, "webhook")
	program.Kubeconfig, err = w.kubeconfig(ctx, "webhook")
	return process.Spec{Name: "webhook", MemoryLimit: webhookMemoryLimit, Start: func(_ int, log string) (*process.Process, error) {
		return program.Start(log)
	}}, err
}

// ignore returns the error, unless it matches.
func ignore(err error, sort func(error) bool) error {
	if err != nil && sort(err) {
		return nil
	}
	return err
}
