// Package cluster boots the local cluster and takes it down: it says which
// pieces there are and in what order they come and go.
package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/controlplane"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/network"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/node"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/process"
)

// The cluster's addresses. One cluster runs on a machine at a time.
const (
	nodeName    = "localcluster"
	nodeAddress = "10.245.0.1"
	podCIDR     = "10.244.0.0/16"
	serviceCIDR = "10.96.0.0/16"
	apiService  = "10.96.0.1"
	dnsService  = "10.96.0.10"
	apiPort     = 16443
	etcdPort    = 12379 // and the next one
	dnsPort     = 10053
	linkName    = "firesteel0"

	registryAddress = "127.0.0.1:5005"
	pauseName       = "pause:1"
)

// BaseName is the image on which ko puts a Go program.
const BaseName = "base:1"

// Cluster is the local cluster of this machine.
type Cluster struct {
	cache     cache.Dir
	progress  io.Writer
	processes process.Table
	control   controlplane.ControlPlane
	node      node.Node
	network   network.Network
}

// New is the cluster that keeps what it builds in the cache folder, and tells
// its progress on the writer.
func New(c cache.Dir, progress io.Writer) *Cluster {
	dir := c.Cluster()
	processes := process.Table{Dir: filepath.Join(dir, "processes"), Logs: filepath.Join(dir, "logs")}
	control := controlplane.ControlPlane{
		Dir:         filepath.Join(dir, "control-plane"),
		Bin:         c.Bin(),
		Kubeconfig:  c.Kubeconfig(),
		NodeName:    nodeName,
		Address:     nodeAddress,
		Port:        apiPort,
		EtcdPort:    etcdPort,
		DNSPort:     dnsPort,
		PodCIDR:     podCIDR,
		ServiceCIDR: serviceCIDR,
		APIService:  apiService,
		DNSService:  dnsService,
		Processes:   processes,
	}
	return &Cluster{
		cache:     c,
		progress:  progress,
		processes: processes,
		control:   control,
		node: node.Node{
			Name:       nodeName,
			Address:    nodeAddress,
			Dir:        filepath.Join(dir, "node"),
			Cgroup:     "firesteel-" + cache.Key(dir)[:8],
			PodCIDR:    podCIDR,
			ClusterDNS: dnsService,
			Registry:   registryAddress,
			PauseImage: registryAddress + "/" + pauseName,
			Kubelet:    c.Program("kubelet"),
			Kubeconfig: control.KubeconfigOf("kubelet"),
			ClientCA:   control.ClientCA(),
			Processes:  processes,
		},
		network: network.Network{
			Interface:   linkName,
			Address:     nodeAddress,
			PodCIDR:     podCIDR,
			ServiceCIDR: serviceCIDR,
			State:       filepath.Join(dir, "network.json"),
		},
	}
}

// Environment are the settings with which tools use the cluster.
func (c *Cluster) Environment() []string {
	return []string{
		"KUBECONFIG=" + c.cache.Kubeconfig(),
		"KO_DOCKER_REPO=" + registryAddress + "/firesteel",
		"KO_DEFAULTBASEIMAGE=" + registryAddress + "/" + BaseName,
		"KUBEBUILDER_ASSETS=" + c.cache.Bin(),
	}
}

func (c *Cluster) registryDir() string { return filepath.Join(c.cache.Cluster(), "registry") }

// lock keeps two from booting or taking down the cluster at the same time. It
// ends with the process that holds it.
func (c *Cluster) lock() (unlock func(), err error) {
	if err := os.MkdirAll(string(c.cache), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(c.cache.Path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		fmt.Fprintln(c.progress, "waiting for another localcluster command to end")
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("locking %s: %w", file.Name(), err)
		}
	}
	return func() { _ = file.Close() }, nil
}

// requireRoot refuses early what would fail in the middle.
func requireRoot(what string) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%s needs root: it starts containerd and a kubelet, which mount, route and isolate.\n"+
			"  what to do: run it as root (sudo --preserve-env=HOME,FIRESTEEL_CACHE keeps your cache folder)", what)
	}
	return nil
}
