package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/function"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/packages"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/registry"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/spark"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/volumes"
)

// Contents are what a cluster holds besides Kubernetes and the default Spark.
type Contents struct {
	// Spark are the further releases that there are images of.
	Spark []spark.Release
	// Eventing reports whether Knative Eventing runs in it.
	Eventing bool
}

// Up boots the cluster, unless a healthy one runs, which then only gets what it
// lacks. What is left of an unhealthy one goes first.
func (c *Cluster) Up(ctx context.Context, contents Contents) error {
	if err := requireRoot("localcluster up"); err != nil {
		return err
	}
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	runner := step.NewRunner(c.progress, c.cache.Logs())
	if err := c.Healthy(ctx); err == nil {
		runner.Say("the cluster runs already and is healthy")
		return runner.Run(ctx, c.more(contents)...)
	}
	if err := c.clear(runner); err != nil {
		return err
	}
	if err := runner.Run(ctx, c.steps(contents)...); err != nil {
		return fmt.Errorf("%w\n  what was started is still there to look at; localcluster down removes it", err)
	}
	// What answers at the cluster's addresses might be another owner's.
	if err := c.works(ctx); err != nil {
		return fmt.Errorf("the cluster does not work although booted: %w", err)
	}
	if err := os.WriteFile(c.complete(), nil, 0o644); err != nil {
		return err
	}
	runner.Say("the cluster is ready after %.1fs", runner.Elapsed().Seconds())
	return nil
}

// complete is the file that means that the cluster was booted to the end.
func (c *Cluster) complete() string { return filepath.Join(c.cache.Cluster(), "complete") }

// clear removes what is left of a cluster, if anything is.
func (c *Cluster) clear(runner *step.Runner) error {
	if _, err := os.Stat(c.cache.Cluster()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	runner.Say("removing what is left of an earlier cluster")
	return c.remove(runner)
}

const (
	again    = "run it again; what is done already is not done twice"
	machine  = "see the log; the machine must let root make namespaces, mounts, cgroups and iptables rules"
	offline  = "see the log; the machine must reach a package registry through its own client"
	diskFull = "see the log; about 5 GB of disk are needed in the cache folder, and 2 GB for each further Spark"
)

// steps are the way from a bare machine to a cluster with these contents.
func (c *Cluster) steps(contents Contents) []step.Step {
	held := spark.WithDefault(contents.Spark)
	steps := []step.Step{
		packagesStep,
		{Name: "kubernetes", Do: c.buildKubernetes, Remedy: offline},
		{Name: "small images", After: []string{"packages"}, Do: c.buildSmallImages, Remedy: again},
		{Name: "localcluster", Do: c.installSelf, Remedy: diskFull},
		{Name: "volumes", After: []string{"localcluster"}, Do: c.startVolumes, Remedy: again},
		{Name: "registry", After: []string{"small images", "localcluster"}, Do: c.startRegistry,
			Remedy: "see the log; nothing else may listen at " + registryAddress},
		{Name: "machine", After: []string{"packages"}, Do: c.prepareMachine, Remedy: machine},
		c.debianStep(),
	}
	for _, r := range held {
		steps = append(steps, c.sparkSteps(r, held)...)
	}
	steps = append(steps, []step.Step{
		{Name: "image store", After: []string{tagsOf(spark.Default), "machine"}, Do: c.buildStore, Remedy: diskFull},
		{Name: "containerd", After: []string{"image store"}, Do: c.startContainerd, Remedy: machine},
		{Name: "network", After: []string{"packages"}, Do: c.startNetwork, Remedy: machine},
		{Name: "control plane", After: []string{"kubernetes", "network"}, Do: c.startControlPlane,
			Remedy: fmt.Sprintf("see the log; nothing else may listen at the ports %d, %d, %d, 10249, 10256, 10257 and 10259",
				apiPort, etcdPort, etcdPort+1)},
		{Name: "node", After: []string{"control plane", "containerd"}, Do: c.startNode, Remedy: machine},
		{Name: "dns", After: []string{"control plane"}, Do: c.startDNS,
			Remedy: fmt.Sprintf("see the log; nothing else may listen at %s:%d", nodeAddress, dnsPort)},
	}...)
	if contents.Eventing {
		// One build after the other: each keeps all processors busy.
		steps = append(steps, c.eventingSteps([]string{"kubernetes"}, []string{"registry", "node", "dns"})...)
	}
	return steps
}

// more are the steps by which a cluster that runs comes to have these contents.
func (c *Cluster) more(contents Contents) []step.Step {
	var steps []step.Step
	if len(contents.Spark) > 0 {
		steps = c.moreSpark(spark.WithDefault(contents.Spark))
	}
	if contents.Eventing {
		steps = append(steps, c.eventingSteps(nil, nil)...)
	}
	return steps
}

// moreSpark are the steps by which a cluster that runs comes to hold further
// releases of Spark.
func (c *Cluster) moreSpark(held []spark.Release) []step.Step {
	steps := []step.Step{packagesStep, c.debianStep(), registryStep}
	for _, r := range held {
		if r == spark.Default {
			continue
		}
		steps = append(steps, c.sparkSteps(r, held)...)
		steps = append(steps, step.Step{Name: "names of spark " + r.Version, After: []string{tagsOf(r)}, Remedy: again,
			Do: func(ctx context.Context, t *step.Task) error { return c.forgetStandIns(ctx, t, r, held) }})
	}
	return steps
}

var packagesStep = step.Step{Name: "packages", Do: packages.Install, Remedy: offline}

// registryStep is for a cluster that runs.
var registryStep = step.Step{Name: "registry", Remedy: again,
	Do: func(ctx context.Context, _ *step.Task) error { return registry.Wait(ctx, registryAddress) }}

// AddFunction makes the image of a function in Python, for the cluster that runs.
func (c *Cluster) AddFunction(ctx context.Context, f function.Function) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, packagesStep, c.debianStep(), registryStep,
		step.Step{Name: "function", After: []string{"packages", "debian", "registry"}, Remedy: offline,
			Do: func(ctx context.Context, t *step.Task) error {
				if err := f.BuildLayer(ctx, t, c.cache); err != nil {
					return err
				}
				img, err := f.Open(c.cache)
				if err != nil {
					return err
				}
				return c.push(ctx, img, f.Image)
			}})
}

func (c *Cluster) debianStep() step.Step {
	return step.Step{Name: "debian", After: []string{"packages"}, Remedy: offline,
		Do: func(ctx context.Context, t *step.Task) error { return spark.Bootstrap(ctx, t, c.cache) }}
}

// sparkSteps are the way to the image of a release under all its names.
func (c *Cluster) sparkSteps(r spark.Release, held []spark.Release) []step.Step {
	layer := c.layerStep(r)
	return []step.Step{
		c.sparkStep(r),
		layer,
		{Name: tagsOf(r), After: []string{layer.Name, "debian", "registry"}, Remedy: diskFull,
			Do: func(ctx context.Context, t *step.Task) error { return c.pushSpark(ctx, t, r, held) }},
	}
}

// layerStep is the way to the layer of a release's image.
func (c *Cluster) layerStep(r spark.Release) step.Step {
	return step.Step{Name: "image of spark " + r.Version, After: []string{c.sparkStep(r).Name}, Remedy: diskFull,
		Do: func(ctx context.Context, t *step.Task) error { return r.BuildLayer(ctx, t, c.cache) }}
}

// sparkStep is the way to a release in the cache.
func (c *Cluster) sparkStep(r spark.Release) step.Step {
	return step.Step{Name: "spark " + r.Version, After: []string{"packages"}, Remedy: offline,
		Do: func(ctx context.Context, t *step.Task) error { return r.Install(ctx, t, c.cache) }}
}

func tagsOf(r spark.Release) string { return "tags of spark " + r.Version }

func (c *Cluster) buildSmallImages(ctx context.Context, t *step.Task) error {
	return errors.Join(c.buildPause(ctx, t), c.buildBase())
}

func (c *Cluster) startRegistry(ctx context.Context, _ *step.Task) error {
	err := c.startSelf("registry", "registry", "--address", registryAddress, "--dir", c.registryDir())
	if err != nil {
		return err
	}
	if err := registry.Wait(ctx, registryAddress); err != nil {
		return err
	}
	if err := c.processes.Running("registry"); err != nil {
		return err // another one answered
	}
	pause, err := image.Open(pauseConfig, c.cache.Path("images", "pause"))
	if err != nil {
		return err
	}
	return errors.Join(c.push(ctx, pause, pauseName), c.PushBase(ctx, registryAddress, c.registryDir()))
}

// PushBase gives the image on which ko puts a Go program to a registry that is being started, and its folder.
func (c *Cluster) PushBase(ctx context.Context, address, dir string) error {
	if err := registry.Wait(ctx, address); err != nil {
		return err
	}
	if err := c.buildBase(); err != nil {
		return err
	}
	var bases []*image.Image
	for _, architecture := range []string{"amd64", "arm64"} { // those of a release; there is no program in it
		base, err := image.OpenFor(architecture, baseConfig, c.cache.Path("images", "base"))
		if err != nil {
			return err
		}
		bases = append(bases, base)
	}
	return image.PushIndex(ctx, address, registry.Blobs(dir), BaseName, bases...)
}

func (c *Cluster) push(ctx context.Context, i *image.Image, names ...string) error {
	return i.Push(ctx, registryAddress, registry.Blobs(c.registryDir()), names...)
}

func (c *Cluster) startVolumes(context.Context, *step.Task) error {
	if err := os.MkdirAll(c.cache.Cluster(), 0o755); err != nil { // no other step may have been here yet
		return err
	}
	if _, err := os.Stat(volumes.Dir); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(c.ownVolumes(), nil, 0o644); err != nil {
			return err
		}
	}
	return c.startSelf("volumes", "volumes", volumes.Dir)
}

// ownVolumes is the file that means that the volumes' folder did not exist before.
func (c *Cluster) ownVolumes() string { return filepath.Join(c.cache.Cluster(), "own-volumes") }

// removeVolumes removes the volumes' folder, if the cluster made it.
func (c *Cluster) removeVolumes() error {
	if _, err := os.Stat(c.ownVolumes()); err != nil {
		return nil
	}
	return os.RemoveAll(volumes.Dir)
}

// startSelf starts another command of this program in the background.
func (c *Cluster) startSelf(name string, args ...string) error {
	_, err := c.processes.Start(name, exec.Command(c.cache.Program("localcluster"), args...))
	return err
}

// installSelf puts this program into the cache's bin folder: `go run` removes
// its own copy when it ends.
func (c *Cluster) installSelf(context.Context, *step.Task) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	if err := os.MkdirAll(c.cache.Bin(), 0o755); err != nil {
		return err
	}
	dest := c.cache.Program("localcluster")
	file, err := os.OpenFile(dest+".partial", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, self)
	return errors.Join(err, file.Close(), os.Rename(dest+".partial", dest))
}

func (c *Cluster) prepareMachine(context.Context, *step.Task) error { return c.node.Prepare() }

// pushSpark gives the image of a release to the registry under each of its names.
func (c *Cluster) pushSpark(ctx context.Context, t *step.Task, r spark.Release, held []spark.Release) error {
	img, err := r.Image(c.cache)
	if err != nil {
		return err
	}
	if lines := r.StandIns(held); len(lines) > 0 {
		t.Say("images that name other versions hold Spark %s, too; %s lists them", r.Version, t.LogFile())
		fmt.Fprintln(t.Log(), strings.Join(lines, "\n"))
	}
	return c.push(ctx, img, spark.Repositories(r.Names(held))...)
}

// forgetStandIns has the node fetch the image of a release where it knows another
// by one of its names.
func (c *Cluster) forgetStandIns(ctx context.Context, t *step.Task, r spark.Release, held []spark.Release) error {
	img, err := r.Image(c.cache)
	if err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	return c.node.Forget(ctx, t, r.Names(held), digest)
}

const store = "images/store"

// buildStore has the node's images in the cache, unpacked: the sandbox and Spark
// under one name. Another name costs the node only a look at the registry.
func (c *Cluster) buildStore(ctx context.Context, t *step.Task) error {
	version, err := exec.CommandContext(ctx, "containerd", "--version").Output()
	if err != nil {
		return fmt.Errorf("containerd --version: %w", err)
	}
	sandbox, err := image.Digest(c.cache.Path("images", "pause"))
	if err != nil {
		return err
	}
	img, err := spark.Default.Image(c.cache)
	if err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure(store, cache.Key(string(version), "1", sandbox, digest), func(dest string) error {
		t.Say("unpacking the images for the node")
		err := c.node.BuildStore(ctx, t, dest,
			registryAddress+"/"+pauseName, registryAddress+"/apache/spark:"+spark.Default.Version)
		if err != nil {
			return err
		}
		return img.Share(filepath.Join(dest, "io.containerd.content.v1.content", "blobs")) // it is a gigabyte
	})
	return err
}

func (c *Cluster) startContainerd(ctx context.Context, t *step.Task) error {
	return c.node.StartContainerd(ctx, t, c.cache.Path(store))
}

func (c *Cluster) startNetwork(context.Context, *step.Task) error { return c.network.Up() }

func (c *Cluster) startControlPlane(ctx context.Context, t *step.Task) error {
	t.Say("starting etcd, the API server, controller manager, scheduler and kube-proxy")
	if err := c.control.Prepare(); err != nil {
		return err
	}
	return c.control.Start(ctx, t)
}

func (c *Cluster) startNode(ctx context.Context, t *step.Task) error {
	t.Say("starting the kubelet")
	if err := c.node.StartKubelet(); err != nil {
		return err
	}
	if err := step.Until(ctx, 2*time.Minute, "the node being ready", c.control.NodeReady); err != nil {
		return fmt.Errorf("%w (see %s/kubelet.log)", err, c.processes.Logs)
	}
	return step.Until(ctx, 3*time.Minute, "the default service account", c.control.ServiceAccountReady)
}

func (c *Cluster) startDNS(ctx context.Context, _ *step.Task) error {
	return c.control.StartDNS(ctx)
}

// InstallSpark has these releases of Spark in the cache.
func (c *Cluster) InstallSpark(ctx context.Context, releases []spark.Release) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	steps := []step.Step{packagesStep}
	for _, r := range releases {
		steps = append(steps, c.sparkStep(r))
	}
	return step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, steps...)
}

// InstallPrometheus installs Prometheus and promtool.
func (c *Cluster) InstallPrometheus(ctx context.Context) error {
	return c.install(ctx, "prometheus", packages.InstallPrometheus)
}

// InstallChromium installs Chromium.
func (c *Cluster) InstallChromium(ctx context.Context) error {
	return c.install(ctx, "chromium", packages.InstallChromium)
}

// InstallTmux installs tmux.
func (c *Cluster) InstallTmux(ctx context.Context) error {
	return c.install(ctx, "tmux", packages.InstallTmux)
}

func (c *Cluster) install(ctx context.Context, name string, do func(context.Context, *step.Task) error) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, step.Step{Name: name, Do: do, Remedy: offline})
}

// InstallPython installs the packages of PyPI that a requirements.txt names with all that they need, and returns their folder, for
// PYTHONPATH.
func (c *Cluster) InstallPython(ctx context.Context, requirements string) (string, error) {
	needs, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	unlock, err := c.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	key := cache.Key(string(needs))
	name := "python/" + key[:12]
	install := step.Step{Name: "python", After: []string{packagesStep.Name}, Remedy: offline, Do: func(ctx context.Context, t *step.Task) error {
		_, err := c.cache.Ensure(name, key, func(dest string) error {
			t.Say("installing what %s names", requirements)
			return t.Run(ctx, "python3", "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
				"--only-binary", ":all:", "--requirement", requirements, "--target", dest)
		})
		return err
	}}
	if err := step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, packagesStep, install); err != nil {
		return "", err
	}
	return c.cache.Path(name), nil
}

// BuildAssets builds what integration tests run without a cluster, and kwok for those that want simulated nodes.
func (c *Cluster) BuildAssets(ctx context.Context, kwok bool) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	steps := []step.Step{{Name: "kubernetes", Do: c.buildKubernetes, Remedy: offline}}
	if kwok {
		// One after the other: each keeps all processors busy.
		steps = append(steps, step.Step{Name: "kwok", After: []string{"kubernetes"}, Do: c.buildKwok, Remedy: offline})
	}
	return step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, steps...)
}
