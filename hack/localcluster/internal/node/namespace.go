package node

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Namespace is a mount namespace of the node's own. What containerd, the
// kubelet and the pods mount is visible only there. The kernel unmounts it when
// the last of them ends, so no mount is left behind.
type Namespace struct {
	jobs chan func()
}

// NewNamespace makes a mount namespace in which the given folders are empty.
func NewNamespace(private []string) (*Namespace, error) {
	ns := &Namespace{jobs: make(chan func())}
	ready := make(chan error)
	go func() {
		// The namespace belongs to this thread. It is never unlocked, so the
		// runtime ends the thread with the goroutine and uses it for nothing else.
		runtime.LockOSThread()
		ready <- enter(private)
		for job := range ns.jobs {
			job()
		}
	}()
	return ns, <-ready
}

// Do runs f on the namespace's thread. Processes that f starts are in the namespace.
func (ns *Namespace) Do(f func() error) error {
	result := make(chan error)
	ns.jobs <- func() { result <- f() }
	return <-result
}

// Close releases the namespace. It exists as long as processes are in it.
func (ns *Namespace) Close() { close(ns.jobs) }

func enter(private []string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount namespace: %w", err)
	}
	// Mounts of the machine still come in, none gets out; between the node and its
	// pods they are shared, as mount propagation demands.
	for _, flag := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|flag, ""); err != nil {
			return fmt.Errorf("setting mount propagation: %w", err)
		}
	}
	for _, dir := range private {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mounting an empty %s: %w", dir, err)
		}
	}
	return nil
}

// privateFolders are the places outside the cluster's folder that containerd,
// CNI and the kubelet need. The node gets empty ones of its own.
var privateFolders = []string{
	"/run/containerd",
	"/run/netns",
	"/usr/libexec/kubernetes",
	"/var/lib/cni",
	"/var/lib/kubelet",
	"/var/log/containers",
	"/var/log/pods",
}

// makeFolders creates the folders and returns which did not exist, deepest last.
func makeFolders(dirs []string) (made []string, err error) {
	for _, dir := range dirs {
		for _, missing := range missingParents(dir) {
			if err := os.Mkdir(missing, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return made, err
			}
			made = append(made, missing)
		}
	}
	return made, nil
}
