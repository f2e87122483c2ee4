// Package network connects pods, node and machine, and restores the machine's
// own network afterwards.
package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Network is what the cluster adds to the machine's network.
type Network struct {
	// Interface holds the node's address.
	Interface string
	// Address is the node's address: one that pods can reach, and that does not
	// depend on the network that the machine is in.
	Address string
	// PodCIDR is the range of the pods' addresses.
	PodCIDR string
	// ServiceCIDR is the range of the Services' addresses.
	ServiceCIDR string
	// State is the file that remembers what was there before.
	State string
}

// before is what has to be restored.
type before struct {
	Settings map[string]string   `json:"settings"`
	Chains   map[string][]string `json:"chains"` // by iptables program
}

// settings are the kernel settings that the kubelet, kube-proxy or Up change.
var settings = []string{
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"kernel/panic",
	"kernel/panic_on_oops",
	"net/bridge/bridge-nf-call-iptables",
	"net/ipv4/conf/all/route_localnet",
	"net/ipv4/ip_forward",
	"net/ipv4/vs/conntrack",
	"net/ipv6/conf/all/forwarding",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
}

// Up makes the node's address, and lets pods' traffic through.
func (n Network) Up() error {
	if err := n.remember(); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("turning on IP forwarding: %w", err)
	}
	for _, args := range [][]string{
		{"link", "add", n.Interface, "type", "bridge"},
		{"address", "add", n.Address + "/32", "dev", n.Interface},
		{"link", "set", n.Interface, "up"},
		// The kernel looks for a route before kube-proxy's rules send a packet
		// elsewhere, and a machine without a network has none.
		{"route", "add", n.ServiceCIDR, "dev", n.Interface},
	} {
		if err := run(nil, "ip", args...); err != nil {
			return err
		}
	}
	return run(strings.NewReader(n.rules()), "iptables-restore", "--noflush")
}

// rules let pods reach each other if the machine forwards nothing by
// itself, and replace their addresses by the machine's for all other peers.
func (n Network) rules() string {
	return fmt.Sprintf(`*filter
:FIRESTEEL-FORWARD - [0:0]
-A FIRESTEEL-FORWARD -s %[1]s -j ACCEPT
-A FIRESTEEL-FORWARD -d %[1]s -j ACCEPT
-I FORWARD -j FIRESTEEL-FORWARD
COMMIT
*nat
:FIRESTEEL-POSTROUTING - [0:0]
-A FIRESTEEL-POSTROUTING -s %[1]s ! -d %[1]s ! -o %[2]s -j MASQUERADE
-A POSTROUTING -j FIRESTEEL-POSTROUTING
COMMIT
`, n.PodCIDR, n.Interface)
}

// Down removes what Up, kube-proxy, the kubelet and the CNI plugins added.
func (n Network) Down() error {
	data, err := os.ReadFile(n.State)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var b before
	if err := json.Unmarshal(data, &b); err != nil {
		return fmt.Errorf("%s: %w", n.State, err)
	}
	return errors.Join(removeRules(b.Chains), n.removeLinks(), putBack(b.Settings), os.Remove(n.State))
}

func (n Network) remember() error {
	b := before{Settings: map[string]string{}, Chains: map[string][]string{}}
	for _, name := range settings {
		if value, err := os.ReadFile(filepath.Join("/proc/sys", name)); err == nil {
			b.Settings[name] = strings.TrimSpace(string(value))
		}
	}
	for _, program := range programs {
		rules, err := save(program)
		if err != nil {
			return err
		}
		b.Chains[program] = chains(rules)
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(n.State, data, 0o644)
}

func putBack(settings map[string]string) error {
	var errs []error
	for name, value := range settings {
		file := filepath.Join("/proc/sys", name)
		now, err := os.ReadFile(file)
		if err == nil && strings.TrimSpace(string(now)) != value {
			errs = append(errs, os.WriteFile(file, []byte(value), 0o644))
		}
	}
	return errors.Join(errs...)
}

// removeLinks removes the node's interface and those of pods: they are the ones
// that routes into the pods' range lead to.
func (n Network) removeLinks() error {
	links, err := podLinks(n.PodCIDR)
	if err != nil {
		return err
	}
	var errs []error
	for _, link := range append(links, n.Interface) {
		if err := run(nil, "ip", "link", "delete", link); err != nil && exists(link) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func podLinks(podCIDR string) ([]string, error) {
	_, pods, err := net.ParseCIDR(podCIDR)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("ip", "-json", "route", "show").Output()
	if err != nil {
		return nil, fmt.Errorf("listing routes: %w", err)
	}
	return routedLinks(out, pods)
}

// routedLinks picks the interfaces of routes into the range from ip's JSON.
func routedLinks(routes []byte, pods *net.IPNet) ([]string, error) {
	var list []struct {
		Destination string `json:"dst"`
		Device      string `json:"dev"`
	}
	if err := json.Unmarshal(routes, &list); err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	var links []string
	for _, r := range list {
		if ip := net.ParseIP(r.Destination); ip != nil && pods.Contains(ip) {
			links = append(links, r.Device)
		}
	}
	return links, nil
}

func exists(link string) bool {
	_, err := net.InterfaceByName(link)
	return err == nil
}

// run runs a command; its output is part of the error.
func run(stdin *strings.Reader, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
