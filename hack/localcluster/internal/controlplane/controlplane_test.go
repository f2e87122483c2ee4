package controlplane

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newControlPlane(t *testing.T) *ControlPlane {
	dir := t.TempDir()
	return &ControlPlane{
		Dir: filepath.Join(dir, "control-plane"), Bin: "/bin", Kubeconfig: filepath.Join(dir, "kubeconfig"),
		NodeName: "localcluster", Address: "10.245.0.1", Port: 16443, EtcdPort: 12379, DNSPort: 10053,
		PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/16", APIService: "10.96.0.1", DNSService: "10.96.0.10",
	}
}

func TestPrepareWritesCertificatesForEachAddress(t *testing.T) {
	c := newControlPlane(t)
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(c.path("pki", "kube-apiserver.crt"), c.path("pki", "kube-apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "10.245.0.1", "10.96.0.1", "kubernetes.default.svc", "localhost"} {
		if err := pair.Leaf.VerifyHostname(host); err != nil {
			t.Errorf("the API server's certificate: %v", err)
		}
	}
	tokens := read(t, c.path("tokens.csv"))
	for _, want := range []string{
		`,admin,admin,"system:masters"`, `,system:node:localcluster,system:node:localcluster,"system:nodes"`, `,system:kube-proxy,`,
	} {
		if !strings.Contains(tokens, want) {
			t.Errorf("%s is missing in:\n%s", want, tokens)
		}
	}
	admin, _, _ := strings.Cut(tokens, ",")
	config := read(t, c.Kubeconfig)
	if !strings.Contains(config, "token: "+admin+"\n") || !strings.Contains(config, "server: https://127.0.0.1:16443\n") {
		t.Errorf("the administrator's kubeconfig:\n%s", config)
	}
	if info, err := os.Stat(c.Kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig is readable by others: %v, %v", info.Mode(), err)
	}
	objects := read(t, c.path("objects.yaml"))
	for _, want := range []string{"clusterIP: 10.96.0.10\n", "addresses: [10.245.0.1]\n", "port: 10053,"} {
		if !strings.Contains(objects, want) {
			t.Errorf("%s is missing in:\n%s", want, objects)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheCorefileForwardsOnlyIfTheMachineIsOnline(t *testing.T) {
	c := newControlPlane(t)
	online, offline := c.corefile(true), c.corefile(false)
	if !strings.Contains(online, "forward . /etc/resolv.conf") || strings.Contains(offline, "forward") {
		t.Errorf("forwarding:\n%s\n%s", online, offline)
	}
	for _, want := range []string{".:10053 {", "bind 10.245.0.1", "kubeconfig " + c.KubeconfigOf("coredns")} {
		if !strings.Contains(offline, want) {
			t.Errorf("%s is missing in:\n%s", want, offline)
		}
	}
}

func TestHasNameserver(t *testing.T) {
	for text, want := range map[string]bool{
		"":                             false,
		"search example.com\n":         false,
		"# nameserver 1.1.1.1\n":       false,
		"search x\nnameserver ::1\n":   true,
		"  nameserver 192.0.2.1":       true,
		"options ndots:1\nnameserverx": true, // CoreDNS says itself what it makes of that
	} {
		if got := hasNameserver(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}

func TestComponentsAreStartedWithTheAddressesOfTheCluster(t *testing.T) {
	c := newControlPlane(t)
	for want, args := range map[string][]string{
		"--unsafe-no-fsync":                        c.etcdArgs(),
		"--etcd-servers=http://127.0.0.1:12379":    c.apiserverArgs(),
		"--advertise-address=10.245.0.1":           c.apiserverArgs(),
		"--authorization-mode=Node,RBAC":           c.apiserverArgs(),
		"--use-service-account-credentials=true":   c.controllerManagerArgs(),
		"--leader-elect=false":                     c.schedulerArgs(),
		"--hostname-override=localcluster":         c.proxyArgs(),
		"--initial-cluster=localcluster=http://12": c.etcdArgs(),
	} {
		if !strings.Contains(strings.Join(args, "\n"), want) {
			t.Errorf("%s is missing in %v", want, args)
		}
	}
}

func TestNodeReady(t *testing.T) {
	for body, want := range map[string]string{
		`{"status":{"conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"}]}}`: "",
		`{"status":{"conditions":[{"type":"Ready","status":"False","message":"no network"}]}}`:                  "no network",
		`{"status":{}}`: "no condition Ready",
	} {
		err := nodeReady([]byte(body))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", body, err)
		}
	}
}
