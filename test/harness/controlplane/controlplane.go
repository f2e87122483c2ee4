package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	adminToken = "the-admin-of-a-test"
	// startLimit is long: several control planes may start at once, beside compilers.
	startLimit = 5 * time.Minute
)

// auditPolicy logs each request when it is answered, and a watch when it begins, but none of the admin and of Kubernetes' own programs.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, userGroups: ["system:masters"]}
- {level: Metadata}
`

// Assets is the environment variable with the folder of the control plane's programs.
const Assets = "KUBEBUILDER_ASSETS"

// Options choose the parts of a control plane.
type Options struct {
	// Dir is the folder for its files and the logs of its processes. It is made if it does not exist.
	Dir string
	// Manifests are files that are applied to it.
	Manifests []string
	// Unaudited saves the time that the audit log takes.
	Unaudited bool
	// ServerOnly leaves out the controller manager: objects stay as they are created, and are deleted at once.
	ServerOnly bool
	// ServerArguments are further arguments for the API server. They override the usual ones.
	ServerArguments []string
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	Options

	etcdURL   string
	url       string
	processes []*process.Process
}

// Start runs a control plane with the programs in the folder that [Assets] names.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	c := &ControlPlane{Options: o}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Manifests returns the files of a folder that match any of the patterns, in the order of the patterns.
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

// Stop kills the control plane. Its data is lost.
func (c *ControlPlane) Stop() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].Kill()
	}
	c.processes = nil
}

// Config returns a client configuration for the user with a token, without rate limit.
func (c *ControlPlane) Config(token string) *rest.Config {
	return &rest.Config{
		Host: c.url, BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.path("pki", "apiserver.crt")},
	}
}

// Admin returns a client configuration for a user who may do everything.
func (c *ControlPlane) Admin() *rest.Config { return c.Config(adminToken) }

// AuditLog is the file with a line for each answered request.
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

// Bash runs a command of a page in a folder, with kubectl on its path. environment is added, and wins.
func (c *ControlPlane) Bash(ctx context.Context, folder, command string, environment ...string) (string, error) {
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	bash.Dir = folder
	bash.Env = append(bash.Environ(), "KUBECONFIG="+c.Kubeconfig(), "PATH="+os.Getenv(Assets)+":"+os.Getenv("PATH"))
	bash.Env = append(bash.Env, environment...)
	output, err := bash.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", command, err, output)
	}
	return string(output), nil
}

// Run starts another of the programs. It is killed with the control plane.
func (c *ControlPlane) Run(program string, arguments ...string) error {
	started, err := process.Start(c.path(program+".log"), environment, c.program(program), arguments...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, started)
	return nil
}

// Processes are the running programs.
func (c *ControlPlane) Processes() []*process.Process { return slices.Clone(c.processes) }

func (c *ControlPlane) program(name string) string { return filepath.Join(os.Getenv(Assets), name) }

// WriteKubeconfig writes a client configuration to a file for programs.
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

func (c *ControlPlane) start(ctx context.Context) error {
	if os.Getenv(Assets) == "" {
		return fmt.Errorf("%s names no folder with etcd and kube-apiserver: run the make target of these tests, which builds them", Assets)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	ports, err := process.FreePorts(4)
	if err != nil {
		return err
	}
	c.url = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	c.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.Run("etcd", c.etcd(c.etcdURL, fmt.Sprintf("http://127.0.0.1:%d", ports[1]))...); err != nil {
		return err
	}
	server := c.apiserver("pki", ports[2])
	if !c.Unaudited {
		server = append(server, c.audit()...)
	}
	if err := c.Run("kube-apiserver", append(server, c.ServerArguments...)...); err != nil {
		return err
	}
	if err := c.until(ctx, c.answers); err != nil {
		return err
	}
	if err := WriteKubeconfig(c.Kubeconfig(), c.Admin()); err != nil {
		return err
	}
	if err := c.apply(ctx, c.Manifests); err != nil || c.ServerOnly {
		return err
	}
	// After the manifests: it looks for new kinds, whose objects may be owners, only now and then.
	if err := c.Run("kube-controller-manager", c.controllerManager(ports[3])...); err != nil {
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
	return c.AwaitDefinitions(ctx, "--all", "customresourcedefinitions")
}

// AwaitDefinitions waits until the API server serves the kinds of the CustomResourceDefinitions that these arguments of kubectl choose.
func (c *ControlPlane) AwaitDefinitions(ctx context.Context, choice ...string) error {
	// kubectl cannot wait for a condition before the object has any conditions. The first field comes with the first of them.
	var names string
	for _, until := range []string{"jsonpath={.status.acceptedNames.kind}", "condition=Established"} {
		var err error
		names, err = c.Kubectl(ctx, "", append([]string{"wait", "--output=name", "--timeout=" + startLimit.String(), "--for=" + until}, choice...)...)
		if err != nil {
			return err
		}
	}
	// The API server serves and lists a kind only when its own watches have told it so.
	if err := c.untilListed(ctx, strings.Fields(names)); err != nil {
		return fmt.Errorf("%s: listed too late: %w", names, err)
	}
	chosen := slices.DeleteFunc(slices.Clone(choice), func(argument string) bool { return argument == "--all" }) // get has no such flag
	paths, err := c.Kubectl(ctx, "", append([]string{"get", "--output=go-template=" + servedPaths}, chosen...)...)
	if err != nil {
		return err
	}
	for _, path := range strings.Fields(paths) {
		if err := c.until(ctx, func(ctx context.Context) bool { return c.get(ctx, path) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// untilListed waits until the API server lists the kinds of CustomResourceDefinitions. names are those that kubectl prints.
func (c *ControlPlane) untilListed(ctx context.Context, names []string) error {
	client, err := kubernetes.NewForConfig(c.Admin())
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startLimit, true, func(context.Context) (bool, error) {
		_, lists, err := client.Discovery().ServerGroupsAndResources()
		if err != nil {
			return false, nil
		}
		listed := map[string]bool{}
		for _, list := range lists {
			group, _, _ := strings.Cut(list.GroupVersion, "/")
			for _, resource := range list.APIResources {
				listed[resource.Name+"."+group] = true
			}
		}
		return !slices.ContainsFunc(names, func(name string) bool { return !listed[name[strings.Index(name, "/")+1:]] }), nil
	})
}

// servedPaths is a template of kubectl that prints the paths of the kinds of one CustomResourceDefinition or of a list.
const servedPaths = `{{define "paths"}}{{$d := .}}{{range .spec.versions}}{{if .served}}/apis/{{$d.spec.group}}/{{.name}}/{{$d.spec.names.plural}}
{{end}}{{end}}{{end}}{{if .items}}{{range .items}}{{template "paths" .}}{{end}}{{else}}{{template "paths" .}}{{end}}`

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

// environment makes the programs trade memory for speed, as long as there is memory.
var environment = []string{"GOGC=400", "GOMEMLIMIT=12GiB"}

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

// apiserver returns the arguments of an API server that stores its certificate in a folder.
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

// Kubeconfig is the kubeconfig file of the admin.
func (c *ControlPlane) Kubeconfig() string { return c.path("admin.kubeconfig") }

// until waits until the process that was started last has done something.
func (c *ControlPlane) until(ctx context.Context, done func(context.Context) bool) error {
	return await(ctx, c.processes[len(c.processes)-1], done)
}

// await waits until a process has done something.
func await(ctx context.Context, last *process.Process, done func(context.Context) bool) error {
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
		return false // the API server has not made it yet
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
