// Package packages installs what the cluster and the tests need from Debian's packages.
package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// need is a file that must exist, and the package that has it.
type need struct{ file, pkg string }

var needs = []need{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"ip", "iproute2"},
	{"iptables-save", "iptables"},
	{"mmdebstrap", "mmdebstrap"},
	{"javac", "openjdk-17-jdk-headless"},
	{"python3", "python3"},
	{"pip3", "python3-pip"},
	{"/usr/lib/cni/ptp", "containernetworking-plugins"},
	{"/etc/ssl/certs/ca-certificates.crt", "ca-certificates"},
}

// prometheus has the server and promtool.
var prometheus = []need{{"prometheus", "prometheus"}, {"promtool", "prometheus"}}

// tmux is a terminal that tests type into and read.
var tmux = []need{{"tmux", "tmux"}}

// chromium is a browser that tests look at the console with.
var chromium = []need{{"chromium", "chromium"}}

// Install installs the packages of the cluster whose files are missing.
func Install(ctx context.Context, t *step.Task) error { return install(ctx, t, needs) }

// InstallPrometheus installs Prometheus if it is missing.
func InstallPrometheus(ctx context.Context, t *step.Task) error { return install(ctx, t, prometheus) }

// InstallTmux installs tmux if it is missing.
func InstallTmux(ctx context.Context, t *step.Task) error { return install(ctx, t, tmux) }

// InstallChromium installs Chromium if it is missing.
func InstallChromium(ctx context.Context, t *step.Task) error { return install(ctx, t, chromium) }

func install(ctx context.Context, t *step.Task, needs []need) error {
	missing := missing(needs, present)
	if len(missing) == 0 {
		return nil
	}
	t.Say("installing %s", strings.Join(missing, ", "))
	restore, err := keepServicesStopped()
	if err != nil {
		return err
	}
	defer restore()
	if err := apt(ctx, t, "update"); err != nil {
		return err
	}
	return apt(ctx, t, append([]string{"install", "--yes", "--no-install-recommends"}, missing...)...)
}

func missing(needs []need, present func(file string) bool) []string {
	var names []string
	seen := map[string]bool{}
	for _, n := range needs {
		if !present(n.file) && !seen[n.pkg] {
			seen[n.pkg] = true
			names = append(names, n.pkg)
		}
	}
	return names
}

func present(file string) bool {
	if strings.HasPrefix(file, "/") {
		_, err := os.Stat(file)
		return err == nil
	}
	_, err := exec.LookPath(file)
	return err == nil
}

func apt(ctx context.Context, t *step.Task, args ...string) error {
	cmd := t.Command(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("apt-get %s: %w", args[0], err)
	}
	return nil
}

// policy is the program that a package asks before it starts its service.
const policy = "/usr/sbin/policy-rc.d"

// keepServicesStopped lets packages be installed without starting their services: the
// cluster runs a containerd of its own. An existing policy stays.
func keepServicesStopped() (restore func(), err error) {
	file, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, os.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString("#!/bin/sh\nexit 101\n")
	return func() { _ = os.Remove(policy) }, errors.Join(err, file.Close())
}
