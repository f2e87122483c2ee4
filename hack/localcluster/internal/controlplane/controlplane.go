// Package controlplane runs the cluster's servers as plain processes: etcd, the
// API server, the controller manager, the scheduler, kube-proxy and CoreDNS.
package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/pki"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/process"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// ControlPlane is the part of the cluster that does not run pods.
type ControlPlane struct {
	// Dir holds keys, configuration and data.
	Dir string
	// Bin holds the programs.
	Bin string
	// Kubeconfig is the administrator's kubeconfig.
	Kubeconfig string
	// NodeName is the name of the cluster's node.
	NodeName string
	// Address is the node's address, which pods reach the API server at.
	Address string
	// Port is the API server's.
	Port int
	// EtcdPort is etcd's for clients; peers have the next one.
	EtcdPort int
	// DNSPort is CoreDNS's own; pods reach it through a Service.
	DNSPort int
	// PodCIDR and ServiceCIDR are the ranges of addresses.
	PodCIDR, ServiceCIDR string
	// APIService and DNSService are the addresses of the Services of the two.
	APIService, DNSService string
	// Processes records what is started.
	Processes process.Table
}

// user is an identity of the cluster's own and what it is allowed by its name or groups.
type user struct {
	file, name string
	groups     []string
}

// users are the identities beside the administrator.
func (c *ControlPlane) users() []user {
	return []user{
		{"kubelet", "system:node:" + c.NodeName, []string{"system:nodes"}},
		{"kube-controller-manager", "system:kube-controller-manager", nil},
		{"kube-scheduler", "system:kube-scheduler", nil},
		{"kube-proxy", "system:kube-proxy", nil},
		{"coredns", "system:coredns", nil},
	}
}

func (c *ControlPlane) path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

// KubeconfigOf is the kubeconfig of one of the cluster's components.
func (c *ControlPlane) KubeconfigOf(component string) string {
	return c.path(component + ".kubeconfig")
}

// ClientCA is the certificate that clients' certificates are checked against.
func (c *ControlPlane) ClientCA() string { return c.path("pki", "ca.crt") }

// Prepare makes keys, kubeconfigs and configuration files.
func (c *ControlPlane) Prepare() error {
	authority, err := pki.NewAuthority(c.path("pki"))
	if err != nil {
		return err
	}
	err = errors.Join(
		authority.Server("kube-apiserver", []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}, "127.0.0.1", c.Address, c.APIService),
		authority.Client("apiserver-kubelet-client", "system:masters"),
		authority.Client("front-proxy-client"),
		authority.SigningKey("service-accounts"),
	)
	if err != nil {
		return err
	}
	return errors.Join(c.writeIdentities(authority.PEM), c.writeConfigs())
}

// writeIdentities makes each user's kubeconfig and the list of their tokens.
func (c *ControlPlane) writeIdentities(ca []byte) error {
	var tokens strings.Builder
	write := func(file, name string, groups []string) error {
		token, err := pki.Token()
		if err != nil {
			return err
		}
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", token, name, name, strings.Join(groups, ","))
		return os.WriteFile(file, []byte(kubeconfig(c.Port, ca, token)), 0o600)
	}
	if err := write(c.Kubeconfig, "admin", []string{"system:masters"}); err != nil {
		return err
	}
	for _, u := range c.users() {
		if err := write(c.KubeconfigOf(u.file), u.name, u.groups); err != nil {
			return err
		}
	}
	return os.WriteFile(c.path("tokens.csv"), []byte(tokens.String()), 0o600)
}

func (c *ControlPlane) writeConfigs() error {
	resolver, _ := os.ReadFile("/etc/resolv.conf")
	return errors.Join(
		os.WriteFile(c.path("Corefile"), []byte(c.corefile(hasNameserver(string(resolver)))), 0o644),
		os.WriteFile(c.path("kube-proxy.yaml"), []byte(c.proxyConfig()), 0o644),
		os.WriteFile(c.path("objects.yaml"), []byte(c.objects()), 0o644),
	)
}

// Start starts the servers and waits until the API server is ready.
func (c *ControlPlane) Start(ctx context.Context, t *step.Task) error {
	if err := c.start("etcd", c.etcdArgs()); err != nil {
		return err
	}
	if err := c.start("kube-apiserver", c.apiserverArgs()); err != nil {
		return err
	}
	if err := c.waitFor(ctx, "kube-apiserver", "the API server's /readyz", c.Ready); err != nil {
		return err
	}
	for name, args := range map[string][]string{
		"kube-controller-manager": c.controllerManagerArgs(),
		"kube-scheduler":          c.schedulerArgs(),
		"kube-proxy":              c.proxyArgs(),
	} {
		if err := c.start(name, args); err != nil {
			return err
		}
	}
	return c.Kubectl(ctx, t, "apply", "--server-side", "--filename", c.path("objects.yaml"))
}

// StartDNS starts CoreDNS, which may read Services and EndpointSlices by now,
// and waits until the name of the API server resolves through its Service.
func (c *ControlPlane) StartDNS(ctx context.Context) error {
	if err := c.start("coredns", []string{"-conf", c.path("Corefile")}); err != nil {
		return err
	}
	return c.waitFor(ctx, "coredns", "the cluster's DNS at "+c.DNSService, c.DNSReady)
}

// Kubectl runs kubectl as the administrator.
func (c *ControlPlane) Kubectl(ctx context.Context, t *step.Task, args ...string) error {
	return t.Run(ctx, filepath.Join(c.Bin, "kubectl"), append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
}

func (c *ControlPlane) start(name string, args []string) error {
	cmd := exec.Command(filepath.Join(c.Bin, name), args...)
	cmd.Dir = c.Dir
	_, err := c.Processes.Start(name, cmd)
	return err
}

// waitFor waits for a condition that a process causes. If that process
// ends, it returns an error that names its log.
func (c *ControlPlane) waitFor(ctx context.Context, name, what string, condition func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := step.Until(ctx, 3*time.Minute, what, func(ctx context.Context) error {
		if err := c.Processes.Running(name); err != nil {
			cancel(err)
			return err
		}
		return condition(ctx)
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%w (see %s)", err, filepath.Join(c.Processes.Logs, name+".log"))
	}
	return nil
}
