package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/test/chaos/dice"
	"github.com/firesteel-dev/firesteel/test/chaos/gateway"
	"github.com/firesteel-dev/firesteel/test/chaos/journal"
	"github.com/firesteel-dev/firesteel/test/chaos/verdict"
	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

const (
	systemNamespace = "firesteel-system"
	configFolder    = "../../config"
	// assets is the variable that names the folder of the control plane's programs, and kwok.
	assets = "KUBEBUILDER_ASSETS"
	// memoryLimit is that of the controller's container.
	memoryLimit = 512 << 20
)

// installed is what of config the run needs: all but the controller's Deployment.
var installed = []string{"1*.yaml", "2*.yaml", "3*.yaml", "4*.yaml", "eventing/500-handler-*.yaml"}

// apiServer is the API server that may be killed.
const apiServer = "api-server"

// world is all that a run takes place in.
type world struct {
	dir   string
	seed  uint64
	delay time.Duration

	plane   *controlplane.ControlPlane
	kube    kubernetes.Interface
	spark   versioned.Interface
	dynamic dynamic.Interface

	gateway *gateway.Gateway
	crew    *crew
	court   *verdict.Court
	journal *journal.Reader
	tally   *tally

	// members are the programs that can be had.
	sink, kwok, restart, ttl member
	// controller is one of a version, of which there are as many as programs.
	controller func(name string, version int, alone bool) member
	// restartURL and ttlURL are those of the handlers.
	restartURL, ttlURL string
	// lately are events that reached the sink not long ago.
	lately *memory
	// stormy says that everything fails.
	stormy atomic.Bool
	// acting is held, shared, by whoever acts on the API server, and alone by who restores it.
	acting sync.RWMutex
	// blind ends the witnesses.
	blind context.CancelFunc
}

// newWorld starts the control plane and the nodes, and gets Firesteel's programs ready.
func newWorld(ctx context.Context, dir string, seed uint64, rates gateway.Rates, tally *tally) (*world, error) {
	w := &world{dir: dir, seed: seed, delay: rates.Delay, tally: tally, court: verdict.New(), lately: &memory{}}
	w.crew = newCrew(dir, dice.New(seed, "crew"), tally.count, func() bool { return !w.stormy.Load() })
	w.journal = journal.NewReader(dir)
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return w.build(starting) })
	group.Go(func() error { return w.startPlane(starting) })
	if err := group.Wait(); err != nil {
		return w, err
	}
	server := w.plane.Admin()
	if *replicaFlag {
		var err error
		if server, err = w.addAPIServer(ctx); err != nil {
			return w, err
		}
	}
	var err error
	w.gateway, err = gateway.New(server, filepath.Join(dir, "gateway.crt"), rates, dice.New(seed, "gateway"), tally.count)
	if err != nil {
		return w, err
	}
	if err := w.employ(ctx); err != nil {
		return w, err
	}
	return w, errors.Join(w.witness(ctx), w.crew.join(ctx, w.kwok), w.addNodes(ctx))
}

// close ends everything.
func (w *world) close() {
	w.crew.disband()
	if w.gateway != nil {
		w.gateway.Close()
	}
	if w.plane != nil {
		w.plane.Stop()
	}
}

func (w *world) build(ctx context.Context) error {
	err := command(ctx, "", "go", "build", "-o", w.dir+"/", "../../cmd/controller", "../../cmd/handler", "./sink")
	if err != nil || *versionsFlag == "" {
		return err
	}
	return w.buildEarlier(ctx, *versionsFlag)
}

func (w *world) startPlane(ctx context.Context) (err error) {
	manifests, err := controlplane.Manifests(configFolder, installed...)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.dir, "plane")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if w.plane, err = controlplane.Start(ctx, os.Getenv(assets), dir, manifests...); err != nil {
		return err
	}
	var errs [3]error
	w.kube, errs[0] = kubernetes.NewForConfig(w.plane.Admin())
	w.spark, errs[1] = versioned.NewForConfig(w.plane.Admin())
	w.dynamic, errs[2] = dynamic.NewForConfig(w.plane.Admin())
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return w.plane.RunScheduler()
}

// addAPIServer starts another API server, for Firesteel alone. It may be killed: the witnesses watch the first.
func (w *world) addAPIServer(ctx context.Context) (*rest.Config, error) {
	replica, err := w.plane.NewReplica()
	if err != nil {
		return nil, err
	}
	err = w.crew.join(ctx, member{name: apiServer, start: func(_ int, log string) (*controlplane.Process, error) { return replica.Start(log) }})
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

// configure sets keys of one of Firesteel's config maps.
func (w *world) configure(ctx context.Context, configMap string, data map[string]string) error {
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = w.kube.CoreV1().ConfigMaps(systemNamespace).Patch(ctx, configMap, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// kubeconfig writes how a service account goes through the gateway.
func (w *world) kubeconfig(ctx context.Context, account string) (string, error) {
	day := int64(24 * 60 * 60)
	answer, err := w.kube.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token for service account %s: %w", account, err)
	}
	path := filepath.Join(w.dir, account+".kubeconfig")
	return path, controlplane.WriteKubeconfig(path, w.gateway.Config(answer.Status.Token))
}

// employ describes the programs of the run.
func (w *world) employ(ctx context.Context) error {
	ports, err := controlplane.FreePorts(3)
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
	w.kwok = member{name: "kwok", start: func(_ int, log string) (*controlplane.Process, error) {
		return controlplane.StartProcess(log, nil, filepath.Join(os.Getenv(assets), "kwok"),
			"--kubeconfig="+w.plane.Kubeconfig(), "--config=testdata/stages.yaml", "--manage-nodes-with-label-selector=!"+labelLost)
	}}
	kubeconfig, err := w.kubeconfig(ctx, "controller")
	w.controller = func(name string, version int, alone bool) member {
		program := filepath.Join(w.version(version), "controller")
		return w.newController(name, program, kubeconfig, fmt.Sprintf("http://127.0.0.1:%d", ports[2]), alone)
	}
	return err
}

func (w *world) handler(ctx context.Context, name string, port int) (member, error) {
	kubeconfig, err := w.kubeconfig(ctx, "handler-"+name)
	return member{name: "handler-" + name, start: func(incarnation int, log string) (*controlplane.Process, error) {
		environment := []string{"KUBECONFIG=" + kubeconfig, "SYSTEM_NAMESPACE=" + systemNamespace, fmt.Sprintf("PORT=%d", port)}
		return controlplane.StartProcess(log, environment, filepath.Join(w.version(incarnation), "handler"), name)
	}}, err
}

// The tenants that subscribe to their own events: by a subscriber that never answers while there is a storm, and by a slow one.
// Nothing else happens to their applications.
const (
	deadTenant = "calm-dead"
	slowTenant = "calm-slow"
)

// sinkRate is the share of events that the sink does something wrong with.
const sinkRate = 0.15

func (w *world) newSink(port int) member {
	return member{name: "sink", start: func(incarnation int, log string) (*controlplane.Process, error) {
		rate, dead, slow := 0.0, "", ""
		if w.stormy.Load() {
			rate, dead, slow = sinkRate, deadTenant, slowTenant
		}
		return controlplane.StartProcess(log, nil, filepath.Join(w.dir, "sink"),
			fmt.Sprintf("-listen=127.0.0.1:%d", port), "-journal="+w.dir, fmt.Sprintf("-incarnation=%d", incarnation),
			fmt.Sprintf("-seed=%d", w.seed), fmt.Sprintf("-rate=%g", rate), fmt.Sprintf("-delay=%s", w.delay),
			"-restart="+w.restartURL, "-ttl="+w.ttlURL, "-dead="+dead, "-slow="+slow)
	}}
}

func (w *world) newController(name, program, kubeconfig, sink string, alone bool) member {
	return member{name: name, limit: memoryLimit, start: func(_ int, log string) (*controlplane.Process, error) {
		ports, err := controlplane.FreePorts(2)
		if err != nil {
			return nil, err
		}
		var arguments []string
		if alone {
			arguments = []string{"-local"}
		}
		return controlplane.StartProcess(log, []string{
			"KUBECONFIG=" + kubeconfig,
			"SYSTEM_NAMESPACE=" + systemNamespace,
			"CONFIG_LOGGING_NAME=config-logging",
			"CONFIG_OBSERVABILITY_NAME=config-observability",
			"CONFIG_LEADERELECTION_NAME=config-leader-election",
			fmt.Sprintf("PROFILING_PORT=%d", ports[0]),
			fmt.Sprintf("PROBE_PORT=%d", ports[1]),
			"K_SINK=" + sink,
		}, program, arguments...)
	}}
}

// namespace makes a namespace in which Pods can be created.
func (w *world) namespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		_, err := w.kube.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, ignore(err, apierrors.IsNotFound)
	})
}

// ignore is the error, unless it is of that sort.
func ignore(err error, sort func(error) bool) error {
	if err != nil && sort(err) {
		return nil
	}
	return err
}
