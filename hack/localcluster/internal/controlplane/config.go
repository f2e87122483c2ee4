package controlplane

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
)

func (c *ControlPlane) etcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", c.EtcdPort) }

// etcdArgs trade durability for speed: the data live as long as the cluster.
func (c *ControlPlane) etcdArgs() []string {
	peer := fmt.Sprintf("http://127.0.0.1:%d", c.EtcdPort+1)
	return []string{
		"--name=localcluster",
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + c.etcdURL(),
		"--advertise-client-urls=" + c.etcdURL(),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=localcluster=" + peer,
		"--quota-backend-bytes=8589934592",
		"--auto-compaction-mode=periodic",
		"--auto-compaction-retention=5m",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (c *ControlPlane) apiserverArgs() []string {
	key := func(name string) string { return c.path("pki", name) }
	return []string{
		"--etcd-servers=" + c.etcdURL(),
		fmt.Sprintf("--secure-port=%d", c.Port),
		"--advertise-address=" + c.Address,
		"--service-cluster-ip-range=" + c.ServiceCIDR,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--token-auth-file=" + c.path("tokens.csv"),
		"--client-ca-file=" + key("ca.crt"),
		"--tls-cert-file=" + key("kube-apiserver.crt"),
		"--tls-private-key-file=" + key("kube-apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + key("service-accounts.pub"),
		"--service-account-signing-key-file=" + key("service-accounts.key"),
		"--kubelet-client-certificate=" + key("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + key("apiserver-kubelet-client.key"),
		// Logs and exec work by the node's address, so its name need not resolve.
		"--kubelet-preferred-address-types=InternalIP",
		"--requestheader-client-ca-file=" + key("ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + key("front-proxy-client.crt"),
		"--proxy-client-key-file=" + key("front-proxy-client.key"),
	}
}

// controllerManagerArgs raise the client's rate limits: a benchmark with
// thousands of objects would measure these limits.
func (c *ControlPlane) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + c.KubeconfigOf("kube-controller-manager"),
		"--authentication-kubeconfig=" + c.KubeconfigOf("kube-controller-manager"),
		"--authorization-kubeconfig=" + c.KubeconfigOf("kube-controller-manager"),
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.path("pki", "service-accounts.key"),
		"--root-ca-file=" + c.path("pki", "ca.crt"),
		"--cluster-signing-cert-file=" + c.path("pki", "ca.crt"),
		"--cluster-signing-key-file=" + c.path("pki", "ca.key"),
		"--enable-hostpath-provisioner=true",
		"--flex-volume-plugin-dir=" + c.path("volume-plugins"),
		"--kube-api-qps=400",
		"--kube-api-burst=800",
	}
}

func (c *ControlPlane) schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.KubeconfigOf("kube-scheduler"),
		"--authentication-kubeconfig=" + c.KubeconfigOf("kube-scheduler"),
		"--authorization-kubeconfig=" + c.KubeconfigOf("kube-scheduler"),
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
		"--kube-api-qps=400",
		"--kube-api-burst=800",
	}
}

func (c *ControlPlane) proxyArgs() []string {
	return []string{"--config=" + c.path("kube-proxy.yaml"), "--hostname-override=" + c.NodeName}
}

// proxyConfig leaves the kernel's connection tracking limits alone, and programs
// a changed Service at once rather than within a second.
func (c *ControlPlane) proxyConfig() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: %s
clientConnection:
  kubeconfig: %s
  qps: 100
  burst: 200
conntrack:
  maxPerCore: 0
  min: 0
  tcpCloseWaitTimeout: 0s
  tcpEstablishedTimeout: 0s
iptables:
  minSyncPeriod: 100ms
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
`, c.PodCIDR, c.KubeconfigOf("kube-proxy"))
}

// corefile answers for the cluster from memory, so nothing of that is cached: a
// driver's Service resolves as soon as it exists.
func (c *ControlPlane) corefile(forward bool) string {
	rest := ""
	if forward {
		rest = `
    forward . /etc/resolv.conf
    cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }`
	}
	return fmt.Sprintf(`.:%d {
    bind %s
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig %s
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 1
    }%s
}
`, c.DNSPort, c.Address, c.KubeconfigOf("coredns"), rest)
}

// hasNameserver reports whether there is a server to forward other names to.
func hasNameserver(resolvConf string) bool {
	for line := range strings.Lines(resolvConf) {
		if strings.HasPrefix(strings.TrimSpace(line), "nameserver") {
			return true
		}
	}
	return false
}

//go:embed objects.yaml
var objects string

// objects are what the cluster itself needs in the API.
func (c *ControlPlane) objects() string {
	return strings.NewReplacer(
		"DNS_SERVICE_ADDRESS", c.DNSService,
		"DNS_PORT", fmt.Sprint(c.DNSPort),
		"NODE_ADDRESS", c.Address,
	).Replace(objects)
}

// kubeconfig is the kubeconfig of a user with that token.
func kubeconfig(port int, ca []byte, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: firesteel
contexts:
- name: firesteel
  context: {cluster: firesteel, user: firesteel}
clusters:
- name: firesteel
  cluster:
    server: https://127.0.0.1:%d
    certificate-authority-data: %s
users:
- name: firesteel
  user:
    token: %s
`, port, base64.StdEncoding.EncodeToString(ca), token)
}
