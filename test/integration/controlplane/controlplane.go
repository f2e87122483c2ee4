package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	adminToken = "the-admin-of-a-test"
	startLimit = 90 * time.Second
)

// auditPolicy has each request logged once it is answered, and a watch when it begins.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// ControlPlane is a running control plane.
type ControlPlane struct {
	// Dir holds its files, and the logs of its processes.
	Dir string

	assets    string
	unaudited bool
	etcdURL   string
	url       string
	processes []*Process
}

// Start runs a control plane with the programs in the folder assets, and applies manifests. What it writes goes to
// the folder dir.
func Start(ctx context.Context, assets, dir string, manifests ...string) (*ControlPlane, error) {
	return start(ctx, &ControlPlane{Dir: dir, assets: assets}, manifests)
}

// StartUnaudited is Start without the audit log, which takes time.
func StartUnaudited(ctx context.Context, assets, dir string, manifests ...string) (*ControlPlane, error) {
	return start(ctx, &ControlPlane{Dir: dir, assets: assets, unaudited: true}, manifests)
}

// Manifests are the files of a folder that any of some patterns matches, in the order of the patterns.
func Manifests(folder string, patterns ...string) ([]string, error) {
	var manifests []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, files...)
	}
	return manifests, nil
}

func start(ctx context.Context, c *ControlPlane, manifests []string) (*ControlPlane, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.start(ctx, manifests); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Stop kills the control plane. Its data are lost.
func (c *ControlPlane) Stop() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].Kill()
	}
	c.processes = nil
}

// Config is how a user with that token reaches the API server, without rate limit.
func (c *ControlPlane) Config(token string) *rest.Config {
	return &rest.Config{
		Host: c.url, BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.path("pki", "apiserver.crt")},
	}
}

// Admin is how a user who may do everything reaches the API server.
func (c *ControlPlane) Admin() *rest.Config { return c.Config(adminToken) }

// AuditLog is the file with a line for each request that was answered.
func (c *ControlPlane) AuditLog() string { return c.path("audit.log") }

// Kubectl runs a command as the admin and returns its output.
func (c *ControlPlane) Kubectl(ctx context.Context, input string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.program("kubectl"), append([]string{"--kubeconfig=" + c.Kubeconfig()}, arguments...)...)
	cmd.Stdin = strings.NewReader(input)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output), nil
}

// Run starts another of the programs. It ends with the control plane.
func (c *ControlPlane) Run(program string, arguments ...string) error {
	return c.run(program, arguments...)
}

// Pids are the ids of the processes by the names of their programs.
func (c *ControlPlane) Pids() map[string]int {
	pids := map[string]int{}
	for _, process := range c.processes {
		pids[strings.TrimSuffix(filepath.Base(process.Log), ".log")] = process.Pid()
	}
	return pids
}

func (c *ControlPlane) program(name string) string { return filepath.Join(c.assets, name) }

// WriteKubeconfig writes what programs read where a config is what they connect with.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "test"
	return clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters: map[string]*clientcmdapi.Cluster{
			name: {Server: config.Host, CertificateAuthority: config.CAFile},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: config.BearerToken}},
	}, path)
}

func (c *ControlPlane) start(ctx context.Context, manifests []string) error {
	ports, err := FreePorts(4)
	if err != nil {
		return err
	}
	c.url = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	c.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.run("etcd", c.etcd(c.etcdURL, fmt.Sprintf("http://127.0.0.1:%d", ports[1]))...); err != nil {
		return err
	}
	server := c.apiserver("pki", ports[2])
	if !c.unaudited {
		server = append(server, c.audit()...)
	}
	if err := c.run("kube-apiserver", server...); err != nil {
		return err
	}
	if err := c.until(ctx, c.answers); err != nil {
		return err
	}
	if err := WriteKubeconfig(c.Kubeconfig(), c.Admin()); err != nil {
		return err
	}
	if err := c.apply(ctx, manifests); err != nil {
		return err
	}
	// After the manifests: it looks for new kinds, whose objects may be owners, only now and then.
	if err := c.run("kube-controller-manager", c.controllerManager(ports[3])...); err != nil {
		return err
	}
	return c.until(ctx, c.makesServiceAccounts)
}

func (c *ControlPlane) apply(ctx context.Context, manifests []string) error {
	if len(manifests) == 0 {
		return nil
	}
	_, err := c.Kubectl(ctx, "", "apply", "--filename="+strings.Join(manifests, ","))
	if err != nil {
		return err
	}
	_, err = c.Kubectl(ctx, "", "wait", "--for=condition=Established", "--all", "customresourcedefinitions")
	return err
}

func (c *ControlPlane) writeFiles() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return errors.Join(
		os.WriteFile(c.path("service-accounts.key"), pemKey, 0o600),
		os.WriteFile(c.path("tokens.csv"), []byte(adminToken+`,admin,admin,"system:masters"`+"\n"), 0o600),
		os.WriteFile(c.path("audit-policy.yaml"), []byte(auditPolicy), 0o600),
	)
}

// environment has the programs trade memory for speed, as long as there is some.
var environment = []string{"GOGC=400", "GOMEMLIMIT=12GiB"}

// run starts one of the programs.
func (c *ControlPlane) run(program string, arguments ...string) error {
	process, err := StartProcess(c.path(program+".log"), environment, c.program(program), arguments...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, process)
	return nil
}

// etcd trades durability for speed.
func (c *ControlPlane) etcd(client, peer string) []string {
	return []string{
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", "--log-level=error",
	}
}

// apiserver is what an API server is told that keeps its certificate in a folder.
func (c *ControlPlane) apiserver(folder string, port int) []string {
	return []string{
		"--etcd-servers=" + c.etcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + c.path(folder),
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--endpoint-reconciler-type=none", // it refuses loopback addresses
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=RBAC",
		"--token-auth-file=" + c.path("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("service-accounts.key"),
		"--service-account-signing-key-file=" + c.path("service-accounts.key"),
	}
}

func (c *ControlPlane) audit() []string {
	return []string{
		"--audit-policy-file=" + c.path("audit-policy.yaml"),
		"--audit-log-path=" + c.AuditLog(), "--audit-log-mode=blocking", "--audit-log-maxsize=4096",
	}
}

func (c *ControlPlane) controllerManager(port int) []string {
	return []string{
		"--kubeconfig=" + c.Kubeconfig(),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--controllers=garbage-collector-controller,resourcequota-controller,serviceaccount-controller,namespace-controller," +
			"persistentvolumeclaim-protection-controller",
		"--leader-elect=false",
		unlimitedQPS, unlimitedBurst,
		"--concurrent-namespace-syncs=50", // many come and go at once
	}
}

// Kubeconfig is the file that the admin's programs read.
func (c *ControlPlane) Kubeconfig() string { return c.path("admin.kubeconfig") }

// until waits for what the process does that was started last.
func (c *ControlPlane) until(ctx context.Context, done func(context.Context) bool) error {
	return await(ctx, c.processes[len(c.processes)-1], done)
}

// await waits for what a process does.
func await(ctx context.Context, last *Process, done func(context.Context) bool) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-last.Done():
			return false, errors.New("it ended")
		default:
			return done(ctx), nil
		}
	})
	if err != nil {
		return fmt.Errorf("wait for the process that logs to %s: %w\n%s", last.Log, err, last.Tail(20))
	}
	return nil
}

func (c *ControlPlane) answers(ctx context.Context) bool {
	return c.get(ctx, "/readyz")
}

func (c *ControlPlane) makesServiceAccounts(ctx context.Context) bool {
	return c.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
}

func (c *ControlPlane) get(ctx context.Context, path string) bool {
	if _, err := os.Stat(c.Admin().CAFile); err != nil {
		return false // the API server makes it
	}
	client, err := kubernetes.NewForConfig(c.Admin())
	if err != nil {
		return false
	}
	return client.RESTClient().Get().AbsPath(path).Do(ctx).Error() == nil
}

func (c *ControlPlane) path(names ...string) string {
	return filepath.Join(append([]string{c.Dir}, names...)...)
}

// FreePorts finds ports on which nobody listens.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close() // at the end, so that all differ
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
