package console

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// loopback is the only address at which the pages are served. The UIs of drivers are served at uiHosts, a name for each application, so that none
	// can use what the browser has of another, or of the pages. Browsers connect to such a name by loopback6 or by loopback.
	loopback  = "127.0.0.1"
	loopback6 = "::1"
	uiHosts   = "*.localhost"
)

// opener opens a port of an address, as net.Listen does.
type opener func(network, address string) (net.Listener, error)

// at opens a port of an address. flag is what the port was named by; 0 is any port that is free.
func (open opener) at(address, flag string, port int) (net.Listener, error) {
	listener, err := open("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil { // it is no error of the API server's connection
		return nil, fmt.Errorf("%s %d cannot be used (%v): write another port, or leave the flag out for any that is free", flag, port, err) //nolint:errorlint // explained as one of the API server otherwise
	}
	return listener, nil
}

// tries bounds the ports that are tried until one is free at both addresses.
const tries = 16

// atBoth opens the same port of both loopback addresses: otherwise another user of the machine could open it at one of them, and get what browsers send.
func (open opener) atBoth(flag string, port int) ([]net.Listener, error) {
	for range tries {
		first, err := open.at(loopback, flag, port)
		if err != nil {
			return nil, err
		}
		same, _ := strconv.Atoi(portOf(first)) // it is one of TCP
		second, err := open.at(loopback6, flag, same)
		if err == nil {
			return []net.Listener{first, second}, nil
		}
		_ = first.Close() // nothing is served there
		if port != 0 {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d free ports of %s were tried, and each is taken at %s: name one by %s that is free at both", tries, loopback, loopback6, flag)
}

// listenAsUIHosts opens the port of the UIs of drivers, at each address by which browsers may connect to uiHosts.
func listenAsUIHosts(flag string, port int) ([]net.Listener, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("read the addresses of this machine: %w", err)
	}
	if hasLoopback6(addresses) {
		return opener(net.Listen).atBoth(flag, port)
	}
	listener, err := opener(net.Listen).at(loopback, flag, port)
	if err != nil {
		return nil, err
	}
	return []net.Listener{listener}, nil
}

// hasLoopback6 reports whether a machine with these addresses has the loopback address of IPv6.
func hasLoopback6(addresses []net.Addr) bool {
	return slices.ContainsFunc(addresses, func(address net.Addr) bool {
		network, ok := address.(*net.IPNet)
		return ok && network.IP.Equal(net.IPv6loopback)
	})
}

// portOf returns the port of a listener.
func portOf(listener net.Listener) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // it is one of TCP
	return port
}

// own lets requests through that name the console's own host, and a path below its own. A page whose name leads to this machine has another host.
func own(address *url.URL, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch rest, below := strings.CutPrefix(r.URL.EscapedPath(), address.EscapedPath()); {
		case r.Host != address.Host:
			http.Error(w, "This is the console of kubectl spark, and the request is for another host.", http.StatusMisdirectedRequest)
		case !below || rest != "" && rest[0] != '/':
			http.Error(w, "There is nothing here. The console is at the link that kubectl spark console has printed.", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
