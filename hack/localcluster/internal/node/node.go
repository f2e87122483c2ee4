// Package node makes this machine the cluster's node: containerd and a kubelet.
// All their files are in the cluster's folder.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/process"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// Node is the cluster's one node.
type Node struct {
	// Name is the node's name in the cluster.
	Name string
	// Address is the node's address, which pods reach.
	Address string
	// Dir is the folder that holds all of the node's state.
	Dir string
	// Cgroup is the name of the control group that holds all pods.
	Cgroup string
	// PodCIDR is the range of the pods' addresses.
	PodCIDR string
	// ClusterDNS is the address of the cluster's name server.
	ClusterDNS string
	// Registry is the host and port of the machine's own registry.
	Registry string
	// PauseImage is the image of a pod's sandbox.
	PauseImage string
	// Kubelet is the path of the kubelet's program.
	Kubelet string
	// Kubeconfig is the kubelet's kubeconfig.
	Kubeconfig string
	// ClientCA certifies whom the kubelet's own API serves.
	ClientCA string
	// Processes records what is started.
	Processes process.Table

	namespace *Namespace
}

func (n *Node) path(elem ...string) string {
	return filepath.Join(append([]string{n.Dir}, elem...)...)
}

func (n *Node) cgroup() cgroup {
	return cgroup{root: mounted, name: n.Cgroup, added: n.path("controllers")}
}

// Socket is where containerd listens.
func (n *Node) Socket() string { return n.path("containerd.sock") }

// Prepare creates what containerd and the kubelet need on the machine.
func (n *Node) Prepare() error {
	if err := os.MkdirAll(n.Dir, 0o755); err != nil {
		return err
	}
	if err := n.cgroup().make(); err != nil {
		return fmt.Errorf("making the pods' control group: %w", err)
	}
	made, err := makeFolders(privateFolders)
	if err := errors.Join(err, n.saveFolders(made)); err != nil {
		return err
	}
	n.namespace, err = NewNamespace(privateFolders)
	return err
}

// StartContainerd starts containerd on a copy of an image store and waits until
// it answers. The copy shares the files, which containerd only reads.
func (n *Node) StartContainerd(ctx context.Context, t *step.Task, store string) error {
	if err := t.Run(ctx, "cp", "--archive", "--link", store, n.path("containerd")); err != nil {
		return err
	}
	if err := unshareDatabases(store, n.path("containerd")); err != nil {
		return err
	}
	return n.startContainerd(ctx, t, "containerd", n.path("containerd"), n.Socket())
}

// BuildStore creates an image store in the folder: what containerd has on disk
// after it has pulled and unpacked the images. Copying it is faster than doing
// that at each boot.
func (n *Node) BuildStore(ctx context.Context, t *step.Task, store string, images ...string) (err error) {
	const name = "image-store"
	socket := n.path(name + ".sock")
	defer func() { err = errors.Join(err, n.Processes.Stop(name, 10*time.Second)) }()
	if err := n.startContainerd(ctx, t, name, store, socket); err != nil {
		return err
	}
	for _, image := range images {
		err := t.Run(ctx, "ctr", "--address", socket, "--namespace", "k8s.io", "images", "pull", "--plain-http", image)
		if err != nil {
			return err
		}
	}
	return nil
}

// Forget removes these names if containerd has images of other digests with
// them, so that they are fetched again.
func (n *Node) Forget(ctx context.Context, t *step.Task, names []string, digest string) error {
	ctr := []string{"--address", n.Socket(), "--namespace", "k8s.io", "images"}
	known, err := exec.CommandContext(ctx, "ctr", append(ctr, "list")...).Output()
	if err != nil {
		return fmt.Errorf("ctr images list: %w", err)
	}
	if old := othersThan(digest, string(known), names); len(old) > 0 {
		return t.Run(ctx, "ctr", append(append(ctr, "remove"), old...)...)
	}
	return nil
}

// othersThan returns the names that a list of images has with another digest.
func othersThan(digest, known string, names []string) []string {
	var found []string
	for line := range strings.Lines(known) {
		const name, itsDigest = 0, 2
		columns := strings.Fields(line)
		if len(columns) > itsDigest && columns[itsDigest] != digest && slices.Contains(names, columns[name]) {
			found = append(found, columns[name])
		}
	}
	return found
}

// startContainerd starts a containerd of this name that keeps images in the
// folder root, and waits until it answers at the socket.
func (n *Node) startContainerd(ctx context.Context, t *step.Task, name, root, socket string) error {
	config := n.path(name + ".toml")
	files := map[string]string{
		config:                              n.containerdConfig(root, n.path(name+"-state"), socket),
		n.path("net.d", "10-pods.conflist"): n.networkConfig(),
		n.path("hosts", "_default", "hosts.toml"): n.mirrorConfig(),
	}
	for file, content := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	if err := n.start(name, exec.Command("containerd", "--config", config)); err != nil {
		return err
	}
	return step.Until(ctx, 2*time.Minute, "containerd answering at "+socket, func(ctx context.Context) error {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		conn.Close()
		return t.Run(ctx, "ctr", "--address", socket, "plugins", "list", "id==cri")
	})
}

// unshareDatabases gives the copy of a store databases of its own: they are the
// only files that containerd writes in place.
func unshareDatabases(store, dest string) error {
	found, err := filepath.Glob(filepath.Join(store, "*", "*.db"))
	if err != nil {
		return err
	}
	for _, file := range found {
		inner, err := filepath.Rel(store, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		own := filepath.Join(dest, inner)
		if err := errors.Join(os.Remove(own), os.WriteFile(own, data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// StartKubelet starts the kubelet.
func (n *Node) StartKubelet() error {
	config, err := json.MarshalIndent(n.kubeletConfig(), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.path("kubelet.json"), config, 0o644); err != nil {
		return err
	}
	err = n.start("kubelet", exec.Command(n.Kubelet,
		"--config="+n.path("kubelet.json"),
		"--kubeconfig="+n.Kubeconfig,
		"--hostname-override="+n.Name,
		"--node-ip="+n.Address,
		"--root-dir="+n.path("kubelet"),
		"--cert-dir="+n.path("kubelet-pki"),
	))
	n.namespace.Close()
	return err
}

func (n *Node) start(name string, cmd *exec.Cmd) error {
	return n.namespace.Do(func() error {
		_, err := n.Processes.Start(name, cmd)
		return err
	})
}

func (n *Node) saveFolders(made []string) error {
	return os.WriteFile(n.path("made-folders"), []byte(strings.Join(made, "\n")), 0o644)
}

// Remove ends the node's containers that still run, after containerd and
// the kubelet were stopped, and undoes what the node changed on the machine.
// It returns the folders that it left, since they hold files of others.
func (n *Node) Remove() (left []string, err error) {
	errs := []error{n.KillContainers(), n.cgroup().remove()}
	left, err = n.removeFolders()
	return left, errors.Join(append(errs, err)...)
}

// KillContainers ends the containers' processes, then the shims that watch them.
func (n *Node) KillContainers() error {
	pids, err := n.cgroup().processes()
	if err != nil {
		return err
	}
	shims, err := process.Matching(n.isShim)
	return errors.Join(err, process.Kill(append(pids, shims...)))
}

// isShim reports whether a process is a shim of this containerd: no other names its socket.
func (n *Node) isShim(args []string) bool {
	if filepath.Base(args[0]) != "containerd-shim-runc-v2" {
		return false
	}
	for i, arg := range args {
		if arg == "-address" && i+1 < len(args) && args[i+1] == n.Socket() {
			return true
		}
	}
	return false
}

// removeFolders removes the folders that the node made. The node's own content was in its mount namespace, so a file that
// is in a folder now is another's: the folder is left, with those above it, and returned.
func (n *Node) removeFolders() (left []string, err error) {
	data, err := os.ReadFile(n.path("made-folders"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	made := strings.Fields(string(data))
	var errs []error
	for _, dir := range slices.Backward(made) {
		switch err := os.Remove(dir); {
		case err == nil, errors.Is(err, os.ErrNotExist):
		case errors.Is(err, syscall.ENOTEMPTY):
			left = append(left, dir)
		default:
			errs = append(errs, fmt.Errorf("removing a folder that the node made: %w", err))
		}
	}
	return left, errors.Join(errs...)
}

// missingParents lists the folder and those above it that do not exist, topmost first.
func missingParents(dir string) []string {
	var missing []string
	for ; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		missing = append([]string{dir}, missing...)
	}
	return missing
}
