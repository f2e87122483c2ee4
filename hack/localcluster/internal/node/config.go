package node

import "fmt"

// containerdConfig is made for containerd 1.6 and 1.7 (version 2 of the format).
func (n *Node) containerdConfig(root, state, socket string) string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = %[3]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  disable_apparmor = true
  # Where the machine may not lower a process's OOM score, containers start all the same.
  restrict_oom_score_adj = true

  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %[5]q

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %[6]q
`, root, state, socket, n.PauseImage, n.path("net.d"), n.path("hosts"))
}

// mirrorConfig makes containerd ask the machine's own registry first. That has
// the Spark images under all their names, so that a manifest with
// imagePullPolicy Always works if no other registry can be reached.
func (n *Node) mirrorConfig() string {
	return fmt.Sprintf(`[host."http://%s"]
  capabilities = ["pull", "resolve"]
`, n.Registry)
}

// networkConfig gives each pod a routed veth pair. With a bridge, traffic
// between two pods through a Service would need the br_netfilter module.
func (n *Node) networkConfig() string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "ipam": {
        "type": "host-local",
        "dataDir": %q,
        "ranges": [[{"subnet": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, n.path("addresses"), n.PodCIDR)
}

// kubeletConfig asks for nothing that the machine may not have: it works with
// cgroup v1 and v2, with swap, without some privileges, and on a full disk.
func (n *Node) kubeletConfig() map[string]any {
	return map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1",
		"kind":       "KubeletConfiguration",
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": n.ClientCA},
		},
		"authorization":            map[string]any{"mode": "Webhook"},
		"address":                  n.Address,
		"cgroupDriver":             "cgroupfs",
		"cgroupRoot":               "/" + n.Cgroup,
		"clusterDNS":               []string{n.ClusterDNS},
		"clusterDomain":            "cluster.local",
		"containerRuntimeEndpoint": "unix://" + n.Socket(),
		"failCgroupV1":             false,
		"failSwapOn":               false,
		"featureGates":             map[string]bool{"KubeletInUserNamespace": true},
		"healthzPort":              0,
		"kubeAPIBurst":             400,
		"kubeAPIQPS":               200,
		"maxPods":                  250,
		"podLogsDir":               n.path("pod-logs"),
		"readOnlyPort":             0,
		"registryBurst":            100,
		"registryPullQPS":          0, // no limit
		"serializeImagePulls":      false,
		"volumePluginDir":          n.path("volume-plugins"),
		// A test of the archive fills a log beyond this size. What other tests log is less.
		"containerLogMaxSize":         "2Mi",
		"containerLogMonitorInterval": "3s", // the shortest
		// A shared machine's disk may be nearly full. Nothing is evicted for that,
		// and no image is collected that could not be had again.
		"evictionHard": map[string]string{
			"imagefs.available":  "0%",
			"imagefs.inodesFree": "0%",
			"memory.available":   "50Mi",
			"nodefs.available":   "0%",
			"nodefs.inodesFree":  "0%",
		},
		"imageGCHighThresholdPercent": 100,
		"imageGCLowThresholdPercent":  99,
		"shutdownGracePeriod":         "0s",
		"syncFrequency":               "10s",
	}
}
