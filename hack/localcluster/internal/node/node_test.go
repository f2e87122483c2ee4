package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTheConfigurationsOfTheNodeLeaveAllCPUToPods(t *testing.T) {
	n := &Node{
		Name: "localcluster", Address: "10.245.0.1", Dir: "/cache/node", Cgroup: "firesteel-1", PodCIDR: "10.244.0.0/16",
		ClusterDNS: "10.96.0.10", Registry: "127.0.0.1:5005", PauseImage: "127.0.0.1:5005/pause:1", ClientCA: "/cache/ca.crt",
	}
	kubelet, err := json.Marshal(n.kubeletConfig())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kubelet), "kubeReserved") || strings.Contains(string(kubelet), "systemReserved") {
		t.Error("CPU is taken away from pods")
	}
	if !json.Valid([]byte(n.networkConfig())) {
		t.Error("the network's configuration is no JSON")
	}
	for config, wants := range map[string][]string{
		string(kubelet): {
			`"cgroupRoot":"/firesteel-1"`, `"clusterDNS":["10.96.0.10"]`, `"failCgroupV1":false`,
			`"containerRuntimeEndpoint":"unix:///cache/node/containerd.sock"`, `"nodefs.available":"0%"`,
			`"containerLogMaxSize":"2Mi"`,
		},
		n.containerdConfig("/cache/node/containerd", "/state", n.Socket()): {
			`sandbox_image = "127.0.0.1:5005/pause:1"`, `root = "/cache/node/containerd"`, `address = "/cache/node/containerd.sock"`,
			`config_path = "/cache/node/hosts"`, `conf_dir = "/cache/node/net.d"`,
		},
		n.networkConfig(): {`"subnet": "10.244.0.0/16"`, `"dataDir": "/cache/node/addresses"`},
		n.mirrorConfig():  {`[host."http://127.0.0.1:5005"]`},
	} {
		for _, want := range wants {
			if !strings.Contains(config, want) {
				t.Errorf("%s is missing in:\n%s", want, config)
			}
		}
	}
}

func TestNamesOfOtherImagesAreFound(t *testing.T) {
	const known = `REF                            TYPE                                        DIGEST   SIZE     PLATFORMS   LABELS
docker.io/apache/spark:3.5.9   application/vnd.oci.image.manifest.v1+json  sha256:1 1.2 GiB  linux/amd64 -
docker.io/apache/spark:3.5.8   application/vnd.oci.image.manifest.v1+json  sha256:2 1.2 GiB  linux/amd64 -
docker.io/apache/spark:4.1.4   application/vnd.oci.image.manifest.v1+json  sha256:1 1.2 GiB  linux/amd64 -
`
	got := othersThan("sha256:2", known, []string{"docker.io/apache/spark:3.5.7", "docker.io/apache/spark:3.5.8", "docker.io/apache/spark:3.5.9"})
	if !slices.Equal(got, []string{"docker.io/apache/spark:3.5.9"}) {
		t.Errorf("got %q", got)
	}
}

func TestIsShimKnowsItsOwn(t *testing.T) {
	n := &Node{Dir: "/cache/node"}
	for _, c := range []struct {
		args string
		want bool
	}{
		{"/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id 1 -address /cache/node/containerd.sock", true},
		{"/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id 1 -address /run/containerd/containerd.sock", false},
		{"/usr/bin/containerd-shim-runc-v2 -address", false},
		{"less /cache/node/containerd.sock", false},
		{"", false},
	} {
		if got := n.isShim(strings.Split(c.args, " ")); got != c.want {
			t.Errorf("%q: got %t", c.args, got)
		}
	}
}

func TestFoldersAreMadeAndRemoved(t *testing.T) {
	top := t.TempDir()
	n := &Node{Dir: t.TempDir()}
	made, err := makeFolders([]string{filepath.Join(top, "a", "b"), filepath.Join(top, "a", "c"), top})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(top, "a"), filepath.Join(top, "a", "b"), filepath.Join(top, "a", "c")}
	if !slices.Equal(made, want) {
		t.Errorf("made %v", made)
	}
	if err := n.saveFolders(made); err != nil {
		t.Fatal(err)
	}
	if left, err := n.removeFolders(); err != nil || len(left) > 0 {
		t.Fatalf("left %v: %v", left, err)
	}
	if left, _ := os.ReadDir(top); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFoldersWithFilesOfOthersAreLeft(t *testing.T) {
	top := t.TempDir()
	n := &Node{Dir: t.TempDir()}
	shared, own := filepath.Join(top, "a", "shared"), filepath.Join(top, "a", "own")
	made, err := makeFolders([]string{shared, own})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.saveFolders(made); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(shared, "plugin")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	left, err := n.removeFolders()
	if err != nil || !slices.Equal(left, []string{shared, filepath.Dir(shared)}) {
		t.Errorf("left %v: %v", left, err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file of another owner is gone: %v", err)
	}
	if _, err := os.Stat(own); err == nil {
		t.Errorf("%s is left, although it is empty", own)
	}
}

// fakeCgroups lays out files as the kernel does.
func fakeCgroups(t *testing.T, files map[string]string) cgroup {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return cgroup{root: root, name: "firesteel-1", added: filepath.Join(t.TempDir(), "controllers")}
}

func TestCgroupVersion1(t *testing.T) {
	g := fakeCgroups(t, map[string]string{"cpu/cgroup.procs": "1\n", "memory/cgroup.procs": "1\n", "cgroup.sane_behavior": ""})
	if err := g.make(); err != nil {
		t.Fatal(err)
	}
	dirs, err := g.folders()
	if err != nil || len(dirs) != 2 {
		t.Fatalf("folders are %v, %v", dirs, err)
	}
	for _, dir := range dirs {
		pod := filepath.Join(dir, "kubepods", "pod1")
		if err := os.MkdirAll(pod, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.remove(); err != nil {
		t.Fatal(err)
	}
	if dirs, err := g.folders(); err != nil || len(dirs) > 0 {
		t.Errorf("left behind: %v, %v", dirs, err)
	}
}

func TestPodsHaveTheWeightOfTheProcessors(t *testing.T) {
	g := fakeCgroups(t, map[string]string{"cpu/cgroup.procs": "1\n", "cpu/firesteel-1/cpu.shares": "1024\n"})
	if err := g.make(); err != nil {
		t.Fatal(err)
	}
	shares, err := os.ReadFile(filepath.Join(g.root, "cpu", g.name, "cpu.shares"))
	if want := strconv.Itoa(1024 * runtime.NumCPU()); err != nil || string(shares) != want {
		t.Errorf("shares are %q, %v, want %s", shares, err, want)
	}
}

func TestCgroupVersion2(t *testing.T) {
	g := fakeCgroups(t, map[string]string{
		"cgroup.controllers":     "cpuset cpu io memory pids\n",
		"cgroup.subtree_control": "cpu memory\n",
		"cgroup.procs":           "1\n",
	})
	control := func() string {
		data, err := os.ReadFile(g.subtreeControl())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := g.make(); err != nil {
		t.Fatal(err)
	}
	if got := control(); got != "+cpuset +pids" {
		t.Errorf("turned on: %s", got)
	}
	if err := os.WriteFile(filepath.Join(g.root, g.name, "cgroup.procs"), []byte("7\n8\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if pids, err := g.processes(); err != nil || !slices.Equal(pids, []int{7, 8}) {
		t.Errorf("processes are %v, %v", pids, err)
	}
	if err := os.Remove(filepath.Join(g.root, g.name, "cgroup.procs")); err != nil {
		t.Fatal(err)
	}
	if err := g.remove(); err != nil {
		t.Fatal(err)
	}
	if got := control(); got != "-cpuset -pids" {
		t.Errorf("turned off: %s", got)
	}
}

func TestNoCgroups(t *testing.T) {
	if err := fakeCgroups(t, nil).make(); err == nil {
		t.Error("a machine without control groups is accepted")
	}
}
